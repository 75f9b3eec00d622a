"""How often somebody may ask: so many requests a second, and some more at once for who has been quiet."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

_KNOWN = 10_000
"""Of how many it is remembered how often they have asked."""

_AT_ONCE = 5.0
"""Seconds' worth that may come at once: a page of the console asks for several things as it opens."""

_LEAST = 20.0


class Rates:
    """Counts the requests of each who asks. May be used by one event loop, or several threads.

    Args:
        rate: Requests a second, above nought.
        clock: Seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._most = max(_LEAST, _AT_ONCE * rate)
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, who: str) -> int:
        """Take one request of somebody's. 0 if it may pass, else after how many seconds to ask again."""
        now = self._clock()
        with self._lock:
            left, at = self._left.pop(who, (self._most, now))
            left = min(self._most, left + (now - at) * self._rate)
            passes = left >= 1
            self._left[who] = left - passes, now
            # Whoever has asked least lately is the first to be quiet again.
            while len(self._left) > _KNOWN:
                self._left.popitem(last=False)
        return 0 if passes else math.ceil((1 - left) / self._rate)
