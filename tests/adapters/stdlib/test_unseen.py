"""Values that a replay gives otherwise are named at the question that has them; clocks are recorded."""

from __future__ import annotations

import multiprocessing
import os
import platform
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

import reenact
from reenact.adapters.stdlib import unseen
from reenact.core.boundary import entered


@reenact.tool
def ask(question: Any) -> int:
    """Answer one."""
    return len(str(question)) - len(str(question))


def recorded(home: Path, question: Callable[[], Any]) -> reenact.Recording:
    """Record one question."""
    with reenact.record(home=home) as recording:
        ask(question())
    return recording.load()


def times() -> os.times_result:
    """Read them through `os`: the parameters of tests are made before Reenact watches it."""
    return os.times()


def load() -> tuple[float, float, float]:
    return os.getloadavg()


def own_port() -> int:
    """The port of an end of a connection, which the system chose."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.connect(("127.0.0.1", 9))
        port: int = end.getsockname()[1]
    return port


def free_port_of_server() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
    return port


def random_bytes() -> bytes:
    with Path("/dev/urandom").open("rb") as file:
        return file.read(4)


class Order:
    """Has no text of its own."""


@pytest.mark.parametrize(
    ("question", "named"),
    [
        (lambda: f"I am process {os.getpid()}.", "the process's number"),
        (lambda: {"thread": threading.get_ident()}, "a thread's number"),
        (lambda: [str(threading.current_thread())], "a thread's number"),
        (lambda: f"Cancel {Order()}", "an object's address"),
        (lambda: f"call me at http://127.0.0.1:{own_port()}/", "a port that the system chose"),
        (lambda: Path("/proc/self/stat").read_text(encoding="utf-8"), "/proc/self/stat"),
        (lambda: random_bytes().hex(), "/dev/urandom"),
    ],
)
def test_a_question_with_a_value_that_is_not_recorded_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], question: Callable[[], Any], named: str
) -> None:
    sources = recorded(tmp_path, question).sources
    assert any(named in source and "test_unseen.py:" in source for source in sources), sources
    assert named in capsys.readouterr().err


@pytest.mark.parametrize("files", [False, True])
def test_a_temporary_name_is_named_if_a_replay_may_find_its_folder_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, files: bool
) -> None:
    with reenact.record(home=tmp_path, files=files) as recording:
        ask(tempfile.mkdtemp())
    named = [source for source in recording.load().sources if "a temporary name" in source]
    assert bool(named) is not files
    assert ("a temporary name" in capsys.readouterr().err) is not files


@pytest.mark.parametrize(
    "question",
    [
        lambda: f"order {os.getpid()}7",
        lambda: f"{os.getpid()}.5 or 0.{os.getpid()}",
        lambda: "0x7ffdc0de at 0x12",
        lambda: f"cat-{'a' * 40}",
    ],
)
def test_another_number_is_not_named(tmp_path: Path, question: Callable[[], Any]) -> None:
    recording = recorded(tmp_path, question)
    assert not [source for source in recording.sources if "tool:ask" in source]


@pytest.mark.parametrize("number", ["getpid", "getppid", "get_native_id"])
def test_a_number_of_the_program_that_is_equal_to_the_process_s_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    monkeypatch.setattr(unseen, "_asked", set())
    monkeypatch.setattr(unseen, "_look_at_program", lambda: None)  # this module's parameters hold them
    equal = unseen._own[number]()
    recording = recorded(tmp_path, lambda: f"order {equal}")
    assert not [source for source in recording.sources if "number" in source]


HELD = f"worker-{os.getpid()}"


@pytest.mark.parametrize(
    ("question", "named"),
    [
        (lambda: HELD, "os.getpid"),
        (lambda: multiprocessing.current_process().pid, "os.getpid"),
        (lambda: f"{os.getppid()}", "os.getppid"),
        (lambda: threading.current_thread().native_id, "os.getpid|threading.get_native_id"),
    ],
)
def test_a_number_of_the_process_is_named_however_the_program_got_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: Callable[[], Any], named: str
) -> None:
    monkeypatch.setattr(unseen, "_asked", set())
    if question() != HELD:
        monkeypatch.setattr(unseen, "_look_at_program", lambda: None)
    sources = recorded(tmp_path, question).sources
    assert any(re.search(named, source) for source in sources), sources


@pytest.mark.parametrize("value", [10**5000, "\ud800"], ids=["a long integer", "a lone surrogate"])
def test_a_global_value_that_has_no_short_text_stops_no_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: Any
) -> None:
    monkeypatch.setattr(unseen, "_asked", set())
    monkeypatch.setitem(globals(), "HELD", value)
    assert not [one for one in recorded(tmp_path, lambda: "order 7").sources if "number" in one]


def test_a_replay_that_asks_with_another_value_says_where_it_came_from(tmp_path: Path) -> None:
    number = os.getppid()
    with reenact.record(home=tmp_path) as recording:
        ask(f"parent {number}")
    with (
        pytest.raises(reenact.DivergenceError, match="os.getppid"),
        reenact.replay(recording.id, home=tmp_path),
    ):
        ask(f"parent {number + 1}")


def test_a_named_source_alone_leaves_a_replay_faithful(tmp_path: Path) -> None:
    with reenact.record(home=tmp_path) as recording:
        Path("/proc/self/stat").read_text(encoding="utf-8")
        ask("same")
    with reenact.replay(recording.id, home=tmp_path) as replay:
        Path("/proc/self/stat").read_text(encoding="utf-8")
        ask("same")
    assert recording.load().sources
    assert replay.verdict.faithful, str(replay.verdict)


def selected(what: str) -> list[Any]:
    with closing(sqlite3.connect(":memory:")) as database:
        return database.execute(f"select {what}").fetchall()


@pytest.mark.parametrize(
    "read",
    [
        lambda: time.clock_gettime(time.CLOCK_BOOTTIME),
        lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC),
        lambda: os.times().elapsed,
        load,
        lambda: selected("random(), hex(randomblob(8))"),
        lambda: selected("value from json_each('[1,2,3,4,5,6,7,8,9]') order by random()"),
    ],
)
def test_clocks_and_counters_and_random_numbers_of_sqlite_are_answered(
    tmp_path: Path, read: Callable[[], Any]
) -> None:
    with reenact.record(home=tmp_path) as recording:
        ask(read())
    with reenact.replay(recording.id, home=tmp_path) as replay:
        ask(read())
    assert replay.verdict.faithful, str(replay.verdict)


def test_times_of_the_process_keep_their_names(tmp_path: Path) -> None:
    with reenact.record(home=tmp_path) as recording:
        first = os.times()
    with reenact.replay(recording.id, home=tmp_path):
        again = os.times()
    assert again == first
    assert again.user == first.user


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (times, os.times_result),
        (lambda: time.clock_gettime(time.CLOCK_BOOTTIME), float),
        (lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME), int),
        (lambda: selected("random()")[0][0], int),
        (load, tuple),
    ],
)
def test_a_read_that_an_edited_program_adds_gets_a_value_of_its_kind(
    tmp_path: Path, read: Callable[[], Any], kind: type
) -> None:
    with reenact.record(home=tmp_path) as recording:
        first = read()
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert read() == first
        added = read()
    assert type(added) is kind
    assert any("not recorded" in note for note in replay.verdict.notes)


def test_free_space_and_memory_and_the_machine_s_name_are_answered(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")

    def facts() -> tuple[Any, ...]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        space = shutil.disk_usage(tmp_path)
        return used, used.ru_utime, space, space.free, socket.gethostname(), platform.node()

    with reenact.record(home=tmp_path) as recording:
        first = facts()
    taken = (tmp_path / "more").write_bytes(os.urandom(1 << 22)), bytearray(1 << 24)
    with reenact.replay(recording.id, home=tmp_path):
        assert facts() == first
    assert all(taken)


def test_a_number_that_an_edited_program_draws_is_the_same_in_each_replay(tmp_path: Path) -> None:
    with reenact.record(home=tmp_path) as recording:
        pass
    drawn = []
    for _ in range(2):
        with reenact.replay(recording.id, home=tmp_path):
            drawn.append(selected("random()"))
    assert drawn[0] == drawn[1]


def test_a_forked_process_is_searched_for_its_own_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reenact.record(home=tmp_path) as recording:
        ask("before")
        os.getpid()
        monkeypatch.setitem(unseen._own, "getpid", lambda: 987654)
        values = unseen._values[recording.active]  # type: ignore[index]
        values.forked()
        found = list(values._found(b'{"q":"process 987654"}'))
        monkeypatch.undo()
    assert found == ["the process's number (os.getpid)"]


def test_a_port_that_the_program_has_chosen_is_not_named(home: Path) -> None:
    with (
        reenact.record("server") as recording,
        ThreadingHTTPServer(("127.0.0.1", free_port()), Silent) as server,
    ):
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        with urlopen(f"http://127.0.0.1:{server.server_port}/") as answer:
            assert answer.status == 204
        server.shutdown()
        serving.join()
    sources = recording.load().sources
    assert not [source for source in sources if "the system chose" in source]


class Silent(BaseHTTPRequestHandler):
    """Answers without a body."""

    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write no log."""


