"""Tools that use recorded files run again in a replay, so that what they do to the program is not lost."""

from __future__ import annotations

import pytest

from tests.systems import OVERLAYS

HEAD = """
import json, os, shutil, sqlite3, subprocess, tempfile
from pathlib import Path
import reenact

seen = []
"""
BODIES = {
    "a file that is written": """
    Path("memory.json").write_text(json.dumps([number]))
    """,
    "a file that is read": """
    text = open("notes.txt").read()
    seen.append(text)
    """,
    "a file that is deleted and one that is renamed": """
    Path("a").write_text("a")
    os.rename("a", f"b{number}")
    os.remove(f"b{number}")
    """,
    "a folder that is listed": """
    Path("made").mkdir(exist_ok=True)
    Path("made", str(number)).write_text("")
    seen.append(sorted(os.listdir("made")))
    seen.append([path.name for path in sorted(Path("made").rglob("*"))])
    """,
    "trees that are copied, moved and deleted": """
    Path("one").mkdir()
    Path("one", "inner").write_text("x")
    shutil.copytree("one", "two")
    shutil.move("two/inner", "two/other")
    seen.append(os.listdir("two"))
    shutil.rmtree("one")
    shutil.rmtree("two")
    """,
    "a file that is asked for": """
    seen.append([os.path.exists("notes.txt"), Path("notes.txt").is_file(), os.path.isdir("notes.txt")])
    seen.append([os.path.exists("none"), Path("none").exists(), os.access("notes.txt", os.R_OK), os.path.lexists("x")])
    Path("none").write_text("from now on")
    """,
    "the size and time of a file": """
    seen.append([os.path.getsize("notes.txt"), os.path.getmtime("notes.txt"), os.stat("notes.txt").st_mtime_ns])
    seen.append([os.lstat("notes.txt")[8], Path("notes.txt").stat().st_ctime, os.stat("notes.txt", follow_symlinks=False)])
    with open("notes.txt", "rb") as file:
        seen.append(os.fstat(file.fileno()).st_mtime_ns)
    """,
    "a file that is asked for and is not there": """
    for ask in (os.stat, os.lstat, os.path.getsize, os.path.getmtime, lambda path: Path(path).stat()):
        try:
            ask("nowhere")
        except FileNotFoundError as error:
            seen.append([error.errno, error.filename, str(error)])
    """,
    "a file that is newer than another": """
    made = Path("cache.txt")
    if not made.exists() or made.stat().st_mtime < os.path.getmtime("notes.txt") or number:
        made.write_text(Path("notes.txt").read_text())
        seen.append(made.stat().st_mtime_ns)
    """,
    "a temporary file": """
    with tempfile.NamedTemporaryFile("w") as file, tempfile.TemporaryFile() as unnamed:
        file.write("x")
        unnamed.write(b"x")
    """,
    "a database": """
    with sqlite3.connect("rows.db") as rows:
        rows.execute("create table if not exists row(number)")
        rows.execute("insert into row values (?)", (number,))
        seen.append(rows.execute("select count(*) from row").fetchone()[0])
    rows.close()
    """,
}
TAIL = """
for number in range(2):
    print(work(number))
print(seen)
"""


def tool(body):
    return f"{HEAD}\n@reenact.tool\ndef work(number):\n{body}\n    seen.append(number)\n    return len(seen)\n{TAIL}"


def again(shell, *words):
    done = shell.replay("--json", *words)
    return done, done.json["verdict"]


@pytest.mark.sampled
@pytest.mark.parametrize("body", BODIES)
def test_a_tool_that_uses_recorded_files_runs_again_and_its_state_is_kept(shell, body):
    shell.write("notes.txt", "as it was")
    shell.write("agent.py", tool(BODIES[body]))
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    assert "not recorded" not in done.err
    shell.write("notes.txt", "changed since")
    done, verdict = again(shell)
    assert done.status == 0, done.out
    assert verdict["again"] == {"tool:work": 2}
    assert verdict["answered"] == {}
    assert (shell.folder / "notes.txt").read_text() == "changed since"


def test_a_file_outside_of_the_recorded_folders_may_be_asked_for(shell, tmp_path_factory):
    there = tmp_path_factory.mktemp("elsewhere") / "there.txt"
    there.write_text("x")
    shell.write(
        "agent.py",
        tool(f"    seen.append([os.path.exists({str(there)!r}), os.stat({str(there)!r}).st_mtime])"),
    )
    shell.record("agent.py")
    there.unlink()
    done, verdict = again(shell)
    assert done.status == 0, done.out
    assert verdict["again"] == {"tool:work": 2}


@pytest.mark.thorough
def test_a_tool_that_asks_for_very_many_files_is_answered(shell):
    shell.write("agent.py", tool("    seen.append(sum(os.path.exists(str(n)) for n in range(3000)))"))
    shell.record("agent.py")
    _, verdict = again(shell)
    assert verdict["answered"] == {"tool:work": "asks for the state of many files"}


