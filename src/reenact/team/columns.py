"""Convert values for a column and back.

Postgres does not store NUL in a text, nor integers over 63 bits.
"""

from __future__ import annotations

import re
from typing import Any

_UNFIT = re.compile("[\0\ud800-\udfff]")
_MOVED = re.compile("[\U000f0000\U000fd800-\U000fdfff]")
_MOVE = 0xF0000
"""The code points for these letters in a column: Unicode assigns them to no character."""
_MOST = 2**63 - 1


def fit(value: Any) -> Any:
    """A value for a column."""
    if isinstance(value, str):
        return _UNFIT.sub(lambda found: chr(ord(found[0]) + _MOVE), value)
    if isinstance(value, tuple):
        return [fit(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return min(max(value, -_MOST), _MOST)
    return value


def unfit(value: Any) -> Any:
    """The value that a column was given."""
    if isinstance(value, str):
        return _MOVED.sub(lambda found: chr(ord(found[0]) - _MOVE), value)
    return tuple(map(unfit, value)) if isinstance(value, list) else value
