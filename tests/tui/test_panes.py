"""What the panes say, without a screen."""

from __future__ import annotations

import pytest

import reenact
from reenact.core.model.divergence import Verdict
from reenact.core.query.facts import RecordingFacts
from reenact.core.replay.watch import Edit
from reenact.errors import Departure, Divergence, Mismatch
from reenact.run.debugger.machine import MachineState, Phase
from reenact.run.debugger.orders import Actual, ProgramPlace
from reenact.tui import panes

READING = MachineState(Phase.READING, ProgramPlace(1))


@reenact.tool
def look(q):
    return {"q": q, "text": "long " * 3000 if q == "long" else "\x1b[31mred\x1b[0m"}


@reenact.tool(kind="model", name="gpt")
def ask(messages):
    return {"choices": [{"message": {"role": "assistant", "content": f"answer {len(messages)}"}}]}


def said(lines):
    return "\n".join(" " * line.indent + line.text.plain for line in lines)


@pytest.fixture
def facts(home):
    memory = {"orders": [1], "budget": 9}
    with reenact.record(snapshot_every=1) as recording:
        reenact.track("memory", memory)
        look("short")
        memory["budget"] = 8
        look("long")
        messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "one"}]
        for text in ("two", "three"):
            answer = ask(list(messages))["choices"][0]["message"]
            messages += [answer, {"role": "user", "content": text}]
        ask([*messages[:2], *messages[4:]])
    return RecordingFacts(reenact.load(recording.id))


def test_escape_sequences_of_a_recording_do_not_reach_the_terminal(facts):
    text = said(panes.call(facts, 1, READING))
    assert "\x1b" not in text
    assert "red" in text


def test_a_long_text_is_folded_until_it_is_asked_for(facts):
    folded, whole = (said(panes.call(facts, 2, READING, whole=whole)) for whole in (False, True))
    assert len(folded) < 7000
    assert "more characters; + unfolds" in folded
    assert len(whole) > 15000
    assert "unfolds" not in whole


def test_messages_mark_what_is_new_and_say_when_history_was_rewritten(facts):
    text = said(panes.messages(facts, 4))
    old, new = text.split("── new in this call")
    assert "user      one" in old
    assert "+ user\n    two" in new
    assert "answer 4" in new.split("── the answer")[1]
    assert "the history was rewritten" in said(panes.messages(facts, 5))
    assert "no model call up to here" in said(panes.messages(facts, 2))


def test_an_edited_answer_stands_beside_the_recorded_one(facts):
    text = said(
        panes.call(facts, 1, MachineState(Phase.STOPPED, ProgramPlace(1), edits={1: Edit({"q": "edited"})}))
    )
    assert '"q": "edited"' in text.split("recorded answer")[0]
    assert "short" in text.split("recorded answer")[1]


def test_the_program_at_a_question_is_compared_with_its_recording(facts):
    same = MachineState(Phase.STOPPED, ProgramPlace(1), actual=Actual("tool:look", args={"q": "short"}))
    other = MachineState(Phase.STOPPED, ProgramPlace(1), actual=Actual("tool:look", args={"q": "tall"}))
    extra = MachineState(Phase.STOPPED, ProgramPlace(1, 1), actual=Actual("tool:new", args={"x": 1}))
    assert "as recorded" in said(panes.actual(facts, same, wide=False))
    assert 'recorded "short"' in said(panes.actual(facts, other, wide=False))
    assert "is ignored" in said(panes.actual(facts, other, wide=False))
    assert "the recording has no such question" in said(panes.actual(facts, extra, wide=False))
    assert "no program is running" in said(panes.actual(facts, READING, wide=False))


def test_a_departure_is_laid_side_by_side_where_there_is_room(facts):
    found = Divergence(
        Departure.CHANGED, "main/tool:look#0", 1, (Mismatch("args.q", "short", "tall"),), hint="try this"
    )
    state = MachineState(
        Phase.DEPARTED,
        ProgramPlace(1),
        divergence=found,
        verdict=Verdict("abc", served=1, divergences=(found,)),
    )
    narrow, wide = (list(panes.actual(facts, state, wide=wide)) for wide in (False, True))
    assert [line.beside for line in narrow if line.beside is not None] == []
    assert [line.beside.plain for line in wide if line.beside is not None] == ["actual", '"tall"']
    assert "try this" in said(wide)
    assert "f goes on live from here" in said(wide)
    assert "diverged" in said(wide)


def test_state_is_what_was_recorded_of_it_where_no_program_stands(facts):
    assert '"budget":9' in said(panes.tracked(facts, 1, READING, {}))
    assert "memory  as recorded" in said(panes.tracked(facts, 2, READING, {}))
    assert '"budget":8' in said(panes.tracked(facts, 2, READING, {}))


def test_the_programs_own_state_shows_what_changed_and_what_differs(facts):
    now = {"memory": {"orders": [1], "budget": 7}, "own": {"$unkept": ["some:Type", "<Type>"]}}
    state = MachineState(Phase.STOPPED, ProgramPlace(2), actual=Actual("tool:look", state=now))
    text = said(panes.tracked(facts, 2, state, {"memory": {"orders": [1], "budget": 9}, "own": now["own"]}))
    changed, rest = text.split("memory  as it is now")
    assert "memory.budget\n  recorded 9\n  actual   7" in changed.replace("before", "recorded")
    assert "different from the recording" in rest
    assert "<not kept: some:Type <Type>>" in rest, "what does not serialise is a line, not an end"


def test_output_shows_its_last_lines_and_what_a_terminal_would(facts):
    text = "".join(f"line {n}\n" for n in range(3000)) + "10%\r20%\r100%\n\x1b[32mgreen\x1b[0m"
    shown = said(panes.output(text, MachineState(Phase.STOPPED)))
    assert "earlier lines" in shown.split("\n")[0]
    assert shown.endswith("line 2999\n100%\ngreen")
    assert "no output so far" in said(panes.output("", MachineState(Phase.STOPPED)))


def test_the_stack_names_frames_and_enclosing_steps(facts):
    state = MachineState(
        Phase.STOPPED, ProgramPlace(1), actual=Actual("tool:look", stack=("agent.py:7 in main",))
    )
    text = said(panes.stack(facts, state, 1))
    assert "agent.py:7  main" in text
    assert "no other step" in text
