"""Python's own files, redirected into scratch where a block is replayed or no overlay is possible."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from os import listdir as imported_by_name
from pathlib import Path

import pytest

import reenact
from reenact.core import system
from reenact.core.boundary import current, entered
from reenact.errors import UsageError
from reenact.run import launch
from reenact.run.files.disk import Disk
from reenact.run.files.redirect import NOT_COVERED
from reenact.run.files.replacements import Replacements
from tests.run.files.byhand import PRELUDE, tree

NAMES = (
    "mem",
    "sub",
    "sub/a",
    "sub/deep",
    "sub/deep/b",
    "gone",
    "db",
    "sub2",
    "sub3",
    "x",
    "l",
    "new",
    "new2",
)


@reenact.tool
def ask(question):
    return f"answer to {question}"


def state(path):
    if path.is_symlink():
        return {"kind": "link", "mode": 0o777, "target": os.readlink(path)}
    if path.is_dir():
        return {"kind": "folder", "mode": path.stat().st_mode & 0o7777}
    if not path.exists():
        return {"kind": "none"}
    return {
        "kind": "file",
        "mode": path.stat().st_mode & 0o7777,
        "size": path.stat().st_size,
        "data": path.read_bytes(),
    }


def say(how, call, *names):
    """Write an entry of files into the recording; nothing in a replay."""
    handler = current().run.handler
    if type(handler).__name__ != "Recorder":
        return
    with entered(None):
        states = {name: state(Path(name)) for name in names}
        for each in states.values():
            if "data" in each:
                each["blob"] = handler._writer.blob(each.pop("data"))
    handler.stamped({"event": "files", "how": how, "call": call, "root": os.getcwd(), "states": states})


def work(folder):
    """Use files in many ways; return what was seen."""
    say("first", None, *NAMES)
    seen = [ask(Path("mem").read_text(encoding="utf-8"))]
    Path("mem").write_text("2", encoding="utf-8")
    with open("mem", "a", encoding="utf-8") as file:
        seen.append(file.name)
        file.write("!")
    seen.append(Path("mem").read_text(encoding="utf-8"))
    os.rename("sub", "sub2")
    seen += [
        os.path.exists("sub"),
        sorted(set(os.listdir(".")) - {"home"}),
        Path("sub2/deep/b").read_text(encoding="utf-8"),
    ]
    shutil.copytree("sub2", "sub3")
    shutil.rmtree("sub3/deep")
    seen.append(sorted(str(path) for path in Path().rglob("*") if path.parts[0] != "home"))
    os.remove("gone")
    with pytest.raises(FileNotFoundError) as error:
        Path("gone").read_text(encoding="utf-8")
    seen.append(str(error.value))
    os.makedirs("x/y/z")
    Path("x/y/z/f").write_text("f", encoding="utf-8")
    os.chdir("x/y")
    seen += [os.path.relpath(os.getcwd(), folder), Path("z/f").read_text(encoding="utf-8")]
    os.chdir(folder)
    with sqlite3.connect("db") as database:
        database.execute("insert into t values (1)")
        seen.append(database.execute("select count(*) from t").fetchall())
    database.close()
    os.symlink("x/y", "l")
    Path("l/z/g").write_text("g", encoding="utf-8")
    seen.append(sorted(imported_by_name("x/y/z")))
    with tempfile.NamedTemporaryFile(dir=".", delete=False) as file:
        file.write(b"q")
    os.replace(file.name, "new")
    seen.append(Path("new").read_bytes())
    os.truncate("new", 0)
    os.chmod("new", 0o600)
    os.link("new", "new2")
    seen += [os.stat("new2").st_nlink, oct(os.stat("new").st_mode)]
    seen.append(
        sorted(
            (each.name, each.is_dir(), each.is_symlink()) for each in os.scandir(".") if each.name != "home"
        )
    )
    with pytest.raises(OSError, match="not empty"):
        os.rmdir("x")
    with pytest.raises(FileExistsError):
        os.mkdir("x")
    say("change", 1, *NAMES)
    return seen


@pytest.fixture
def folder(tmp_path, home, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    for name in ("sub/a", "sub/deep/b", "gone"):
        (tmp_path / name).write_text(name)
    (tmp_path / "mem").write_text("1")
    with sqlite3.connect("db") as database:
        database.execute("create table t(x)")
    database.close()
    return tmp_path


def test_a_block_runs_on_scratch_and_sees_the_files_as_they_were(folder, tmp_path_factory):
    kept = tmp_path_factory.mktemp("kept")
    shutil.copytree(folder, kept, dirs_exist_ok=True)
    with reenact.record("block"):
        recorded = work(folder)
    after = tree(folder)
    with reenact.replay("last") as replay:
        assert work(folder) == recorded
    assert "files" in replay.verdict.compared
    assert replay.verdict.uncompared[0] == NOT_COVERED
    assert tree(folder) == after
    for path in folder.iterdir():
        if path.name != "home":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    before = tree(folder)
    with reenact.replay("last"):
        assert work(folder) == recorded
    assert tree(folder) == before


def test_behind_the_block_the_users_files_are_seen_again(folder):
    with reenact.record("block"):
        work(folder)
    Path("mem").write_text("mine", encoding="utf-8")
    opened = open
    with reenact.replay("last"):
        assert open is not opened
        work(folder)
    assert open is opened
    assert Path("mem").read_text(encoding="utf-8") == "mine"


def test_a_block_that_writes_something_else_diverges_at_its_file(folder):
    with reenact.record("block"):
        work(folder)
    with pytest.raises(reenact.DivergenceError) as error, reenact.replay("last"):
        work(folder)
        Path("new").write_bytes(b"x")
    assert error.value.divergence.address.endswith("/new")


def test_a_block_may_run_on_ones_own_files(folder):
    with reenact.record("block"):
        say("first", None, "mem")
        ask("1")
    with reenact.replay("last", files="live") as replay:
        ask("1")
        Path("mem").write_text("written", encoding="utf-8")
    assert any("own files" in note for note in replay.verdict.notes)
    assert Path("mem").read_text(encoding="utf-8") == "written"
    with pytest.raises(UsageError, match="not one of"):
        reenact.replay("last", files="mine")


@pytest.mark.thorough
def test_a_program_runs_on_scratch_where_the_system_forbids_namespaces(shell, monkeypatch):
    shell.write("mem", "1")
    shell.write(
        "agent.py",
        PRELUDE
        + """
