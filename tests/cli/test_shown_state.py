"""State on the command line: when it is kept, and how it is shown."""

from __future__ import annotations

import sys

import pytest

AGENT = """
    import os, sys
    import reenact

    memory = reenact.track("memory", {"seen": []})

    @reenact.tool
    def look(city):
        return "fine"

    @reenact.tool
    def cancel(order):
        return "done"

    def work(name):
        for number in range(6):
            look(f"{name} {number}")
            memory["seen"].append(number)
        cancel("ORD-1")

    work("parent")
    if "fork" in sys.argv:
        child = os.fork()
        if child == 0:
            memory["seen"] = ["child"]
            work("child")
            os._exit(0)
        os.waitpid(child, 0)
"""


@pytest.fixture
def agent(shell):
    return shell.write("agent.py", AGENT)


def test_a_programs_state_is_kept_and_shown(shell, agent):
    assert shell.run("record", "--", sys.executable, agent).status == 0
    done = shell.run("show", "last", "6", "--state")
    assert done.status == 0
    assert done.out.splitlines()[:1] == ["state when step 6 was asked"]
    assert "memory  exact" in done.out
    assert '{"seen":[0,1,2,3,4]}' in done.out
    later = shell.run("show", "last", "--state", "7").out
    assert "memory  as of step 6; it may have changed since" in later
    assert "state at the end" in shell.run("show", "last", "--state").out


@pytest.mark.thorough
def test_risky_effects_and_the_number_of_steps_can_be_given(shell, agent):
    shell.run("record", "--risky", "tool:cancel", "--", sys.executable, agent)
    state = shell.run("show", "last", "7", "--state", "--json").json
    assert (state["id"], state["step"]) == (shell.last().id, 7)
    assert state["state"]["memory"] == {
        "value": {"seen": [0, 1, 2, 3, 4, 5]},
        "as_of_step": 7,
        "exact": True,
        "why": "risky",
        "label": None,
    }
    shell.run("record", "--snapshot-every", "1", "--", sys.executable, agent)
    assert shell.run("show", "last", "4", "--state", "--json").json["state"]["memory"]["exact"]


@pytest.mark.thorough
def test_the_state_is_found_after_the_program_has_replayed(shell, agent):
    shell.run("record", "--", sys.executable, agent)
    assert shell.replay().status == 0


@pytest.mark.thorough
def test_a_fork_has_a_state_of_its_own(shell, agent):
    done, recording = shell.record(agent, "fork")
    assert done.status == 0
    child = next(step for step in recording if step.args.get("city") == "child 5")
    assert recording.state(child.number)["memory"] == {"seen": ["child", 0, 1, 2, 3, 4]}
    assert recording.state()["memory"] == {"seen": [0, 1, 2, 3, 4, 5]}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "last", "99", "--state"], "has no step 99: its steps go from 1 to 7"),
        (["show", "last", "3-5", "--state"], "--state is that of one step (7)"),
        (
            ["record", "--risky", "tokens > 5", "--", sys.executable, "agent.py"],
            "'tokens', which is not known before",
        ),
        (["record", "--risky", "((", "--", sys.executable, "agent.py"], "column 3"),
        (["record", "--snapshot-every", "0", "--", sys.executable, "agent.py"], "--snapshot-every"),
    ],
)
def test_mistakes_cost_one_line_and_exit_status_2(shell, agent, words, message):
    shell.run("record", "--", sys.executable, agent)
    done = shell.run(*words)
    assert done.status == 2
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.thorough
def test_without_state_there_is_a_word(shell):
    shell.write("bare.py", "import reenact\nreenact.tool(print)(1)\n")
    shell.record("bare.py")
    done = shell.run("show", "last", "--state")
    assert done.status == 0
    assert "no state was tracked in" in done.err
