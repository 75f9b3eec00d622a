"""The content of the panes, as functions of the recording and the debugger's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from reenact.analysis.views.difference import recorded_and_actual
from reenact.analysis.views.text import count, many, money, one_line, seconds, visible, without_tokens
from reenact.analysis.views.values import literal_or_text, pretty
from reenact.analysis.views.verdict import as_options, lines, word
from reenact.core.messages import Message, cost
from reenact.core.messages.spelling import spelled
from reenact.core.model.event import Tree
from reenact.core.model.plain import plain
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.state import HISTORIES, SnapshotMoment
from reenact.core.query.state import State as Recorded
from reenact.errors import Mismatch
from reenact.run.debugger import answer, debugger_views
from reenact.run.debugger.machine import MachineState, Phase
from reenact.run.debugger.orders import ProgramPlace
from reenact.tui.reader import UnwrappedLine

FOLD = 6_000
"""Characters of one text that are shown while it is folded."""

LONG = 400
"""Characters of an argument of a model call that are shown while it is folded."""

OLDER = 40
"""Most earlier messages that are listed, one on each line."""

MOST = 20
"""Most differences that are shown."""

OUTPUT = 2_000
"""Most lines of output that are shown."""

_ROLES = {"system": "magenta", "user": "blue", "assistant": "green", "tool": "cyan"}


def title(text: str, note: str = "", style: str = "bold") -> UnwrappedLine:
    """Return a heading."""
    return UnwrappedLine(Text.assemble((text, style), (f"  {note}" if note else "", "dim")))


def remark(text: str, style: str = "dim") -> UnwrappedLine:
    """Return a line that is not recorded text."""
    return UnwrappedLine(Text(text, style))


def body(text: str, *, indent: int = 2, style: str = "", whole: bool = False) -> Iterator[UnwrappedLine]:
    """Yield the lines of a recorded text, folded if it is long."""
    text = visible(without_tokens(text))
    shown = text if whole or len(text) <= FOLD else text[:FOLD]
    for part in shown.split("\n"):
        yield UnwrappedLine(Text(part.expandtabs(4), style), indent)
    if len(shown) < len(text):
        yield UnwrappedLine(
            Text(f"… {len(text) - len(shown):,} more characters; + unfolds", "dim italic"), indent
        )


# -- messages ------------------------------------------------------------------------------------------------


def messages(facts: RecordingFacts, number: int, *, whole: bool = False) -> Iterator[UnwrappedLine]:
    """Yield the messages of a model call: new ones marked, older ones shortened."""
    at = debugger_views.seen(facts, number)
    turn = facts.turn(at) if at is not None else None
    if at is None or turn is None:
        yield remark("no model call up to here")
        return
    call = turn.call
    if at != number:
        yield remark(f"as of step {at}, the model call before this step")
    known = len(call.messages) - len(turn.new)
    yield title(call.model or "model", ", ".join(_spent(facts.steps[at - 1])))
    if call.tools:
        yield remark(f"tools: {', '.join(call.tools)}")
    if turn.dropped:
        gone = many(turn.dropped, "earlier message")
        yield remark(f"the history was rewritten: {gone} left out or changed", "bold yellow")
    if known and not whole:
        yield UnwrappedLine(Text(f"{many(known, 'message')} known already; + shows them whole", "dim italic"))
        if known > OLDER:
            yield remark(f"  … {known - OLDER} older")
    for message in call.messages[:known] if whole else call.messages[max(known - OLDER, 0) : known]:
        yield from _message(message, whole=True) if whole else (_brief(message),)
    yield UnwrappedLine(
        Text.assemble(("── new in this call ", "bold yellow"), ("─" * 12, "yellow")), anchor=True
    )
    for message in turn.new:
        yield from _message(message, whole=whole, new=True)
    yield UnwrappedLine(Text.assemble(("── the answer ", "bold"), ("─" * 18, "dim")))
    if call.answer is not None:
        yield from _message(call.answer, whole=whole)
    elif not call.problem:
        yield remark("none was recorded")
    if call.problem:
        yield from body(call.problem, style="red", whole=whole)


def _spent(step: StepFacts) -> Iterator[str]:
    call = step.model_call
    if call is not None and call.usage is not None:
        yield f"{count(call.usage.input)} → {count(call.usage.output)} tokens"
        price = cost(call)
        if price:
            yield money(price)


def _brief(message: Message) -> UnwrappedLine:
    calls = " ".join(spelled(call) for call in message.calls)
    text = one_line(f"{message.text[:400]} {calls}", 160)
    role = (f"{message.role:<9} ", f"dim {_ROLES.get(message.role, '')}")
    return UnwrappedLine(Text.assemble(role, (text, "dim")), cut=True)


def _message(message: Message, *, whole: bool, new: bool = False) -> Iterator[UnwrappedLine]:
    style = _ROLES.get(message.role, "")
    head = Text.assemble(("+ " if new else "  ", "bold yellow"), (message.role, f"bold {style}"))
    if message.name and message.name != "instructions":
        head.append(f" {one_line(message.name, 60)}", style)
    yield UnwrappedLine(head)
    if message.thinking.strip():
        yield from body(message.thinking, indent=4, style="dim italic", whole=whole)
    if message.text.strip():
        text = pretty(message.text) if message.role == "tool" else message.text
        yield from body(text, indent=4, whole=whole)
    for call in message.calls:
        yield from body(f"calls {spelled(call)}", indent=4, style="bold", whole=whole)


# -- the call ------------------------------------------------------------------------------------------------


def call(
    facts: RecordingFacts, number: int, state: MachineState, *, whole: bool = False
) -> Iterator[UnwrappedLine]:
    """Yield a step's arguments and its recorded answer, and the edited one if any."""
    step = facts.steps[number - 1]
    record = step.call
    # Imported runs have no durations.
    took = f", {seconds(record.duration)}" if record.duration else ""
    yield title(f"step {number}  {one_line(record.label)}", f"{record.status}{took}")
    yield remark(one_line(record.address))
    yield title("arguments", style="bold blue")
    if not step.args:
        yield remark("  none")
    for name, value in step.args.items():
        text = literal_or_text(value) if isinstance(value, str) else pretty(value)
        if step.model_call is not None and len(text) > LONG and not whole:
            # Messages have their own pane; here they would hide the answer.
            yield UnwrappedLine(
                Text.assemble((f"{name} ", "bold"), (f"… {len(text):,} characters; + unfolds", "dim italic")),
                2,
            )
        else:
            yield from _named(name, text, whole=whole)
    edit = state.edits.get(number)
    if edit is not None:
        yield title("edited answer", "in place of the recorded one; x restores it", "bold yellow")
        yield from body(answer.draft(edit).text, whole=whole)
    pieces = f"a stream of {many(len(record.pieces), 'chunk')}" if record.pieces else ""
    yield title("recorded answer", pieces, "bold green" if not step.error else "bold red")
    if step.error:
        yield from body(step.error, style="red", whole=whole)
        yield from _attributes(record.outcome.get("error") if record.outcome is not None else None)
    elif record.outcome is None:
        yield remark("  none: the recording stops before it")
    if record.outcome is not None and "value" in record.outcome:
        yield from body(pretty(step.output), whole=whole)


