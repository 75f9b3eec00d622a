"""Replays of programs that use files: on scratch, with the files as they were."""

from __future__ import annotations

import os

import pytest

from tests.run.files.byhand import PRELUDE, tree

MEMORY = """
say("first", None, "memory.txt")
memory = Path("memory.txt")
count = int(memory.read_text()) if memory.exists() else 0
print(ask(count))
memory.write_text(str(count + 1))
say("change", 1, "memory.txt")
"""

COMMAND = """
import subprocess
say("first", None, "notes", "notes/a", "gone", new={"kind": "none"})
ask(1)
subprocess.run(["sh", "-c", "echo made > new; chmod 600 new; rm -r notes; ln -s new link"])
say("command", 2, "new", "notes", "notes/a", "link")
print(Path("new").read_text(), Path("notes").exists(), os.readlink("link"), oct(os.stat("new").st_mode & 0o777))
"""


@pytest.fixture
def recorded(shell):
    """Record a program; return its shell, without what it has written."""

    def record(text, **files):
        for name, content in files.items():
            shell.write(name.replace("__", "/"), content)
        shell.write("agent.py", PRELUDE + text)
        done, _ = shell.record("agent.py")
        assert done.status == 0, done.err
        return done

    return record


def test_a_program_with_its_memory_on_disk_replays_faithfully_twice(shell, recorded):
    recorded(MEMORY, **{"memory.txt": "41"})
    before = tree(shell.folder)
    for _ in range(2):
        done = shell.replay("--json")
        assert done.status == 0, done.out
        assert "files" in done.json["verdict"]["compared"]
    assert tree(shell.folder) == before
    assert (shell.folder / "memory.txt").read_text() == "42"


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("change", ["other", "deleted", "folder", "link"])
def test_files_that_were_changed_since_are_as_they_were(shell, recorded, change):
    recorded(MEMORY, **{"memory.txt": "41"})
    path = shell.folder / "memory.txt"
    path.unlink()
    if change == "other":
        path.write_text("7")
    elif change == "folder":
        path.mkdir()
        (path / "inner").write_text("x")
    elif change == "link":
        path.symlink_to("/etc/passwd")
    before = tree(shell.folder)
    done = shell.replay("--json")
    assert done.status == 0, done.out
    assert tree(shell.folder) == before


def test_a_file_that_did_not_exist_is_not_seen(shell, recorded):
    done = recorded(MEMORY)
    assert done.out == "answer to 0\n"
    assert shell.replay().status == 0
    assert (shell.folder / "memory.txt").read_text() == "1"


@pytest.mark.thorough
def test_what_a_command_had_changed_is_there_when_it_is_answered(shell, recorded):
    recorded(COMMAND, notes__a="a", gone="g")
    (shell.folder / "gone").unlink()
    before = tree(shell.folder)
    done = shell.replay("--json")
    assert done.status == 0, done.out
    assert tree(shell.folder) == before


def test_the_verdict_names_the_first_file_that_differs_and_its_step(shell, recorded):
    recorded(MEMORY.replace("str(count + 1)", "os.environ.get('SAY') or '42'"), **{"memory.txt": "41"})
    program = shell.folder / "agent.py"
    program.write_text(program.read_text().replace("os.environ.get('SAY') or '42'", "'43'"))
    done = shell.replay("--json")
    assert done.status == 1
    (found,) = done.json["verdict"]["divergences"]
    assert (found["kind"], found["step"]) == ("CHANGED", 1)
    assert found["address"] == f"main/file:{shell.folder}/memory.txt"
    assert found["mismatches"] == [{"path": "line 1", "recorded": "42", "actual": "43"}]


def test_a_file_that_was_not_written_is_named(shell, recorded):
    recorded(MEMORY, **{"memory.txt": "41"})
    program = shell.folder / "agent.py"
    program.write_text(program.read_text().replace("memory.write_text", "str"))
    (found,) = shell.replay("--json").json["verdict"]["divergences"]
    assert found["mismatches"] == [{"path": "line 1", "recorded": "42", "actual": "41"}]


@pytest.mark.thorough
def test_the_replay_on_ones_own_files_is_said(shell, recorded):
    recorded(MEMORY, **{"memory.txt": "41"})
    done = shell.replay("--files", "live", "--json")
    assert done.status == 1
    assert any("--files live" in note for note in done.json["verdict"]["notes"])
    (found,) = done.json["verdict"]["divergences"]
    assert found["mismatches"] == [{"path": "args.question", "recorded": 41, "actual": 42}]


@pytest.mark.thorough
def test_another_word_for_the_files_is_refused(shell, recorded):
    recorded(MEMORY)
    done = shell.replay("--files", "mine")
    assert done.status == 2
    assert "recorded, live" in done.err


