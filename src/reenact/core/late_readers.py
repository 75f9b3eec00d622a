"""Functions that add readers of model calls, before the first call is read.

They are kept apart from the readers, whose import takes longer than many commands run.
"""

from __future__ import annotations

from collections.abc import Callable

_later: list[Callable[[], None]] = []


def add_readers_later(load: Callable[[], None]) -> None:
    """Call `load`, which adds readers, before an effect is read for the first time."""
    _later.append(load)


def add_readers() -> None:
    """Call the functions now, each once."""
    while _later:
        _later.pop()()
