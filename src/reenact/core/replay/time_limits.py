"""Compare the time limits of a call that a limit ended when it was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reenact.core.boundary.given_times import is_written
from reenact.core.model.event import Effect, Tree
from reenact.core.model.log import CallRecord
from reenact.core.replay import match
from reenact.errors import Mismatch


def differing(call: CallRecord, effect: Effect, rules: match.Rules) -> tuple[Mismatch, ...]:
    """Return the differences of an effect's limits from those that ended the recorded call.

    With another limit the answer might have come. A limit that a library has computed from a clock is not compared.
    """
    ended = call.limits if call.limits is not None else _of_process(call)
    if ended is None or effect.limits is None:
        return ()
    recorded, actual = dict(_written(ended)), dict(_written(effect.limits))
    both = [name for name in recorded if name in actual]
    one, other = ({_argument(name): each[name] for name in both} for each in (recorded, actual))
    return tuple(match.mismatches(effect.label, one, other, rules))


def _argument(name: str) -> str:
    return "timeout" if name == "timeout" else f"timeout.{name}"


def _of_process(call: CallRecord) -> Mapping[str, Tree] | None:
    """Return the limit that ended the wait for a command; None if it has ended by itself."""
    value = (call.outcome or {}).get("value") if call.kind == "process" else None
    if type(value) is not dict or "limit" not in value or value.get("exit") is not None:
        return None
    return {"timeout": value["limit"]}


def _written(limits: Mapping[str, Tree]) -> Iterator[tuple[str, float | None]]:
    """Yield the limits that a person wrote: those with few decimals, and none at all."""
    for name, seconds in limits.items():
        if seconds is None:
            yield name, None
        elif type(seconds) in (int, float) and is_written(seconds):
            yield name, float(seconds)
