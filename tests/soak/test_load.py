"""Two hundred agents record at once into one server, which is killed three times: nothing is lost, nothing is twice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from reenact.team.ship.queue import Queue
from tests.soak.tables import SHORT, Screen, keep, size, table
from tests.team.ship.serving import Server, eventually, files, free_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

ROOT = Path(__file__).parents[2]
HOMES = 2 if SHORT else 4
AGENTS = 10 if SHORT else 50
"""In each home."""

KILLS = 1 if SHORT else 3
TICK = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "server", free_port())
    yield server
    server.kill()


def begun(words, environ):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.soak.crowd", *map(str, words)], cwd=ROOT, env=environ
    )


def cpu(process):
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def killed_in_between(server, seconds):
    """Let it go on for so long, killing the server now and then; its processor time."""
    used, began = 0.0, time.monotonic()
    for number in range(KILLS + 1):
        time.sleep(max(0.0, began + seconds * (number + 1) / (KILLS + 1) - time.monotonic()))
        used += cpu(server.process)
        if number < KILLS:
            server.kill()
            time.sleep(1)
            server.start()
            Screen.show(f"server killed after {time.monotonic() - began:.0f} s, and started again\n")
    return used


def test_nothing_is_lost_of_two_hundred_agents_and_three_kills(server, tmp_path):
    seconds = size(600, 30)
    server.start()
    homes = [tmp_path / f"home{place}" for place in range(HOMES)]
    environs = [server.environ(home) for home in homes]
    times = [home.with_suffix(".times") for home in homes]
    shippers = [
        begun(["shipper", home, place], environ)
        for home, place, environ in zip(homes, times, environs, strict=True)
    ]
    try:
        time.sleep(3)
        crowd = [begun(["agents", AGENTS, seconds], environ) for environ in environs]
        used = killed_in_between(server, seconds)
        assert [process.wait(120) for process in crowd] == [0] * HOMES
        ended = time.monotonic()
        eventually(lambda: not any(Queue(home).marks() for home in homes), 300)
        after = time.monotonic() - ended
    finally:
        for shipper in shippers:
            shipper.kill()
            shipper.wait()
    events = compared(server, homes)
    told = [line.split() for path in times for line in path.read_text().splitlines()]
    taken = sorted(float(milliseconds) for milliseconds, _ in told)
    row = {
        "agents": HOMES * AGENTS, "seconds": seconds, "kills": KILLS, "events": events,
        "events/s": round(events / seconds), "requests": len(taken), "p50 ms": round(taken[len(taken) // 2], 1),
        "p99 ms": round(taken[len(taken) * 99 // 100], 1), "most ms": round(taken[-1], 1),
        "server CPU %": round(100 * used / seconds), "load": round(os.getloadavg()[0]), "all there after s": round(after, 1), "lost": 0, "twice": 0,
    }  # fmt: skip
    table("agents that record at once into one server", [row])
    keep("load", {"uploads": row})


def compared(server, homes):
    """How many events there are; each recording is there byte for byte, with its calls in one unbroken row."""
    events, found = 0, {}
    for home in homes:
        found |= files(home / "recordings")
    there = files(server.recordings)
    assert there.keys() == found.keys()
    for name, data in found.items():
        assert there[name] == data, name
        events += data.count(b"\n")
        calls = [
            int(line[25:].partition(b",")[0])
            for line in data.split(b"\n")
            if line.startswith(b'{"event":"called","call":')
        ]
        assert calls
        assert all(after == before + 1 for before, after in pairwise(calls)), name
    assert sum(name.endswith("/events.jsonl") for name in found) == HOMES * AGENTS
    return events
