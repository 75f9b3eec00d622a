"""Walk through a page of the documentation: write its files, run its commands, compare their output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import BARE_PYTEST

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SKIPPED = ("pip install",)
"""Commands that need a package index, or a person."""

DIFFERS = ("CHANGED", "FAILED", "1 failed", "First difference")
"""What a page shows of the output of a command that ends with a status other than 0."""

LONGEST = 300


def blocks(page):
    return [(kind, title, text) for kind, title, text in BLOCK.findall(page)]


def commands(text):
    """The commands of a console block, each with the lines of its output."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip():
            found[-1][1].append(line)
    return found


class Walk:
    """A reader who does what a page says, in an empty folder.

    Attributes:
        folder: The folder.
        output: What the last command wrote.
    """

    def __init__(self, folder, environ=()):
        self.folder = folder
        self.output = ""
        self.started = []
        (folder / "bin").mkdir()
        self.environ = {
            k: v for k, v in os.environ.items() if not k.startswith(("REENACT", "PYTEST", "COV_"))
        }
        path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), self.environ["PATH"]])
        self.environ |= {"PATH": path, "COLUMNS": "200", "PYTHONUTF8": "1", "PAGER": "cat", **dict(environ)}
        # The pages' readers have installed pytest and Reenact, and none of the plugins that are here.
        self.environ |= BARE_PYTEST
        self.environ.pop("CI", None)

    def page(self, text):
        for kind, title, content in blocks(text):
            if kind == "console":
                for command, shown in commands(content):
                    self.run(command, shown)
            elif title:
                (self.folder / title).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / title).write_text(content, encoding="utf-8")

    def run(self, command, shown=()):
        """Run a command; each line of the page must be in its output, with … for any text."""
        if any(command.startswith(start) for start in SKIPPED):
            return
        if command.endswith("&"):
            words = ["sh", "-c", f"exec {command[:-1]}"]
            self.started.append(
                subprocess.Popen(
                    words,
                    cwd=self.folder,
                    env=self.environ,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            return
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, env=self.environ, capture_output=True, text=True, timeout=LONGEST, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self.output = done.stdout + done.stderr
        fails = any(sign in line for line in shown for sign in DIFFERS)
        assert (done.returncode != 0) == fails, f"$ {command}\n{self.output}"
        for line in shown:
            pattern = ".*".join(re.escape(part) for part in line.strip().split("…"))
            assert re.search(pattern, self.output), f"$ {command}\nexpected: {line}\n{self.output}"

    def end(self):
        for process in self.started:
            process.kill()
            process.wait()
