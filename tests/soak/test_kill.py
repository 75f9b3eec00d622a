"""`kill -9` at any moment: what the program had received is in the recording, and a replay reaches that point."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import reenact
from reenact.errors import Departure
from tests.adapters.http.server import Server
from tests.soak import victim
from tests.soak.tables import SHORT, keep, progress, size, table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

ROOT = Path(__file__).parents[2]
LONGEST = 0.25
"""Seconds after its beginning at which a victim is killed at the latest."""


@pytest.fixture
def server():
    server = Server()
    yield server
    server.stop()


def start(side, home, url):
    """A victim, waited for until it records."""
    command = [sys.executable, "-m", "tests.soak.victim", str(side), url]
    environ = {**os.environ, "REENACT_HOME": str(home)}
    child = subprocess.Popen(
        command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0
    )
    assert child.stdout.readline() == b"ready\n"
    return child


def kill(child):
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()


def diary(path):
    """What a victim had received; its own last line may be torn."""
    whole, _, _ = path.read_bytes().rpartition(b"\n") if path.exists() else (b"", b"", b"")
    return [tuple(json.loads(line)) for line in whole.splitlines()]


def test_nothing_received_is_lost_and_a_replay_reaches_the_end(tmp_path, server, monkeypatch):
    kills, failures, outcomes, torn, before = size(500, 25), [], 0, 0, 0
    chance = random.Random(9)
    for number in progress(range(kills), kills, "kill -9"):
        folder = tmp_path / str(number)
        folder.mkdir()
        child = start(folder / "side", folder / "home", server.url)
        time.sleep(chance.random() * LONGEST)
        kill(child)
        had = diary(folder / "side")
        outcomes += len(had)
        before += not had
        problem, recording = reaches(folder, had, server.url, monkeypatch)
        torn += bool(recording is not None and recording.torn)
        if problem:
            kept = shutil.copytree(
                folder, Path("/tmp/reenact-kill") / f"{os.getpid()}-{number}", dirs_exist_ok=True
            )
            failures.append(f"kill {number}: {problem}\n    kept in {kept}")
        shutil.rmtree(folder)
    row = {"kills": kills, "outcomes received": outcomes, "killed before the first": before,
           "torn last lines": torn, "lost or not reached": len(failures)}  # fmt: skip
    table("kill -9 at random moments", [row])
    keep("kill", {"kills": row})
    assert not failures, "\n".join(failures)


def reaches(folder, had, url, monkeypatch):
    """Whether the one recording in the folder opens, and its replay gives all that was received. Or what is wrong."""
    monkeypatch.setenv("REENACT_HOME", str(folder / "home"))
    try:
        recording = reenact.load("last")
    except reenact.RecordingError as error:
        return f"does not open: {error}", None
    again = []
    try:
        with reenact.replay(recording):
            victim.run(lambda place, value: again.append((place, value)), url)
    except reenact.DivergenceError as error:
        found = error.divergence
    else:
        return "the replay did not say that the run was cut off", recording
    if found.kind is not Departure.EXTRA or not any(
        word in found.detail for word in ("cut off", "recording ends")
    ):
        return f"the replay ended with {found}", recording
    lost = set(had) - set(again)
    return (f"{len(lost)} outcomes received, but not reached in the replay: {sorted(lost)[:3]}; {found}" if lost else "",
            recording)  # fmt: skip


def test_processes_that_record_at_once_are_each_whole(tmp_path, monkeypatch):
    rounds, failures, outcomes = size(30, 2), [], 0
    chance = random.Random(10)
    for number in progress(range(rounds), rounds, "kill -9 of several at once"):
        # One home for all: what they share must not suffer either.
        home = tmp_path / str(number) / "home"
        home.parent.mkdir()
        sides = [home.parent / f"side{place}" for place in range(3)]
        children = [start(side, home, "") for side in sides]
        time.sleep(chance.random() * LONGEST)
        for child in children:
            kill(child)
        monkeypatch.setenv("REENACT_HOME", str(home))
        recordings = {reenact.load(path.name).header["pid"]: path for path in (home / "recordings").iterdir()}
        for child, side in zip(children, sides, strict=True):
            had = diary(side)
            outcomes += len(had)
            alone = home.parent / f"alone{child.pid}"
            shutil.copytree(recordings[child.pid], alone / "home" / "recordings" / recordings[child.pid].name)
            problem, _ = reaches(alone, had, "", monkeypatch)
            failures += [f"round {number}: {problem}"] if problem else []
    row = {"rounds of 3": rounds, "outcomes received": outcomes, "lost or not reached": len(failures)}
    table("kill -9 of several that record into one folder", [row])
    keep("kill", {"several": row})
    assert not failures, "\n".join(failures)


PROGRAM = """
import os, random, sys
import reenact

