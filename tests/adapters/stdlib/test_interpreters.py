"""A Python that cannot join the run is a command like any other."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Shell

STARTS = """
import asyncio, os, subprocess, sys

CODE = "import time; print(time.time_ns())"
python = sys.argv[1]
print(subprocess.run([python, "-c", CODE], capture_output=True, text=True).stdout)
print(subprocess.check_output(f"{python} -c '{CODE}'", shell=True, text=True))
with subprocess.Popen([python, "-i", "-q", "-u"], stdin=-1, stdout=-1, stderr=subprocess.STDOUT, text=True) as process:
    print(process.communicate(CODE)[0])

async def main():
    process = await asyncio.create_subprocess_exec(python, "-c", CODE, stdout=-1)
    print(await process.communicate())

asyncio.run(main())
"""


@pytest.fixture
def without_site(tmp_path: Path) -> str:
    """A Python that loads no sitecustomize, as one of another installation may do."""
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return str(python)


def test_a_python_that_cannot_join_is_answered_from_the_recording(shell: Shell, without_site: str) -> None:
    shell.write("agent.py", STARTS)
    recorded = shell.run("record", "--", sys.executable, "agent.py", without_site)
    assert "not recorded" not in recorded.err
    Path(without_site).unlink()
    replayed = shell.run("replay")
    assert (replayed.status, replayed.out) == (0, recorded.out), replayed.err


def test_a_python_of_another_folder_that_can_join_does(shell: Shell, tmp_path: Path) -> None:
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    shell.write("agent.py", STARTS)
    recorded = shell.run("record", "--", sys.executable, "agent.py", str(python))
    assert "5 processes" in recorded.err
    replayed = shell.run("replay")
    assert (replayed.status, replayed.out) == (0, recorded.out), replayed.err
