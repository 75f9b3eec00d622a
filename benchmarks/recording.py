"""Recording: what an effect costs on top of the bare call, ours and the peers'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks import server, subjects
from benchmarks.measure import MICRO, MILLI, Sample, Spread, quantile
from benchmarks.plan import Plan
from benchmarks.report import Section, Table
from benchmarks.workers import Broken, Worker, working

_HOW = (
    "10 KB of fresh text in each request and in each answer (`rows`: 50 orders of 12 fields, as a tool returns "
    "them). Batches of {calls} calls, {rounds} rounds; each recorder alternates bare and recording in its own process. "
    "CPU per call is the batch's mean up to the recorder's end, so that what is written on exit counts. HTTP: the "
    "OpenAI SDK against a server in another process; *in memory*: the same with the network replaced by canned answers "
    "below all hooks, which leaves less noise to subtract from. p99, over all calls of all rounds, is the 99th "
    "percentile of the recorded calls less the median of the bare ones; it is judged by CPU, since on the wall it is "
    "mostly that another process had the core."
)


@dataclass(slots=True)
class Rounds:
    """The batches of one worker with one workload: bare and recorded, pair by pair."""

    worker: Worker
    bare: list[Sample] = field(default_factory=list)
    recorded: list[Sample] = field(default_factory=list)
    broken: str = ""

    def round(self, workload: str, calls: int, **options: Any) -> None:
        """One pair."""
        if self.broken:
            return
        try:
            self.bare.append(self.worker.do(workload, "bare", calls, **options))
            self.recorded.append(self.worker.do(workload, "record", calls, **options))
        except Broken as error:
            self.broken = str(error)

    @property
    def added(self) -> Spread:
        """Seconds of CPU that recording adds to a call."""
        pairs = zip(self.bare, self.recorded, strict=False)
        return Spread.of(recorded.cpu_per_call - bare.cpu_per_call for bare, recorded in pairs)

    @property
    def ratio(self) -> Spread:
        """CPU per call, recording over bare."""
        pairs = zip(self.bare, self.recorded, strict=False)
        return Spread.of(recorded.cpu_per_call / bare.cpu_per_call for bare, recorded in pairs)

    @property
    def p99(self) -> tuple[float, float]:
        """Seconds of CPU, and seconds on the wall, that recording adds to 99 of 100 calls at most: their slow ones less
        a usual bare one, which is never less than the true figure.
        """
        bare = [call for sample in self.bare for call in zip(sample.cpu, sample.wall, strict=True)]
        recorded = [call for sample in self.recorded for call in zip(sample.cpu, sample.wall, strict=True)]
        cpu, wall = (
            quantile([call[which] for call in recorded], 0.99) - quantile([call[which] for call in bare], 0.5)
            for which in (0, 1)
        )
        return cpu, wall


@dataclass(frozen=True, slots=True)
class Load:
    """One workload to be measured; `effects` is how many a call of it makes."""

    name: str
    workload: str
    options: dict[str, Any]
    effects: int = 1
    calls: int = 100
    rounds: int = 12

    def sized(self, size: int) -> Load:
        """The same with texts of `size` characters."""
        return replace(self, options={**self.options, "size": size})


def measure(plan: Plan) -> Section:
    """Ours and the peers', interleaved."""
    calls, rounds = plan.calls(100), plan.rounds(12)
    section = Section("2. Recording", _HOW.format(calls=calls, rounds=rounds))
    with server.running() as url, working(subjects.chosen()) as workers:
        http = alternate(plan, workers, Load("HTTP", "chat", {"url": url}))
        tools = [worker for worker in workers if worker.subject.tools]
        text = alternate(plan, tools, Load("tool, text", "tool", {"shape": "text"}))
        rows = alternate(plan, tools, Load("tool, rows", "tool", {"shape": "rows"}))
    ours = [subject for subject in subjects.chosen() if subject.name == "reenact"]
    with working(ours) as workers:
        memory = alternate(plan, workers, Load("HTTP in memory", "chat", {}))[0]
        model = alternate(plan, workers, Load("model", "model", {}))[0]
        agent = alternate(plan, workers, Load("agent", "agent", {"size": 10240}, effects=3, calls=20))[0]
        blocks = alternate(plan, workers, Load("block", "block", {"warm": 0}))[0]
    for name, found, effects in (
        ("`@reenact.tool`, text", text[0], 1),
        ("`@reenact.tool`, rows", rows[0], 1),
        ("HTTP (OpenAI SDK), network in memory", memory, 1),
        ("HTTP (OpenAI SDK), server in another process", http[0], 1),
        ("a model's interface (Pydantic AI), our wrapper by itself", model, 1),
        ("a Pydantic AI agent's run: 2 requests, 1 tool call; for each effect", agent, 3),
    ):
        figures(section, name, found, effects)
    _compare(section, http)
    begun = Spread.of(sample.total_cpu for sample in blocks.recorded)
    section.figure("beginning and ending a recording, CPU", "none", f"{begun.text(MILLI, 1)} ms")
    section.tables.append(_peers(http, text, rows))
    return section


