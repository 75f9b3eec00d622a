"""Values as every store can keep them: text without lone surrogates, 64-bit integers, finite numbers, dates.

NUL is text like any other here: Postgres has no room for it, and `store.team.fitting` moves it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import Any

LONGEST = 4096
"""Letters of a recording's name at most."""

LONGEST_TAG = 1024
MOST_TAGS = 256

_ALONE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_MOST = 2**63 - 1
_FIRST, _LAST = -62_135_510_400.0, 253_402_214_400.0
"""Seconds since 1970 of a day after the first that a calendar has, and of a day before its last."""


def storable(text: str, most: int = 0) -> str:
    """Replace what a store cannot keep; cut what is longer than `most` letters, where that is given."""
    kept = text if not most or len(text) <= most else f"{text[: most - 1]}…"
    return _ALONE.sub(_REPLACEMENT, kept)


def why_not(text: Any, most: int) -> str:
    """Say why a value is not a text of at most `most` letters that a store can keep; empty if it is one."""
    if not isinstance(text, str):
        return f"is {kind(text)}, not a text"
    if len(text) > most:
        return f"has {len(text):,} letters; {most:,} are allowed"
    found = _ALONE.search(text)
    return "" if found is None else f"has a letter that cannot be stored (U+{ord(found[0]):04X})"


def name_of(name: Any) -> str:
    """Return a name as a recording may have it: a text, without lone surrogates, and not too long."""
    return storable(name if isinstance(name, str) else str(name), LONGEST)


def tags_of(tags: Any) -> tuple[tuple[str, ...], list[str]]:
    """Return those of a program's tags that a recording may have, and a sentence on each other one."""
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        return (
            ((tags,), []) if isinstance(tags, str) else ((), [f"tags are {kind(tags)}, not a list of texts"])
        )
    given = list(islice(tags, MOST_TAGS + 1))
    problems = [f"there are more than {MOST_TAGS} tags"] if len(given) > MOST_TAGS else []
    kept = []
    for tag in given[:MOST_TAGS]:
        if problem := why_not(tag, LONGEST_TAG):
            problems.append(f"a tag {problem}")
        else:
            kept.append(tag)
    return tuple(kept), problems


def kind(value: Any) -> str:
    """Name a JSON value's type."""
    names = {dict: "an object", list: "a list", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else f"a {type(value).__name__}")


def integer(value: Any) -> int | None:
    """Return an integer within 64 bits, signed: the nearest one; None for what is no number."""
    if isinstance(value, float) and math.isfinite(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return min(max(value, -_MOST), _MOST)


def number(value: Any) -> float | None:
    """Return a finite number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def moment(text: str) -> float | None:
    """Return a time in ISO 8601 as seconds since 1970 (UTC where it names no zone); None where it is none, or lies
    outside of the calendar.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    seconds = (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    return seconds if _FIRST <= seconds <= _LAST else None
