"""Runs of one program that went well and badly."""

from __future__ import annotations

import subprocess
import sys

import pytest

import reenact


@pytest.fixture
def runs(shell, monkeypatch):
    """Record a program once for each word, which it finds in the file `mood.txt`; returns the recordings."""
    monkeypatch.setenv("REENACT_HOME", str(shell.home))

    def made(text, *moods, name="agent.py", recorder=True, files=False):
        shell.write(name, text)
        found = []
        for mood in moods:
            (shell.folder / "mood.txt").write_text(mood)
            if recorder:
                chosen = () if files else ("--files", "off")
                done = shell.run("record", *chosen, "--name", mood, "--", sys.executable, name)
                assert done.status in (0, 1, 3), done.err
            else:
                subprocess.run([sys.executable, name], cwd=shell.folder, env=shell.environ, check=True)
            found.append(reenact.load("last", home=shell.home))
        (shell.folder / "mood.txt").write_text("replaying")
        return found

    return made
