"""Recording programs, and replaying them."""

from __future__ import annotations

import asyncio
import inspect

import reenact


def run(program):
    """What a sync or async program gives."""
    return asyncio.run(program()) if inspect.iscoroutinefunction(program) else program()


def record(program):
    """A program's result, and its recording."""
    with reenact.record("test") as recording:
        result = run(program)
    return result, reenact.load(recording.id)


def replay(program, recording, **options):
    """The result of the same program, answered from its recording, and the verdict."""
    with reenact.replay(recording, **options) as replaying:
        result = run(program)
    return result, replaying.verdict
