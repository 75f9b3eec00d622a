"""A filter over a million events: what it takes on an index that is up to date, and what the index itself takes."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import material
from benchmarks.measure import MICRO, now
from benchmarks.plan import Plan
from benchmarks.report import Section, Table
from reenact.analysis.interchange.importers import Happened, ImportedRun, keep
from reenact.core.query.filter import Filter
from reenact.core.store.index import Index
from reenact.core.store.local import EVENTS, LocalStore
from reenact.verbs.find import find

_RECORDINGS = 2000
_EFFECTS = 249
_EVENTS = 2 * _EFFECTS + 2
_HISTORY = 40
_LIMIT = 2.0
_HOW = (
    "{recordings:,} recordings of {events} events: an agent that answers customers, 125 model calls of up to 40 "
    "messages and 124 tool calls each, written as an import writes them (`reenact import`). What is measured is the "
    "index's search for *all* recordings that a filter means, with the numbers of their steps (what `reenact list` "
    "does), as one who starts anew does it: the index is opened, brought up to date (nothing has changed), and asked. "
    "Median of {rounds} rounds, the least in parentheses. `find` gives the 20 newest, loaded."
)
_FILTERS = {
    "kind and label": "tool:cancel_order",
    "every tool call": "tool",
    "a field": "model and tokens > 4000",
    "two fields": "step > 7 and duration < 0.5",
    "error": "error",
    "an error of one tool": "tool:cancel_order and error",
    "args path, rare": 'tool:cancel_order and args.order_id == "ORD-005521"',
    "args path, alone": 'args.order_id == "ORD-005521"',
    "output path": "output.orders[0].total > 490",
    "text, in all recordings": 'text ~ "refund"',
    "text, rare": 'text ~ "XK-47-1183"',
    "text, a pattern": 'text ~ "refund of \\d+ euro"',
    "text among errors": 'error and text ~ "delivered"',
    "mixed": '(error or text ~ "refund") and not tool:lookup_orders',
}


def measure(plan: Plan) -> Section:
    """Makes a store, its index, and asks it."""
    recordings, rounds = (_RECORDINGS // 20, 2) if plan.quick else (_RECORDINGS, 5)
    how = _HOW.format(recordings=recordings, events=_EVENTS, rounds=rounds)
    section = Section("8. A filter over a million events", how)
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as folder:
        store = LocalStore(folder)
        plan.tell("search: writing recordings")
        fill(store, recordings)
        plan.tell("search: making the index")
        _build(section, store, recordings * _EVENTS)
        _ask(section, plan, store, rounds)
    return section


def fill(store: LocalStore, recordings: int) -> None:
    """Write the recordings."""
    with ProcessPoolExecutor() as pool:
        for _ in pool.map(_one, [store.root] * recordings, range(recordings), chunksize=8):
            pass


def _build(section: Section, store: LocalStore, events: int) -> None:
    index = Index(store)
    begun = now()[1]
    index.refresh()
    took = now()[1] - begun
    index.close()
    kept = sum(path.stat().st_size for path in store.recordings.glob(f"*/{EVENTS}"))
    size = (store.root / "index.sqlite").stat().st_size
    section.figure(
        "Making the index, an event", "", f"{took / events * MICRO:.0f} µs ({took:.0f} s for {events:,})"
    )
    section.figure(
        "The index's size",
        "< 40 % of the recordings",
        f"{size / kept:.0%}: {size / 1e6:.0f} MB beside {kept / 1e6:.0f} MB",
        size < 0.4 * kept,
    )


def _ask(section: Section, plan: Plan, store: LocalStore, rounds: int) -> None:
    rows = []
    slowest = 0.0
    for name, text in _FILTERS.items():
        plan.tell(f"search: {name}")
        searching, finding = [], []
        meant = steps = 0
        for _ in range(rounds):
            begun = now()[1]
            index = Index(store)
            hits = list(index.search(Filter(text)))
            searching.append(now()[1] - begun)
            index.close()
            meant, steps = len(hits), sum(len(hit.steps) for hit in hits)
            begun = now()[1]
            find(text, home=store.root)
            finding.append(now()[1] - begun)
        slowest = max(slowest, median(searching))
        times = [f"{median(taken):.2f} s ({min(taken):.2f})" for taken in (searching, finding)]
        rows.append((name, f"`{text}`".replace("|", "\\|"), f"{meant:,}", f"{steps:,}", *times))
    section.figure("The slowest of the filters below", "< 2 s", f"{slowest:.2f} s", slowest < _LIMIT)
    section.tables.append(Table(("", "filter", "recordings", "steps", "all of them", "`find`"), rows))


def _one(root: Path, number: int) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
    tags = ("staging",) if number % 10 == 0 else ()
    keep(LocalStore(root), ImportedRun(f"support {number}", list(_effects(number, began)), tags))


def _effects(number: int, began: datetime) -> Iterator[Happened]:
    source = random.Random(number)
    messages: list[dict[str, Any]] = []
    for place in range(_EFFECTS):
        asked = began + timedelta(seconds=place)
        answered = asked + timedelta(seconds=0.05 + source.random())
        seed = number * 1000 + place
        if place % 2 == 0:
            if len(messages) % _HISTORY == 0:
                messages = [{"role": "system", "content": material.text(1500, 1)}]
                messages.append({"role": "user", "content": material.text(300, seed)})
            value = _answer(source, seed)
            yield Happened(
                "model", "gpt-4o", {"messages": list(messages)}, value, began=asked, ended=answered
            )
            messages.append(value["choices"][0]["message"])
        else:
            tool = _tool(source, seed)
            yield Happened("tool", *tool, agent="support", began=asked, ended=answered)
            messages.append(
                {"role": "tool", "content": str(tool[2] or tool[3]), "tool_call_id": f"call-{place - 1}"}
            )


def _answer(source: random.Random, seed: int) -> dict[str, Any]:
    said = material.text(300, seed + 7)
    if source.random() < 0.1:
        said += f" There will be a refund of {source.randrange(200)} euro."
    if seed % 700_000 == 4:
        said += " It is in parcel XK-47-1183."
    usage = {"prompt_tokens": source.randrange(400, 6000), "completion_tokens": source.randrange(20, 400)}
    return {
        "model": "gpt-4o",
        "choices": [{"message": {"role": "assistant", "content": said}}],
        "usage": usage,
    }


def _tool(source: random.Random, seed: int) -> tuple[str, dict[str, Any], Any, str | None]:
    order = f"ORD-{source.randrange(10_000):06}"
    if source.random() < 0.7:
        return "lookup_orders", {"customer": f"C-{seed % 5000}", "limit": 3}, material.rows(615, seed), None
    args = {"order_id": order, "reason": material.text(60, seed), "notify": True}
    if source.random() < 0.05:
        return "cancel_order", args, None, f"order {order} was delivered already"
    return "cancel_order", args, {"status": "cancelled", "order": order}, None