def _named(name: str, text: str, *, whole: bool) -> Iterator[UnwrappedLine]:
    if "\n" not in text and len(text) <= 200:
        yield UnwrappedLine(Text.assemble((f"{name} = ", "bold"), visible(text)), 2)
        return
    yield UnwrappedLine(Text(f"{name} =", "bold"), 2)
    yield from body(text, indent=4, whole=whole)


def _attributes(tree: Any) -> Iterator[UnwrappedLine]:
    attributes = tree.get("attributes") if isinstance(tree, dict) else None
    for name, value in (attributes or {}).items():
        yield UnwrappedLine(Text(f"{one_line(name)} = {one_line(pretty(plain(value)), 300)}", "dim"), 4)


# -- the program ---------------------------------------------------------------------------------------------


def actual(
    facts: RecordingFacts, state: MachineState, *, wide: bool, whole: bool = False
) -> Iterator[UnwrappedLine]:
    """Yield the recorded and the actual question where the program is stopped."""
    if state.divergence is not None:
        found = state.divergence
        where = f"step {found.step}" if found.step is not None else ""
        yield title(f"{found.kind.value} {where}", one_line(found.address), "bold red")
        for text in (found.detail, as_options(found.hint)):
            if text:
                yield UnwrappedLine(Text(one_line(text)))
        yield from _mismatches(found.mismatches, wide=wide)
        if state.phase is Phase.DEPARTED:
            yield remark("f goes on live from here")
    elif state.phase in (Phase.STOPPED, Phase.DEPARTED) and state.at.extra:
        yield title(one_line(state.actual.label), "the recording has no such question", "bold yellow")
    elif state.phase in (Phase.STOPPED, Phase.DEPARTED) and state.at.step:
        differing = debugger_views.compared(facts.steps[state.at.step - 1].step, state.actual)
        if differing:
            yield title("differs, and is ignored", f"step {state.at.step}", "bold yellow")
            yield from _mismatches(tuple(differing), wide=wide)
        else:
            yield title("as recorded", f"step {state.at.step}", "bold green")
    elif state.phase is Phase.READING:
        yield remark("no program is running: only the recording is shown")
        return
    if state.verdict is not None:
        yield title(word(state.verdict), style="bold green" if state.verdict.faithful else "bold red")
        for text in lines(state.verdict):
            yield UnwrappedLine(Text(visible(text)), 2)
    if state.actual.label:
        yield title("asked now", one_line(state.actual.label), "bold blue")
        for name, value in state.actual.args.items():
            yield from _named(name, pretty(plain(value)), whole=whole)
    elif state.verdict is None:
        yield remark("the program is not stopped at a question")


