"""Print a recording as a conversation: new messages, answers, and the steps in between."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from rich.console import Console
from rich.text import Text

from reenact.analysis.views import browsed
from reenact.analysis.views.step_pictures import given, in_question
from reenact.analysis.views.steps import IMPORTED, commands_in
from reenact.analysis.views.text import (
    count,
    many,
    money,
    numbers,
    one_line,
    seconds,
    size,
    visible,
    without_tokens,
)
from reenact.analysis.views.values import literal_or_text, pretty
from reenact.core import messages as reading
from reenact.core.dataclass import dataclass
from reenact.core.messages import Message
from reenact.core.messages.shell import ShellCommand
from reenact.core.messages.spelling import arguments, spelled
from reenact.core.model.plain import compact, error_line
from reenact.core.query.facts import RecordingFacts, StepFacts

LINES = 12
LETTERS = 1200

_COLOURS = {"system": "magenta", "user": "blue", "assistant": "green", "tool": "cyan", "error": "red"}
_LABEL = 10


@dataclass
class TextPage:
    """Writes indented text, wrapped on a terminal and unwrapped in a pipe.

    Args:
        console: The console to write to.
        full: True to show all texts in full.
        hint: The command that shows a folded text in full.
    """

    console: Console
    full: bool = False
    hint: str = ""

    def line(self, text: Text, indent: int = 0, hang: int = 0, before: Text | None = None) -> None:
        """Write one line, wrapped on a narrow terminal.

        Continuation lines are indented by `hang` more. `before` is not wrapped.
        """
        if not self.console.is_terminal:
            # Without colours and wrapping, rich is not needed; it would take longer than reading the recording.
            self.console.file.write(f"{' ' * indent}{before.plain if before else ''}{text.plain}\n")
            return
        first = Text(" " * indent) + (before or Text())
        width = max(self.console.width - indent - hang, 20)
        for part in text.wrap(self.console, width) or [Text()]:
            part.rstrip()
            self.console.print(first + part)
            first = Text(" " * (indent + hang))

    def block(self, label: str, body: str, indent: int, style: str = "") -> None:
        """Write a labelled text, folded if it is long."""
        shown, hidden = self._folded(visible(without_tokens(body)))
        head = Text(label.ljust(_LABEL) + " ", _COLOURS.get(label.split(" ", maxsplit=1)[0], "dim"))
        if head.cell_len > _LABEL + 1:
            self.line(head, indent)
            head = Text(" " * (_LABEL + 1))
        for line in shown.split("\n"):
            self.line(Text(line, style), indent, _LABEL + 1, head)
            head = Text(" " * (_LABEL + 1))
        if hidden:
            self.line(Text(hidden, "dim italic"), indent, _LABEL + 1, head)

    def _folded(self, body: str) -> tuple[str, str]:
        body = body.strip("\n")
        if self.full or (len(body) <= LETTERS and body.count("\n") < LINES):
            return body, ""
        lines = body[:LETTERS].split("\n")[: LINES - 1]
        kept = "\n".join(lines).rstrip()
        left = len(body) - len(kept)
        more = body[len(kept) :].strip("\n").count("\n")
        which = f"{more + 1:,} more lines, " if more else ""
        return kept, f"… {which}{left:,} more characters{self.hint}"


def tell(page: TextPage, facts: RecordingFacts, chosen: Container[int], name: str) -> None:
    """Write steps; steps inside of another one come between its request and its answer."""
    inside: dict[tuple[int, int | None], list[StepFacts]] = {}
    shown: dict[str, list[str]] = {}
    for step in facts:
        if step.step.number in chosen:
            within = step.call.within if facts.within(step) in chosen else None
            inside.setdefault((id(step.step.log) if within is not None else 0, within), []).append(step)
            if step.call.kind == "tool":
                shown.setdefault(step.call.name, []).append(_same(_result(step)))
    waiting = [(step, 0, False) for step in reversed(inside.get((0, None), []))]
    while waiting:
        step, depth, over = waiting.pop()
        page.hint = f" (reenact show {name} {step.step.number})"
        indent = min(depth, 8) * 3
        if over:
            _answer(page, step, indent + 5)
            continue
        page.line(heading(step), indent, 5)
        _question(page, step, indent + 5, shown)
        waiting.append((step, depth, True))
        waiting += [
            (inner, depth + 1, False)
            for inner in reversed(inside.get((id(step.step.log), step.call.number), []))
        ]


def _question(page: TextPage, step: StepFacts, indent: int, shown: dict[str, list[str]]) -> None:
    turn = step.turn
    if turn is None:
        if step.call.kind == "websocket":
            if "message" in step.args:
                page.block("sent", pretty(step.parsed(step.args["message"])), indent)
        elif ran := commands_in(step):
            _ran(page, ran[""], indent)
        elif step.args and step.call.kind != "http":
            page.block("asked", arguments(step.args), indent)
        return
    if turn.dropped:
        gone = many(turn.dropped, "earlier message")
        page.line(Text(f"the history was rewritten: {gone} left out or changed", "yellow"), indent)
    ran = commands_in(step)
    for message in turn.new:
        # A tool's result was shown just above, as the tool's own step.
        if message.role != "tool" or _same(message.text) not in shown.get(message.name, []):
            if message.role == "tool" and message.id in ran:
                _ran(page, ran[message.id], indent)
            tell_message(page, message, indent)


def _ran(page: TextPage, ran: ShellCommand, indent: int) -> None:
    """Write a command that a tool has run, with its exit code if known."""
    code = "" if ran.exit is None else f" · exit {ran.exit}"
    page.block("ran", f"{ran.command}{code}", indent)


def _answer(page: TextPage, step: StepFacts, indent: int) -> None:
    turn, call = step.turn, step.call
    if turn is not None:
        if turn.call.answer is not None:
            tell_message(page, turn.call.answer, indent)
        if turn.call.problem:
            page.block("error", turn.call.problem, indent, "red")
    elif call.kind == "websocket":
        if call.name.startswith("receive ") and step.output is not None:
            page.block("came", pretty(step.parsed(step.output)), indent)
    elif call.kind in browsed.KINDS and (told := browsed.told(step.output)):
        for label, text in told:
            page.block(label, text, indent)
    elif call.kind != "http" and call.outcome is not None and "value" in call.outcome:
        page.block("gave", pretty(step.output), indent)
    if step.error:
        page.block("error", step.error, indent, "red")


def heading(step: StepFacts) -> Text:
    """Return the first line of a step: number, label, duration, and error."""
    call, turn = step.call, step.turn
    text = Text().append(f"{step.step.number:>3}  ", "bold yellow")
    if turn is None or call.kind != "http":
        text.append(one_line(call.label, 100), "bold")
    else:
        text.append(f"model:{one_line(turn.call.model) or '?'}", "bold").append(
            f" · {one_line(call.name, 90)}", "dim"
        )
    parts = [f"in {place}"] if (place := nodes(call.scope)) else []
    if turn is not None and call.kind != "http" and turn.call.model and turn.call.model != call.name:
        parts.append(one_line(turn.call.model))
    if call.kind == "http" and isinstance(step_head(step), dict) and "status" in step_head(step):
        parts.append(str(step_head(step)["status"]))
    if call.duration:
        parts.append(seconds(call.duration))
    if turn is not None:
        parts += spent(turn.call)
    if len(call.pieces) and call.kind != "http":
        parts.append(many(len(call.pieces), "chunk"))
    if (
        call.kind == "http"
        and turn is None
        and (length := sum(len(compact(tree)) for _, _, tree in call.pieces))
    ):
        parts.append(size(length))
    text.append("".join(f" · {part}" for part in parts), "dim")
    if call.edited:
        text.append(" · edited answer", "bold magenta")
    if call.policy:
        text.append(f" · {call.policy} answer", "bold magenta")
    if call.kind == "browser" and call.status == "ok" and step.error:
        text.append(" · failed", "bold red")
    if call.status != "ok":
        text.append(f" · {'no answer recorded' if call.status == 'in flight' else call.status}", "bold red")
    return text


def nodes(scope: str) -> str:
    """Return the graph's nodes of a scope, outermost first: `research > search`."""
    found = [part.partition(":")[2] for part in scope.split("/") if part.startswith("node:")]
    return one_line(" > ".join(found), 60)


