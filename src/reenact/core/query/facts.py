"""The facts that filters test in recordings and steps, read lazily from a recording."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any

from reenact.core import messages as reading
from reenact.core.messages import ModelCall
from reenact.core.model.log import CallRecord
from reenact.core.model.plain import compact, error_line, parsed, plain
from reenact.core.patterns import lazy
from reenact.core.query.conversation import Conversation, Turn
from reenact.core.query.filter import Filter
from reenact.core.query.outline import member
from reenact.core.query.recorded_run import RecordedRun, Step

PATH = lazy(r"[^.\[\]]+")
"""A key of a path, or a place in a list."""


def lookup(value: Any, path: str) -> Any:
    """Return the value at a dotted path (`body.messages[2].content`). Parses JSON texts."""
    for key in PATH.findall(path):
        value = member(parsed(value), key)
    return value


def joined(args: dict[str, Any], output: Any, error: str) -> str:
    """Return the text of an effect that is no model call: arguments, output and error."""
    parts = [compact(value) for value in args.values()]
    parts += [compact(output)] if output is not None else []
    return "\n".join([*parts, error] if error else parts)


def steps_where(recording: RecordedRun, filter: str | Filter) -> tuple[int, ...]:
    """Return the numbers of a recording's steps that match a filter.

        steps_where(reenact.load("last"), "tool:cancel_order and error")   # (7, 12)

    To ask a recording more than once, keep its `RecordingFacts`: it remembers what it has read.

    Args:
        recording: A loaded recording.
        filter: In the language of docs/filters.md, or parsed already.

    Raises:
        FilterError: It does not parse; the text points at the column.
    """
    return RecordingFacts(recording).where(filter)


class StepFacts:
    """The facts of one step. `turn` and `text` count a chat's messages once, where they are new."""

    def __init__(self, step: Step, recording: RecordingFacts) -> None:
        self.step = step
        self.recording = recording
        self._fields: dict[str, Any] = {}

    def get(self, field: str) -> Any:
        """Return the value of a filter's field, or None."""
        if field not in self._fields:
            self._fields[field] = self._look(field)
        return self._fields[field]

    def _look(self, field: str) -> Any:
        own = getattr(self, f"_{field}", None)
        if own is not None:
            return own()
        root = PATH.findall(field)[0]
        path = field[len(root) :]
        if root == "args":
            return lookup(self.args, path) if path else compact(self.args)
        if root == "output":
            return lookup(self.output, path) if path or self.output is None else compact(self.output)
        return self.recording.get(field)

    @property
    def call(self) -> CallRecord:
        """The record of the step's call."""
        return self.step.call

    @property
    def args(self) -> dict[str, Any]:
        """The arguments, plain. Not cached: those of a long chat would fill the memory."""
        return reading.arguments(self.step.log, self.call)

    def parsed(self, text: Any) -> Any:
        """Return the value of a JSON text among the arguments. Do not change it: it is shared."""
        return reading.request(self.step.log, text)

    @cached_property
    def output(self) -> Any:
        """The output as plain data: a stream as its pieces, joined if they are text."""
        outcome = self.call.outcome
        if outcome is None or "value" not in outcome:
            return None
        value = plain(outcome["value"])
        if not self.call.pieces:
            return value
        pieces = [plain(self.step.log.filled(tree)) for _, _, tree in self.call.pieces]
        joined = "".join(pieces) if all(isinstance(piece, str) for piece in pieces) else pieces
        return {**value, "body": parsed(joined)} if isinstance(value, dict) else joined

    @cached_property
    def error(self) -> str:
        """The error's last line, or an empty text.

        A failed browser action has its error in its output.
        """
        outcome = self.call.outcome
        if (
            self.call.kind == "browser"
            and outcome is not None
            and isinstance(given := outcome.get("value"), dict)
        ):
            return str(given.get("message", "")) if given.get("error") is not None else ""
        tree = outcome.get("error") if outcome is not None else None
        return error_line(tree or self.call.end) if tree or isinstance(self.call.end, dict) else ""

    @cached_property
    def model_call(self) -> ModelCall | None:
        """The step as a model call; None also for an HTTP exchange that carries one."""
        within = self.step.log.calls.get(self.call.within) if self.call.within is not None else None
        if within is not None and within.kind == "model":
            return None
        return reading.read(self.step.log, self.call)

    @property
    def turn(self) -> Turn | None:
        """The model call with its new messages, or None."""
        return self.recording.turn(self.step.number)

    @cached_property
    def text(self) -> str:
        """The whole text of the step, each message once."""
        turn = self.turn
        if turn is None:
            return joined(self.args, self.output, self.error)
        messages = [*turn.new, *([turn.call.answer] if turn.call.answer is not None else [])]
        parts = [text for message in messages for text in (message.thinking, message.text) if text]
        asked = turn.call.answer.calls if turn.call.answer is not None else ()
        parts += [f"{call.name}({compact(call.args)})" for call in asked]
        return "\n".join(part for part in (*parts, turn.call.problem, self.error) if part)

    # -- fields, by the names of grammar.FIELDS --------------------------------------------------------------

    def _step(self) -> int:
        return self.step.number

    def _kind(self) -> str:
        return self.call.kind

    def _label(self) -> list[str]:
        # `model:gpt-4o` means the model, through any library.
        call = self.model_call
        return [self.call.label] if call is None else [self.call.label, f"model:{call.model}"]

    def _ended(self) -> str:
        # To the program a failed browser action is an answer; to a reader it is an error.
        return "error" if self.call.kind == "browser" and self.error else self.call.status

    def _model(self) -> str | None:
        call = self.model_call
        return None if call is None else call.model or self.call.name

    def _calls(self) -> list[str]:
        call = self.model_call
        return (
            [asked.name for asked in call.answer.calls]
            if call is not None and call.answer is not None
            else []
        )

    def _tokens(self) -> int | None:
        return self._count("total")

    def _input_tokens(self) -> int | None:
        return self._count("input")

    def _output_tokens(self) -> int | None:
        return self._count("output")

    def _count(self, which: str) -> int | None:
        call = self.model_call
        return None if call is None or call.usage is None else int(getattr(call.usage, which))

    def _cost(self) -> float | None:
        return None if self.model_call is None else reading.cost(self.model_call)

    def _duration(self) -> float | None:
        return self.call.duration

    def _text(self) -> str:
        return self.text

    def _error(self) -> str | None:
        return self.error or None

    def _scope(self) -> str:
        return self.call.scope


