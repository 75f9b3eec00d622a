"""Counts the work of a call in lines of Python: the same number each time, on any machine."""

from __future__ import annotations

import sys


def lines_of(work):
    """Return the number of calls and lines that `work()` runs. Work inside one call of C is not counted."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