def step_head(step: StepFacts) -> Any:
    """Return the value that a streamed effect gave before its chunks."""
    outcome = step.call.outcome
    return outcome.get("value") if outcome is not None else None


def spent(call: reading.ModelCall) -> list[str]:
    """Return tokens and price of a model call."""
    if call.usage is None:
        return []
    cached = f" ({count(call.usage.cached)} cached)" if call.usage.cached else ""
    found = [f"{count(call.usage.input)}{cached} → {count(call.usage.output)} tokens"]
    cost = reading.cost(call)
    return [*found, money(cost)] if cost else found


def tell_message(page: TextPage, message: Message, indent: int) -> None:
    """Write one message: role, text, and tool calls."""
    if message.thinking.strip():
        page.block("thinking", message.thinking, indent, "dim italic")
    label = (
        message.role
        if not message.name or message.name == "instructions"
        else f"{message.role} {one_line(message.name, 40)}"
    )
    if message.text.strip() or not (message.calls or message.thinking):
        page.block(label, message.text, indent)
    for call in message.calls:
        page.block("calls", spelled(call), indent)


def _same(value: Any) -> str:
    """Return a tool's result in a form that ignores a framework's changes: spaces, JSON or text."""
    return "".join(compact(value).split()).strip('"')


def _result(step: StepFacts) -> Any:
    """Return a tool's result in the form of the next model call."""
    if step.error:
        return step.error.partition(IMPORTED)[2] or step.error
    output = step.output
    return output["output"] if isinstance(output, dict) and {*output} == {"output", "exit_code"} else output


