"""The recorded answers of a call, at their places in the order of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reenact.core.boundary import Answer
from reenact.core.boundary.answer import End, StreamPiece
from reenact.core.boundary.turnstile.replaying_turns import ReplayingTurnstile
from reenact.core.model import codec
from reenact.core.model.event import Cancelled, Failure, Tree, Value
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay.watch import Edit
from reenact.errors import RecordingError


class Answers:
    """Answers from one process's recording.

    Args:
        log: The recorded process.
        turnstile: Releases the places of the recorded order.
        unanswerable: Stops the replay at a call that a recorded flaw leaves without an answer, and returns the
            exception to raise.
    """

    def __init__(
        self,
        log: Log,
        turnstile: ReplayingTurnstile,
        unanswerable: Callable[[CallRecord, str], BaseException],
    ) -> None:
        self._log = log
        self._turnstile = turnstile
        self._unanswerable = unanswerable

    def recorded(self, call: CallRecord) -> Answer:
        """Return the recorded answer. A call that was still in flight is answered after all others."""
        outcome = call.outcome
        last_place = len(self._log.times)
        if outcome is None:
            return Answer(Value(None), last_place, call.number, cut=last_place)
        if outcome["event"] == "cancelled":
            return Answer(Cancelled(), None, call.number)
        if outcome["event"] == "raised":
            return Answer(Failure(self._error(call, outcome["error"])), call.order, call.number)
        pieces = tuple(StreamPiece(order, self._value(call, tree)) for order, _, tree in call.pieces)
        end = self._error(call, call.end) if isinstance(call.end, dict) else call.end
        if call.closing is not None and "value" in call.closing:
            end = End(self._value(call, call.closing["value"]))
        value = Value(self._value(call, outcome["value"]), bool(outcome.get("stream")))
        cut = last_place if end is None and value.stream else None
        return Answer(value, call.order, call.number, pieces, end, call.end_order, cut)

    def body(self, call: CallRecord) -> bytes:
        """Return the recorded bytes of a stream."""
        values = [self._value(call, tree) for _, _, tree in call.pieces]
        return b"".join(value for value in values if isinstance(value, bytes))

    def edited(self, call: CallRecord, edit: Edit) -> Answer:
        """Return an edited answer, at the place of the recorded one in the order."""
        orders = [order for order, _, _ in call.pieces]
        ends = [order for order in (call.order, *orders, call.end_order) if order is not None]
        last = ends[-1] if ends else len(self._log.times)
        if edit.error is not None:
            self._turnstile.abandon(order for order in ends if order != (call.order if ends else None))
            return Answer(Failure(self._error(call, edit.error)), ends[0] if ends else last, call.number)
        value = self._value(call, edit.value)
        if edit.pieces is None:
            self._turnstile.abandon(ends[1:])
            return Answer(Value(value), ends[0] if ends else last, call.number)
        given = [orders[at] if at < len(orders) else (orders or [last])[-1] for at in range(len(edit.pieces))]
        self._turnstile.abandon(orders[len(given) :])
        pieces = tuple(
            StreamPiece(order, self._value(call, tree))
            for order, tree in zip(given, edit.pieces, strict=True)
        )
        return Answer(Value(value, stream=True), call.order, call.number, pieces, "ended", call.end_order)

    def _value(self, call: CallRecord, tree: Tree) -> Any:
        if type(tree) is dict and len(tree) == 1 and type(text := tree.get("$utf8")) is str:
            return text.encode()
        try:
            # A search in the text takes a tenth of the time of a walk through the tree.
            data = codec.dumps(tree)
            if b"$" not in data or b'"$' not in data:
                return codec.loads(data)
            if codec.tagged(data, b"unkept"):
                self._kept(call, tree)
            return self._log.rebuilt(tree) if codec.tagged(data, b"blob") else codec.rebuild(tree)
        except RecordingError as error:
            raise self._unanswerable(call, str(error)) from None

    def _error(self, call: CallRecord, tree: Tree) -> BaseException:
        try:
            return codec.rebuild_error(self._log.filled(tree))
        except RecordingError as error:
            raise self._unanswerable(call, str(error)) from None

    def _kept(self, call: CallRecord, tree: Tree) -> Tree:
        if "error" not in (call.outcome or {}) and (flaw := codec.flaw(tree)) is not None:
            raise self._unanswerable(call, flaw)
        return tree


def answer_of(edit: Edit, place: int) -> Answer:
    """Return an answer without a place in the recorded order: it comes at once.

    A stream's chunks come at `place`, when nothing else is due.
    """
    if edit.error is not None:
        return Answer(Failure(codec.rebuild_error(edit.error)), None)
    value = codec.rebuild(edit.value)
    if edit.pieces is None:
        return Answer(Value(value), None)
    pieces = tuple(StreamPiece(place, codec.rebuild(tree)) for tree in edit.pieces)
    return Answer(Value(value, stream=True), None, None, pieces, "ended")
