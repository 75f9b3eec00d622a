"""The conformance suite of handlers behind the boundary."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

from reenact.core.boundary import Answer, Handler, RecordingTurnstile, Run, Scope, Ticket, Turnstile
from reenact.core.model.event import Cancelled, Effect, Failure, Outcome, Value
from reenact.errors import Halt


class _Stubborn:
    """A value that cannot be encoded, printed or compared."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


class HandlerConformance:
    """Subclass it as `Test…` in a test module, and give it a fresh handler."""

    def handler(self, tmp_path: Any) -> Handler:
        """Return an unused handler; the folder is for its files."""
        raise NotImplementedError

    def turnstile(self, handler: Handler) -> Turnstile:
        """Return the turnstile of the handler."""
        return RecordingTurnstile()

    def test_it_answers_or_lets_go(self, tmp_path: Any) -> None:
        """`enter` gives an answer or a ticket, or stops the program with a `Halt`.

        It never raises an ordinary exception.
        """
        handler, scope = self._begun(tmp_path)
        for number, effect in enumerate(_effects()):
            _entered(handler, effect, scope, number)

    def test_whatever_a_live_call_gives_can_be_reported(self, tmp_path: Any) -> None:
        """`leave` accepts values, errors and cancellations, also ones that cannot be encoded."""
        handler, scope = self._begun(tmp_path)
        outcomes: list[Outcome] = [
            Value(1),
            Value(_Stubborn()),
            Failure(ValueError(_Stubborn())),
            Cancelled(),
        ]
        outcomes += [Value(object()), Value([_Stubborn()]), Failure(KeyboardInterrupt()), Value("\udcff")]
        for number, outcome in enumerate(outcomes):
            entered = _entered(handler, Effect("tool", "t", {"n": number}), scope, number)
            if isinstance(entered, Ticket):
                handler.leave(entered, outcome)

    def test_a_stream_can_end_in_every_way(self, tmp_path: Any) -> None:
        """A stream ends by itself, is closed, is cancelled, or fails."""
        handler, scope = self._begun(tmp_path)
        ends: list[str | BaseException] = ["ended", "closed", "cancelled", OSError("broken off")]
        for number, how in enumerate(ends):
            entered = _entered(handler, Effect("http", "GET x", {"n": number}), scope, number)
            if isinstance(entered, Ticket):
                handler.leave(entered, Value(None, stream=True))
                for chunk in (b"a", "b", _Stubborn(), {"c": 1}):
                    handler.chunk(entered, chunk)
                handler.end(entered, how)

    def test_a_draw_gives_a_value_of_the_kind_that_is_read(self, tmp_path: Any) -> None:
        """A draw gives a clock's number, random bytes, or a variable's text."""
        handler, scope = self._begun(tmp_path)
        values: dict[str, Any] = {"clock:time": 1.5, "entropy:urandom": b"1234", "env:HOME": "/root"}
        for source, value in values.items():
            drawn = handler.draw(scope, source, partial(_constant, value))
            assert type(drawn) is type(value), f"{source} gave {drawn!r}"

    def test_timers_have_a_place_or_none(self, tmp_path: Any) -> None:
        """`due` returns the recorded place of a timer's firing, or None; `fire` returns nothing."""
        handler, scope = self._begun(tmp_path)
        assert isinstance(handler.due(scope, "timer#0"), (int, type(None)))
        handler.fire(scope, "timer#0")

    def test_calls_of_many_threads_are_told_apart(self, tmp_path: Any) -> None:
        """Each call has its own number, in any thread."""
        handler, scope = self._begun(tmp_path)
        numbers: list[int | None] = []

        def work(name: str) -> None:
            mine = scope.child(name)
            for number in range(50):
                entered = _entered(handler, Effect("tool", "t", {"n": number}), mine, number)
                if isinstance(entered, Ticket):
                    handler.leave(entered, Value(number))
                numbers.append(entered.call if entered is not None else None)

        threads = [threading.Thread(target=work, args=(f"thread{number}",)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        known = [number for number in numbers if number is not None]
        assert len(numbers) == 400
        assert len(set(known)) == len(known)

    def _begun(self, tmp_path: Any) -> tuple[Handler, Scope]:
        handler = self.handler(tmp_path)
        return handler, Run(handler, self.turnstile(handler), replaying=False).root


def _effects() -> list[Effect]:
    return [
        Effect("tool", "plain", {"order": "A"}),
        Effect("model", "m", {"messages": [{"role": "user", "content": "hi"}]}, leaf=True),
        Effect("tool", "owned", {}, owner="call_1"),
        Effect("tool", "stubborn", {"value": _Stubborn(), "nested": [{"value": _Stubborn()}]}),
        Effect("tool", "self-containing", {"value": _circle()}),
        Effect("tool", "surrogates", {"text": "\udcff"}),
        Effect("tool", "large", {"text": "x" * 1_000_000, "bytes": bytes(range(256)) * 1000}),
    ]


def _constant(value: Any) -> Any:
    return value


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


def _entered(handler: Handler, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket | None:
    try:
        entered = handler.enter(effect, scope, ordinal)
    except Halt:
        return None
    assert isinstance(entered, (Answer, Ticket)), entered
    return entered
