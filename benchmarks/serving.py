"""The server's reading side: the list at a hundred thousand recordings, and a recording of ten thousand steps."""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import uvicorn
from fastapi.testclient import TestClient
from playwright.sync_api import Page, sync_playwright

from benchmarks import material
from benchmarks.measure import MILLI, now
from benchmarks.plan import Plan
from benchmarks.report import Section, Table
from reenact.analysis.interchange.importers import Happened, ImportedRun, keep
from reenact.browser.executable import find
from reenact.core.store import chain
from reenact.core.store.index import Index
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.trust import Identity
from reenact.server.app import application
from reenact.server.hosting import address_of, listen
from reenact.server.settings import Settings

_RECORDINGS = 100_000
_STEPS = 10_000
_SHORT = 8
_HISTORY = 40
_ASK_AGAIN = 503  # a large recording is still being read
_AGENTS = ("support", "booking", "research", "invoices", "triage")
_HOW = (
    "{recordings:,} recordings of {steps} steps each in one folder, written from five patterns with ids, names, times "
    "and costs of their own, and one of {long:,} steps: half of them model calls with up to 40 messages, half tool "
    "calls. Asked is the application itself, in one process and without a network. *Cold* is the first answer of a "
    "server that was just made, its index up to date; what it takes to make the index from nothing is told apart. The "
    "long recording is opened from the list, as a person does. "
    "Median of {rounds} rounds, the least in parentheses."
)


def measure(plan: Plan) -> Section:
    """Writes the recordings, their index, and asks for them."""
    recordings = _RECORDINGS // 50 if plan.quick else _RECORDINGS
    rounds = plan.rounds(7)
    long = _STEPS // 10 if plan.quick else _STEPS
    how = _HOW.format(recordings=recordings, steps=_SHORT, long=long, rounds=rounds)
    section = Section("15. The server", how)
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as folder:
        home = Path(folder)
        plan.tell("server: writing recordings")
        fill(home, recordings)
        name = long_one(home, long)
        # The index of a home without a key is made again by the first server, which makes the key.
        Identity.made(home)
        plan.tell("server: making the index")
        _index(section, home, recordings)
        plan.tell("server: the list")
        rows = _listed(section, home, rounds)
        plan.tell("server: one long recording")
        rows += _long(section, home, name, rounds)
        section.tables.append(Table(("asked", "the first time", "again"), rows))
        plan.tell("server: the console in a browser")
        _browsed(section, home, name, long, rounds)
    return section


# -- material ------------------------------------------------------------------------------------------------


def fill(home: Path, recordings: int) -> None:
    """Write the recordings."""
    batches = [(home, start, min(start + 500, recordings)) for start in range(0, recordings, 500)]
    with ProcessPoolExecutor() as pool:
        for _ in pool.map(_some, batches):
            pass


def _some(batch: tuple[Path, int, int]) -> None:
    home, start, end = batch
    patterns = [_pattern(number) for number in range(len(_AGENTS))]
    for number in range(start, end):
        id, data = patterns[number % len(patterns)]
        began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=3 * number)
        fresh = f"r{number:09}"
        data = data.replace(id, fresh.encode()).replace(
            b"2026-01-01T00:00:00.000", began.isoformat(timespec="milliseconds")[:23].encode()
        )
        data = data.replace(b"4242", str(500 + number % 9000).encode())
        folder = home / "recordings" / fresh
        folder.mkdir(parents=True)
        (folder / EVENTS).write_bytes(_chained(data))


def _chained(data: bytes) -> bytes:
    """Give each line the sum that it has now: its text is another one than in the pattern."""
    lines, check = [], chain.FIRST
    for line in data.splitlines():
        content = chain.content(line)
        check = chain.sum_of(check, content)
        lines.append(content + chain.tail(check) + b"\n")
    return b"".join(lines)


_patterns: dict[int, tuple[bytes, bytes]] = {}


