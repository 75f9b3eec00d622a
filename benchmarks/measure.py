"""Numbers: what one batch of calls took, and what is left of many batches on a noisy machine.

Machines here are shared, so no single number is believed. Batches with and without a recorder alternate; what a
recorder adds is the difference within a pair, and what is reported is the median of the pairs with the least one
beside it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

# Bound in a tuple, where no recorder that replaces names in modules finds them.
_CLOCKS = (time.process_time, time.perf_counter)

MICRO = 1e6
MILLI = 1e3


def now() -> tuple[float, float]:
    """Seconds of CPU that this process has used, in all its threads, and seconds on the wall."""
    return _CLOCKS[0](), _CLOCKS[1]()


@dataclass(slots=True)
class Sample:
    """One batch of calls. `cpu` and `wall` are seconds for each measured call, the `total`s for all of them and for
    what followed up to the recorder's end: some write their file only then.
    """

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    total_cpu: float = 0.0
    total_wall: float = 0.0
    size: int = 0
    correct: bool = True
    note: str = ""
    extra: dict[str, float] = field(default_factory=dict)

    @property
    def cpu_per_call(self) -> float:
        """Mean seconds of CPU for one call, with its share of the recorder's end."""
        return self.total_cpu / max(1, len(self.cpu))

    @property
    def wall_per_call(self) -> float:
        """Median seconds on the wall for one call."""
        return median(self.wall) if self.wall else 0.0


class Stopwatch:
    """Times the calls of one batch.

    Args:
        warm: How many calls at its beginning are not counted: connections open, caches fill.
    """

    def __init__(self, warm: int) -> None:
        self.sample = Sample()
        self._warm = warm
        self._calls = 0
        self._began = (0.0, 0.0)

    def time(self, call: Callable[[], object]) -> object:
        """Make one call, timed."""
        self.start()
        begun = now()
        value = call()
        self.stop(begun)
        return value

    def start(self) -> None:
        """Before each call."""
        if self._calls == self._warm:
            gc.collect()
            self._began = now()
        self._calls += 1

    def stop(self, begun: tuple[float, float]) -> None:
        """After each call that began at `begun`."""
        cpu, wall = now()
        if self._calls > self._warm:
            self.sample.cpu.append(cpu - begun[0])
            self.sample.wall.append(wall - begun[1])

    def finish(self) -> Sample:
        """After the recorder's end."""
        cpu, wall = now()
        self.sample.total_cpu, self.sample.total_wall = cpu - self._began[0], wall - self._began[1]
        return self.sample


@dataclass(frozen=True, slots=True)
class Spread:
    """What is left of many rounds: the median and the least."""

    median: float
    least: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """The spread of some values."""
        kept = list(values)
        return cls(median(kept), min(kept)) if kept else cls(float("nan"), float("nan"))

    def text(self, scale: float = 1.0, digits: int = 0) -> str:
        """`median (least)`."""
        return f"{self.median * scale:.{digits}f} ({self.least * scale:.{digits}f})"


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def best(call: Callable[[int], object], *, loops: int, repeats: int) -> float:
    """Least seconds for one of `loops` iterations: for calls of less than a microsecond, whose clock costs more."""
    least = float("inf")
    for _ in range(repeats):
        begun = now()[1]
        call(loops)
        least = min(least, (now()[1] - begun) / loops)
    return least
