"""A chat of 200 steps whose history grows to 1 MB: what it takes on the disk, and whether late steps cost more."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks import subjects
from benchmarks.measure import MICRO, Sample
from benchmarks.plan import Plan
from benchmarks.report import Section
from benchmarks.workers import Worker, working

_STEPS = 200
_TURN = 2560
_HOW = (
    "200 turns, 2.5 KB of question and 2.5 KB of answer each, the whole history sent each time: 1 MB in the last "
    "request, 100 MB in all. {rounds} rounds, bare and recording in turn. Our part of a step is the least recorded "
    "minus the least bare CPU of that step over the rounds; what is shown is the median of steps 10 to 30 and of 170 "
    "to 200. Flat means within twice: to see that a request of 1 MB begins as the one before, it has to be read once."
)


def measure(plan: Plan) -> Section:
    """At HTTP, and at Pydantic AI's model interface."""
    rounds = 1 if plan.quick else 5
    section = Section("5. A long chat", _HOW.format(rounds=rounds))
    steps = 60 if plan.quick else _STEPS
    ours = [subject for subject in subjects.chosen() if subject.name == "reenact"]
    with working(ours) as workers:
        for name, workload, options in (
            ("HTTP (httpx2, network in memory)", "long_chat", {}),
            ("Pydantic AI's model interface", "model", {"options": {"growing": True}}),
        ):
            plan.tell(f"long chat: {name}")
            _one(section, workers[0], name, workload, rounds=rounds, steps=steps, **options)
        plan.tell("long chat: a whole Pydantic AI agent")
        sample = workers[0].do("long_agent", "record", steps, size=_TURN, warm=0)
        _size(section, "Pydantic AI agent, `message_history` handed on", sample)
    return section


def _one(
    section: Section, worker: Worker, name: str, workload: str, *, rounds: int, steps: int, **options: Any
) -> None:
    bare, recorded = [], []
    for _ in range(rounds):
        bare.append(worker.do(workload, "bare", steps, size=_TURN, warm=0, **options))
        recorded.append(worker.do(workload, "record", steps, size=_TURN, warm=0, **options))
    ours = [least - other for least, other in zip(_least(recorded), _least(bare), strict=True)]
    early, late = median(ours[10:30]) * MICRO, median(ours[-30:]) * MICRO
    _size(section, name, recorded[0])
    section.figure(
        f"{name}: our CPU, late steps over early ones",
        "flat (< 2 times)",
        f"{late / early:.1f} times: {early:.0f} → {late:.0f} µs a step",
        late < 2 * early,
    )


def _least(samples: list[Sample]) -> list[float]:
    return [min(times) for times in zip(*(sample.cpu for sample in samples), strict=True)]


def _size(section: Section, name: str, sample: Sample) -> None:
    megabytes = sample.size / 1e6
    section.figure(f"{name}: on the disk", "< 3 MB", f"{megabytes:.2f} MB", megabytes < 3)
