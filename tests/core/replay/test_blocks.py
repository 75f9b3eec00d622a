"""A recorded block or function that is run again as it is, `record()` and all, within a replay."""

from __future__ import annotations

import asyncio
import time

import pytest

import reenact
from reenact.errors import DivergenceError


@reenact.tool
def tick(question):
    return time.time_ns()


@reenact.recorded
def answer(question):
    return f"{question}: {tick(question)}"


@reenact.recorded
async def aanswer(question):
    await asyncio.sleep(0.01)
    return f"{question}: {tick(question)}"


def test_a_recorded_function_is_replayed_by_calling_it_again(home):
    first = answer("a")
    with reenact.replay("last") as replay:
        assert answer("a") == first
    assert replay.verdict.faithful


def test_so_is_an_async_one_in_whatever_loop(home):
    first = asyncio.run(aanswer("a"))
    with reenact.replay("last") as replay:
        assert asyncio.run(aanswer("a")) == first
    assert replay.verdict.faithful


def test_another_output_than_recorded_is_a_departure(home):
    with reenact.record("block") as recording:
        recording.output = tick("a")
    with pytest.raises(DivergenceError, match="output"), reenact.replay("last"):
        with reenact.record("block") as again:
            tick("a")
            again.output = 7


def test_a_second_call_is_not_the_recorded_one(home):
    answer("a")
    with pytest.raises(DivergenceError, match="EXTRA"), reenact.replay("last"):
        answer("a")
        answer("a")


def test_a_block_of_the_same_name_inside_keeps_its_own_place(home):
    def program():
        with reenact.record("outer"):
            return tick("a"), tick("b")

    with reenact.record("outer"):
        first = program()
    with reenact.replay("last") as replay:
        assert program() == first
    assert replay.verdict.faithful
