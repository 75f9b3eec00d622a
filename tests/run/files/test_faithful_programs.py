"""Programs that live in files and shells replay as they were, on an overlay and by redirected functions."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from reenact.core import system

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the programs use shells, locks and pipes of Unix"
)

TOUCHED = """
    import os, subprocess, time
    def newer(source, made):
        return not os.path.exists(made) or os.stat(source).st_mtime_ns > os.stat(made).st_mtime_ns
    def build():
        for name in ("a", "b"):
            if newer(f"{name}.c", f"{name}.o"):
                subprocess.run(f"sleep 0.02; cat {name}.c > {name}.o", shell=True, check=True)
                print("built", name)
    build(), build()
    time.sleep(0.02)
    subprocess.run(["touch", "b.c"], check=True)
    build(), build()
"""
LOCKED = """
    import fcntl, subprocess
    file = open("one.lock", "w")
    holder = subprocess.Popen(
        ["flock", "one.lock", "-c", "echo held; read line"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(holder.stdout.readline())
    for lock in (fcntl.flock, lambda file, how: fcntl.lockf(open("two.lock", "w"), how)):
        try:
            print("free", lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
        except BlockingIOError as error:
            print("busy", error)
    holder.communicate("go on")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        fcntl.flock(open("one.lock"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        print("busy again", type(error).__name__)
"""
ATTACHED = """
    import sqlite3
    base = sqlite3.connect("a.db")
    base.execute("attach 'it''s b.db' as b")
    base.execute("ATTACH DATABASE ? AS c", ("c.db",))
    for name in ("b", "c"):
        base.execute(f"create table {name}.rows(x)")
        base.execute(f"insert into {name}.rows values(random())")
    base.commit()
    base.execute("vacuum into 'copy.db'")
    memory = sqlite3.connect(":memory:")
    memory.execute("attach 'd.db' as d")
    memory.execute("create table d.rows(x)")
    print(base.execute("select * from b.rows").fetchall())
"""
PIPED = """
    import os, threading
    os.mkfifo("pipe")
    def write():
        with open("pipe", "w") as file:
            file.write("through a pipe")
    writer = threading.Thread(target=write)
    writer.start()
    print(open("pipe").read())
    writer.join()
    os.unlink("pipe")
    os.mkfifo("pipe")
    os.rename("pipe", "moved"), os.rename("moved", "pipe")
    for make in (os.mkfifo, os.mknod):
        try:
            make("pipe")
        except FileExistsError as error:
            print(error)
"""
NUMBERED = """
    import os, subprocess
    number = os.open("big.bin", os.O_RDWR)
    os.pwrite(number, b"new", 10)
    os.ftruncate(number, 20)
    os.fchmod(number, 0o640)
    os.close(number)
    print(open("big.bin", "rb").read(), subprocess.run(["date", "+%N"], capture_output=True).stdout)
    for call in (lambda: open("no/such", "w"), lambda: os.rename("gone", "other"), lambda: os.link("agent.py", "a.c"), lambda: os.listdir("no")):
        try:
            call()
        except OSError as error:
            print(error)
"""
ARCHIVED = """
    import os, subprocess, tarfile
    open("kept/one.txt", "r+").write("changed")
    subprocess.run("rm gone.txt; mkdir -p made; date +%N > made/new", shell=True)
    with tarfile.open("all.tgz", "w:gz") as archive:
        archive.add("kept")
    print(sorted(os.listdir("made")), os.path.getsize("all.tgz") > 0)
"""
REWRITTEN = """
    import os, subprocess
    for text in ("one", "two"):
        with open("tool.sh", "w") as script:
            script.write(f"echo {text}")
        print(subprocess.run(["sh", "tool.sh"], capture_output=True).stdout)
"""
DRAWN = """
    import sqlite3
    base = sqlite3.connect("drawn.db")
    base.execute("create table rows(at text default current_timestamp, of integer default (random()))")
    base.execute("insert into rows default values")
    base.commit()
    print(base.execute("select * from rows").fetchall())
"""
PROGRAMS = {
    "rewritten": REWRITTEN,
    "drawn": DRAWN,
    "archived": ARCHIVED,
    "touched": TOUCHED,
    "locked": LOCKED,
    "attached": ATTACHED,
    "piped": PIPED,
    "numbered": NUMBERED,
}


@pytest.mark.parametrize("portable", [False, pytest.param(True, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_replays_as_it_was(shell, name, portable):
    if portable and not system.LINUX:
        pytest.skip("functions are redirected here anyway")
    if name == "locked" and shutil.which("flock") is None:
        pytest.skip("there is no flock here")
    if name == "attached" and portable:
        pytest.skip("SQLite itself opens a further database")
    for each in ("a.c", "b.c"):
        shell.write(each, "text\n")
    shell.write("kept/one.txt", "one")
    shell.write("gone.txt", "gone")
    shell.write("big.bin", "x" * 1000)
    shell.write("agent.py", PROGRAMS[name])
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    for _ in range(2):
        replay = subprocess.run(
            shell.command("replay", "last"), cwd=shell.folder, capture_output=True, text=True, check=False,
            env={**shell.environ, **({"REENACT_PORTABLE": "1"} if portable else {})},
        )  # fmt: skip
        assert (replay.returncode, replay.stdout) == (0, done.out), replay.stderr
        assert ("no overlay" in replay.stderr) == portable


def test_a_changed_database_that_is_attached_is_found(shell):
    shell.write("agent.py", ATTACHED)
    shell.record("agent.py")
    shell.write("agent.py", ATTACHED.replace("d.rows(x)", "d.rows(y)"))
    replay = shell.replay()
    assert replay.status == 1
    assert "d.db" in replay.err, replay.err


def test_a_named_pipe_to_a_command_is_named_and_refused(shell):
    shell.write(
        "agent.py",
        """
        import os, subprocess
        os.mkfifo("pipe")
        command = subprocess.Popen("echo through > pipe", shell=True)
        print(open("pipe").read(), command.wait())
        """,
    )
    done, recording = shell.record("agent.py")
    assert done.out.split() == ["through", "0"]
    assert any(
        "the named pipe pipe is opened beside the command echo" in str(note) for note in recording.notes
    )
    replay = shell.replay()
    assert replay.status == 1
    assert "EXTRA  main/file:pipe" in replay.err
    assert "let it run: --live process:echo" in replay.err
    again = shell.replay("--live", "process:echo")
    assert again.out.split() == ["through", "0"], again.err