def _pattern(number: int) -> tuple[bytes, bytes]:
    """A recording as an import writes it, and its id: what is to be replaced in each copy."""
    if number not in _patterns:
        with tempfile.TemporaryDirectory() as folder:
            began = datetime(2026, 1, 1, tzinfo=UTC)
            run = ImportedRun(
                _AGENTS[number], list(_effects(_SHORT, began, number)), ("staging",) if number == 2 else ()
            )
            id = keep(LocalStore(folder), run)
            data = (Path(folder) / "recordings" / id / EVENTS).read_bytes()
            _patterns[number] = id.encode(), data
    return _patterns[number]


def long_one(home: Path, steps: int) -> str:
    """Write the long recording; returns its id."""
    began = datetime(2026, 11, 1, tzinfo=UTC)
    return keep(LocalStore(home), ImportedRun("long", list(_effects(steps, began, 7)), ()))


def _effects(count: int, began: datetime, seed: int) -> list[Happened]:
    source, messages, found = random.Random(seed), list[dict[str, Any]](), []
    for place in range(count):
        asked = began + timedelta(seconds=place)
        ended = asked + timedelta(seconds=0.4)
        if place % 2:
            args = {"customer": f"C-{place}", "limit": 3}
            failed = "timed out" if source.random() < 0.02 else None
            value = None if failed else material.rows(410, place)
            found.append(Happened("tool", "lookup_orders", args, value, failed, began=asked, ended=ended))
            messages.append({"role": "tool", "content": str(value), "tool_call_id": f"call-{place}"})
            continue
        if not messages or len(messages) >= _HISTORY:
            messages = [{"role": "user", "content": material.text(300, place)}]
        answer = {"role": "assistant", "content": material.text(300, place + 7)}
        usage = {"prompt_tokens": 4242, "completion_tokens": 200}
        value = {"model": "gpt-4o", "choices": [{"message": answer}], "usage": usage}
        found.append(
            Happened("model", "gpt-4o", {"messages": list(messages)}, value, began=asked, ended=ended)
        )
        messages.append(answer)
    return found


# -- asking --------------------------------------------------------------------------------------------------


def _index(section: Section, home: Path, recordings: int) -> None:
    index = Index(LocalStore(home))
    begun = now()[1]
    index.refresh()
    took = now()[1] - begun
    index.close()
    section.figure(
        "Making the index from nothing", "", f"{took:.0f} s, {took / recordings * MILLI:.1f} ms a recording"
    )


def _client(home: Path) -> TestClient:
    app = application(Settings(home, hosts=("localhost",), keyless=True))
    return TestClient(app, base_url="http://127.0.0.1")


def _timed(client: TestClient, path: str) -> float:
    begun = now()[1]
    while (answer := client.get(f"/api/v1{path}")).status_code == _ASK_AGAIN:
        time.sleep(0.02)
    took = now()[1] - begun
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.status_code} {answer.text[:200]}")
    return took


def _listed(section: Section, home: Path, rounds: int) -> list[tuple[str, str, str]]:
    cold, ready = [], []
    for _ in range(rounds):
        with _client(home) as client:
            cold.append(_timed(client, "/recordings"))
            ready.append(_settle(client))
    with _client(home) as client:
        _timed(client, "/recordings")
        _settle(client)
        asked = {
            "the list's first rows": "/recordings?limit=100",
            "rows from the middle": "/recordings?limit=100&offset=40000",
            "sorted by cost": "/recordings?sort=cost",
            "a filter on names": '/recordings?filter=name ~ "suppor{n}"',
            "a filter on errors": "/recordings?filter=error and step > {n}",
            "a text": '/recordings?filter=text ~ "parcel {n}"',
            "facets": "/recordings/facets",
            "facets of a filter": "/recordings/facets?filter=status:ok",
            "trends": "/recordings/trends?by=day",
        }
        rows = []
        times = {}
        for name, path in asked.items():
            first, again = [], []
            for number in range(rounds):
                own = path.replace("{n}", str(number))
                first.append(_timed(client, own))
                again.append(_timed(client, own))
            times[name] = median(again)
            rows.append((name, _told(first[:1] if "{n}" not in path else first), _told(again)))
    warm = times["the list's first rows"]
    section.figure("The list's first rows, warm", "< 200 ms", f"{warm * MILLI:.0f} ms", warm < 0.2)
    section.figure("The list's first rows, cold", "< 200 ms", _told(cold), median(cold) < 0.2)
    section.figure("All lines in memory, cold", "", _told(ready))
    facets = times["facets"]
    section.figure("Facets", "< 300 ms", f"{facets * MILLI:.0f} ms", facets < 0.3)
    return rows


