"""Replays on trees without the files that the run only listed, and the times of files."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.systems import OVERLAYS

PROGRAM = """
    import os, pathlib
    def walk(folder):
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                status = entry.stat(follow_symlinks=False)
                time = status.st_mtime_ns if entry.is_file(follow_symlinks=False) else 0
                size = status.st_size if entry.is_file(follow_symlinks=False) else 0
                print(entry.name, entry.is_dir(), entry.is_symlink(), size, time)
    walk("tree")
    print(max(pathlib.Path("tree").glob("*.txt"), key=os.path.getmtime).name)
    print(os.stat("used.txt").st_mtime_ns, open("used.txt").read())
"""


@pytest.fixture
def recorded(shell):
    tree = shell.folder / "tree"
    tree.mkdir()
    for number, name in enumerate(("one.txt", "two.txt", "three.txt")):
        (tree / name).write_text(name * (number + 1))
        os.utime(tree / name, ns=(0, (10 - number) * 10**18 // 10))
    (tree / "link").symlink_to("one.txt")
    (tree / "below").mkdir()
    used = shell.folder / "used.txt"
    used.write_text("used")
    os.utime(used, ns=(0, 123456789 * 10**9))
    shell.write("agent.py", PROGRAM)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    return done


def _emptied(folder):
    shutil.rmtree(folder / "tree")
    (folder / "used.txt").unlink()


def _touched(folder):
    for path in (*(folder / "tree").glob("*.txt"), folder / "used.txt"):
        os.utime(path)


def _grown(folder):
    (folder / "tree" / "two.txt").write_text("another text")
    (folder / "tree" / "link").unlink()


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("change", [_emptied, _touched, _grown])
def test_a_replay_lists_the_files_with_their_sizes_times_and_links(shell, recorded, change):
    change(shell.folder)
    before = sorted(shell.folder.rglob("*"))
    again = shell.replay()
    assert (again.status, again.out) == (0, recorded.out), again.err
    assert sorted(shell.folder.rglob("*")) == before


@OVERLAYS
def test_a_read_of_a_file_that_was_only_listed_is_said(shell):
    (shell.folder / "data").mkdir()
    (shell.folder / "data" / "big.bin").write_bytes(b"x" * 10)
    # Native code reads it: no event names that.
    shell.write(
        "agent.py",
        """
        import ctypes, os, sys
        print(os.listdir("data"))
        libc = ctypes.CDLL(None)
        file = libc.open(b"data/big.bin", 0)
        part = ctypes.create_string_buffer(10)
        libc.read(file, part, 10)
        print(len(part.raw))
        """,
    )
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    assert shell.replay().status == 0
    (shell.folder / "data" / "big.bin").unlink()
    again = shell.replay()
    assert again.status == 1
    assert "big.bin is not as it was" in " ".join(again.err.split())


@pytest.mark.sampled(every=10)
@OVERLAYS
@pytest.mark.parametrize("read_before", [False, True])
def test_a_file_that_a_command_makes_new_is_as_the_command_left_it(shell, read_before):
    big = shell.folder / "data" / "big.bin"
    big.parent.mkdir()
    big.write_bytes(b"x" * 300_000)
    shell.write(
        "agent.py",
        """
        import ctypes, subprocess, sys
        subprocess.run("true", shell=True)
        if len(sys.argv) > 1:
            libc = ctypes.CDLL(None)
            libc.read(libc.open(b"data/big.bin", 0), ctypes.create_string_buffer(9), 9)
        subprocess.run("touch data/big.bin", shell=True)
        print(open("data/big.bin").read().count("x"))
        """,
    )
    done, _ = shell.record("agent.py", *(["read"] if read_before else []))
    assert done.status == 0, done.err
    again = shell.replay()
    assert again.out == done.out == "300000\n"
    assert again.status == read_before, again.err
    assert ("big.bin is not as it was" in " ".join(again.err.split())) is read_before


@OVERLAYS
def test_a_file_that_native_code_made_is_not_there_when_the_replay_begins(shell):
    shell.write(
        "agent.py",
        """
        import os, sqlite3
        base = sqlite3.connect("first.db")
        base.execute("attach 'second.db' as more")
        base.execute("create table more.rows(text)")
        base.execute("insert into more.rows values('one')")
        base.commit()
        base.close()
        print(sorted(name for name in os.listdir(".") if name.endswith(".db")))
        """,
    )
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    for name in ("first.db", "second.db"):
        (shell.folder / name).unlink()
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert not (shell.folder / "second.db").exists()


@pytest.mark.thorough
def test_a_command_makes_a_file_that_is_not_kept_and_no_code_reads_it(shell):
    shell.write(
        "agent.py",
        """
        import os, subprocess, sys
        subprocess.run(["sh", "-c", "printf 'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' > made.txt"])
        print(os.path.getsize("made.txt"))
        if len(sys.argv) > 1: print(len(open("made.txt").read()))
        """,
    )
    for words, faithful in (((), True), (("read",), False)):
        done, _ = shell.record("agent.py", *words)
        assert done.status == 0, done.err
        (shell.folder / "made.txt").unlink()
        again = shell.replay()
        assert again.out == done.out, again.err
        assert (again.status == 0) is faithful, again.err
        assert ("its bytes are not recorded" in " ".join(again.err.split())) is not faithful


@pytest.mark.thorough
def test_a_python_that_cannot_join_is_answered_as_a_command(shell):
    shell.write(
        "agent.py",
        """
        import subprocess, sys
        code = "import time; open('made.txt', 'a').write('x'); print(time.time_ns())"
        print(subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True).stdout)
        print(open("made.txt").read())
        """,
    )
    done, _ = shell.record("agent.py")
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert (shell.folder / "made.txt").read_text() == "x"


LISTING = """
    import os
    print(sorted(name for name in os.listdir(".") if name.endswith(".py")))
    import prices
    print(prices.total())
"""


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("after", ["4", "4 + 1"], ids=["of-equal-size", "of-another-size"])
def test_a_module_in_a_listed_folder_runs_as_it_is_now(shell, after):
    shell.write("prices.py", "def total(): return 3\n")
    os.utime(shell.folder / "prices.py", ns=(0, 10**18))
    shell.write("agent.py", LISTING)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    shell.write("prices.py", f"def total(): return {after}\n")
    again = shell.replay()
    assert (again.status, again.out.splitlines()[1]) == (1, str(eval(after))), again.err


def test_a_deleted_module_of_a_listed_folder_is_named_and_does_not_run(shell):
    shell.write("prices.py", "def total(): return 3\n")
    shell.write("agent.py", LISTING)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    (shell.folder / "prices.py").unlink()
    again = shell.replay()
    assert again.status == 1
    assert "ModuleNotFoundError: No module named 'prices'" in again.err
    assert "prices.py is gone, and its bytes are not recorded" in again.out + again.err


def test_the_search_for_installed_packages_does_not_list_the_program_s_folder(shell):
    shell.write(
        "agent.py",
        """
        import importlib.metadata
        print(len(list(importlib.metadata.entry_points(group="none"))))
        """,
    )
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    shell.write("added.py", "total = 3\n")
    shell.write(
        "agent.py",
        """
        import importlib.metadata
        print(len(list(importlib.metadata.entry_points(group="none"))))
        import added
        """,
    )
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
