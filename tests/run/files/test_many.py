"""The verbs that replay many times, and the debugger: each run begins with the first files."""

from __future__ import annotations

import pytest

from reenact.run.debugger.machine import Phase
from reenact.run.driver import Driver
from tests.run.files.byhand import PRELUDE, tree

AGENT = (
    PRELUDE
    + """
say("first", None, "log")
for number in range(4):
    print(ask(Path("log").read_text()))
    with open("log", "a") as file:
        file.write(f"{number} ")
    say("change", number + 1, "log")
"""
)


@pytest.fixture
def recorded(shell):
    shell.write("log", "begun ")
    shell.write("agent.py", AGENT)
    _, recording = shell.record("agent.py")
    (shell.folder / "log").write_text("mine")
    return recording


def test_verify_replays_side_by_side_and_touches_nothing(shell, recorded):
    copied = shell.run("replay", recorded.id)
    assert copied.status == 0, copied.out
    before = tree(shell.folder)
    done = shell.run("verify", recorded.id, "--workers", "2")
    assert done.status == 0, done.out + done.err
    assert tree(shell.folder) == before


@pytest.mark.thorough
def test_reproduce_and_prove_run_on_the_recorded_files(shell, recorded):
    before = tree(shell.folder)
    done = shell.run("reproduce", recorded.id, "--times", "2")
    assert done.status == 0, done.out + done.err
    done = shell.run("prove", recorded.id)
    assert done.status == 0, done.out + done.err
    assert tree(shell.folder) == before


@pytest.mark.thorough
def test_the_debugger_sees_at_each_step_the_files_of_that_step_also_when_it_goes_back(
    shell, recorded, monkeypatch
):
    monkeypatch.setenv("REENACT_HOME", str(shell.home))
    before = tree(shell.folder)
    with Driver(recorded, home=shell.home) as driver:
        driver.tell("start")
        assert driver.wait(120)
        for move in ("step", "step", "step", "back", "back", "step", "step", "back", "go"):
            driver.tell(move)
            assert driver.wait(120)
        state = driver.machine.state
        assert state.phase is Phase.ENDED, state
        assert state.verdict.faithful, state.verdict
        assert driver.output.splitlines()[-1] == "answer to begun 0 1 2 "
    assert tree(shell.folder) == before