def _settle(client: TestClient) -> float:
    """Until the server has loaded what its index knows; returns the seconds."""
    begun = now()[1]
    while not client.get("/api/v1/recordings").json()["complete"]:
        time.sleep(0.05)
    return now()[1] - begun


def _long(section: Section, home: Path, name: str, rounds: int) -> list[tuple[str, str, str]]:
    paths = {
        "the recording": "",
        "its first 200 steps": "/steps?limit=200",
        "200 steps from the middle": "/steps?limit=200&offset={half}",
        "the timeline": "/lanes",
        "the conversation's beginning": "/conversation?limit=100",
        "one step": "/steps/{half}",
        "the conversation's end": "/conversation?limit=100&offset={last}",
        "a search": '/search?q="parcel"',
    }
    long = len(LocalStore(home).load(name).steps)
    rows = []
    opened = 0.0
    with _client(home) as client:
        _settle(client)
        # A person has seen the list, and takes a moment to click.
        time.sleep(2)
        for what, pattern in paths.items():
            path = pattern.replace("{half}", str(long // 2)).replace("{last}", str(long - 100))
            ask = partial(_timed, client, f"/recordings/{name}{path}")
            first = ask()
            again = [ask() for _ in range(rounds)]
            opened += first if what in ("its first 200 steps", "the timeline", "the recording") else 0.0
            rows.append((f"{long:,} steps: {what}", _told([first]), _told(again)))
    section.figure(
        f"A recording of {long:,} steps: head, first rows and timeline",
        "< 1 s",
        f"{opened * MILLI:.0f} ms",
        opened < 1,
    )
    return rows


# -- in the browser ------------------------------------------------------------------------------------------

_END = """async () => {
    const list = document.querySelector(".list"), began = performance.now();
    list.scrollTop = list.scrollHeight;
    while (performance.now() - began < 60000) {
        await new Promise((next) => setTimeout(next, 5));
        if (/support|booking|research|invoices|triage/.test(list.innerText)) return performance.now() - began;
    }
    throw Error("the end of the list has no rows after a minute");
}"""


def _browsed(section: Section, home: Path, name: str, long: int, rounds: int) -> None:
    """The console as a person sees it: a real server, a real browser, and a page that is opened anew each time."""
    app = application(Settings(home, hosts=("localhost",), keyless=True))
    listening = listen("127.0.0.1", 0)
    address = address_of(listening, "127.0.0.1")
    server = uvicorn.Server(uvicorn.Config(app, http="h11", ws="none", log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find(None))
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            _open(page, f"{address}/", "[role=row]")
            rows = [
                ("the list: first rows", [_open(page, f"{address}/", "[role=row]") for _ in range(rounds)]),
                ("the list: scrolled to its end, rows shown", [page.evaluate(_END) / MILLI]),
                (
                    f"the recording of {long:,} steps: first turn",
                    [_open(page, f"{address}/r/{name}", "article") for _ in range(rounds)],
                ),
            ]
            heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
            browser.close()
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
    for what, taken in rows:
        section.figure(f"In the browser, {what}", "", f"{_told(taken)}, the load {os.getloadavg()[0]:.1f}")
    section.figure("In the browser, its JavaScript's memory", "", f"{heap:.0f} MB")


def _open(page: Page, address: str, wanted: str) -> float:
    begun = now()[1]
    page.goto(address)
    page.locator(wanted).first.wait_for(timeout=120_000)
    return now()[1] - begun


def _told(taken: list[float]) -> str:
    least = f" ({min(taken) * MILLI:.0f})" if len(taken) > 1 else ""
    return f"{median(taken) * MILLI:.0f} ms{least}"
