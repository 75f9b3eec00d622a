"""Replay: what a call costs that is answered from a recording."""

from __future__ import annotations

from typing import Any

from benchmarks import server, subjects
from benchmarks.measure import MICRO, MILLI, Sample, Spread
from benchmarks.plan import Plan
from benchmarks.report import Section, Table
from benchmarks.workers import Broken, Worker, working

_HOW = (
    "Each subject records {calls} calls once and replays them {rounds} times; all answers of all calls are compared "
    "with the recorded ones. 10 KB in each request and answer, 1 KB beside it. *The SDK's own work* is the same calls "
    "with canned answers in the place of the network, measured in the same process and alternating with the replay. "
    "Who hooks into an SDK's method skips the SDK's work along with the network; who hooks into HTTP has the SDK parse "
    "the answer as it did live. CPU per call."
)


def measure(plan: Plan) -> Section:
    """Ours against the SDK's own work; peers beside it; then the interfaces where nothing but ours is left."""
    calls, rounds = plan.calls(150), plan.rounds(10)
    section = Section("4. Replay", _HOW.format(calls=calls, rounds=rounds))
    ours = [subject for subject in subjects.chosen() if subject.name == "reenact"]
    with working(ours) as workers:
        for size in (10240, 1024):
            _against_the_sdk(section, plan, workers[0], calls, rounds, size=size)
        for name, workload, options in (
            ("a model's interface (Pydantic AI), our part", "model", {}),
            ("`@reenact.tool`, text, our part", "tool", {"shape": "text"}),
            ("`@reenact.tool`, rows, our part", "tool", {"shape": "rows"}),
        ):
            plan.tell(f"replay: {name}")
            pairs = _pairs(workers[0], workload, calls, rounds, warm=plan.warm, **options)
            own = Spread.of(replayed.cpu_per_call - bare.cpu_per_call for bare, replayed in pairs)
            section.figure(name, "< 60 µs", f"{own.text(MICRO)} µs", own.median * MICRO < 60)
    with server.running() as url, working(subjects.chosen()) as workers:
        section.tables.append(_peers(plan, workers, url, calls, rounds))
    return section


def _against_the_sdk(
    section: Section, plan: Plan, worker: Worker, calls: int, rounds: int, *, size: int
) -> None:
    plan.tell(f"replay: HTTP, {size // 1024} KB")
    name = f"HTTP (OpenAI SDK), {size // 1024} KB each way: over the SDK's own work"
    try:
        pairs = _pairs(worker, "chat", calls, rounds, warm=plan.warm, size=size)
    except Broken as error:
        section.figure(name, "≤ 1.10 times", f"the replay failed: {error}", met=False)
        return
    ratio = Spread.of(replayed.cpu_per_call / bare.cpu_per_call for bare, replayed in pairs)
    added = Spread.of(replayed.cpu_per_call - bare.cpu_per_call for bare, replayed in pairs)
    own = Spread.of(bare.cpu_per_call for bare, _ in pairs)
    section.figure(
        name,
        "≤ 1.10 times",
        f"{ratio.text(1, 3)} times: +{added.text(MICRO)} µs on {own.text(MICRO)} µs",
        ratio.median <= 1.10,
    )


def _pairs(
    worker: Worker, workload: str, calls: int, rounds: int, **options: Any
) -> list[tuple[Sample, Sample]]:
    path = worker.fresh()
    # Bare first: the network goes to memory before any hook is installed.
    worker.do(workload, "bare", calls, **options)
    worker.do(workload, "record", calls, path=path, **options)
    found = []
    for _ in range(rounds):
        bare = worker.do(workload, "bare", calls, **options)
        replayed = worker.do(workload, "replay", calls, path=path, **options)
        if not replayed.correct:
            raise Broken("a replay gave other answers than were recorded")
        found.append((bare, replayed))
    return found


def _peers(plan: Plan, workers: list[Worker], url: str, calls: int, rounds: int) -> Table:
    options = {"url": url, "warm": plan.warm}
    paths = {worker: worker.fresh() for worker in workers}
    found: dict[Worker, list[Sample]] = {worker: [] for worker in workers}
    broken: dict[Worker, str] = {}
    for number in range(-1, rounds):
        plan.tell(f"replay: the peers, round {number + 1} of {rounds}")
        for worker in workers:
            if worker in broken:
                continue
            mode = "record" if number < 0 else "replay"
            try:
                sample = worker.do("chat", mode, calls, path=paths[worker], **options)
            except Broken as error:
                broken[worker] = str(error)
                continue
            if number >= 0:
                found[worker].append(sample)
    columns = ("recorder", "hooks into", "CPU, ms a call", "wall, ms a call", "answers as recorded")
    rows = []
    for worker in workers:
        subject, samples = worker.subject, found[worker]
        who = [f"{subject.name} {subject.version}", subject.level]
        if worker in broken:
            rows.append([*who, broken[worker], "", ""])
            continue
        cpu, wall = Spread.of(s.cpu_per_call for s in samples), Spread.of(s.wall_per_call for s in samples)
        right = sum(s.correct for s in samples)
        rows.append([*who, cpu.text(MILLI, 2), wall.text(MILLI, 2), f"{right} of {len(samples)} replays"])
    return Table(columns, rows)
