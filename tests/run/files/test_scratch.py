"""Scratch folders: removed at the end, and found when a killed replay has left them."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time

import pytest

from reenact.run.files import scratch
from reenact.run.files.scratch import Scratch, abandoned, attach, discard, remove
from tests.run.files.byhand import PRELUDE, tree
from tests.soak.tables import size


@pytest.fixture(autouse=True)
def place(tmp_path_factory, monkeypatch):
    """Let this test have the place of scratch for itself."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(scratch, "_places", lambda: [folder])
    folder.chmod(0o700)
    return folder


def test_a_scratch_folder_in_use_is_not_abandoned(place):
    used = Scratch()
    assert list(abandoned()) == []
    used.close()
    used.close()
    assert list(place.iterdir()) == []


def test_one_that_a_killed_process_has_left_is_found_and_removed(place):
    left = Scratch()
    os.close(left._held)
    work = left.folder / "work" / "work"
    work.mkdir(parents=True)
    work.chmod(0)
    assert list(abandoned()) == [left.folder]
    remove(left.folder)
    assert list(place.iterdir()) == []


def test_one_without_a_lock_is_found(place):
    (place / "killed").mkdir()
    assert list(abandoned()) == [place / "killed"]


def test_a_program_that_lives_on_holds_it(place):
    left = Scratch()
    number = os.open(left.folder / "lock", os.O_RDONLY)
    fcntl.flock(number, fcntl.LOCK_SH)
    os.close(left._held)
    assert list(abandoned()) == []
    os.close(number)
    assert list(abandoned()) == [left.folder]


def test_a_folder_of_reports_is_removed_with_its_scratch(place, tmp_path):
    one, reports = Scratch(), tmp_path / "reports"
    reports.mkdir()
    attach(one, reports)
    discard(reports)
    assert not reports.exists()
    assert list(place.iterdir()) == []


def test_a_link_to_another_folder_removes_nothing(tmp_path):
    reports, other = tmp_path / "reports", tmp_path / "other"
    reports.mkdir()
    other.mkdir()
    (reports / "files").symlink_to(other)
    discard(reports)
    assert other.is_dir()


def test_a_place_of_another_user_is_not_used(place, tmp_path, monkeypatch):
    place.chmod(0o755)
    second = tmp_path / "second"
    monkeypatch.setattr(scratch, "_places", lambda: [place, second])
    assert Scratch().folder.parent == second


def test_it_never_lies_in_a_folder_of_the_program(place, tmp_path, monkeypatch):
    second = tmp_path / "second"
    monkeypatch.setattr(scratch, "_places", lambda: [place, second])
    assert Scratch(avoid=[place]).folder.parent == second


def prune(shell, own, *words):
    """Run `reenact prune` in a process of its own, which has not yet looked for the folder of temporary files."""
    return subprocess.run(
        shell.command("prune", *words),
        cwd=shell.folder,
        env={**shell.environ, "TMPDIR": str(own)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("times", [3, pytest.param(size(200, 80), marks=pytest.mark.slow)])
def test_a_replay_killed_at_any_moment_loses_nothing_and_leaves_what_prune_finds(
    shell, tmp_path_factory, times
):
    many = "".join(f"f{number} " for number in range(200)).split()
    shell.write(
        "agent.py",
        PRELUDE
        + f"""
names = {many!r}
say("first", None, *names)
for name in names:
    Path(name).write_text("new " + name)
ask(1)
say("change", 1, *names)
""",
    )
    for name in many:
        shell.write(name, "old")
    shell.record("agent.py")
    for name in many:
        shell.write(name, "since")
    own = tmp_path_factory.mktemp("own")
    before = tree(shell.folder)
    environ = {**shell.environ, "TMPDIR": str(own)}
    longest = 0.3
    for number in range(times):
        process = subprocess.Popen(
            shell.command("replay", "last"), cwd=shell.folder, env=environ,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        if number == 0:
            began = time.perf_counter()
            process.wait()
            longest = time.perf_counter() - began
            continue
        time.sleep(longest * number / times)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert tree(shell.folder) == before
    done = prune(shell, own, "--keep", "1000")
    assert done.returncode == 0, done.stderr
    assert [path for path in own.rglob("*") if path.parent != own] == []
    assert [path.name for path in own.iterdir() if not path.name.startswith("reenact-files-")] == []
    assert shell.replay().status == 0


def test_prune_without_measures_removes_what_was_left(shell, tmp_path_factory):
    own = tmp_path_factory.mktemp("own")
    left = own / f"reenact-files-{os.getuid()}" / "killed"
    left.mkdir(parents=True)
    left.parent.chmod(0o700)
    assert "would delete the files of" in prune(shell, own, "--dry-run").stderr
    assert left.is_dir()
    done = prune(shell, own)
    assert done.returncode == 0
    assert "deleted the files of" in done.stderr
    assert not left.exists()
    assert prune(shell, own).returncode == 2


def test_the_launcher_works_for_an_ordinary_user(tmp_path_factory):
    if os.getuid() != 0:
        pytest.skip("the other tests run as one")
    import json
    import shutil
    import tempfile
    from pathlib import Path

    from reenact.run.files import enter

    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if python is None:
        pytest.skip("no Python that another user can run")
    base = Path(tempfile.mkdtemp())
    try:
        for name in ("root", "upper", "work", "scratch"):
            (base / name).mkdir()
        (base / "root" / "a").write_text("a")
        (base / "scratch" / "lock").touch()
        program = (
            "import os; open('a', 'a').write('b'); print(os.getuid(), os.stat('a').st_uid, open('a').read())"
        )
        order = {
            "scratch": str(base / "scratch"), "keep": [], "cwd": str(base / "root"), "executable": python,
            "argv": [python, "-c", program],
            "roots": [{"path": str(base / "root"), "upper": str(base / "upper"), "work": str(base / "work")}],
        }  # fmt: skip
        (base / "order").write_text(json.dumps(order))
        shutil.copy(enter.__file__, base / "enter.py")
        for path in (base, *base.rglob("*")):
            os.chown(path, 65534, 65534)
        done = subprocess.run(
            [python, "-I", "-S", str(base / "enter.py"), str(base / "order")],
            user=65534, group=65534, extra_groups=[], capture_output=True, text=True, check=False,
        )  # fmt: skip
        if (base / "scratch" / "forbidden").exists():
            pytest.skip((base / "scratch" / "forbidden").read_text())
        assert (done.stdout, done.stderr) == ("65534 65534 ab\n", "")
        assert (base / "root" / "a").read_text() == "a"
    finally:
        remove(base)
    assert sys.platform == "linux"
