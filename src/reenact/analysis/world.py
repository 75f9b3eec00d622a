"""Compare a recorded HTTP answer with the present one, field by field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.model.plain import parsed
from reenact.errors import ABSENT, Mismatch

_TIME = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT|\d{10}(\.\d+)?|\d{13}"
)
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer: its status, content type and body (text, or None where it is none)."""

    status: int
    kind: str = ""
    body: str | None = ""


@dataclass(frozen=True, slots=True)
class RepeatedQuestion:
    """A recorded read-only question, asked again.

    Attributes:
        steps: The steps that asked it.
        label: Method and place.
        change: The kind of change: `same`, `the API changed`, `the data changed`, `only times changed`, `rate limited`,
            `refused without its credentials`, `gone`, `failing`, `not answered`, `not asked`.
        detail: One more sentence.
        mismatches: The first dozen differences, part by part.
        left_out: The headers that were not sent, since their values were replaced as secrets.
    """

    steps: tuple[int, ...]
    label: str
    change: str
    detail: str = ""
    mismatches: tuple[Mismatch, ...] = ()
    left_out: tuple[str, ...] = ()


def compare(recorded: Reply, now: Reply, *, credentials: bool) -> tuple[str, str, tuple[Mismatch, ...]]:
    """Return the kind of change, a sentence, and the differences part by part.

    `credentials`: all recorded credentials were sent.
    """
    status = (Mismatch("status", recorded.status, now.status),) if recorded.status != now.status else ()
    if status:
        if now.status == 429:
            return "rate limited", "the server limits the rate of requests", status
        if now.status in (401, 403) and not credentials:
            return "refused without its credentials", "its answer is unknown", status
        if now.status in (404, 410):
            return "gone", "the address no longer exists", status
        if now.status >= 500:
            return "failing", "the server has an error", status
        return "the API changed", f"status {recorded.status} became {now.status}", status
    differing = tuple(_bodies(recorded, now))
    if not differing:
        return "same", "", ()
    shown = differing[:_SHOWN]
    if all(_is_time(each.recorded) and _is_time(each.actual) for each in differing):
        return "only times changed", "", shown
    if any(_shape(each) for each in differing):
        return "the API changed", "fields were added, removed, or have another type", shown
    return "the data changed", f"{len(differing)} {'value' if len(differing) == 1 else 'values'}", shown


def _bodies(recorded: Reply, now: Reply) -> Iterator[Mismatch]:
    kinds = [reply.kind.partition(";")[0].strip().lower() for reply in (recorded, now)]
    if kinds[0] != kinds[1]:
        yield Mismatch("content-type", kinds[0] or ABSENT, kinds[1] or ABSENT)
    if recorded.body is None or now.body is None:
        if (recorded.body is None) != (now.body is None):
            yield Mismatch(
                "body", *("(binary)" if body is None else body for body in (recorded.body, now.body))
            )
        return
    yield from _differ(parsed(recorded.body), parsed(now.body), "body")


def _differ(recorded: Any, now: Any, path: str) -> Iterator[Mismatch]:
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*recorded, *now)):
            yield from _differ(recorded.get(key, ABSENT), now.get(key, ABSENT), f"{path}.{key}")
    elif isinstance(recorded, list) and isinstance(now, list):
        for place in range(max(len(recorded), len(now))):
            left, right = (side[place] if place < len(side) else ABSENT for side in (recorded, now))
            yield from _differ(left, right, f"{path}[{place}]")
    elif type(recorded) is not type(now) or recorded != now:
        yield Mismatch(path, recorded, now)


def _shape(each: Mismatch) -> bool:
    """Return True if the form of the answer differs, not a value in it."""
    if each.path == "content-type":
        return True
    if ABSENT in (each.recorded, each.actual):
        # A list that has become longer or shorter is data.
        return not each.path.endswith("]")
    kinds = {"number" if isinstance(v, (int, float)) and not isinstance(v, bool) else type(v).__name__
             for v in (each.recorded, each.actual)}  # fmt: skip
    return len(kinds) > 1 and "NoneType" not in kinds


def _is_time(value: Any) -> bool:
    return not isinstance(value, bool) and _TIME.fullmatch(str(value)) is not None
