"""The providers' own JavaScript SDKs, by the proxy."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.run.proxy.test_programs import KEYS, record

HERE = Path(__file__).parent / "sdks"
INSTALLED = Path(__file__).parents[3] / ".cache" / "javascript-sdks"

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def sdks():
    """The folder with the installed SDKs."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    INSTALLED.mkdir(parents=True, exist_ok=True)
    if (known := INSTALLED / "package.json").exists() and known.read_text() == (
        HERE / "package.json"
    ).read_text():
        return INSTALLED
    words = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(INSTALLED)]
    shutil.copy(HERE / "package.json", INSTALLED)
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        (INSTALLED / "package.json").unlink()
        pytest.skip(f"the SDKs could not be installed: {done.stderr.strip().splitlines()[-1:]}")
    return INSTALLED


@pytest.fixture
def agent(shell, sdks):
    """The agent, in the folder of the shell."""
    (shell.folder / "node_modules").symlink_to(sdks / "node_modules")
    return shell.write("agent.mjs", (HERE / "agent.mjs").read_text())


def test_an_agent_is_recorded_and_replayed_by_its_own_sdks(shell, provider, agent):
    done = record(shell, provider, "node", "agent.mjs")
    assert done.status == 0, done.err
    assert "left after 3\nInternalServerError 500" in done.out
    provider.stop()
    recording = shell.last()
    for _ in range(5):
        again = shell.replay()
        assert (again.status, again.out) == (0, done.out), again.err
    shown = shell.run("show", "last").out
    assert "weather" in shown
    assert len(recording.steps) == 12
    assert shell.run("diff", "last", "last").status == 0


def test_a_departure_reaches_the_sdk_as_an_error_that_it_does_not_retry(shell, provider, agent):
    record(shell, provider, "node", "agent.mjs")
    provider.stop()
    agent.write_text(agent.read_text().replace("in Bern", "in Basel"))
    again = shell.replay()
    assert again.status == 1
    assert "BadRequestError" in again.err
    assert "in Basel" in again.err
    assert "CHANGED  step 1" in again.err


def test_a_fork_asks_the_provider_from_its_step_on(shell, provider, agent):
    record(shell, provider, "node", "agent.mjs")
    parent = shell.last()
    forked = shell.run("fork", "last", "--at", "2", env=KEYS)
    assert forked.status == 0, forked.err
    child = shell.last()
    assert child.id != parent.id
    assert child.step(1).chunks == parent.step(1).chunks
    assert child.step(2).chunks != parent.step(2).chunks
    assert shell.run("diff", parent.id, child.id).status == 1