def alternate(plan: Plan, workers: Sequence[Worker], load: Load) -> list[Rounds]:
    """Bare and recorded batches, pair by pair, of all workers in turn."""
    found = [Rounds(worker) for worker in workers]
    options = {"warm": plan.warm, **load.options}
    total = plan.rounds(load.rounds)
    for number in range(total):
        plan.tell(f"recording: {load.name}, round {number + 1} of {total}")
        for each in found:
            each.round(load.workload, plan.calls(load.calls), **options)
    return found


def figures(section: Section, name: str, found: Rounds, effects: int) -> None:
    """What recording adds to each of the effects of a call: its CPU, and the slow ones of it."""
    if found.broken:
        section.figure(name, "< 100 µs", found.broken, met=False)
        return
    added = Spread(found.added.median / effects, found.added.least / effects)
    section.figure(f"{name}: CPU added", "< 100 µs", f"{added.text(MICRO)} µs", added.median * MICRO < 100)
    cpu, wall = (share / effects * MILLI for share in found.p99)
    section.figure(
        f"{name}: added, p99", "< 1 ms", f"{cpu:.2f} ms of CPU, {wall:.2f} ms on the wall", cpu < 1
    )


def _compare(section: Section, http: list[Rounds]) -> None:
    found = {rounds.worker.subject.name: rounds for rounds in http if not rounds.broken}
    if "agent-rewind" not in found or "reenact" not in found:
        return
    ours, theirs = found["reenact"].added.median, found["agent-rewind"].added.median
    section.figure(
        "CPU added to an HTTP call, agent-rewind's over ours",
        "≥ 5 times",
        f"{theirs / ours:.1f} times ({theirs * MICRO:.0f} µs over {ours * MICRO:.0f} µs)",
        theirs >= 5 * ours,
    )


def _peers(http: list[Rounds], text: list[Rounds], rows: list[Rounds]) -> Table:
    columns = (
        "recorder", "hooks into", "SDK call: CPU added, µs", "times bare", "wall, ms: bare → recording",
        "bytes a call", "tool, text: µs", "tool, rows: µs",
    )  # fmt: skip
    by_name = [{rounds.worker.subject.name: rounds for rounds in found} for found in (text, rows)]
    table = []
    for rounds in http:
        subject = rounds.worker.subject
        tools = [_added(found.get(subject.name)) for found in by_name]
        who = [f"{subject.name} {subject.version}", subject.level]
        if rounds.broken:
            table.append([*who, rounds.broken, "", "", "", *tools])
            continue
        walls = [
            Spread.of(s.wall_per_call for s in batch).text(MILLI, 2)
            for batch in (rounds.bare, rounds.recorded)
        ]
        size = rounds.recorded[0].size / (len(rounds.recorded[0].cpu) + 10)
        table.append(
            [*who, _added(rounds), rounds.ratio.text(1, 2), " → ".join(walls), f"{size:.0f}", *tools]
        )
    return Table(columns, table)


def _added(rounds: Rounds | None) -> str:
    if rounds is None:
        return "-"
    return rounds.broken or rounds.added.text(MICRO)