@pytest.mark.thorough
def test_a_file_without_kept_bytes_is_read_where_it_is_the_same_and_named_where_not(shell, recorded):
    secret = """
import hashlib, hmac
run = current().run.handler
salt = bytes.fromhex(reenact.load("last").header["salt"]) if type(run).__name__ == "Recorder" else b""
made = hmac.new(salt, Path(".env").read_bytes(), hashlib.sha256).hexdigest()[:16]
say("first", None, **{".env": {"kind": "file", "mode": 0o644, "size": 5, "why": "ignored", "print": made}})
ask(Path(".env").stat().st_size)
"""
    recorded(secret, **{".env": "K=abc"})
    done = shell.replay("--json")
    assert done.status == 0, done.out
    (shell.folder / ".env").write_text("K=abd")
    done = shell.replay("--json")
    assert done.status == 1
    assert any(".env is not as it was" in note for note in done.json["verdict"]["notes"])


@pytest.mark.thorough
def test_a_listed_folder_has_the_names_that_it_had(shell, recorded):
    listing = """
say("first", None, data={"kind": "folder", "mode": 0o755, "names": ["a", "b/"]})
print(sorted(os.listdir("data")))
"""
    (shell.folder / "data" / "b").mkdir(parents=True)
    recorded(listing, data__a="a")
    (shell.folder / "data" / "later").write_text("x")
    (shell.folder / "data" / "b").rmdir()
    done = shell.replay("--json")
    assert done.status == 0, done.out
    assert sorted(os.listdir(shell.folder / "data")) == ["a", "later"]


@pytest.mark.thorough
def test_a_folder_is_renamed_as_on_any_disk(shell, recorded):
    moving = """
say("first", None, "old", "old/a", "old/deep", "old/deep/b", new={"kind": "none"})
ask(1)
os.rename("old", "new")
say("change", 1, "old", "old/a", "old/deep", "old/deep/b", "new", "new/a", "new/deep", "new/deep/b")
print(sorted(os.listdir("new")), Path("new/deep/b").read_text(), Path("new/untold").read_text())
"""
    recorded(moving, old__a="a", old__deep__b="b", old__untold="u")
    (shell.folder / "new").rename(shell.folder / "old")
    before = tree(shell.folder)
    done = shell.replay("--json")
    assert done.status == 0, done.out
    assert tree(shell.folder) == before


def test_what_was_changed_from_outside_is_brought_at_its_place(shell, recorded):
    outside = """
say("first", None, "box")
print(Path("box").read_text())
ask(1)
if type(current().run.handler).__name__ == "Recorder":
    Path("box").write_text("from outside")
say("outside", 1, "box")
ask(2)
print(Path("box").read_text())
"""
    recorded(outside, box="empty")
    before = tree(shell.folder)
    done = shell.replay("--json")
    assert done.status == 0, done.out
    assert tree(shell.folder) == before


def test_hostile_paths_of_a_recording_reach_nothing_but_scratch(shell, recorded, tmp_path_factory):
    victim = tmp_path_factory.mktemp("victim")
    (victim / "file").write_text("mine")
    hostile = f"""
say("first", None, **{{"link": {{"kind": "link", "target": {str(victim)!r}}},
                      "link/file": {{"kind": "none"}}, "link/new": {{"kind": "folder", "mode": 0o755}}}})
ask(1)
"""
    recorded(hostile)
    shell.replay()
    assert tree(victim) == {"file": tree(victim)["file"]}
    assert (victim / "file").read_text() == "mine"


REAL = {
    "a file": "Path('more.txt').write_text('x')",
    "a folder": "os.mkdir('more')",
    "a deletion": "os.unlink('kept.txt')",
    "a change": "Path('kept.txt').write_text('other')",
    "a rename": "os.rename('kept.txt', 'more.txt')",
    "a database": "sqlite3.connect('more.db').execute('create table t(a)')",
}


@pytest.mark.thorough
@pytest.mark.parametrize("act", REAL)
def test_a_change_of_a_file_that_the_recorded_run_did_not_use_is_a_departure(shell, act):
    shell.write("kept.txt", "kept")
    body = "from pathlib import Path\nimport os, sqlite3, sys\nPath('notes.txt').write_text('a')\n"
    shell.write("agent.py", body)
    shell.record("agent.py")
    before = tree(shell.folder)
    assert shell.replay().status == 0
    shell.write("agent.py", body + REAL[act])
    changed = {**before, "agent.py": tree(shell.folder)["agent.py"]}
    again = shell.replay("--json")
    (divergence,) = again.json["verdict"]["divergences"]
    assert divergence["kind"] == "CHANGED"
    assert "was changed, and the recorded run did not use it" in divergence["detail"]
    assert tree(shell.folder) == changed


def test_a_folder_that_was_renamed_and_renamed_back_replays(shell):
    shell.write("notes/a.txt", "a")
    shell.write(
        "agent.py",
        "import os; os.rename('notes', 'other'); os.rename('other', 'notes'); print(os.listdir('notes'))",
    )
    done, _ = shell.record("agent.py")
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


