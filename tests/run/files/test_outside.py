"""Files outside of the recorded folders that the program itself changes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

import pytest

import reenact

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files are not recorded there")

MEMORY = """
import json
from pathlib import Path

path = Path({path!r})
known = json.loads(path.read_text()) if path.exists() else []
known.append(len(known))
path.parent.mkdir(exist_ok=True)
path.write_text(json.dumps(known))
print(known)
"""


@pytest.fixture
def elsewhere():
    """A folder that is neither the program's nor below that of temporary files."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="elsewhere-"))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", ["memory.json", "new/memory.json"])
@pytest.mark.parametrize("before", ["[5]", None])
def test_a_replay_leaves_them_as_they_are_and_sees_them_as_they_were(shell, elsewhere, name, before):
    path = elsewhere / name
    if before is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(before)
    shell.write("agent.py", MEMORY.format(path=str(path)))
    recorded, _ = shell.record("agent.py")
    assert recorded.status == 0, recorded.err
    after = path.read_text()
    for _ in range(2):
        done = shell.replay("--json")
        assert done.status == 0, done.out
        assert "files" in done.json["verdict"]["compared"]
        assert path.read_text() == after


def test_another_content_is_found(shell, elsewhere):
    path = elsewhere / "memory.json"
    shell.write("agent.py", MEMORY.format(path=str(path)))
    shell.record("agent.py")
    shell.write("agent.py", MEMORY.format(path=str(path)).replace("json.dumps(known)", "json.dumps([7])"))
    done = shell.replay("--json")
    assert done.status == 1
    (departure,) = done.json["verdict"]["divergences"]
    assert f"the file {path} at the end is not the recorded one" in departure["detail"]
    assert path.read_text() == "[0]"


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("files", ["", "open('own.txt', 'w').write('x')\n"], ids=["no files", "with files"])
def test_a_change_that_the_recorded_run_did_not_make_is_stopped(shell, elsewhere, files):
    shell.write("agent.py", f"{files}print('ok')")
    shell.record("agent.py")
    shell.write("agent.py", f"{files}open({str(elsewhere / 'new.txt')!r}, 'w').write('x')\nprint('ok')")
    done = shell.replay("--json")
    assert done.status == 1
    (departure,) = done.json["verdict"]["divergences"]
    assert "which the recorded run did not; it is left as it is" in departure["detail"]
    assert not (elsewhere / "new.txt").exists()
    shell.replay("--files", "live")
    assert (elsewhere / "new.txt").read_text() == "x"


def test_a_block_leaves_them_as_they_are(home, elsewhere):
    path = elsewhere / "notes.txt"

    def add():
        with path.open("a") as file:
            file.write("line\n")

    with reenact.record("notes") as recording:
        add()
    with reenact.replay(reenact.load(recording.id)) as again:
        add()
    assert again.verdict.faithful
    assert path.read_text() == "line\n"


@pytest.mark.sampled
@pytest.mark.parametrize("change", [
    lambda path: path.write_text("x"),
    lambda path: path.unlink(),
    lambda path: path.rename(path.with_name("moved.txt")),
    lambda path: os.truncate(path, 0),
    lambda path: sqlite3.connect(path.with_name("data.db")).execute("CREATE TABLE made (x)"),
], ids=["written", "removed", "renamed", "truncated", "database"])  # fmt: skip
def test_a_block_leaves_alone_what_the_recorded_one_did_not_change(
    home, elsewhere, tmp_path, monkeypatch, change
):
    monkeypatch.chdir(tmp_path)
    path = elsewhere / "mine.txt"
    path.write_text("mine")
    with reenact.record("notes") as recording:
        Path("own.txt").write_text("x", encoding="utf-8")
    with pytest.raises(reenact.DivergenceError, match="which the recorded run did not"):
        with reenact.replay(reenact.load(recording.id)):
            Path("own.txt").write_text("x", encoding="utf-8")
            change(path)
    assert path.read_text() == "mine"
    assert os.listdir(elsewhere) == ["mine.txt"]


