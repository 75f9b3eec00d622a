"""The state at the end of a replay: random generators and sleeps of all threads, tasks, tools and processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import HTTPServer, SimpleHTTPRequestHandler
from multiprocessing import get_context
from typing import Any

import pytest

import reenact

NOTHING = [False]
"""Holds True in an edited program: it neither draws nor sleeps."""


@reenact.tool
def waiting() -> str:
    wait()
    return "answer"


def wait() -> None:
    if not NOTHING[0]:
        time.sleep(random.uniform(0, 0.001))


def waiting_in_threads() -> None:
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            pool.submit(waiting)


async def wait_in_task() -> None:
    if not NOTHING[0]:
        await asyncio.sleep(random.uniform(0, 0.001))


def in_main() -> None:
    wait()


def in_thread() -> None:
    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()


def in_jobs() -> None:
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            pool.submit(wait)


def in_task() -> None:
    async def program() -> None:
        await asyncio.gather(wait_in_task(), wait_in_task())

    asyncio.run(program())


def in_process() -> None:
    child = get_context("fork").Process(target=wait)
    child.start()
    child.join()


PLACES = {
    in_main: "main",
    in_thread: "main/thread:wait.0",
    in_jobs: "main/thread:wait.0",
    in_task: "main/wait_in_task.0",
    waiting: "main/tool:waiting#0",
    waiting_in_threads: "main/thread:waiting.0/tool:waiting#0",
}


def notes(id: str, program: Callable[[], Any]) -> tuple[str, ...]:
    with reenact.replay(id) as replay:
        program()
    return replay.verdict.notes


@pytest.fixture
def edited() -> Any:
    """Return a function that edits the program: it neither draws nor sleeps, or does again."""

    def edit(nothing: bool = True) -> None:
        NOTHING[0] = nothing

    yield edit
    NOTHING[0] = False


@pytest.mark.parametrize("program", PLACES, ids=lambda program: program.__name__)
def test_a_sleep_of_random_length_that_is_left_out_is_named(home: str, program: Any, edited: Any) -> None:
    with reenact.record() as run:
        program()
    assert not notes(run.id, program)
    edited()
    found = notes(run.id, program)
    place = PLACES[program]
    if place != "main":
        assert f"{place} drew random numbers when it was recorded, and none now" in found
    else:
        assert "the state of the generator random at the end is not the recorded one" in found
    assert any("slept not at all, and" in text for text in found)


@pytest.mark.parametrize("program", PLACES, ids=lambda program: program.__name__)
def test_a_sleep_of_random_length_that_is_new_is_named(home: str, program: Any, edited: Any) -> None:
    edited()
    with reenact.record() as run:
        random.random()
        program()
    edited(False)

    def again() -> None:
        random.random()
        program()

    found = notes(run.id, again)
    if PLACES[program] != "main":
        assert f"{PLACES[program]} drew random numbers, and none when it was recorded" in found
    assert any("and not at all when it was recorded" in text for text in found)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system cannot fork")
def test_a_process_compares_its_state_too(home: str, edited: Any) -> None:
    with reenact.record() as run:
        in_process()
    assert not notes(run.id, in_process)
    edited()
    found = notes(run.id, in_process)
    assert any("slept not at all, and once when it was recorded" in text for text in found)


def test_a_thread_that_still_runs_is_not_compared(home: str) -> None:
    enough = threading.Event()
    times = [20, 3]

    def beat() -> None:
        for _ in range(times[0]):
            wait()
        enough.set()
        threading.Event().wait(30)

    def program() -> None:
        threading.Thread(target=beat, daemon=True).start()
        enough.wait()
        waiting()

    with reenact.record() as run:
        program()
    enough.clear()
    times.reverse()
    assert not notes(run.id, program)


def test_a_recording_of_an_older_version_has_no_counts_and_is_faithful(home: str) -> None:
    with reenact.record() as run:
        in_jobs()
        waiting()
    recording = run.load()
    sealed = recording.logs[0].sealed
    assert sealed is not None
    assert sealed["slept"] == {"main/thread:wait": 3, "main/tool:waiting#0": 1}
    older = {name: value for name, value in sealed.items() if name != "slept"}
    older["state"] = {name: value for name, value in sealed["state"].items() if "#" not in name}
    recording.logs[0].sealed = older
    with reenact.replay(recording) as replay:
        in_jobs()
        waiting()
    assert replay.verdict.faithful


def test_a_timer_that_is_set_at_the_top_of_a_script_is_no_sleep(shell):
    shell.write(
        "agent.py",
        """
        import asyncio, reenact
        loop = asyncio.new_event_loop()
        with reenact.record() as run:
            loop.call_at(loop.time() + 0.001, loop.stop)
            loop.run_forever()
        loop.close()
        print(run.load().logs[0].sealed["slept"])
        """,
    )
    assert shell.plain("agent.py").stdout == "{}\n"


POLLS = {
    "thread": """
        while not os.path.exists("done.txt"):
            time.sleep(0.01)
    """,
    "asyncio": """
        async def wait():
            while not os.path.exists("done.txt"):
                await asyncio.sleep(0.01)

        asyncio.run(wait())
    """,
}


@pytest.mark.parametrize("polls", POLLS)
def test_a_replay_sleeps_as_often_until_a_process_has_done_its_part(shell, polls):
    shell.write("worker.py", 'import time; time.sleep(0.1); open("done.txt", "w").close()')
    shell.write(
        "agent.py",
        f"""
        import asyncio, os, subprocess, sys, time
        import reenact

        @reenact.tool
        def ask(question):
            return question

        beside = subprocess.Popen([sys.executable, "worker.py"])
        {POLLS[polls].strip()}
        beside.wait()
        ask("second")
        """,
    )
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    (shell.folder / "done.txt").unlink()
    again = shell.run("replay", recording.id)
    assert again.status == 0, again.err
    assert "not compared" not in again.err


LIMIT = [5.0]
"""The time limit that the program gives."""


def limits(recording: Any, program: Callable[[], object]) -> list[str]:
    """Return the time limits that a faithful replay does not compare."""
    with reenact.replay(recording) as replay:
        program()
    assert replay.verdict.faithful, replay.verdict
    return [text for text in replay.verdict.uncompared if "time limit" in text]


def of_command() -> None:
    subprocess.run("exit 0", check=True, shell=True, timeout=LIMIT[0])


def of_jobs() -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(str, range(3), timeout=LIMIT[0]))


LIMITED = {of_command: "the time limits", of_jobs: "the time limit map"}


@pytest.mark.parametrize("program", LIMITED)
def test_another_time_limit_that_ended_nothing_is_named(home: str, program: Any, monkeypatch: Any) -> None:
    with reenact.record() as run:
        program()
    assert not limits(run.id, program)
    monkeypatch.setitem(globals(), "LIMIT", [0.1])
    text = f"{LIMITED[program]} of the calls of main (0.1 s in all, and 5 s when it was recorded): no limit ends a recorded answer"
    assert limits(run.id, program) == [text]
    recording = run.load()
    # A recording of an earlier version has no such sums.
    recording.logs[0].sealed = {
        name: value for name, value in recording.logs[0].sealed.items() if name != "limits"
    }
    assert not limits(recording, program)


@pytest.mark.parametrize("client", ["httpx", "requests", "urllib3", "aiohttp", "urllib.request"])
def test_another_time_limit_of_a_request_is_named(home: str, client: str, monkeypatch: Any) -> None:
    library: Any = pytest.importorskip(client)

    async def ask() -> None:
        async with (
            library.ClientSession() as session,
            session.get(url, timeout=library.ClientTimeout(total=limit)),
        ):
            pass

    def program() -> None:
        if client == "aiohttp":
            asyncio.run(ask())
        elif client == "urllib3":
            library.request("GET", url, timeout=limit)
        elif client == "urllib.request":
            library.urlopen(url, timeout=limit).close()
        else:
            library.get(url, timeout=limit)

    limit = 5.0
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with reenact.record() as run:
            program()
        server.shutdown()
    assert not limits(run.id, program)
    limit = 0.125
    found = limits(run.id, program)
    assert found
    assert all("(0.125 s in all, and 5 s when it was recorded)" in text for text in found)