# -- one step whole ------------------------------------------------------------------------------------------


def tell_step(page: TextPage, facts: RecordingFacts, number: int) -> None:
    """Write one step with all recorded data."""
    step = facts.steps[number - 1]
    call = step.call
    page.full = True
    page.line(heading(step), 0, 5)
    inside = [other.step.number for other in facts if facts.within(other) == number]
    within = facts.within(step)
    about = {
        "address": call.address,
        "ended": call.status if not isinstance(call.end, str) else f"{call.status}, stream {call.end}",
        "began": f"+{call.began:.6f} s"
        + (f", took {call.duration:.6f} s" if call.duration is not None else ""),
        "within": f"step {within}" if within else "",
        "inside": f"step {numbers(tuple(inside))}" if inside else "",
    }
    for label, text in about.items():
        if text:
            page.block(label, text, 5)
    if step.model_call is not None:
        _whole_call(page, step)
    else:
        for name, value in step.args.items():
            page.block(
                "args",
                f"{name} = {pretty(value) if not isinstance(value, str) else literal_or_text(value)}",
                5,
            )
    if call.outcome is not None and "value" in call.outcome and step.model_call is None:
        page.block("gave", pretty(step.output), 5)
    for picture in [*in_question(step), *given(step)]:
        page.block("picture", f"{picture} (--pictures FOLDER writes it)", 5)
    if step.error:
        page.block("error", step.error, 5, "red")
        _details(page, call.outcome.get("error") if call.outcome is not None else None)
    _chunks(page, step)


def _whole_call(page: TextPage, step: StepFacts) -> None:
    call = step.model_call
    assert call is not None
    if call.tools:
        page.block("tools", ", ".join(call.tools), 5)
    turn = step.turn
    known = turn.known if turn is not None else 0
    for place, message in enumerate(call.messages):
        if place == known and place:
            page.line(Text("-- new in this call --", "dim"), 5)
        tell_message(page, message, 5)
    page.line(Text("-- the answer --", "dim"), 5)
    if call.answer is not None:
        tell_message(page, call.answer, 5)
    elif not call.problem:
        page.line(Text("none was recorded", "dim"), 5)
    if call.problem:
        page.block("error", call.problem, 5, "red")


def _details(page: TextPage, tree: Any) -> None:
    attributes = tree.get("attributes") if isinstance(tree, dict) else None
    for name, value in (attributes or {}).items():
        page.block(
            "",
            f"{name} = {error_line(value) if isinstance(value, dict) and 'type' in value else pretty(value)}",
            5,
        )


def _chunks(page: TextPage, step: StepFacts) -> None:
    pieces = step.call.pieces
    if not pieces:
        return
    first, last = pieces[0][1] - step.call.began, pieces[-1][1] - step.call.began
    page.block(
        "chunks",
        f"{len(pieces)}, the first after {seconds(first)}, the last after {seconds(last)}",
        5,
    )
