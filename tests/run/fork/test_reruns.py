"""Tools run again in a fork before its step, so that the program goes on with the state that they had made."""

from __future__ import annotations

import queue
import random
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import reenact
from reenact.core.store import shared
from reenact.core.store.local import EVENTS

pytestmark = pytest.mark.usefixtures("home")

PRICES = {"pen": 2, "ink": 5}


class Shop:
    """A cart that a tool fills."""

    def __init__(self) -> None:
        self.cart: list[str] = []

    @reenact.tool
    def add(self, item: str) -> dict[str, Any]:
        """Put a thing into the cart."""
        self.cart.append(f"{item} {uuid.uuid4().hex}")
        print("added", item)
        return {"items": len(self.cart), "price": PRICES[item]}


@reenact.tool
def ask(question: str) -> str:
    """The effect that tells what the program knows."""
    return f"answer to {question}"


def shopping() -> list[str]:
    shop = Shop()
    for item in ("pen", "ink", "pen"):
        shop.add(item)
        ask(" ".join(shop.cart))
    return shop.cart


def count(recording: reenact.Recording, kind: str) -> int:
    """Return the number of events of a kind, with those that are the parent's."""
    folder = Path(recording.path)
    return shared.whole((folder / EVENTS).read_bytes(), folder).count(f'{{"event":"{kind}"'.encode())


def recorded(program: Callable[[], Any]) -> tuple[reenact.Recording, Any]:
    with reenact.record("run") as run:
        result = program()
    return run.load(), result


@pytest.mark.parametrize("at", range(2, 7))
def test_the_live_part_has_the_state_of_the_tools_before_it(at: int) -> None:
    parent, cart = recorded(shopping)
    with reenact.fork(parent, at=at) as fork:
        forked = shopping()
    before = at // 2
    assert forked[:before] == cart[:before]
    assert len(forked) == 3
    with reenact.replay(fork.recording) as replay:
        assert shopping() == forked
    assert replay.verdict.faithful, replay.verdict
    assert not replay.verdict.answered


def test_a_fork_of_a_fork_has_it_too() -> None:
    parent, cart = recorded(shopping)
    with reenact.fork(parent, at=4) as first:
        middle = shopping()
    with reenact.fork(first.recording, at=6) as second:
        last = shopping()
    assert (middle[:2], last) == (cart[:2], middle)
    with reenact.replay(second.recording) as replay:
        assert shopping() == last
    assert replay.verdict.faithful, replay.verdict


def test_what_a_tool_prints_and_draws_stands_once_in_the_fork() -> None:
    parent, _ = recorded(shopping)
    with reenact.fork(parent, at=6) as fork:
        shopping()
    for kind in ("printed", "drew", "called", "returned"):
        assert count(fork.recording, kind) == count(parent, kind), kind


def test_a_tool_with_another_source_is_answered() -> None:
    def program(tool: Callable[[int], int]) -> int:
        total = 0
        for number in range(3):
            total += tool(number)
            ask(str(number))
        return total

    ran = []

    def doubled(number: int) -> int:
        return number * 2

    def tripled(number: int) -> int:
        ran.append(number)
        return number * 3

    first, second = (reenact.tool(name="times")(each) for each in (doubled, tripled))
    parent, _ = recorded(lambda: program(first))
    with reenact.fork(parent, at=4):
        assert program(second) == 0 + 2 + 6
    assert ran == [2]


def test_a_tool_that_had_not_ended_at_the_step_is_answered() -> None:
    begun, asked, ran = threading.Event(), threading.Event(), []

    @reenact.tool
    def slow() -> str:
        ran.append("slow")
        begun.set()
        asked.wait(5)
        return "done"

    def program() -> str:
        begun.clear()
        asked.clear()
        with ThreadPoolExecutor(1) as pool:
            job = pool.submit(slow)
            if not ran:
                begun.wait(5)
            ask("in the middle")
            asked.set()
            return job.result()

    parent, _ = recorded(program)
    step = next(step.number for step in parent.steps if step.label == "tool:ask")
    with reenact.fork(parent, at=step):
        assert program() == "done"
    assert ran == ["slow"]


def wandering(edited: str = "") -> list[str]:
    """Draw, sleep, leave a message and remember, before the live part and in it."""
    memory = reenact.track("memory", [])
    box: queue.Queue[str] = queue.Queue()
    for name in ("first", "second"):
        memory.append(ask(name))
        if edited != "draws":
            random.random()
        if edited != "sleeps":
            time.sleep(0.001)
    box.put("other" if edited == "leaves" else "message")
    return memory


@pytest.mark.parametrize("edited", ["draws", "sleeps", "leaves"])
def test_a_replay_of_a_fork_compares_generators_sleeps_and_messages(edited: str) -> None:
    parent, _ = recorded(wandering)
    with reenact.fork(parent, at=2) as fork:
        wandering()
    with reenact.replay(fork.recording) as replay:
        wandering()
    assert replay.verdict.faithful, replay.verdict
    assert {"random generators", "state memory"} <= set(replay.verdict.compared)
    assert not replay.verdict.uncompared
    with reenact.replay(fork.recording) as replay:
        wandering(edited)
    assert not replay.verdict.faithful, replay.verdict


def test_a_tool_that_ran_for_real_in_a_fork_is_named_by_its_replay_with_all_that_it_may_have_changed() -> (
    None
):
    def program() -> list[str]:
        memory: list[str] = reenact.track("memory", [])

        @reenact.tool(name="outer")
        def outer() -> str:
            memory.append(ask("inner"))
            return "done"

        outer()
        return memory

    parent, _ = recorded(program)
    with reenact.fork(parent, at=2, policy=["outer=live"]) as fork:
        program()
    with reenact.replay(fork.recording) as replay:
        program()
    verdict = replay.verdict
    assert verdict.faithful, verdict
    assert verdict.answered == {"tool:outer": "it ran for real in the fork, before its step"}
    why = "tool:outer ran for real in the fork, and not in its replay"
    assert verdict.uncompared == (f"state memory ({why})", f"random generators, sleeps and messages ({why})")


def test_a_fork_that_stopped_says_so_in_its_replay() -> None:
    @reenact.tool(writes=True)
    def refund() -> str:
        return "refunded"

    def program() -> None:
        memory = reenact.track("memory", [])
        for name in ("first", "second"):
            memory.append(ask(name))
        refund()

    parent, _ = recorded(program)
    with pytest.raises(reenact.ForkStopped), reenact.fork(parent, at=2) as fork:
        program()
    assert "state" not in fork.recording.logs[0].sealed