def test_a_library_keeps_its_cache_of_its_own(shell, elsewhere):
    shell.write(
        "site-packages/cached.py", f"def load():\n    open({str(elsewhere / 'cache')!r}, 'w').write('x')\n"
    )
    shell.write(
        "agent.py",
        "import sys; sys.path.insert(0, 'site-packages')\nimport cached\ncached.load()\nprint('ok')",
    )
    shell.record("agent.py")
    done = shell.replay("--json")
    assert done.status == 0, done.out


def test_a_named_pipe_has_its_two_ends(shell):
    shell.write(
        "agent.py",
        """
import os, threading

os.mkfifo("pipe")
thread = threading.Thread(target=lambda: open("pipe", "w").write("through"))
thread.start()
print(open("pipe").read())
thread.join()
os.remove("pipe")
""",
    )
    done, _ = shell.record("agent.py")
    assert "through" in done.out
    done = shell.replay("--json")
    assert done.status == 0, done.out
    assert os.listdir(shell.folder).count("pipe") == 0


IN_A_TEMPORARY_FOLDER = """
import subprocess, tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "in").write_text("a\\nb\\n")
    subprocess.run("wc -l < in > out; mkdir made; cp in made/copy; echo c >> in", shell=True, cwd=folder, check=True)
    print((folder / "out").read_text(), (folder / "made/copy").read_text(), (folder / "in").read_text())
    subprocess.run(["sh", "-c", f"echo more >> {folder}/out; rm {folder}/made/copy"], check=True)
    print((folder / "out").read_text(), sorted(path.name for path in folder.rglob("*")))
"""
IN_TASKS = """
import asyncio, tempfile
from pathlib import Path

async def build(number):
    folder = Path(tempfile.mkdtemp())
    (folder / "in").write_text("line\\n" * number)
    command = await asyncio.create_subprocess_exec("sh", "-c", "wc -l < in > out", cwd=folder)
    await command.wait()
    return (folder / "out").read_text()

async def main():
    print(await asyncio.gather(*map(build, range(4))))

asyncio.run(main())
"""
BESIDE_A_COMMAND = """
import os, subprocess, tempfile, time
from pathlib import Path

command = subprocess.Popen(["sh"], stdin=subprocess.PIPE, text=True)
flag = Path(tempfile.mkdtemp(), "flag")
command.stdin.write(f"echo ready > {flag}\\n")
command.stdin.close()
while not (flag.exists() and flag.read_text()):
    time.sleep(0.02)
print(flag.read_text(), command.wait())
"""
IN_A_FOLDER_OF_ITS_OWN = """
import os, subprocess

job = {path!r}
os.makedirs(job)
subprocess.run("date +%N > now; mkdir logs; date > logs/first", shell=True, cwd=job, check=True)
print(open(job + "/now").read(), open(job + "/logs/first").read(), sorted(os.listdir(job)))
"""


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("portable", ["", "1"])
@pytest.mark.parametrize(
    "program", [IN_A_TEMPORARY_FOLDER, IN_TASKS, BESIDE_A_COMMAND, IN_A_FOLDER_OF_ITS_OWN]
)
def test_what_commands_change_in_a_folder_that_the_program_has_made(shell, elsewhere, program, portable):
    path = elsewhere / "job"
    shell.write(
        "agent.py", program.replace("{path!r}", repr(str(path))).replace("{{", "{").replace("}}", "}")
    )
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    assert "a temporary name" not in done.err
    left = sorted(path.rglob("*"))
    shutil.rmtree(path, ignore_errors=True)
    again = shell.run("replay", recording.id, env={"REENACT_PORTABLE": portable} if portable else {})
    assert (again.status, again.out) == (0, done.out), again.err
    assert bool(left) is (program is IN_A_FOLDER_OF_ITS_OWN)
    assert not path.exists()


NATIVE = """
import ctypes, os, tempfile

libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.fputs.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]

def write_new(path):
    file = libc.fopen(path.encode(), b"wx")
    assert file, path
    libc.fputs(b"native", file)
    libc.fclose(file)

os.mkdir("made")
for folder in ("made", tempfile.mkdtemp()):
    write_new(f"{folder}/file")
    print(open(f"{folder}/file").read())
"""


def test_native_code_makes_a_file_again_in_a_folder_that_the_program_has_made(shell):
    shell.write("agent.py", NATIVE)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    shutil.rmtree(shell.folder / "made")
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
