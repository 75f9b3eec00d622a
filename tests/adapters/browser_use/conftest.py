from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import reenact
from tests.adapters.browser_use.world import World
from tests.conftest import Shell

SHOPPER = Path(__file__).parent / "shopper.py"
CHROME = os.environ.get("CHROME") or shutil.which("chromium") or shutil.which("google-chrome")
QUIET = {"ANONYMIZED_TELEMETRY": "false", "BROWSER_USE_VERSION_CHECK": "false"}


@pytest.fixture
def world():
    with World() as world:
        yield world


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """An agent that has shopped with a real browser, and the world it did so in, which still stands."""
    if CHROME is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROME")
    shell = Shell(tmp_path_factory.mktemp("shopper"))
    # An agent leaves its files and pictures in a folder of its own there.
    shell.environ |= {**QUIET, "CHROME": CHROME, "TMPDIR": str(tmp_path_factory.mktemp("agent"))}
    program = shell.write("shopper.py", SHOPPER.read_text())
    with World() as world:
        done = shell.run("record", "--", sys.executable, program, world.shop, world.model)
        assert done.status == 0, done.err
        yield SimpleNamespace(shell=shell, world=world, program=program, done=done, recording=shell.last())


@pytest.fixture
def recording(run):
    return reenact.load(run.recording.id, home=run.shell.home)
