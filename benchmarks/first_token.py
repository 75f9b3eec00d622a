"""Streams: how long until the program has the first token, and how many chunks arrive one by one."""

from __future__ import annotations

from benchmarks import server, subjects
from benchmarks.measure import MILLI, Spread
from benchmarks.plan import Plan
from benchmarks.recording import Rounds
from benchmarks.report import Section, Table
from benchmarks.workers import working

_HOW = (
    "The OpenAI SDK, `stream=True`; the server sends 10 chunks, 20 ms apart, so that the first comes after 20 ms and a "
    "recorder that reads the whole answer first shows at some 220 ms. {calls} calls a batch, {rounds} rounds, bare and "
    "recording in turn."
)


def measure(plan: Plan) -> Section:
    """Ours and the peers', interleaved."""
    calls, total = plan.calls(15), plan.rounds(5)
    section = Section(
        "3. Time to the first streamed token, while recording", _HOW.format(calls=calls, rounds=total)
    )
    streaming = [subject for subject in subjects.chosen() if subject.streams]
    with server.running() as url, working(streaming) as workers:
        found = [Rounds(worker) for worker in workers]
        for number in range(total):
            plan.tell(f"first token: round {number + 1} of {total}")
            for each in found:
                each.round("stream", calls, url=url, size=1000, warm=2)
    table = []
    for each in found:
        subject = each.worker.subject
        row = [f"{subject.name} {subject.version}"]
        if each.broken:
            table.append([*row, each.broken, "", ""])
            continue
        bare = Spread.of(sample.wall_per_call for sample in each.bare)
        recorded = Spread.of(sample.wall_per_call for sample in each.recorded)
        pairs = zip(each.bare, each.recorded, strict=True)
        later = Spread.of(r.wall_per_call - b.wall_per_call for b, r in pairs)
        table.append([*row, bare.text(MILLI, 1), recorded.text(MILLI, 1), later.text(MILLI, 1)])
        if subject.name == "reenact":
            shown = f"{later.text(MILLI, 2)} ms later"
            # A chunk that waited for the next one would be 20 ms late.
            section.figure(
                "first token, recording against bare", "unchanged (< 1 ms)", shown, later.median < 1e-3
            )
    columns = ("recorder", "bare, ms", "recording, ms", "later by, ms")
    section.tables.append(Table(columns, table))
    missing = [s.name for s in subjects.chosen() if not s.streams]
    if missing:
        section.notes.append(f"Not able to record a stream: {', '.join(missing)}.")
    return section
