"""What tracking costs: a memory of 1 MB over 200 steps, a few small changes in each."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from benchmarks.measure import MICRO, MILLI, Spread, now
from benchmarks.plan import Plan
from benchmarks.report import Section, Table

_STEPS = 200
_STEP = 0.020
_MEGABYTE = 1_000_000
_HOW = (
    "An agent of {steps} steps with a memory of 1 MB; each step notes a message, changes one fact of 2,500 and a "
    "counter, works for 20 ms, and calls one recorded tool. That is a short step (a model takes a second to answer), "
    "so the share is not flattered by waiting. Only the call and the recording's end are timed: the work in between "
    "is there to leave the caches as an agent would. Recorded with and without `track`, in turn, in one process, "
    "{rounds} rounds; what tracking adds is the difference of a round, the first snapshot and the last included, "
    "divided by the steps. Snapshots every 5 steps, as by default."
)


def measure(plan: Plan) -> Section:
    """Plain data, dataclasses, and how much is written."""
    rounds, steps = (2, 40) if plan.quick else (5, _STEPS)
    section = Section("6. Tracked state", _HOW.format(steps=steps, rounds=rounds))
    table = Table(["1 MB of", "added a step", "of 20 ms", "one look", "written", "of the memory"], rows := [])
    for name, make in (("dicts and lists", Plain), ("dataclasses", Objects)):
        plan.tell(f"tracked state: {name}")
        added, size, whole = _compared(make, rounds=rounds, steps=steps)
        share = added.median / _STEP
        section.figure(
            f"tracking a 1 MB memory of {name}", "< 5 % of a step", f"{share * 100:.1f} %", share < 0.05
        )
        row = [name, f"{added.text(MICRO)} µs", f"{share * 100:.1f} %", f"{_look(make) * MILLI:.1f} ms"]
        rows.append([*row, f"{size / 1000:.0f} KB", f"{size / whole:.2f} times"])
        if not plan.quick:
            section.figure(
                f"{name}: written for {steps} steps",
                "< 1.5 times the memory",
                f"{size / whole:.2f}",
                size < 1.5 * whole,
            )
    section.tables.append(table)
    return section


class Plain:
    """A memory of dicts and lists."""

    def __init__(self) -> None:
        facts = [{"id": n, "text": _words(n, 200), "tags": ["a", str(n)]} for n in range(2500)]
        history = [{"role": "user", "content": _words(n, 500)} for n in range(700)]
        self.memory: Any = {"facts": facts, "history": history, "count": 0}

    def step(self, number: int) -> None:
        """One step's changes."""
        self.memory["history"].append({"role": "assistant", "content": _words(number, 400)})
        self.memory["facts"][number * 7 % 2500]["text"] = _words(number, 210)
        self.memory["count"] += 1


@dataclass
class Fact:
    """One thing that an agent remembers."""

    id: int
    text: str
    tags: list[str]


@dataclass
class Memory:
    """A memory of objects."""

    facts: list[Fact] = field(default_factory=list)
    history: list[Fact] = field(default_factory=list)
    count: int = 0


class Objects:
    """The same as dataclasses."""

    def __init__(self) -> None:
        facts = [Fact(n, _words(n, 200), ["a", str(n)]) for n in range(2500)]
        self.memory = Memory(facts, [Fact(n, _words(n, 500), []) for n in range(700)])

    def step(self, number: int) -> None:
        """One step's changes."""
        self.memory.history.append(Fact(number, _words(number, 400), []))
        self.memory.facts[number * 7 % 2500].text = _words(number, 210)
        self.memory.count += 1


def _words(seed: int, length: int) -> str:
    return (f"{seed} order ORD-{seed * 7919 % 10007} of a customer who wrote on day {seed % 365}; " * 9)[
        :length
    ]


def _compared(make: Callable[[], Any], *, rounds: int, steps: int) -> tuple[Spread, int, int]:
    """Seconds of CPU that tracking adds to a step; bytes written with it, less those without; bytes of the memory."""
    added, sizes = [], []
    loops = _calibrated()
    whole = len(orjson.dumps(make().memory))
    assert 0.8 * _MEGABYTE < whole < 1.3 * _MEGABYTE
    for _ in range(rounds):
        bare = _run(make(), steps, loops, tracked=False)
        tracked = _run(make(), steps, loops, tracked=True)
        added.append((tracked[0] - bare[0]) / steps)
        sizes.append(tracked[1] - bare[1])
    return Spread.of(added), int(median(sizes)), whole


def _run(agent: Any, steps: int, loops: int, *, tracked: bool) -> tuple[float, int]:
    """Seconds of CPU for the recorded calls of all steps and the recording's end, and the size of the events."""
    import reenact

    tool = reenact.tool(_tool)
    spent = 0.0
    with _home():
        recording = reenact.record("state")
        with recording:
            if tracked:
                reenact.track("memory", agent.memory)
            for number in range(steps):
                _work(loops)
                agent.step(number)
                begun = now()[0]
                tool(number)
                spent += now()[0] - begun
            begun = now()[0]
        return spent + now()[0] - begun, (Path(recording.path) / "events.jsonl").stat().st_size


def _tool(number: int) -> str:
    return str(number)


def _work(loops: int) -> int:
    total = 0
    for number in range(loops):
        total += number * number % 7
    return total


def _calibrated() -> int:
    """How many loops take 20 ms here."""
    loops = 100_000
    least = float("inf")
    for _ in range(10):
        begun = now()[0]
        _work(loops)
        least = min(least, now()[0] - begun)
    return int(loops * _STEP / least)


def _look(make: Callable[[], Any]) -> float:
    """Seconds for one look at a memory in which a step has changed what it changes."""
    from reenact.core.model import codec
    from reenact.core.model.shadow import Look

    agent = make()
    node = Look(codec.Encoder()).at(agent.memory)
    least = float("inf")
    for number in range(20):
        agent.step(number)
        begun = now()[0]
        node = Look(codec.Encoder()).at(agent.memory, node)
        least = min(least, now()[0] - begun)
    return least


@contextmanager
def _home() -> Iterator[None]:
    before = os.environ.get("REENACT_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["REENACT_HOME"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["REENACT_HOME"]
            else:
                os.environ["REENACT_HOME"] = before
