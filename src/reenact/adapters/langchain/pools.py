"""Jobs that LangChain maps over a pool: each keeps its own scope."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from reenact.core.boundary import Scope, current, entered


def mapped(original: Any) -> Any:
    """Hook `ContextThreadPoolExecutor.map`, which copies the caller's context for each job.

    All jobs would then have the caller's scope, and get the copies in the order of the threads.
    """

    def hooked(self: Any, fn: Any, *iterables: Any, **options: Any) -> Any:
        if current() is None:
            return original(self, fn, *iterables, **options)
        rows = list(zip(*iterables, strict=False))
        contexts = [copy_context() for _ in rows]

        def job(context: Any, row: tuple[Any, ...]) -> Any:
            return context.run(_within, current(), fn, row)

        job.__qualname__ = getattr(fn, "__qualname__", "map")
        return ThreadPoolExecutor.map(self, job, contexts, rows, **options)

    return hooked


def _within(scope: Scope | None, fn: Any, row: tuple[Any, ...]) -> Any:
    with entered(scope):
        return fn(*row)
