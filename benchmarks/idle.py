"""No recorder active: what the hooks cost a program that is not recorded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measure import best
from benchmarks.plan import Plan
from benchmarks.report import Section

_HOW = (
    "Loops of 10,000 calls in one process, hooks installed, nothing recorded; bare and hooked alternate, and the least "
    "of all loops counts. The httpx2 hook stands around a transport function that does nothing."
)


def measure(plan: Plan) -> Section:
    """All hooks that a call of the user's passes."""
    section = Section("1. No recorder active", _HOW)
    plan.tell("no recorder active")
    loops, repeats = (2000, 5) if plan.quick else (10_000, 60)
    # The bare clock and transport first: once hooks are installed they are there to stay.
    pairs = _pairs()
    for name, bare, hooked in pairs:
        less = more = float("inf")
        for _ in range(repeats):
            less = min(less, best(bare, loops=loops, repeats=1))
            more = min(more, best(hooked, loops=loops, repeats=1))
        added = (more - less) * 1e9
        section.figure(name, "< 1 µs", f"+{added:.0f} ns (bare {less * 1e9:.0f} ns)", added < 1000)
    return section


def _pairs() -> list[tuple[str, Callable[[int], object], Callable[[int], object]]]:
    import httpx2

    sync_transport: Any = httpx2.HTTPTransport
    async_transport: Any = httpx2.AsyncHTTPTransport
    sync_transport.handle_request = _nothing
    async_transport.handle_async_request = _anothing
    clock = time.monotonic
    import reenact
    from reenact import adapters

    adapters.install()

    def function(question: str) -> str:
        return question

    async def afunction(question: str) -> str:
        return question

    sync, asynchronous = sync_transport.handle_request, async_transport.handle_async_request
    return [
        ("a function under `@reenact.tool`", _loop(function, "q"), _loop(reenact.tool(function), "q")),
        ("an async function under it", _aloop(afunction, "q"), _aloop(reenact.tool(afunction), "q")),
        ("an httpx2 request's hook", _loop(_bare(sync), None, None), _loop(sync, None, None)),
        ("its async hook", _aloop(_bare(asynchronous), None, None), _aloop(asynchronous, None, None)),
        ("reading `time.monotonic()`", _loop(clock), _loop(time.monotonic)),
    ]


def _nothing(transport: Any, request: Any) -> None: ...


async def _anothing(transport: Any, request: Any) -> None: ...


def _bare(hook: Any) -> Any:
    return hook.__wrapped__


def _loop(function: Callable[..., Any], *args: Any) -> Callable[[int], object]:
    def loop(count: int) -> None:
        for _ in range(count):
            function(*args)

    return loop


def _aloop(function: Callable[..., Any], *args: Any) -> Callable[[int], object]:
    async def main(count: int) -> None:
        for _ in range(count):
            await function(*args)

    return lambda count: asyncio.run(main(count))
