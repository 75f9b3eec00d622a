"""The names of the program's locks, the same in each run, and the code that makes them."""

from __future__ import annotations

import queue
import threading
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from types import FrameType

from reenact.adapters.scopes import without_comprehensions
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Scope

_LIBRARY = Path(queue.__file__).parent
POOL_FILES = {str(_LIBRARY / "multiprocessing" / name) for name in ("pool.py", "context.py")}
"""The files of pools of `multiprocessing`, whose threads share queues."""

_CARRIERS = {threading.__file__, queue.__file__, str(Path(__file__).with_name("unreceived.py")), *POOL_FILES}
POOLS = {str(_LIBRARY / "concurrent" / "futures" / name) for name in ("thread.py", "process.py")}
"""The files of pools of `concurrent.futures`."""
_PLAIN = {threading.Event.__init__.__code__, threading.Thread.__init__.__code__}
"""Code with locks whose order decides nothing: an event is set or not."""

_made: Counter[str] = Counter()
"""The number of locks made outside of any run, by the place in the code."""


def maker_of(frame: FrameType | None) -> FrameType | None:
    """Return the frame of the program's code that makes a lock; None if a library makes it."""
    while frame is not None and frame.f_code.co_filename in _CARRIERS:
        if frame.f_code in _PLAIN:
            return None
        frame = frame.f_back
    return frame if callers.program(frame) else None


def name_of(scope: Scope | None, maker: FrameType, kind: str) -> str:
    """Return the name of a new lock of that kind, the same in each run."""
    mark = "" if kind == "lock" else kind
    if scope is not None:
        place = f"{scope.path}~{mark}{scope.count(kind)}"
    else:
        place = f"{mark}{maker.f_globals.get('__name__')}:{without_comprehensions(maker.f_code.co_qualname)}"
        _made[place] += 1
        place = f"{place}~{_made[place]}"
    return _digest(place)


def name_of_lock(scope: Scope, kind: str) -> str:
    """Return the name of a new lock of that kind which the program makes, the same in each run."""
    return _digest(f"{scope.path}~{kind}{scope.count(kind)}")


def _digest(place: str) -> str:
    return blake2b(place.encode("utf-8", "replace"), digest_size=6).hexdigest()