class RecordingFacts:
    """A recording, for a filter, and its steps."""

    def __init__(self, recording: RecordedRun) -> None:
        self.recording = recording
        self.steps = [StepFacts(step, self) for step in recording]
        self._conversation = Conversation()
        self._turns: list[Turn | None] = []
        self._marks: list[tuple[int, Any]] = []
        self._numbers = {(id(step.log), step.call.number): step.number for step in recording}

    def __iter__(self) -> Iterator[StepFacts]:
        return iter(self.steps)

    def get(self, field: str) -> Any:
        """Return the value of a field of the recording, or None."""
        recording = self.recording
        if field == "id":
            return recording.id
        if field == "name":
            return recording.name
        if field == "tag":
            return list(dict.fromkeys((*recording.tags, *recording.labels.words)))
        if field == "note":
            return recording.labels.note
        return recording.status if field == "status" else None

    def where(self, filter: str | Filter) -> tuple[int, ...]:
        """Return the numbers of the steps that match a filter, each taken by itself.

        Conditions on the recording (`tag:staging`) hold for all of its steps or for none.

        Args:
            filter: In the language of docs/filters.md, or parsed already.

        Raises:
            FilterError: It does not parse; the text points at the column.
        """
        wanted = filter if isinstance(filter, Filter) else Filter(filter)
        if not wanted.head(self):
            return ()
        return tuple(step.step.number for step in self.steps if wanted.holds(step))

    def renew(self, changed: Collection[tuple[int, int]]) -> list[int]:
        """Read the recording's new calls; keep the facts of all other steps.

        Args:
            changed: The calls that are new or have changed: `id` of their log, and their number in it.

        Returns:
            The numbers of the steps that are new, have changed, or have another number now.
        """
        self.recording.renew()
        steps, known = self.recording.steps, self.steps
        cut = len(known)
        if len(self.recording.logs) > 1:
            cut = next((place for place, old in enumerate(known) if steps[place].call is not old.call), cut)
        found = {
            number for key in changed if (number := self._numbers.get(key)) is not None and number <= cut
        }
        for number in found:
            known[number - 1] = StepFacts(steps[number - 1], self)
        known[cut:] = [StepFacts(step, self) for step in steps[cut:]]
        for step in steps[cut:]:
            self._numbers[id(step.log), step.call.number] = step.number
        said = (number for number in found if reading.readable(known[number - 1].call.kind))
        self._forget_turns(min([cut, *(number - 1 for number in said)]))
        return sorted({*found, *range(cut + 1, len(steps) + 1)})

    def _forget_turns(self, count: int) -> None:
        """Forget the turns after the first `count`, and restore the conversations to that point."""
        if count >= len(self._turns):
            return
        while self._marks and self._marks[-1][0] > count:
            self._marks.pop()
        place, mark = self._marks.pop() if self._marks else (0, [])
        self._conversation.back(mark)
        del self._turns[place:]

    def within(self, facts: StepFacts) -> int | None:
        """Return the number of the step that encloses a step, or None."""
        return (
            self._numbers.get((id(facts.step.log), facts.call.within))
            if facts.call.within is not None
            else None
        )

    def turn(self, number: int) -> Turn | None:
        """Return the turn of a step. Reads all earlier calls, to find its new messages."""
        while len(self._turns) < number:
            step = self.steps[len(self._turns)]
            call = step.model_call
            if step.call.pending and reading.readable(step.call.kind):
                # Its answer may still come; until then, later calls are read without it.
                self._marks.append((len(self._turns), self._conversation.mark()))
            self._turns.append(None if call is None else self._conversation.turn(call))
        return self._turns[number - 1]
