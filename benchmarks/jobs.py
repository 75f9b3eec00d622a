"""One batch of calls: what is asked for, and the loop that async calls are made in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks import material
from benchmarks.measure import Stopwatch, now

Body: TypeAlias = Callable[[], list[Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """One batch: what to do, how often, and whether bare, recorded or replayed.

    Attributes:
        mode: `bare`, `record` or `replay`.
        path: Where the recording goes, or lies.
        url: The server; empty for a network in memory.
        size: Characters of a request, and of its answer.
        shape: `text` or `rows`, what a tool answers with.
    """

    workload: str
    mode: str
    calls: int
    path: Path
    url: str = ""
    size: int = 10 * material.KB
    shape: str = "text"
    warm: int = 10
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many calls are made, the warm ones included."""
        return self.calls + self.warm


def in_a_loop(ask: Callable[..., Any], job: Job, watch: Stopwatch, *, inner: bool = False) -> Body:
    """Async calls one after the other; `inner` ones say themselves which part of them counts."""
    return lambda: asyncio.run(one_by_one(ask, job, watch, inner=inner))


async def one_by_one(
    ask: Callable[..., Any], job: Job, watch: Stopwatch, *, inner: bool = False
) -> list[Any]:
    """The same within a loop that runs already."""

    async def timed(call: Callable[[], Awaitable[Any]]) -> Any:
        watch.start()
        begun = now()
        value = await call()
        watch.stop(begun)
        return value

    answers = []
    for number in range(job.total):
        if inner:
            answers.append(await ask(number, timed))
        else:
            answers.append(await timed(partial(ask, number, timed)))
    return answers