def free_port() -> int:
    """A port that is free, found outside of what is recorded."""
    with entered(None):
        return free_port_of_server()


NAMES = """
import os, platform
import reenact

@reenact.tool
def ask(question):
    return question

print(ask([*os.uname()]), ask(platform.uname().release), ask(platform.uname().node))
print(ask([platform.system(), platform.release(), platform.version(), platform.machine()]))
print(ask(platform.platform()), ask(platform.platform(terse=True)))
"""


@pytest.mark.skipif(
    shutil.which("setarch") is None, reason="no program gives a process another system's version"
)
def test_the_versions_of_the_system_are_the_recorded_ones_on_another_system(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(NAMES)
    options: dict[str, Any] = {
        "cwd": tmp_path,
        "capture_output": True,
        "text": True,
        "timeout": 60,
    }
    other = ["setarch", platform.machine(), "--uname-2.6"]
    plain = subprocess.run([*other, sys.executable, "agent.py"], check=False, **options)
    if plain.returncode or "2.6." not in plain.stdout:
        pytest.skip("the system gives no process another version")
    command = [sys.executable, "-m", "reenact"]
    recorded = subprocess.run([*command, "record", "--", sys.executable, "agent.py"], check=False, **options)
    replayed = subprocess.run([*other, *command, "replay", "last"], check=False, **options)
    assert recorded.stdout != plain.stdout
    assert (replayed.returncode, replayed.stdout) == (0, recorded.stdout), replayed.stderr


def test_ids_of_fastuuid_are_named(tmp_path: Path) -> None:
    pytest.importorskip("fastuuid")
    (tmp_path / "agent.py").write_text("import fastuuid\nprint(fastuuid.uuid4())\n")
    command = [sys.executable, "-m", "reenact", "record", "--", sys.executable, "agent.py"]
    recorded = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert "the program uses the ids of fastuuid" in recorded.stderr
