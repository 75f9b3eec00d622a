"""A recording as a conversation, in pages of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Literal

import orjson

from reenact.analysis.views import browsed, step_pictures
from reenact.analysis.views.base import Ended, Json, View
from reenact.analysis.views.listing import TokensView
from reenact.analysis.views.messages import CallView, call_view
from reenact.analysis.views.steps import tokens_view
from reenact.analysis.views.values import pretty
from reenact.core.dataclass import dataclass
from reenact.core.messages import Message
from reenact.core.model.plain import compact, parsed
from reenact.core.query.conversation import Turn
from reenact.core.query.facts import RecordingFacts, StepFacts

TEXT = 20_000
"""Characters of a text in a conversation; the step has it whole."""


class ItemView(View):
    """A message, an answer or an effect of a conversation.

    `part` is `asked` (a message that is new in a model call), `answer` (the model's answer), or `done` (a tool or
    another effect, with its arguments and its result as `text`). `more` is how many characters of a very long text
    are left out; the step has them. `pictures` are places among the step's pictures, for its route of a picture.
    `dropped` is how many earlier messages the program left out of its history.
    """

    step: int
    kind: str
    depth: int
    process: str
    part: Literal["asked", "answer", "done"]
    role: str
    text: str
    more: int = 0
    thinking: str = ""
    name: str = ""
    calls: tuple[CallView, ...] = ()
    args: dict[str, Json] | None = None
    pictures: tuple[int, ...] = ()
    model: str | None = None
    dropped: int = 0
    error: str | None = None
    status: Ended | None = None
    duration: float | None = None
    tokens: TokensView | None = None
    cost: float | None = None
    edited: bool = False
    policy: str = ""


class ConversationView(View):
    """The items of a page of steps; `total` is how many steps there are."""

    items: tuple[ItemView, ...]
    total: int


@dataclass(slots=True)
class Talk:
    """A recording as a conversation, read on demand: items by step.

    A tool's result stands at the tool's call; the message that hands it to the model is not repeated.
    """

    facts: RecordingFacts
    _items: dict[int, list[ItemView]] = field(default_factory=dict)
    _results: dict[tuple[str, int], int] = field(default_factory=dict)
    """The first step with a tool's result, by the tool's name and the result's key."""
    _searched: int = 0
    """The number of steps that were searched for results."""

    def page(self, first: int, last: int, depths: Sequence[int]) -> ConversationView:
        """Return the items of the steps from `first` to `last`.

        Args:
            first: The number of the first step, from 1.
            last: The number of the last step; it may be greater than there are steps.
            depths: The number of steps that each step is inside of.
        """
        numbers = range(first, min(last, len(self.facts.steps)) + 1)
        self._search(numbers.stop - 1)
        for number in numbers:
            if number not in self._items:
                self._items[number] = list(self._of(self.facts.steps[number - 1], depths[number - 1]))
        items = [item for number in numbers for item in self._items[number]]
        return ConversationView(items=tuple(items), total=len(self.facts.steps))

    def forget(self, first: int) -> None:
        """Forget the items from that step on, to read them again."""
        self._items = {number: items for number, items in self._items.items() if number < first}
        if first <= self._searched:
            self._searched = first - 1
            self._results = {key: number for key, number in self._results.items() if number < first}

    def _search(self, last: int) -> None:
        """Find the results of the tools up to that step."""
        for step in self.facts.steps[self._searched : last]:
            if step.call.kind == "tool" and step.turn is None:
                self._results.setdefault((step.call.name, _same(step.output)), step.step.number)
        self._searched = max(self._searched, last)

    def _given(self, message: Message, step: StepFacts) -> bool:
        """Return True for a message with a result that an earlier step shows."""
        if message.role != "tool":
            return False
        number = step.step.number
        return self._results.get((message.name, _same(message.text)), number) < number

    def _of(self, step: StepFacts, depth: int) -> Iterator[ItemView]:
        turn, call = step.turn, step.call
        about: dict[str, Any] = {
            "step": step.step.number,
            "kind": call.kind,
            "depth": depth,
            "process": step.step.log.process,
        }
        if turn is not None:
            yield from self._of_turn(step, turn, about)
            return
        if self._carries(step):
            return
        before, after = step_pictures.beside(self.facts, step)
        came = browsed.sentences(step.output) if call.kind in browsed.KINDS else ""
        if not came and step.output is not None:
            came = pretty(step.output)
        text, more = _folded("" if call.kind == "http" else came)
        yield ItemView(
            **about,
            part="done",
            role="tool" if call.kind == "tool" else "effect",
            name=call.name,
            args=None if call.kind == "http" else _folded_args(step.args),
            text=text,
            more=more,
            **_pictured([*before, *after]),
            error=step.error or None,
            **_ended(step),
        )

    def _of_turn(self, step: StepFacts, turn: Turn, about: dict[str, Any]) -> Iterator[ItemView]:
        before, after = step_pictures.beside(self.facts, step)
        holder = step_pictures.holder([message.text for message in turn.new])
        for place, message in enumerate(turn.new):
            held = _pictured(before if place == holder else [])
            if held or not self._given(message, step):
                yield ItemView(**about, part="asked", **_said(message), **held, dropped=0)
        answer = turn.call.answer or Message("assistant")
        yield ItemView(
            **about,
            part="answer",
            **_said(answer),
            **_pictured(after),
            dropped=turn.dropped,
            model=turn.call.model or None,
            error=turn.call.problem or step.error or None,
            **_ended(step),
        )

    def _carries(self, step: StepFacts) -> bool:
        """Return True for the exchange that carries a model call, which is shown already."""
        within = self.facts.within(step)
        return (
            step.call.kind == "http"
            and within is not None
            and self.facts.steps[within - 1].call.kind == "model"
        )


def _pictured(places: Sequence[int]) -> dict[str, Any]:
    return {"pictures": tuple(places)} if places else {}


def _ended(step: StepFacts) -> dict[str, Any]:
    return {
        "status": step.get("ended"),
        "duration": step.call.duration,
        "tokens": tokens_view(step),
        "cost": step.get("cost"),
        "edited": step.call.edited,
        "policy": step.call.policy,
    }


def _said(message: Message) -> dict[str, Any]:
    text, more = _folded(message.text)
    found: dict[str, Any] = {"role": message.role, "text": text, "more": more}
    if message.calls:
        found["calls"] = [call_view(call) for call in message.calls]
    return found | {name: value for name in ("name", "thinking") if (value := getattr(message, name))}


def _folded(text: str) -> tuple[str, int]:
    """Return a text, cut if it is very long, and the number of omitted characters."""
    return (text, 0) if len(text) <= TEXT else (text[:TEXT], len(text) - TEXT)


def _folded_args(args: dict[str, Any]) -> dict[str, Any]:
    """Return arguments, of very long ones the beginning of their text."""
    return {
        name: value if len(text := compact(value)) <= TEXT else f"{text[:TEXT]}…"
        for name, value in args.items()
    }


def _same(value: Any) -> int:
    """Return a key of a tool's result, regardless of spaces, key order, and JSON or text."""
    inside = parsed(value)
    if isinstance(inside, (dict, list)):
        return hash(orjson.dumps(inside, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str))
    return hash("".join(compact(value).split()).strip('"'))