@reenact.tool
def fetch(question):
    return random.random()

def work(name):
    for number in range(10**6):
        value = fetch(f"{name} {number}")
        with open(f"{sys.argv[1]}.{name}", "ab", 0) as side:
            side.write(f"{value}\\n".encode())

with reenact.record("family"):
    print("ready", flush=True)
    children = [pid for pid in (os.fork() for _ in range(2)) if pid]
    work(len(children) if len(children) < 2 else "parent")
"""


def test_a_family_of_processes_loses_nothing(tmp_path, monkeypatch):
    rounds, outcomes = size(50, 4), 0
    chance = random.Random(11)
    for number in progress(range(rounds), rounds, "kill -9 of a family"):
        home, side = tmp_path / str(number), tmp_path / f"{number}.side"
        environ = {**os.environ, "REENACT_HOME": str(home)}
        command = [sys.executable, "-c", PROGRAM, str(side)]
        child = subprocess.Popen(
            command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0
        )
        assert child.stdout.readline() == b"ready\n"
        time.sleep(0.05 + chance.random() * 0.3)
        kill(child)
        monkeypatch.setenv("REENACT_HOME", str(home))
        recording = reenact.load("last")
        kept = {repr(step.output) for step in recording if step.output is not None}
        had = [
            line for path in tmp_path.glob(f"{number}.side.*") for line in path.read_text().split("\n")[:-1]
        ]
        outcomes += len(had)
        lost = set(had) - kept
        assert not lost, f"round {number}: {len(lost)} of {len(had)} outcomes are not in {recording.path}"
    row = {"rounds": rounds, "outcomes received": outcomes, "lost": 0}
    table("kill -9 of a program with two forks", [row])
    keep("kill", {"family": row})


@reenact.tool
def answer(question):
    return [question, "ä" * 5, random.random()]


def questions(count):
    return [answer(f"question {number}") for number in range(count)]


def test_a_line_torn_at_any_byte_costs_that_line_only(home):
    with reenact.record() as run:
        whole = questions(4)
    path = Path(run.path, "events.jsonl")
    data = path.read_bytes()
    header = data.index(b"\n") + 1
    cuts = range(header, len(data), 9 if SHORT else 1)
    for cut in progress(cuts, len(cuts), "torn at every byte"):
        path.write_bytes(data[:cut])
        recording = reenact.load(run.id)
        lines = data[:cut].count(b"\n")
        tail = data[: cut + 1].rpartition(b"\n")[2] if data[cut - 1 : cut] != b"\n" else b""
        ends_whole = data[cut : cut + 1] == b"\n"
        assert bool(recording.torn) == (bool(tail) and not ends_whole), cut
        done = sum(1 for step in recording if step.call.outcome is not None)
        assert done >= sum(b'"event":"returned"' in line for line in data[:cut].split(b"\n")[:lines])
        got = []
        with pytest.raises(reenact.DivergenceError) as caught, reenact.replay(recording):
            for number in range(5):
                got.append(answer(f"question {number}"))
        assert got == whole[:done], cut
        assert caught.value.divergence.kind is Departure.EXTRA


def test_a_file_torn_within_its_header_says_so(home):
    with reenact.record() as run:
        questions(1)
    path = Path(run.path, "events.jsonl")
    data = path.read_bytes()
    for cut in range(0, data.index(b"\n"), 9 if SHORT else 1):
        path.write_bytes(data[:cut])
        with pytest.raises(reenact.RecordingError) as caught:
            reenact.load(run.id)
        assert str(caught.value).count("\n") == 0