def _mismatches(found: tuple[Mismatch, ...], *, wide: bool) -> Iterator[UnwrappedLine]:
    if found and wide:
        yield UnwrappedLine(Text("recorded", "bold dim"), 2, Text("actual", "bold dim"))
    for mismatch in found:
        old, new = recorded_and_actual(mismatch)
        yield UnwrappedLine(Text(mismatch.path, "bold"))
        if wide:
            yield UnwrappedLine(old, 2, new)
        else:
            yield UnwrappedLine(Text.assemble(("recorded ", "dim"), old), 2)
            yield UnwrappedLine(Text.assemble(("actual   ", "dim"), new), 2)


def tracked(
    facts: RecordingFacts,
    number: int,
    state: MachineState,
    before: Mapping[str, Tree],
    *,
    whole: bool = False,
) -> Iterator[UnwrappedLine]:
    """Yield the tracked state at a step, and its changes since `before`.

    The values are the program's current ones if it is stopped there, else the recorded ones.
    """
    recorded = facts.recording.state(number)
    now = state.actual.state if state.at == ProgramPlace(number) else {}
    if not now and not recorded:
        yield remark("no state is tracked here; reenact.track('memory', memory) in the program declares it")
        return
    changes = debugger_views.changed(before, now) if before and now else []
    if changes:
        yield title("changed since the last stop", style="bold yellow")
        yield from _mismatches(tuple(changes[:MOST]), wide=False)
        if len(changes) > MOST:
            yield remark(f"  and {len(changes) - MOST} more")
    for name in dict.fromkeys((*now, *recorded)):
        yield from _tracked(name, now, recorded, whole=whole)


def _tracked(
    name: str, now: Mapping[str, Tree], recorded: Recorded, *, whole: bool
) -> Iterator[UnwrappedLine]:
    """Yield a name's current value, and its differences from the recorded one."""
    taken = recorded.of(name) if name in recorded else None
    if name not in now:
        yield title(one_line(name), _as_of(taken) if taken is not None else "", "bold blue")
        tree = recorded.tree(name)
        if name.startswith(HISTORIES) and not whole:
            yield remark(f"  {many(len(tree), 'message')}: see Messages; + unfolds")
        else:
            yield from body(pretty(plain(tree)), whole=whole)
        return
    yield title(one_line(name), "as it is now", "bold blue")
    yield from body(pretty(plain(now[name])), whole=whole)
    if taken is not None and taken.exact:
        differing = debugger_views.changed({name: plain(recorded.tree(name))}, {name: plain(now[name])})
        if differing:
            yield title("different from the recording", style="bold red")
            yield from _mismatches(tuple(differing[:MOST]), wide=False)


def _as_of(taken: SnapshotMoment) -> str:
    if taken.exact:
        return "as recorded"
    when = f"as of step {taken.step}" if taken.step is not None else "as of the end"
    return f"recorded {when}; it may have changed since"


def output(text: str, state: MachineState) -> Iterator[UnwrappedLine]:
    """Yield the program's output."""
    if not text:
        reading = state.phase is Phase.READING
        yield remark("no program is running: there is no output" if reading else "no output so far")
        return
    lines = text.split("\n")
    if len(lines) > OUTPUT:
        yield remark(f"… {len(lines) - OUTPUT:,} earlier lines")
    for line in lines[-OUTPUT:]:
        # A carriage return overwrites the line, as on a terminal.
        shown = line.rstrip("\r").rpartition("\r")[2]
        yield UnwrappedLine(Text.from_ansi(shown) if "\x1b" in shown else Text(visible(shown)))


def stack(facts: RecordingFacts, state: MachineState, number: int) -> Iterator[UnwrappedLine]:
    """Yield the program's frames, and the calls that contain the step."""
    if state.actual.stack:
        yield title("the program's own frames", "innermost last; ! opens pdb there")
        for frame in state.actual.stack:
            where, _, function = frame.rpartition(" in ")
            yield UnwrappedLine(
                Text(one_line(where or function)).append(
                    f"  {one_line(function)}" if where else "", "bold cyan"
                ),
                2,
            )
    else:
        yield remark("the program is not stopped at a question: there are no frames to show")
    yield title(f"step {number} is inside of")
    chain, at = [], facts.within(facts.steps[number - 1])
    while at is not None:
        chain.append(at)
        at = facts.within(facts.steps[at - 1])
    for outer in reversed(chain):
        yield UnwrappedLine(
            Text.assemble((f"step {outer}  ", "dim"), one_line(facts.steps[outer - 1].call.label)), 2
        )
    if not chain:
        yield remark("  no other step")
    yield remark(f"scope {one_line(facts.steps[number - 1].call.scope)}")
