"""Signals come in a replay at the place where they came in the recording, and no real one is sent."""

from __future__ import annotations

import _thread
import asyncio
import http.client
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import reenact
from reenact.adapters.stdlib.deliveries import WAITS
from reenact.errors import DivergenceError
from tests.adapters.programs import record, replay
from tests.source import texts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals of POSIX")
SHELL = subprocess.Popen(["/bin/sh"], stdin=subprocess.PIPE)
SENDS = {"now": True}


@reenact.tool
def ask(what):
    """An answer that takes its time."""
    time.sleep(0.004)
    return what


def later(number, *seconds):
    """Send this process signals from a process that no recorder knows of. A replay has none."""
    if SENDS["now"]:
        words = "; ".join(f"sleep {each}; kill -{int(number)} {os.getpid()}" for each in seconds)
        SHELL.stdin.write(f"({words}) >/dev/null 2>&1 &\n".encode())
        SHELL.stdin.flush()


@pytest.fixture(autouse=True)
def _handlers():
    numbers = signal.SIGTERM, signal.SIGALRM, signal.SIGINT
    before = [signal.getsignal(number) for number in numbers]
    # In the background of a shell, it is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    SENDS["now"] = True
    yield
    # A late one must not end this process.
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


class Late(Exception):
    """The alarm has rung."""


def rings(*_):
    raise Late


def a_flag():
    stop, asked = [], 0
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    later(signal.SIGTERM, 0.03)
    while not stop:
        ask(asked)
        asked += 1
    return asked


def an_alarm_in_a_tool():
    signal.signal(signal.SIGALRM, rings)
    found = []
    for step in range(3):
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        try:
            found.append(ask(step))
        except Late:
            found.append(ask("late"))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def an_alarm_in_a_sleep():
    signal.signal(signal.SIGALRM, rings)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        time.sleep(30)
    except Late:
        return ask("late")


def an_event():
    gate, seen = threading.Event(), []

    def handle(*_):
        seen.append(ask("handled"))
        gate.set()

    def job():
        for step in range(8):
            seen.append(ask(step))

    signal.signal(signal.SIGTERM, handle)
    thread = threading.Thread(target=job)
    thread.start()
    later(signal.SIGTERM, 0.02)
    gate.wait()
    seen.append("on")
    thread.join()
    return seen


def a_queue():
    box, seen = queue.Queue(), []
    signal.signal(signal.SIGUSR1, lambda *_: seen.append("signal"))

    def job():
        for step in range(8):
            box.put(ask(step))
        box.put(None)

    later(signal.SIGUSR1, 0.01)
    threading.Thread(target=job).start()
    while (item := box.get()) is not None:
        seen.append(item)
    while "signal" not in seen:
        time.sleep(0.005)
    return seen


def a_pause():
    # A signal of its own: those that come behind the pause reach the next test.
    seen = []
    signal.signal(signal.SIGUSR2, lambda *_: seen.append(ask("handled")))
    later(signal.SIGUSR2, *[0.1] * 5)
    signal.pause()
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    return list(seen)


def an_interrupt():
    later(signal.SIGINT, 0.05)
    asked = 0
    try:
        while True:
            ask(asked)
            asked += 1
    except KeyboardInterrupt:
        return asked


def an_interrupt_of_a_loop():
    seen = []

    async def main():
        try:
            while True:
                await asyncio.sleep(0.004)
                seen.append(len(seen))
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    later(signal.SIGINT, 0.05)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    return seen


def a_handler_of_a_loop():
    seen = []

    async def main():
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        later(signal.SIGTERM, 0.03)
        while not stop.is_set():
            await asyncio.sleep(0.004)
            seen.append(len(seen))
        assert loop.remove_signal_handler(signal.SIGTERM)

    asyncio.run(main())
    return seen


def to_itself():
    seen = []
    signal.signal(signal.SIGUSR1, lambda *_: seen.append(ask("handled")))
    os.kill(os.getpid(), signal.SIGUSR1)
    seen.append("between")
    signal.raise_signal(signal.SIGUSR1)
    return seen


