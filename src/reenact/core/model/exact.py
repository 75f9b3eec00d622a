"""Encode values that JSON holds exactly, in C: nearly all values at the boundary.

The codec walks through a value to tag the types that JSON lacks. If there is nothing to tag, that walk costs more
than everything else, so this module finds out without one.
"""

from __future__ import annotations

import marshal
import re
from typing import Any

import orjson

from reenact.core.model.codec.written import DEEPEST, MOST, nested
from reenact.core.patterns import lazy

# It is twice as fast as version 2, as an object with several references is written once: a flag (0x80) on the type's
# letter marks it. Later versions have short forms, which cannot be told from text.
_VERSION = 3
# A tuple of fewer than 2**24 items, and a float that is NaN or infinite: without that flag, and with it.
_TUPLE = lazy(rb"\(...\0", re.DOTALL)
_SHARED_TUPLE = lazy(rb"\xa8...\0", re.DOTALL)
_NO_NUMBER = lazy(rb"g.{6}[\xf0-\xff][\x7f\xff]", re.DOTALL)
_SHARED_NO_NUMBER = lazy(rb"\xe7.{6}[\xf0-\xff][\x7f\xff]", re.DOTALL)
_LARGE = 1 << 24
_PLAIN = {str, bool, type(None)}
_SINGLE = {*_PLAIN, int}
_FEW = 64
_ROOM = MOST - DEEPEST


def exact(value: Any) -> bytes | None:
    """Return the value's JSON on one line if it reads back exactly and untagged; else None."""
    if type(value) in _SINGLE:
        try:
            return orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
        except TypeError:
            return None  # lone surrogates, large numbers
    known = _known(value)
    if known is False:
        return None
    try:
        if known:
            data, inside = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER), None
        else:
            # orjson comes first: it refuses deep values, for which marshal would need a large stack.
            data = _written(value)
            # marshal refuses subclasses (an IntEnum, a namedtuple), which orjson takes for their bases.
            inside = marshal.dumps(value, _VERSION)
    except (TypeError, ValueError):
        return None
    return data if _reads_back(value, inside, data) else None


def exact_items(value: list[Any]) -> list[bytes] | None:
    """Return the JSON of each item of a list whose own JSON is `exact`; else None."""
    known = _known(value)
    if known is False:
        return None
    try:
        items = [orjson.dumps(item, option=orjson.OPT_STRICT_INTEGER) for item in value]
        inside = None if known else marshal.dumps(value, _VERSION)
    except (TypeError, ValueError):
        return None
    data = b"[%b]" % b",".join(items)
    if inside is not None and nested(data, value, DEEPEST):
        return None
    return items if _reads_back(value, inside, data) else None


def _written(value: Any) -> bytes:
    """Return a value's JSON. Raises TypeError if it is nested too deeply, and for other types.

    The value is put into as many lists as bring the limit of orjson down to ours.
    """
    for _ in range(_ROOM):
        value = [value]
    return orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)[_ROOM:-_ROOM]


def _known(value: Any) -> bool | None:
    """Return True if JSON has all types of a value of few parts, else False.

    None for many parts.

    With long texts and few parts, the common case, a walk takes a tenth of the time of a search in marshal's bytes.
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
        elif kind is not float or part - part != 0:  # NaN, or infinite
            return False
        if len(todo) > _FEW:
            return None
    return True


def _reads_back(value: Any, inside: bytes | None, data: bytes) -> bool:
    """Return True if a value of known types, none too deep, reads back from its JSON unchanged."""
    if b"$" in data and b'"$' in data:
        return False
    # A tuple would become a list, and NaN None. A pattern may match other bytes too, so compare then.
    return inside is None or not _doubtful(inside) or bool(orjson.loads(data) == value)


def _doubtful(inside: bytes) -> bool:
    """Return True if the bytes may hold a tuple, or a float that is NaN or infinite."""
    return bool(
        _TUPLE.search(inside)
        or _NO_NUMBER.search(inside)
        # Few values have these bytes, and a search for one byte is ten times as fast.
        or (b"\xa8" in inside and _SHARED_TUPLE.search(inside))
        or (b"\xe7" in inside and _SHARED_NO_NUMBER.search(inside))
        or len(inside) >= _LARGE
    )
