"""A recording that is read as it is written comes to what it is when it is read at once."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

import reenact
from reenact.core.query.facts import RecordingFacts
from reenact.core.store import chain
from reenact.core.store.following import Following, Rewritten
from reenact.core.store.local import EVENTS, LocalStore, load
from reenact.core.store.writer import Writer
from reenact.errors import CorruptRecording, NotARecording

REAL = sorted((Path(__file__).parents[2] / "recordings").glob("v*/*"))


def told(facts):
    """All that a reader asks of each step."""
    return [
        (
            step.step.number,
            step.step.log.process,
            step.call.label,
            step.get("ended"),
            step.args,
            step.output,
            step.error,
            step.turn and (step.turn.new, step.turn.known, step.turn.dropped, step.turn.call.answer),
        )
        for step in facts
    ]


def chat(home):
    """Turns of a chat, tools in between, one that fails."""

    @reenact.tool
    def look(place):
        if place == 3:
            raise ValueError("no such order")
        return {"place": place}

    @reenact.tool(kind="model", name="gpt-4o")
    def ask(messages):
        return {"choices": [{"message": {"role": "assistant", "content": f"answer {len(messages)}"}}]}

    messages = [{"role": "system", "content": "be kind"}]
    with reenact.record(home=home, name="chat") as recording:
        for place in range(6):
            messages.append({"role": "user", "content": f"question {place}"})
            answer = ask(list(messages))
            messages.append(answer["choices"][0]["message"])
            try:
                look(place)
            except ValueError:
                messages = messages[:1]
    return recording.load()


def grown(source, target, cuts):
    """The facts of a recording that grows before one's eyes, after each look the same as those read at once."""
    whole = {path.name: path.read_bytes() for path in source.glob("events*.jsonl")}
    following = facts = None
    for share in cuts:
        for name, data in whole.items():
            (target / name).write_bytes(data[: int(len(data) * share)])
        if following is None:
            following = Following(target)
            facts = RecordingFacts(following.recording)
        else:
            facts.renew(following.read())
        assert told(facts) == told(RecordingFacts(load(target))), share
    return following, facts


@pytest.mark.parametrize("source", [*REAL, None], ids=lambda path: path.name if path else "chat")
def test_what_is_read_on_is_what_is_read_at_once(source, home, tmp_path):
    folder = source or Path(chat(home).path)
    target = tmp_path / "grown"
    target.mkdir()
    first = len((folder / EVENTS).read_bytes().split(b"\n")[0]) + 1
    size = (folder / EVENTS).stat().st_size
    source = random.Random(7)
    cuts = sorted([(first + 1) / size, *(source.uniform((first + 1) / size, 1.0) for _ in range(25)), 1.0])
    following, facts = grown(folder, target, cuts)
    assert following.sealed()
    assert len(facts.steps) == len(load(folder).steps)
    assert following.read() == set()


def test_two_processes_are_read_on_in_the_order_of_their_steps(tmp_path):
    header = (
        b'{"event":"opened","format":1,"rules":1,"id":"two","name":"","tags":[],"process":"%s","offset":%d}\n'
    )
    call = (
        b'{"event":"called","call":%d,"in":null,"at":"main","kind":"tool","name":"t","n":%d,"args":{},"t":%d}\n'
        b'{"event":"returned","call":%d,"value":%d,"t":%d}\n'
    )
    first, second = tmp_path / EVENTS, tmp_path / "events.1.jsonl"
    first.write_bytes(header % (b"main", 0) + call % (1, 0, 1, 1, 11, 2))
    following = Following(tmp_path)
    facts = RecordingFacts(following.recording)
    second.write_bytes(header % (b"main/process:1", 0) + call % (1, 0, 5, 1, 21, 6))
    assert facts.renew(following.read()) == [2]
    with first.open("ab") as file:
        file.write(call % (2, 1, 3, 2, 12, 4))
    # It was asked before the other process's: that one has another number now.
    assert facts.renew(following.read()) == [2, 3]
    assert [step.output for step in facts] == [11, 12, 21]
    assert told(facts) == told(RecordingFacts(load(tmp_path)))


def test_a_fork_is_read_on_with_the_lines_of_its_parent(home):
    parent = chat(home)
    fork = LocalStore(home).folder("forked")
    lines = Path(parent.path, EVENTS).read_bytes().split(b"\n")
    header = lines[0].replace(parent.id.encode(), b"forked", 1)
    said = b'{"parent":{"id":"%s","step":3,"how":"fork"},' % parent.id.encode()
    events = fork / EVENTS
    writer = Writer(events)
    writer.append(chain.bare(header.replace(b"{", said, 1)))
    following = Following(fork)
    facts = RecordingFacts(following.recording)
    for number in range(2, 9):
        writer.refer(number, lines[number - 1])
        facts.renew(following.read())
    assert told(facts)
    assert told(facts) == told(RecordingFacts(load(fork)))


def test_what_was_rewritten_is_to_be_read_anew(tmp_path):
    target = tmp_path / "copy"
    shutil.copytree(REAL[0], target)
    following = Following(target)
    data = (target / EVENTS).read_bytes()
    (target / EVENTS).write_bytes(data[: len(data) // 2])
    with pytest.raises(Rewritten):
        following.read()
    (target / "other").write_bytes(data)
    (target / "other").replace(target / EVENTS)
    with pytest.raises(Rewritten):
        following.read()


def test_a_damaged_line_is_named_and_a_torn_one_waited_for(tmp_path):
    target = tmp_path / "copy"
    shutil.copytree(REAL[0], target)
    data = (target / EVENTS).read_bytes()
    lines = data.split(b"\n")
    (target / EVENTS).write_bytes(b"\n".join(lines[:4]) + b'\n{"event":"cal')
    following = Following(target)
    assert following.recording.torn == ("the last line was torn (13 bytes) and is left out",)
    with (target / EVENTS).open("ab") as file:
        file.write(b'"nonsense\n')
    with pytest.raises(CorruptRecording, match="line 5: damaged"):
        following.read()
    (target / EVENTS).write_bytes(b"")
    with pytest.raises(NotARecording, match="no header"):
        Following(target)


def test_a_line_may_be_read_before_its_newline_is_written(home, tmp_path):
    folder = Path(chat(home).path)
    target = tmp_path / "grown"
    target.mkdir()
    data = (folder / EVENTS).read_bytes()
    ends = [place for place in range(len(data)) if data[place : place + 1] == b"\n"]
    cuts = [end + more for end in ends[1:] for more in (0, 0, 1)]
    following, facts = grown(folder, target, [cut / len(data) for cut in cuts])
    assert following.sealed()
    assert len(facts.steps) == len(load(folder).steps)
