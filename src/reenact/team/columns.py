"""Convert values for a column and back.

Postgres stores neither NUL in a text nor integers over 63 bits.
"""

from __future__ import annotations

import re
from typing import Any

_UNFIT = re.compile("[\0\ud800-\udfff]")
_MOVED = re.compile("[\U000f0000\U000fd800-\U000fdfff]")
_MOVE = 0xF0000
"""Added to their code points in a column: Unicode leaves the results unassigned."""
_MOST = 2**63 - 1


def fit(value: Any) -> Any:
    """Return a value in the form for a column."""
    if isinstance(value, str):
        return _UNFIT.sub(lambda found: chr(ord(found[0]) + _MOVE), value)
    if isinstance(value, tuple):
        return [fit(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return min(max(value, -_MOST), _MOST)
    return value


def unfit(value: Any) -> Any:
    """Return the original value of a column's value."""
    if isinstance(value, str):
        return _MOVED.sub(lambda found: chr(ord(found[0]) - _MOVE), value)
    return tuple(map(unfit, value)) if isinstance(value, list) else value