def to_the_main_thread():
    seen = []
    try:
        _thread.interrupt_main()
        seen.append("not interrupted")
    except KeyboardInterrupt:
        seen.append(ask("interrupted"))
    return seen


def from_a_thread_that_is_joined():
    seen = []
    thread = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        thread.start()
        thread.join()
        seen.append("not interrupted")
    except KeyboardInterrupt:
        seen.append(ask("interrupted"))
    return seen


def an_alarm_in_a_read():
    left, right = socket.socketpair()
    with left, right:
        return until_the_alarm(lambda: left.recv(1))


def an_alarm_in_a_read_of_a_pipe():
    ours, theirs = os.pipe()
    try:
        return until_the_alarm(lambda: os.read(ours, 1))
    finally:
        os.close(ours)
        os.close(theirs)


def an_alarm_in_a_wait_for_a_lock():
    lock = threading.Lock()
    lock.acquire()
    return until_the_alarm(lambda: lock.acquire(timeout=600))


def an_alarm_at_the_end_of_a_pool():
    gate = threading.Event()
    pool = ThreadPoolExecutor(1)
    pool.submit(gate.wait)
    try:
        return until_the_alarm(pool.shutdown)
    finally:
        gate.set()


def an_alarm_in_a_wait_for_a_command():
    with subprocess.Popen(["/bin/sh"], stdin=subprocess.PIPE) as command:
        try:
            return until_the_alarm(command.wait)
        finally:
            command.kill()


