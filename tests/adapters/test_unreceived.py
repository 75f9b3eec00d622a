"""Messages that nothing receives: another one than recorded is named at the end of a replay."""

from __future__ import annotations

import asyncio
import gc
import queue
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context

import pytest

import reenact
from tests.conftest import Shell


def leaves_in_a_queue(*messages: object) -> None:
    box: queue.Queue[object] = queue.Queue()
    for message in messages:
        box.put(message)


def leaves_in_a_simple_queue(*messages: object) -> None:
    box: queue.SimpleQueue[object] = queue.SimpleQueue()
    for message in ("received", *messages):
        box.put(message)
    assert box.get() == "received"


def leaves_in_a_heap(*messages: object) -> None:
    box: queue.PriorityQueue[object] = queue.PriorityQueue()
    for place in range(len(messages)):
        box.put((place, messages[place]))


def leaves_in_a_thread(*messages: object) -> None:
    thread = threading.Thread(target=leaves_in_a_queue, args=messages)
    thread.start()
    thread.join()


def leaves_in_a_loop(*messages: object) -> None:
    async def main() -> None:
        box: asyncio.Queue[object] = asyncio.Queue()
        for message in messages:
            await box.put(message)

    asyncio.run(main())


def leaves_in_a_pipe(*messages: object) -> None:
    ours, theirs = get_context().Pipe()
    for message in messages:
        theirs.send(message)
    ours.close()
    theirs.close()


PROGRAMS = [
    leaves_in_a_queue,
    leaves_in_a_simple_queue,
    leaves_in_a_heap,
    leaves_in_a_thread,
    leaves_in_a_loop,
    leaves_in_a_pipe,
]


def notes(id: str, program: Callable[..., None], *messages: object) -> tuple[str, ...]:
    with reenact.replay(id) as replay:
        program(*messages)
    return replay.verdict.notes


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_message_that_is_never_received_is_compared(home: str, program: Callable[..., None]) -> None:
    with reenact.record() as run:
        program({"text": "one"})
    assert not notes(run.id, program, {"text": "one"})
    for changed in [({"text": "two"},), (), ({"text": "one"}, "more")]:
        assert len(notes(run.id, program, *changed)) == 1, changed


def test_objects_that_cannot_be_kept_are_compared_by_type(home: str) -> None:
    with reenact.record() as run:
        leaves_in_a_queue(object(), threading.Lock())
    assert not notes(run.id, leaves_in_a_queue, object(), threading.Lock())
    assert notes(run.id, leaves_in_a_queue, object(), object())


def test_the_remark_names_the_numbers_of_messages(home: str) -> None:
    with reenact.record() as run:
        leaves_in_a_queue("one")
    assert notes(run.id, leaves_in_a_queue, "one", "two") == (
        "2 messages were left in a queue that main made, and 1 when it was recorded",
    )
    assert notes(run.id, leaves_in_a_queue, "other") == (
        "1 message was left in a queue that main made, and another when it was recorded",
    )


def test_what_a_running_thread_might_still_take_is_not_compared(home: str) -> None:
    def program(*messages: object) -> None:
        box: queue.Queue[object] = queue.Queue()
        threading.Thread(target=lambda: threading.Event().wait(30), daemon=True).start()
        for message in messages:
            box.put(message)

    with reenact.record() as run:
        program("one")
    with reenact.replay(run.id) as replay:
        program("two")
    assert replay.verdict.faithful
    assert "messages that were left in queues (threads still ran)" in replay.verdict.uncompared


def test_a_queue_that_is_gone_frees_its_messages(home: str) -> None:
    class Message:
        ended = 0

        def __del__(self) -> None:
            Message.ended += 1

    with reenact.record() as run:
        leaves_in_a_queue(Message())
        # In Python 3.14 it may be part of a cycle.
        gc.collect()
        assert Message.ended == 1
        with suppress(queue.Empty):
            queue.Queue[object]().get_nowait()
    [left] = (run.load().logs[0].sealed or {})["left"].values()
    assert left["count"] == 1


def test_a_secret_in_a_message_is_no_difference(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "sk-live-4f9a8b7c6d5e4f3a2b1c")
    with reenact.record() as run:
        leaves_in_a_queue({"key": "sk-live-4f9a8b7c6d5e4f3a2b1c"})
    [left] = (run.load().logs[0].sealed or {})["left"].values()
    assert "4f9a8b7c" not in str(left)
    assert not notes(run.id, leaves_in_a_queue, {"key": "sk-live-4f9a8b7c6d5e4f3a2b1c"})


KILLS = """
import multiprocessing
import os
import signal
import time

def sleeps(up):
    up.set()
    time.sleep(3600)

if __name__ == "__main__":
    for kill in (lambda: os.kill(child.pid, signal.SIGUSR1), lambda: child.terminate()):
        up = multiprocessing.get_context("fork").Event()
        child = multiprocessing.get_context("fork").Process(target=sleeps, args=(up,))
        child.start()
        up.wait()
        kill()
        child.join()
        print("ended", child.exitcode)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_another_signal_to_a_process_of_the_program_is_named(shell: Shell) -> None:
    shell.write("program.py", KILLS)
    done, _ = shell.record("program.py")
    assert done.status == 0, done
    assert shell.replay().status == 0
    for old, new in (("SIGUSR1", "SIGUSR2"), ("terminate", "kill")):
        shell.write("program.py", KILLS.replace(old, new))
        replay = shell.replay()
        assert replay.status == 1, replay
        assert "main sent other signals to its processes than when it was recorded" in replay.err
