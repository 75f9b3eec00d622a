"""A recording whose run was cut off replays up to that point: all that anybody was still given is given again."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest

import reenact
from reenact import Departure, DivergenceError


@reenact.tool
async def ask(question, seconds=0.0):
    await asyncio.sleep(seconds)
    return random.random()


@reenact.tool
async def drip(question):
    for _ in range(5):
        await asyncio.sleep(0.002)
        yield random.random()


async def program(had):
    async def slow():
        had.append(("slow", await ask("slow", 0.05)))

    async def quick():
        for number in range(4):
            had.append((number, await ask("quick")))

    async def stream():
        async for drop in drip("drops"):
            had.append(("drop", drop))

    await asyncio.gather(slow(), stream(), quick())
    had.append(("after", await ask("after")))


def cut(recording, *, before):
    """The recording as it was when the line for which `before` holds had not been written."""
    path = Path(recording.path, "events.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if before(json.loads(line)))
    path.write_bytes(b"".join(lines[:place]))
    return reenact.load(path.parent)


def replayed(recording):
    had = []
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording):
        asyncio.run(program(had))
    return had, caught.value.divergence


@pytest.fixture
def recorded(home):
    had = []
    with reenact.record() as run:
        asyncio.run(program(had))
    return run, had


def test_others_get_all_that_they_had_got_while_one_call_was_in_flight(recorded):
    run, had = recorded
    recording = cut(run, before=lambda line: line["event"] == "returned" and line["call"] == 1)
    again, found = replayed(recording)
    assert again == had[: had.index(next(item for item in had if item[0] == "slow"))]
    assert (found.kind, found.step) == (Departure.EXTRA, 1)
    assert "cut off in this call" in found.detail


def test_a_stream_that_was_cut_off_gives_what_had_come(recorded):
    run, had = recorded
    chunks = iter(range(10))
    recording = cut(run, before=lambda line: line["event"] == "chunk" and next(chunks) == 3)
    again, found = replayed(recording)
    assert again == had[: len(again)]
    assert sum(name == "drop" for name, _ in again) == 3
    assert found.kind is Departure.EXTRA


def test_a_question_that_had_not_been_asked_yet_comes_last(recorded):
    run, had = recorded
    recording = cut(
        run, before=lambda line: line["event"] == "called" and line["args"]["question"] == "after"
    )
    again, found = replayed(recording)
    assert again == had[:-1]
    assert "its run was cut off" in found.detail


def test_without_a_single_outcome_it_says_so_at_once(recorded):
    run, _ = recorded
    recording = cut(run, before=lambda line: line["event"] == "called")
    again, found = replayed(recording)
    assert again == []
    assert "cut off" in found.detail


def test_a_run_that_was_interrupted_is_said_to_have_been(home):
    def asked(count):
        for number in range(count):
            asyncio.run(ask(number))

    with pytest.raises(KeyboardInterrupt), reenact.record(home=home) as recording:
        asked(2)
        raise KeyboardInterrupt
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording.path):
        asked(3)
    found = caught.value.divergence
    assert found.detail == "the recording ends after step 2: its run was interrupted (KeyboardInterrupt)"
    assert found.hint == ""
