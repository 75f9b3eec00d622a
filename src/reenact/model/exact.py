"""JSON bytes of what JSON holds exactly, made in C: nearly all that crosses the boundary is of that kind.

The codec walks through a value to tag what JSON has no word for. Where there is nothing to tag, that walk costs more
than all else; so it is found out here without one.
"""

from __future__ import annotations

import marshal
import re
from typing import Any

import orjson

# As marshal's version 2 writes them: a tuple of fewer than 2**24 items, and a float that is no number or infinite.
_TUPLE = re.compile(rb"\(...\0", re.DOTALL)
_NO_NUMBER = re.compile(rb"g.{6}[\xf0-\xff][\x7f\xff]", re.DOTALL)
_LARGE = 1 << 24


def exact(value: Any) -> bytes | None:
    """The value's JSON on one line, if reading it gives the very same value and nothing in it looks like one of the
    codec's tags; else None.
    """
    if type(value) is str:
        try:
            return orjson.dumps(value)
        except TypeError:
            return None  # lone surrogates
    try:
        # marshal refuses subclasses (an IntEnum, a namedtuple), which orjson would take for their bases.
        inside = marshal.dumps(value, 2)
        data = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
    except (TypeError, ValueError):
        return None
    if b"$" in data and b'"$' in data:
        return None
    # A tuple would become a list, and what is no number None. What only looks like one here is compared.
    doubtful = len(inside) >= _LARGE or _TUPLE.search(inside) or _NO_NUMBER.search(inside)
    return None if doubtful and orjson.loads(data) != value else data
