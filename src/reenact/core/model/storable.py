"""Convert texts, integers, numbers and dates so that every store can keep them.

Texts have no lone surrogates. NUL is allowed here; the team's store replaces it for Postgres.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from reenact.core.patterns import lazy

LONGEST = 4096
"""Letters of a recording's name at most."""

LONGEST_TAG = 1024
MOST_TAGS = 256

_ALONE = lazy("[\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_MOST = 2**63 - 1
_FIRST, _LAST = -62_135_510_400.0, 253_402_214_400.0
"""Seconds since 1970 of a day after the calendar's first, and of a day before its last."""


def storable(text: str, most: int = 0) -> str:
    """Replace the characters that a store cannot keep; cut to `most` characters, if given."""
    kept = text if not most or len(text) <= most else f"{text[: most - 1]}…"
    # The pattern takes longer to compile than a short program's other patterns.
    return kept if kept.isascii() else _ALONE.sub(_REPLACEMENT, kept)


def why_not(text: Any, most: int) -> str:
    """Return the reason that a value is no storable text of `most` characters, or ""."""
    if not isinstance(text, str):
        return f"is {kind(text)}, not a text"
    if len(text) > most:
        return f"has {len(text):,} letters; {most:,} are allowed"
    found = None if text.isascii() else _ALONE.search(text)
    return "" if found is None else f"has a letter that cannot be stored (U+{ord(found[0]):04X})"


def name_of(name: Any) -> str:
    """Return a valid name for a recording: a text, no lone surrogates, not too long."""
    return storable(name if isinstance(name, str) else str(name), LONGEST)


def tags_of(tags: Any) -> tuple[tuple[str, ...], list[str]]:
    """Return the valid tags of a program, and a sentence on each invalid one."""
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
    """Return the nearest signed 64-bit integer; None for a value that is no number."""
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
    """Return an ISO 8601 time as seconds since 1970, or None if invalid.

    A time without a zone counts as UTC.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    seconds = (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    return seconds if _FIRST <= seconds <= _LAST else None
