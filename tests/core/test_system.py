"""The ways of the system and their portable second ways."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from reenact.core import system

HOLDS = """
import os, sys
from reenact.core import system
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o600)
system.lock(file, shared=sys.argv[2] == "shared")
print("held", flush=True)
sys.stdin.read()
"""

portable = pytest.mark.parametrize("portable", [False, True], ids=["native", "portable"])


@pytest.fixture
def file(tmp_path):
    number = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o600)
    yield number
    os.close(number)


def holder(path, kind):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path), kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline().strip() == b"held"
    return process


@portable
def test_reading_at_a_place_leaves_the_position(file, monkeypatch, portable):
    monkeypatch.setattr(system, "PORTABLE", portable)
    os.write(file, b"0123456789")
    os.lseek(file, 4, os.SEEK_SET)
    assert system.pread(file, 3, 7) == b"789"
    assert system.pread(file, 3, 10) == b""
    assert os.lseek(file, 0, os.SEEK_CUR) == 4


def test_a_lock_of_another_process_is_seen_until_it_is_killed(tmp_path, file):
    with holder(tmp_path / "file", "alone") as process:
        with pytest.raises(BlockingIOError):
            system.lock(file, wait=False)
        with pytest.raises(BlockingIOError):
            system.lock(file, shared=True, wait=False)
        process.kill()
        process.wait()
        system.lock(file, wait=False)


def test_shared_locks_do_not_exclude_each_other(tmp_path, file):
    with holder(tmp_path / "file", "shared") as process:
        system.lock(file, shared=True, wait=False)
        system.unlock(file)
        with pytest.raises(BlockingIOError):
            system.lock(file, wait=False)
        process.kill()


@portable
def test_a_locked_folder_is_refused_to_another_and_free_afterwards(tmp_path, monkeypatch, portable):
    monkeypatch.setattr(system, "PORTABLE", portable)
    folder = tmp_path / "folder"
    folder.mkdir()
    with system.locked_folder(folder, wait=False) as mine:
        assert mine
        with system.locked_folder(folder, wait=False) as other:
            assert not other
    with system.locked_folder(folder, wait=False) as again:
        assert again
    # Windows locks no folders, but a file beside it.
    assert set(os.listdir(tmp_path)) <= {"folder", "folder.lock"}


def test_only_known_signals_are_named():
    assert system.signals("SIGINT", "SIGNONE", "SIGTERM") == (signal.SIGINT, signal.SIGTERM)


def test_ending_a_group_ends_what_it_has_started():
    code = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE); "
    code += "print(p.pid, flush=True); p.wait()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        inner = int(process.stdout.readline())
        system.kill_group(process.pid)
        assert process.stdout.read() == b""
    # Its status may still wait to be read by whatever process adopts it.
    until = time.monotonic() + 60
    while time.monotonic() < until and system.runs(inner):
        time.sleep(0.05)
    assert not system.runs(inner)
    system.kill_group(process.pid)


def test_a_process_runs_until_its_end_and_is_not_disturbed_by_the_question():
    code = "print(1, flush=True); input(); print(2)"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        assert system.runs(process.pid)
        assert process.communicate(b"\n")[0].split() == [b"2"]
    assert process.returncode == 0
    assert not system.runs(process.pid)
    assert system.runs(os.getpid())


@pytest.mark.parametrize("pid", [0, -1, 2**31, 2**70])
def test_a_number_that_no_process_can_have_runs_not(pid):
    assert not system.runs(pid)


def test_files_and_folders_are_synced(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"x")
    system.sync(file)
    system.sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        system.sync(tmp_path / "missing")


def test_the_end_of_a_child_is_awaited_and_its_status_left():
    with subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"]) as process:
        system.await_end(process.pid)
        assert process.wait() == 7


@pytest.mark.parametrize(("value", "forced"), [("1", True), ("0", False), ("", False)])
def test_the_switch_forces_the_portable_ways(value, forced):
    code = "from reenact.core import system; print(system.PORTABLE, system.LINUX, system.FORKS)"
    environ = {**os.environ, system.SWITCH: value}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )
    native = sys.platform == "linux" and not forced
    assert done.stdout.split() == [str(forced or sys.platform == "win32"), str(native), str(native)]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (-signal.SIGTERM, "the process was ended by SIGTERM"),
        (3, "the process ended with exit status 3, and without a message"),
    ],
)
def test_the_end_of_a_process_is_named(status, said):
    assert system.ending(status) == said


@pytest.mark.skipif(sys.platform != "linux", reason="musl is a C library of Linux")
@pytest.mark.parametrize(
    ("version", "size"),
    [("glibc 2.36", 0), (OSError(22, "Invalid argument"), 8 << 20), (ValueError("unrecognized"), 8 << 20)],
    ids=["glibc", "musl", "another-musl"],
)
def test_threads_on_musl_get_a_stack_of_the_size_on_glibc(version, size, monkeypatch):
    def confstr(name):
        if isinstance(version, Exception):
            raise version
        return version

    monkeypatch.setattr(os, "confstr", confstr)
    # It returns the size that was set before.
    before = threading.stack_size(0)
    system.widen_stacks()
    assert threading.stack_size(before) == size