say("first", None, "mem", "made")
print(ask(Path("mem").read_text()))
Path("mem").write_text("2")
Path("made").mkdir()
say("change", 1, "mem", "made")
""",
    )
    _, recording = shell.record("agent.py")
    shell.write("mem", "3")
    before = tree(shell.folder)
    start, why = Disk.start, "not here"

    def forbidden(self, laid, *args):
        command = start(self, laid, *args)
        order = Path(command[0][-1])
        order.write_bytes(
            order.read_bytes()
            .replace(b'"roots":[', b'"forbidden":"not here","none":[')
            .replace(b'"cwd"', b'"roots":[],"cwd"')
        )
        return command

    if system.PORTABLE:
        why = "this system has no overlays of folders"
    else:
        monkeypatch.setattr(Disk, "start", forbidden)
    done = launch.replay(recording.id, launch.Options(), home=shell.home, quiet=True)
    assert done.verdict is not None
    assert done.verdict.faithful, done.verdict
    assert done.verdict.uncompared == (f"{NOT_COVERED} (no overlay: {why})",)
    assert tree(shell.folder) == before


def test_a_verdict_says_that_files_are_not_recorded_on_such_a_system(folder, monkeypatch):
    monkeypatch.setattr(system, "FILES", False)
    with reenact.record("block"):
        ask("1")
    with reenact.replay("last") as replay:
        ask("1")
    assert replay.verdict.uncompared[0] == system.WITHOUT_FILES


class Lazy:
    """Imports what it stands for at the first look at its class, as the clients of the module `openai` do."""

    looks = 0

    @property
    def __class__(self):
        Lazy.looks += 1
        return object


def test_objects_that_import_at_a_look_at_their_class_are_left_alone(monkeypatch):
    monkeypatch.setitem(globals(), "lazy", Lazy())
    replaced = Replacements()
    replaced.set(os, "listdir", lambda *_: ["replaced"])
    replaced.spread()
    try:
        assert imported_by_name() == ["replaced"]
    finally:
        replaced.undo()
    assert imported_by_name is os.listdir
    assert Lazy.looks == 0