def test_a_file_with_two_names_replays(shell):
    shell.write("a.txt", "a")
    shell.write(
        "agent.py",
        "import os\nos.link('a.txt', 'b.txt')\nopen('b.txt', 'a').write('b')\nprint(open('a.txt').read())\n",
    )
    done, _ = shell.record("agent.py")
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err


@pytest.mark.thorough
@pytest.mark.parametrize(
    "act",
    [
        "shutil.rmtree('box'); tick(); os.makedirs('box/new/deep')",
        "os.rename('box', 'other'); tick(); os.makedirs('box/new/deep'); shutil.rmtree('other')",
        "os.rename('box', 'other'); tick(); shutil.rmtree('other'); tick(); os.makedirs('box/new')",
    ],
)
def test_a_folder_that_was_removed_and_made_again_replays_on_what_the_run_has_left(shell, act):
    shell.write("box/in/one.txt", "1")
    shell.write(
        "agent.py",
        "import os, shutil, reenact\n@reenact.tool\ndef tick(): return 1\n"
        f"{act}\nprint(sorted(os.listdir('.')))\n",
    )
    shell.record("agent.py")
    done = shell.replay()
    assert done.status == 0, done.err


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("end", ["shutil.rmtree('box')", "os.rename('box', 'other')", "os.rmdir('box')"])
def test_a_folder_that_is_listed_after_its_removal_is_there_at_the_beginning(shell, end):
    (shell.folder / "box").mkdir()
    shell.write(
        "agent.py",
        "import os, shutil, reenact\n@reenact.tool\ndef tick(): return 1\n"
        f"{end}; tick()\ntry: os.listdir('box')\nexcept OSError: print('gone')\n",
    )
    shell.record("agent.py")
    (shell.folder / "box").mkdir()
    done = shell.replay()
    assert done.status == 0, done.err


DRAWS = """
import os, tempfile, uuid

def begin():
    folder = os.path.join(tempfile.gettempdir(), f"downloads-{uuid.uuid4().hex[:8]}")
    os.mkdir(folder)
    with open(os.path.join(folder, "page"), "w") as file:
        file.write("a page")
"""


def test_temporary_files_whose_names_a_library_has_drawn_are_not_compared(shell, tmp_path_factory):
    """The draws of libraries are not recorded."""
    shell.write("site-packages/drawing.py", DRAWS)
    shell.write(
        "agent.py",
        PRELUDE + "\nimport sys\nsys.path.append('site-packages')\nimport drawing\ndrawing.begin()\nask(1)\n",
    )
    environ = {"TMPDIR": str(tmp_path_factory.mktemp("temporary"))}
    shell.record("agent.py", env=environ)
    done = shell.replay("--json", env=environ)
    assert done.status == 0, done.out
    uncompared = done.json["verdict"]["uncompared"]
    assert [text for text in uncompared if "a library has drawn its name" in text], uncompared
    shell.write("site-packages/drawing.py", DRAWS.replace("downloads-", "uploads-"))
    assert shell.replay(env=environ).status == 1


COMMANDS = {
    "a command removes what the program has made since the last one": """
        run("true")
        for number in range(100):
            Path(f"folder/{number}").write_text("1")
        Path("new").write_text("1")
        run("mv new moved")
        print(os.path.exists("new"), os.path.exists("moved"))
    """,
    "a command puts another file in the place of one with two names": """
        os.link("a.txt", "b.txt")
        run("sed -i s/old/new/ a.txt")
        print(Path("a.txt").read_text(), Path("b.txt").read_text())
    """,
    "a command puts other files in the places of both names": """
        os.link("a.txt", "b.txt")
        run("echo 1 > x; mv x a.txt; echo 2 > y; mv y b.txt")
        print(Path("a.txt").read_text(), Path("b.txt").read_text())
    """,
    "a command writes into a file with two names": """
        os.link("a.txt", "b.txt")
        run("echo more >> a.txt")
        Path("b.txt").open("a").write("most")
        print(Path("a.txt").read_text(), Path("b.txt").read_text())
    """,
    "a folder is listed that was renamed before": """
        os.rename("folder", "other")
        try:
            os.listdir("folder")
        except FileNotFoundError:
            print(os.listdir("other"))
    """,
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("body", COMMANDS.values(), ids=COMMANDS)
def test_files_that_programs_and_commands_change_by_turns_are_as_recorded(shell, body):
    shell.write("a.txt", "old")
    shell.write("folder/one", "1")
    lines = [
        "import os, subprocess",
        "from pathlib import Path",
        "",
        "def run(line):",
        '    subprocess.run(["sh", "-c", line], check=True)',
        "",
    ]
    shell.write("agent.py", "\n".join([*lines, *(line[8:] for line in body.splitlines())]))
    done, _ = shell.record("agent.py")
    assert done.status == 0
    assert "not recorded" not in done.err
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