def an_alarm_in_a_read_of_output():
    with subprocess.Popen(["/bin/sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as command:
        late = until_the_alarm(lambda: command.stdout.read(1))
        command.stdin.write(b"echo on\n")
        command.stdin.close()
        return [late, command.stdout.read(2), command.wait()]


def an_alarm_at_the_end_of_output():
    with subprocess.Popen(["/bin/sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as command:
        try:
            return until_the_alarm(lambda: command.stdout.read(1))
        finally:
            command.kill()


def an_alarm_in_a_request():
    connection = http.client.HTTPConnection("127.0.0.1", SERVER.getsockname()[1])
    connection.request("GET", "/silent")
    try:
        return until_the_alarm(connection.getresponse)
    finally:
        connection.close()


def an_alarm_in_a_streamed_response():
    with httpx.stream(
        "GET", f"http://127.0.0.1:{SERVER.getsockname()[1]}/begun", trust_env=False, timeout=None
    ) as response:
        chunks = response.iter_raw()
        return [next(chunks), until_the_alarm(lambda: next(chunks))]


def until_the_alarm(wait):
    """Wait for what never comes."""
    signal.signal(signal.SIGALRM, rings)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        return wait()
    except Late:
        return ask("late")


SERVER = socket.create_server(("127.0.0.1", 0))


def serve():
    """Answer each request with nothing, or with the beginning of a response, and stay silent."""
    kept = []
    while True:
        connection, _ = SERVER.accept()
        kept.append(connection)
        if connection.recv(4096).startswith(b"GET /begun"):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")


PROGRAMS = [
    a_flag,
    an_alarm_in_a_tool,
    an_alarm_in_a_sleep,
    an_event,
    a_queue,
    a_pause,
    an_interrupt,
    an_interrupt_of_a_loop,
    a_handler_of_a_loop,
    to_itself,
    to_the_main_thread,
    from_a_thread_that_is_joined,
]

WAITS_UNTIL_AN_ALARM = [
    an_alarm_in_a_read,
    an_alarm_in_a_read_of_a_pipe,
    an_alarm_in_a_wait_for_a_lock,
    an_alarm_at_the_end_of_a_pool,
    an_alarm_in_a_wait_for_a_command,
    an_alarm_in_a_read_of_output,
    an_alarm_at_the_end_of_output,
    an_alarm_in_a_request,
    an_alarm_in_a_streamed_response,
]


@pytest.fixture(autouse=True, scope="module")
def _server():
    threading.Thread(target=serve, daemon=True).start()


@pytest.mark.sampled
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_replay_runs_each_handler_at_its_recorded_place(program):
    replays_as_recorded(program)


@pytest.mark.sampled
@pytest.mark.parametrize("program", WAITS_UNTIL_AN_ALARM, ids=lambda program: program.__name__)
def test_an_alarm_ends_each_kind_of_wait_in_a_replay(program):
    replays_as_recorded(program)


def replays_as_recorded(program):
    first, recording = record(program)
    SENDS["now"] = False
    again, verdict = replay(program, recording)
    assert again == first
    assert verdict.faithful


def test_each_function_where_a_signal_is_delivered_exists():
    source = "".join(text for path, text in texts().items() if path.startswith(("adapters/", "core/")))
    assert {name for name in WAITS if not re.search(rf"(?m)^ *def {name}\b", source)} == set()


def computes():
    signal.signal(signal.SIGALRM, rings)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        while True:
            pass
    except Late:
        return ask("late")


def test_a_signal_between_two_places_is_named_and_ends_the_replay(capfd):
    _, recording = record(computes)
    assert "SIGALRM came at test_signals.py:" in capfd.readouterr().err
    assert any("SIGALRM came at test_signals.py:" in source for source in recording.sources)
    with pytest.raises(
        DivergenceError, match="SIGALRM came here when it was recorded, while the program computed"
    ):
        replay(computes, recording)


def test_the_program_sees_its_own_handlers():
    def handle(*_):
        """Do nothing."""

    def program():
        before = signal.signal(signal.SIGUSR1, handle)
        seen = signal.getsignal(signal.SIGUSR1) is handle
        return seen, signal.signal(signal.SIGUSR1, before) is handle

    assert record(program)[0] == (True, True)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_a_replay_does_not_reach_is_in_its_verdict():
    def program():
        signal.signal(signal.SIGUSR1, lambda *_: None)
        if SENDS["now"]:
            later(signal.SIGUSR1, 0.01)
            time.sleep(0.3)

    _, recording = record(program)
    SENDS["now"] = False
    _, verdict = replay(program, recording)
    assert not verdict.faithful
    assert any("SIGUSR1 came when it was recorded" in note for note in verdict.notes)


@pytest.mark.parametrize(
    "wait",
    [
        lambda: signal.sigwait({signal.SIGUSR2}),
        lambda: signal.sigwaitinfo({signal.SIGUSR2}).si_signo,
        lambda: signal.sigtimedwait({signal.SIGUSR2}, 60).si_signo,
    ],
    ids=["sigwait", "sigwaitinfo", "sigtimedwait"],
)
def test_a_wait_for_a_signal_is_named_and_a_replay_refuses_it(wait, capfd):
    def program():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
        try:
            if SENDS["now"]:
                later(signal.SIGUSR2, 0.01)
            return wait() == signal.SIGUSR2
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    came, recording = record(program)
    assert came
    assert "sig" in capfd.readouterr().err
    assert any("the program waits in signal.sig" in text for text in recording.sources)
    SENDS["now"] = False
    with pytest.raises(DivergenceError, match="sig"):
        replay(program, recording)


def test_a_handler_is_named_where_signals_cannot_be_recorded():
    code = (
        "import signal; del signal.pthread_kill; import reenact\n"
        "with reenact.record() as run:\n    signal.signal(signal.SIGUSR1, lambda *_: None)\n"
        "assert any('the program handles SIGUSR1 at ' in source for source in reenact.load(run.id).sources)\n"
    )
    with (
        tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".py") as file,
        tempfile.TemporaryDirectory() as home,
    ):
        file.write(code)
        file.flush()
        subprocess.run([sys.executable, file.name], env={**os.environ, "REENACT_HOME": home}, check=True)
