"""The wheel on a Debian of its own that has Python and no compiler: `make test-fresh`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.wheel.conftest import ROOT
from tests.wheel.test_base import PROGRAM

SYSTEM = os.environ.get("REENACT_FRESH", "")
pytestmark = pytest.mark.timeout(3600)  # an emulated processor is fifty times slower


class Fresh:
    """A system in a folder, entered as an ordinary user, without a network."""

    def __init__(self, root: Path) -> None:
        self.root = root
        if not (root / "home" / "dev").exists():
            subprocess.run(["chroot", root, "useradd", "--create-home", "dev"], check=True)
        self.home = root / "home" / "dev"
        for entry in self.home.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line of the shell in the user's folder."""
        inside = ["unshare", "--mount", "--pid", "--net", "--fork", f"--root={self.root}", "--mount-proc"]
        user = [
            "runuser",
            "-u",
            "dev",
            "--",
            "env",
            "-i",
            "HOME=/home/dev",
            "PATH=/usr/bin:/bin",
            "LANG=C.UTF-8",
        ]
        return subprocess.run(
            [*inside, *user, "sh", "-c", f"cd && {line}"],
            capture_output=True, text=True, timeout=3600, check=False,
        )  # fmt: skip

    def does(self, line: str) -> str:
        """Run a line that succeeds; what it printed."""
        done = self.run(line)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def fresh(wheel):
    """The system, with the wheel and its dependencies in /wheels."""
    if not SYSTEM:
        pytest.skip("a system of its own is set up by: make test-fresh")
    system = Fresh(Path(SYSTEM))
    said = "print(*sys.version_info[:2], sep='.'); print(platform.machine())"
    version, machine = system.does(f'python3 -c "import platform, sys; {said}"').split()
    wheels = system.root / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    words = ["--quiet", "--only-binary", ":all:", "--python-version", version, "--dest", wheels]
    for tag in ("_2_28", "_2_17", "2014"):
        words += ["--platform", f"manylinux{tag}_{machine}"]
    constraints = ["--constraint", ROOT / "constraints.txt"]
    subprocess.run([sys.executable, "-m", "pip", "download", *words, *constraints, wheel], check=True)
    return system


def test_it_has_no_compiler_and_no_network(fresh):
    assert fresh.run("command -v gcc || command -v cc || command -v make").returncode != 0
    assert (
        fresh.run("python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 1)'").returncode
        != 0
    )


def test_the_wheel_is_installed_records_and_replays(fresh, capsys):
    (fresh.home / "prog.py").write_text(PROGRAM)
    began = time.monotonic()
    fresh.does("python3 -m venv venv && venv/bin/pip install --quiet --no-index --find-links /wheels reenact")
    installed = time.monotonic()
    recorded = fresh.does(". venv/bin/activate && reenact record -- python prog.py")
    replayed = fresh.does(". venv/bin/activate && reenact replay last")
    ended = time.monotonic()
    assert (
        [line for line in recorded.splitlines() if "'order'" in line]
        == [line for line in replayed.splitlines() if "'order'" in line]
        != []
    )
    assert "faithful" in replayed
    with capsys.disabled():
        print(f"\ninstalled in {installed - began:.1f} s, recorded and replayed in {ended - installed:.1f} s")
