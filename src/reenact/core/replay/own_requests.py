"""Requests of a program to its own server: a replay makes them again.

So the server's code runs, and the state that it keeps is as recorded. The response is compared with the recorded one.
A request is answered from the recording, and the server's code does not run, where that would not give the recorded
run: it failed or was given up, or another request was under way at the same time, since the order in which a server
takes connections is not recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from reenact.core.boundary import Family, Scope
from reenact.core.model.event import Effect, Failure, Outcome, Tree, Value
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay import match
from reenact.core.replay.terms import Terms
from reenact.errors import Departure, Divergence, Mismatch

_HTTP = "http"
_DETAIL = (
    "the program's own server gives another answer than recorded; its code, or data that it uses, has changed"
)
BESIDE = "the program's own server did not answer it: another request was under way at the same time"
BROKEN = "the program's own server did not answer it: it failed or was given up when it was recorded"


class OwnRequests:
    """The requests of one replay to servers of the program itself.

    Args:
        log: The recorded process.
        terms: Puts responses into the recording's terms.
        rules: The parts that are not compared.
        recorded: Returns the recorded body of a response.

    Attributes:
        left: The requests to such servers that are answered from the recording, by label, with the reason.
    """

    def __init__(
        self, log: Log, terms: Terms, rules: match.Rules, recorded: Callable[[CallRecord], bytes]
    ) -> None:
        self._log = log
        self._terms = terms
        self._rules = rules
        self._recorded = recorded
        self._alone: set[int] | None = None
        self._bodies: dict[int, list[bytes]] = {}
        self._elsewhere: dict[int, Family] = {}
        self.left: dict[str, str] = {}

    def runs(self, effect: Effect, scope: Scope, call: CallRecord) -> bool:
        """Return True if a request is to be made again."""
        serves = scope.run.serves
        if effect.kind != _HTTP:
            return False
        if serves is None or not serves(effect.name):
            return self._runs_elsewhere(effect, scope, call)
        if self._alone is None:
            self._alone = _alone(found for found in self._log.calls.values() if serves(found.name))
        if call.number not in self._alone:
            self.left[call.label] = BESIDE if complete(call) else BROKEN
            return False
        self._bodies[call.number] = []
        return True

    def _runs_elsewhere(self, effect: Effect, scope: Scope, call: CallRecord) -> bool:
        """Return True if a request to a server in another process is to be made again."""
        family = scope.run.family
        again = False if family is None else family.asks_again(effect.name, call.number)
        if isinstance(again, str):
            self.left[call.label] = again
        elif again and family is not None:
            self._bodies[call.number] = []
            self._elsewhere[call.number] = family
        return again is True

    def _is_over(self, number: int) -> None:
        family = self._elsewhere.pop(number, None)
        if family is not None:
            family.answered(number)

    def chunk(self, number: int | None, value: Any) -> None:
        """Keep a part of a response."""
        if number in self._bodies and isinstance(value, bytes):
            self._bodies[number].append(value)

    def begun(self, number: int | None, outcome: Outcome) -> tuple[CallRecord, tuple[Mismatch, ...]] | None:
        """Compare the head of a response; None: it is no request to the program's own server."""
        if number not in self._bodies:
            return None
        call = self._log.calls[number]
        then: dict[str, Tree] = {"status": _status((call.outcome or {}).get("value"))}
        if isinstance(outcome, Value):
            return call, self._differences(call, then, {"status": _status(outcome.value)})
        self._is_over(call.number)
        error = outcome.error if isinstance(outcome, Failure) else None
        return call, self._differences(call, then, {"error": type(error).__name__})

    def ended(self, number: int | None, how: object) -> tuple[CallRecord, tuple[Mismatch, ...]] | None:
        """Compare the body of a response that has ended."""
        body = self._bodies.pop(number, None) if number is not None else None
        if body is None or number is None:
            return None
        self._is_over(number)
        call = self._log.calls[number]
        if how != "ended":
            return call, self._differences(call, {"end": call.end}, {"end": str(how)})
        now = self._terms.clean({"body": _text(self._terms.raw(b"".join(body)))})["body"]
        return call, self._differences(call, _read(_text(self._recorded(call))), _read(now))

    def _differences(
        self, call: CallRecord, then: Mapping[str, Tree], now: Mapping[str, Tree]
    ) -> tuple[Mismatch, ...]:
        if match.same(then, now):
            return ()
        found = match.mismatches(call.label, then, now, self._rules)
        return tuple(Mismatch(m.path.removeprefix("args."), m.recorded, m.actual) for m in found)


def departure(call: CallRecord, step: int, found: tuple[Mismatch, ...]) -> Divergence:
    """Return the departure of a response with differences."""
    hint = f"to answer it from the recording, remove the server; to ignore a part: ignore=['{found[0].path}']"
    return Divergence(Departure.CHANGED, call.address, step, found, _DETAIL, hint)


def _alone(calls: Iterable[CallRecord]) -> set[int]:
    """Return the numbers of the complete requests beside which no other one was under way."""
    spans = sorted(
        ((call.place, _end_of(call), call) for call in calls if call.kind == _HTTP), key=lambda span: span[:2]
    )
    found, reach = set(), -1.0
    for at, (begin, end, call) in enumerate(spans):
        follows = spans[at + 1][0] if at + 1 < len(spans) else float("inf")
        if begin > reach and follows > end and complete(call):
            found.add(call.number)
        reach = max(reach, end)
    return found


def complete(call: CallRecord, ends: Collection[str] = ("ended",)) -> bool:
    """Return True if a request was answered, and its response came to one of these ends."""
    outcome = call.outcome or {}
    return outcome.get("event") == "returned" and (not outcome.get("stream") or call.end in ends)


def _end_of(call: CallRecord) -> float:
    last = max((order for order in (call.order, call.end_order) if order is not None), default=None)
    return float("inf") if last is None else last


def _status(head: Any) -> Tree:
    return head.get("status") if isinstance(head, dict) else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _read(text: str) -> dict[str, Tree]:
    try:
        return {"body": text if match.repeats_name(text) else json.loads(text)}
    except (ValueError, RecursionError):
        return {"body": text}
