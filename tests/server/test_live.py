"""Runs are seen while they run: on the list, and step by step."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import reenact
from reenact.server.library import ProjectLibrary
from reenact.server.routes.live import _news, _rows
from tests.server.asking import Asking

PROGRAM = """
import sys, reenact

@reenact.tool
def look(place):
    return f"{place} is fine"

with reenact.record(name="slow") as recording:
    print(recording.id, flush=True)
    for line in sys.stdin:
        look(line.strip())
        print("done", flush=True)
"""


@pytest.fixture
def writer(home):
    """A program that records: it takes a step for each line that it is given."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"REENACT_HOME": home},
    )
    process.id = process.stdout.readline().strip()

    def step(place):
        process.stdin.write(f"{place}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"

    process.step = step
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_a_line_moves_while_the_run_goes_on_and_is_not_live_after_a_kill(home, writer):
    with Asking(Path(home)) as asked:
        writer.step("Rome")
        line = asked.until("/recordings?filter=live == true", lambda page: page["total"] == 1)["items"][0]
        assert (line["name"], line["status"]) == ("slow", "unsealed")
        for count in (2, 3, 4):
            writer.step("Oslo")
            asked.until("/recordings", lambda page, count=count: page["items"][0]["steps"] == count)
        asked.until(
            '/recordings?filter=tool and text ~ "Oslo"',
            lambda page: page["items"][0]["found_in"][-1:] == [4] if page["items"] else False,
        )
        assert asked(f"/recordings/{writer.id}")["live"]
        assert asked(f"/recordings/{writer.id}/steps")["total"] == 4
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        # Whatever wrote a moment ago may go on; that moment is over.
        events = Path(home, "recordings", writer.id, "events.jsonl")
        os.utime(events, (time.time() - 60, time.time() - 60))
        asked.until("/recordings", lambda page: not page["items"][0]["live"])
        assert asked("/recordings")["items"][0]["status"] == "unsealed"


@pytest.mark.thorough
def test_a_recording_that_was_seen_before_its_first_line_is_read_again(home, tmp_path, monkeypatch):
    monkeypatch.setattr("reenact.server.refresh._SWEEP", 3600.0)
    with reenact.record("later", home=tmp_path / "elsewhere") as recording:
        pass
    written = (tmp_path / "elsewhere" / "recordings" / recording.id / "events.jsonl").read_bytes()
    folder = Path(home, "recordings", recording.id)
    with Asking(Path(home)) as asked:
        asked("/recordings")
        folder.mkdir(parents=True)
        (folder / "events.jsonl").touch()
        asked.until("/recordings", lambda page: page["total"] == 1 and page["items"][0]["problem"])
        (folder / "events.jsonl").write_bytes(written)
        asked.until("/recordings", lambda page: page["items"][0]["name"] == "later")


@pytest.mark.thorough
def test_steps_are_told_as_they_come_each_once_until_the_seal(home, writer):
    library = ProjectLibrary(Path(home))
    writer.step("Rome")

    async def listen():
        told, steps = [], []
        async for event in _rows(library, writer.id, 0):
            data = json.loads(event.data)
            told.append(event.event)
            steps += [row["step"] for row in data.get("items", [])]
            if len(steps) < 4:
                await asyncio.to_thread(writer.step, "Oslo")
            elif not writer.stdin.closed:
                writer.stdin.close()
        return told, steps

    told, steps = asyncio.run(asyncio.wait_for(listen(), 120))
    assert steps == [1, 2, 3, 4]
    assert told[-1] == "sealed"
    assert told.count("rows") == 4


def test_a_step_that_was_open_is_told_again_when_its_answer_comes(home, tmp_path):
    folder = Path(home, "recordings", "open")
    folder.mkdir(parents=True)
    with reenact.record(home=home, name="whole") as recording:
        reenact.effect("tool", "look", place="Rome").perform(lambda: "fine")
    lines = Path(home, "recordings", recording.id, "events.jsonl").read_bytes().split(b"\n")
    place = next(at for at, line in enumerate(lines) if line.startswith(b'{"event":"returned"'))
    events = folder / "events.jsonl"
    events.write_bytes(b"\n".join(lines[:place]) + b"\n")
    library = ProjectLibrary(Path(home))

    async def listen():
        told = []
        async for event in _rows(library, "open", 0):
            data = json.loads(event.data)
            told += [(row["step"], row["status"]) for row in data.get("items", [])]
            if len(told) == 1:
                events.write_bytes(b"\n".join(lines))
        return told

    assert asyncio.run(asyncio.wait_for(listen(), 120)) == [(1, "in flight"), (1, "ok")]


def test_who_comes_back_gets_what_was_missed_and_is_told_where_that_is_not_known(home):
    library = ProjectLibrary(Path(home))
    library.start()

    def recorded(name):
        with reenact.record(home=home, name=name) as recording:
            pass
        return recording.id

    async def heard(last, until):
        events = []
        stream = _news(library, last)
        async for event in stream:
            events.append((event.event, json.loads(event.data), event.id))
            if until(events):
                break
        await stream.aclose()
        return events

    async def listen():
        first = recorded("first")
        seen = await heard("", lambda events: events[-1][0] == "hello")
        here = await heard(seen[-1][2], lambda events: any(data.get("id") == first for _, data, _ in events))
        last = here[-1][2]
        second = recorded("second")
        missed = await heard(last, lambda events: any(data.get("id") == second for _, data, _ in events))
        assert first not in [data.get("id") for _, data, _ in missed if data.get("steps")]
        library.remove(second)
        gone = await heard(missed[-1][2], lambda events: events[-1][0] == "gone")
        assert gone[-1][1] == {"id": second}
        strange = await heard("deadbeef-7", lambda events: events[-1][0] == "hello")
        assert [kind for kind, _, _ in strange] == ["reset", "hello"]

    try:
        asyncio.run(asyncio.wait_for(listen(), 120))
    finally:
        library.close()
