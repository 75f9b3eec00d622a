"""The built wheel in an empty environment: `make test-wheel`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHEEL = os.environ.get("REENACT_WHEEL", "")


@pytest.fixture(scope="session", autouse=True)
def wheel():
    """The path of the wheel."""
    if not WHEEL:
        pytest.skip("the wheel is tested by itself: make test-wheel")
    return Path(WHEEL)


class Installed:
    """An environment with the wheel.

    Attributes:
        packages: Its site-packages.
        size: Their bytes, without the bytecode that Python writes later.
        folder: A folder for programs and their recordings.
    """

    def __init__(self, root: Path, wheel: Path, extras: str = "") -> None:
        uv = [Path(sys.executable).with_name("uv"), "--quiet"]
        subprocess.run([*uv, "venv", "--python", sys.executable, root / "venv"], check=True)
        self.python = root / "venv" / "bin" / "python"
        constraints = ["--constraints", ROOT / "constraints.txt"]
        words = [
            *uv,
            "pip",
            "install",
            "--python",
            self.python,
            *constraints,
            f"{wheel}{extras}",
        ]
        plain = {name: value for name, value in os.environ.items() if name != "UV_COMPILE_BYTECODE"}
        subprocess.run(words, check=True, env=plain)
        (self.packages,) = (root / "venv" / "lib").glob("python*/site-packages")
        self.size = sum(path.stat().st_size for path in self.packages.rglob("*") if path.is_file())
        self.folder = root / "work"
        self.folder.mkdir()
        keep = ("HOME", "TERM", "LANG", "TMPDIR", "CHROME")
        self.environ = {
            **{name: os.environ[name] for name in keep if name in os.environ},
            "PATH": f"{self.python.parent}:{os.environ['PATH']}",
            "REENACT_HOME": str(root / "home"),
            "XDG_CONFIG_HOME": str(root / "config"),
            "COLUMNS": "120",
        }

    def run(self, *words, status=0, given=None):
        """Run a command of the environment to its end; what it printed."""
        done = subprocess.run(
            [self.python.with_name(words[0]), *words[1:]],
            cwd=self.folder, env=self.environ, input=given, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done
