"""Limits of requests a second, with a burst for idle clients."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

_KNOWN = 10_000
"""Most clients whose requests are remembered."""

_AT_ONCE = 5.0
"""The size of a burst, in seconds of the rate.

A page of the console sends several requests at once as it opens.
"""

_LEAST = 20.0


class Rates:
    """Counts the requests of each client. Safe for one event loop, or several threads.

    Args:
        rate: Requests a second, above 0.
        clock: Returns the time in seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._most = max(_LEAST, _AT_ONCE * rate)
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, who: str) -> int:
        """Count one request of a client. Returns 0 if it is allowed, else the seconds to wait."""
        now = self._clock()
        with self._lock:
            left, at = self._left.pop(who, (self._most, now))
            left = min(self._most, left + (now - at) * self._rate)
            passes = left >= 1
            self._left[who] = left - passes, now
            # Forget the client with the oldest request, which has been idle the longest.
            while len(self._left) > _KNOWN:
                self._left.popitem(last=False)
        return 0 if passes else math.ceil((1 - left) / self._rate)
