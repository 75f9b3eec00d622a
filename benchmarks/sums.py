"""Measure what the sums of lines cost: an event's append with its sum, beside a bare append of the same bytes.

    python -m benchmarks.sums

CPU time, both in turns on the same machine; the least of many rounds, because everything else only adds to it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from reenact.core.store import chain
from reenact.core.store.lines import read_events
from reenact.core.store.writer import Writer

LINE = (
    b'{"event":"returned","call":123,"value":{"id":"ORD-5521","status":"cancelled","reason":"cheaper elsewhere",'
    b'"items":[{"sku":"A-1","qty":2},{"sku":"B-7","qty":1}],"note":"the customer was told by mail"},"t":12.345678}'
)
"""A usual event: what a tool gave, 214 bytes."""

_ROUNDS, _TIMES = 100, 200


def main() -> None:
    """Print the microseconds of CPU an event, and the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        writer = Writer(Path(folder, "events.jsonl"))
        bare = os.open(Path(folder, "bare.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        before = b"0" * 32
        writes = {
            "bare append": lambda: os.writev(bare, (LINE, b"\n")),
            "append with its sum": lambda: writer.append(LINE),
            "its sum alone": lambda: chain.BEFORE + chain.sum_of(before, LINE[:-1]) + chain.AFTER,
        }
        least = dict.fromkeys(writes, float("inf"))
        for _ in range(_ROUNDS):
            for name, write in writes.items():
                least[name] = min(least[name], _microseconds(write))
        for name, cost in least.items():
            print(f"{name}: {cost:.2f} µs, {cost / least['bare append']:.2f} times a bare append")
    print(f"reading and checking: {_reading():,.0f} events a second of CPU")


def _microseconds(write: Callable[[], object]) -> float:
    begun = time.process_time()
    for _ in range(_TIMES):
        write()
    return (time.process_time() - begun) / _TIMES * 1e6


def _reading(count: int = 3_000) -> float:
    lines = [b'{"event":"opened","format":2,"id":"sums"}']
    for number in range(1, count + 1):
        lines.append(
            b'{"event":"called","call":%d,"in":null,"at":"main","kind":"tool","name":"ask","n":%d,'
            b'"args":{"question":"where is my order?"},"t":1.5}' % (number, number - 1)
        )
        lines.append(LINE.replace(b'"call":123', b'"call":%d' % number))
    data = chain.chained(lines)
    seconds = []
    for _ in range(7):
        begun = time.process_time()
        list(read_events(data, "events.jsonl", []))
        seconds.append(time.process_time() - begun)
    return len(lines) / min(seconds)


if __name__ == "__main__":
    main()