@pytest.mark.thorough
def test_files_are_copied_and_trees_deleted_by_tools_as_before(shell):
    shell.write(
        "agent.py",
        tool(BODIES["trees that are copied, moved and deleted"]).replace(
            "import json", "import shutil as s, json"
        ),
    )
    shell.record("agent.py")
    done, verdict = again(shell)
    assert done.status == 0, done.out
    assert verdict["again"] == {"tool:work": 2}


@pytest.mark.thorough
def test_a_tool_that_reads_a_file_whose_content_is_not_recorded_is_answered(shell):
    shell.write(".env", "NAME=value")
    shell.write("agent.py", tool('    seen.append(len(open(".env").read()))'))
    shell.record("agent.py")
    _, verdict = again(shell)
    assert verdict["again"] == {}
    assert verdict["answered"] == {"tool:work": "reads the file .env"}


@pytest.mark.thorough
def test_without_the_recorded_files_it_is_answered(shell):
    shell.write("agent.py", tool(BODIES["a file that is written"]))
    shell.record("agent.py")
    _, verdict = again(shell, "--files", "live")
    assert verdict["again"] == {}
    assert verdict["answered"] == {"tool:work": "writes the file memory.json"}


def test_a_changed_tool_is_found_where_it_writes_and_returns_something_else(shell):
    shell.write("agent.py", tool(BODIES["a file that is written"]))
    shell.record("agent.py")
    text = (shell.folder / "agent.py").read_text()
    shell.write("agent.py", text.replace("return len(seen)", "return -len(seen)"))
    done, verdict = again(shell)
    assert done.status == 1
    assert verdict["divergences"][0]["address"] == "main/tool:work#0"


SIDE_BY_SIDE = """
import asyncio

@reenact.tool
async def note(name, wait):
    with open("notes.txt", "a") as file:
        file.write(f"{name} of {os.getpid()}\\n")
    await asyncio.sleep(wait)
    return len(open("notes.txt").readlines())

async def main():
    for done in asyncio.as_completed([note(name, wait) for name, wait in WAITS]):
        print(await done, [line.split()[0] for line in open("notes.txt")])

asyncio.run(main())
"""


@pytest.mark.thorough
@pytest.mark.parametrize("waits", [(0.0, 0.05, 0.1), (0.1, 0.05, 0.0), (0.05, 0.0, 0.1), (0.0, 0.0, 0.0)])
def test_tools_side_by_side_that_are_answered_leave_the_files_as_they_were_at_each_answer(shell, waits):
    named = [*zip("abc", waits, strict=True)]
    shell.write("agent.py", HEAD + SIDE_BY_SIDE.replace("WAITS", repr(named)))
    shell.record("agent.py")
    done, verdict = again(shell)
    assert done.status == 0, done.out
    assert verdict["again"] == {}
    assert (shell.folder / "notes.txt").read_text().count("\n") == 3


HELD = """
import sys
from pathlib import Path

import reenact

seen = []
before = open("before.txt", "a")

@reenact.tool
def work(number):
    log.write(f"work {number}\\n")
    log.seek(0, 2)
    seen.append(number)
    return log.tell()

@reenact.tool
def beside(number):
    seen.append(number)
    return number

@reenact.tool
def outside(number):
    before.write(f"{number}\\n")
    before.flush()
    return number

def program():
    global log
    seen.clear()
    with open("log.txt", MODE) as log, open("notes.txt") as notes:
        print([work(1), beside(2), work(3), outside(4), notes.readline(), seen], file=log)
    return seen[:]
"""
WHOLE = "print(program())\n"
BLOCKS = """
with reenact.record() as run:
    first = program()
files = [Path(name).read_text() for name in ("log.txt", "before.txt")]
with reenact.replay(run.id) as replay:
    assert program() == first == [1, 2, 3]
assert replay.verdict.faithful
assert replay.verdict.again == {"tool:work": 2, "tool:beside": 1}
assert replay.verdict.answered == {"tool:outside": "it uses the open file `before`"}
assert files == [Path(name).read_text() for name in ("log.txt", "before.txt")]
"""


@OVERLAYS
@pytest.mark.parametrize("mode", ["w", "a", "w+"])
def test_a_tool_runs_again_that_uses_a_file_which_the_program_holds_open(shell, mode):
    shell.write("notes.txt", "as it was\n")
    program = HELD.replace("MODE", repr(mode)) + WHOLE
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    done, verdict = again(shell)
    assert done.status == 0, done.out
    assert verdict["again"] == {"tool:work": 2, "tool:beside": 1, "tool:outside": 1}
    shell.write("agent.py", program.replace("work {number}", "Work {number}"))
    done, verdict = again(shell)
    assert done.status == 1, done.out
    assert verdict["divergences"][0]["address"].endswith("log.txt")


@OVERLAYS
def test_a_file_opened_before_the_block_is_the_users_and_its_tool_is_answered(shell):
    shell.write("notes.txt", "as it was\n")
    shell.write("agent.py", HELD.replace("MODE", "'a'") + BLOCKS)
    shell.plain("agent.py")
