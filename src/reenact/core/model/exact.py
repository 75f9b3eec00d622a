"""JSON bytes of what JSON holds exactly, made in C: nearly all that crosses the boundary is of that kind.

The codec walks through a value to tag what JSON has no word for. Where there is nothing to tag, that walk costs more
than all else; so it is found out here without one.
"""

from __future__ import annotations

import marshal
import re
from typing import Any

import orjson

from reenact.core.model.codec.written import DEEPEST, nested

# Each object that is referred to more than once is written once, which is what makes it twice as fast as version 2: a
# flag (0x80) on the type's letter says so. Later versions have short forms, which look like any text.
_VERSION = 3
# A tuple of fewer than 2**24 items, and a float that is no number or infinite: without that flag, and with it.
_TUPLE = re.compile(rb"\(...\0", re.DOTALL).search
_SHARED_TUPLE = re.compile(rb"\xa8...\0", re.DOTALL).search
_NO_NUMBER = re.compile(rb"g.{6}[\xf0-\xff][\x7f\xff]", re.DOTALL).search
_SHARED_NO_NUMBER = re.compile(rb"\xe7.{6}[\xf0-\xff][\x7f\xff]", re.DOTALL).search
_LARGE = 1 << 24
_PLAIN = {str, bool, type(None)}
_FEW = 64


def exact(value: Any) -> bytes | None:
    """The value's JSON on one line, if reading it gives the very same value and nothing in it looks like one of the
    codec's tags; else None.
    """
    if type(value) in _PLAIN:
        try:
            return orjson.dumps(value)
        except TypeError:
            return None  # lone surrogates
    known = _known(value)
    if known is False:
        return None
    try:
        # marshal refuses subclasses (an IntEnum, a namedtuple), which orjson would take for their bases.
        inside = None if known else marshal.dumps(value, _VERSION)
        data = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
    except (TypeError, ValueError):
        return None
    return data if _reads_back(value, inside, data) else None


def exact_items(value: list[Any]) -> list[bytes] | None:
    """The JSON of each item of a list whose own JSON is `exact`; else None."""
    known = _known(value)
    if known is False:
        return None
    try:
        inside = None if known else marshal.dumps(value, _VERSION)
        items = [orjson.dumps(item, option=orjson.OPT_STRICT_INTEGER) for item in value]
    except (TypeError, ValueError):
        return None
    return items if _reads_back(value, inside, b"[%b]" % b",".join(items)) else None


def _known(value: Any) -> bool | None:
    """Whether JSON has a word for everything in a value of few parts; None where they are many. Where texts are long
    and parts few, as mostly, a walk takes a tenth of the time that looking through marshal's bytes does.
    """
    todo = [value]
    for part in todo:
        kind = type(part)
        if kind in _PLAIN or kind is int:
            continue
        if kind is dict:
            for key in part:
                if type(key) is not str:
                    return False
            todo += part.values()
        elif kind is list:
            todo += part
        elif kind is not float or part - part != 0:  # what is no number, or infinite
            return False
        if len(todo) > _FEW:
            return None
    return True


def _reads_back(value: Any, inside: bytes | None, data: bytes) -> bool:
    """Whether a value that marshal took, or whose parts are all known, is in its JSON what it was."""
    if (b"$" in data and b'"$' in data) or nested(data, value, DEEPEST):
        return False
    # A tuple would become a list, and what is no number None. What only looks like one here is compared.
    return inside is None or not _doubtful(inside) or bool(orjson.loads(data) == value)


def _doubtful(inside: bytes) -> bool:
    """Whether there may be a tuple or no number in it."""
    return bool(
        _TUPLE(inside)
        or _NO_NUMBER(inside)
        # The flagged letters are in few values, which is told ten times as fast.
        or (b"\xa8" in inside and _SHARED_TUPLE(inside))
        or (b"\xe7" in inside and _SHARED_NO_NUMBER(inside))
        or len(inside) >= _LARGE
    )
