"""What these tests share: running a function twice, under record and replay, here or in processes of their own."""

import os
import subprocess
import sys
import textwrap

import pytest

import reenact


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    """Run each test in an empty folder: before a first command, a recording reads the files of the current one."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")


@pytest.fixture
def twice(tmp_path):
    """Record a function, replay it, and return both results with the replay's verdict."""

    def run(function, between=lambda: None, **options):
        with reenact.record(home=tmp_path) as recording:
            first = function()
        between()
        with reenact.replay(recording.id, home=tmp_path, **options) as replay:
            second = function()
        return first, second, replay.verdict

    return run


@pytest.fixture
def drawn(tmp_path):
    """Record a function, and return the sources that it drew from."""

    def run(function):
        with reenact.record(home=tmp_path) as recording:
            function()
        return [
            source
            for _, source in recording.load().logs[0].draws
            if source not in ("clock:zone", "entropy:numpy")
        ]

    return run


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Write a module as an installed library would lie, and import it."""

    def make(name, source):
        folder = tmp_path / "site-packages"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(textwrap.dedent(source))
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return __import__(name)

    return make


@pytest.fixture
def processes(tmp_path):
    """Run a program in fresh processes: `program(source)("record", TZ="Asia/Tokyo")` gives what it printed.

    Its `work()` is recorded or replayed; what that returns is printed, and in a replay the verdict after it.
    """

    def program(source):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source) + textwrap.dedent(_MAIN))

        def run(mode, **environment):
            done = subprocess.run(
                [sys.executable, path, mode],
                env={**os.environ, "REENACT_HOME": str(tmp_path / "home"), **environment},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout.splitlines()

        return run

    return program


_MAIN = """
if __name__ == "__main__":
    import sys
    import reenact
    if sys.argv[1] == "record":
        with reenact.record():
            print(work())
    elif sys.argv[1] == "replay":
        with reenact.replay("last") as replay:
            print(work())
        print(replay.verdict)
    else:
        print(work())
"""
