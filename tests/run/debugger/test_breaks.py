"""Breakpoints from code, and the program's own."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time

import pytest

import reenact
from reenact.errors import DivergenceError, FilterError, UsageError


@reenact.tool
def draw(total):
    return time.time_ns()


@reenact.tool
def outer(total):
    return draw(total) + 1


def program():
    first = draw(0)
    second = outer(first)
    return first, second, draw(second)


@pytest.fixture
def recorded(home):
    with reenact.record("breaks") as session:
        output = program()
    return session.id, output


def test_a_function_is_called_at_each_breakpoint_with_the_programs_own_frame(recorded):
    id, output = recorded
    stops = []

    def look(stop):
        stops.append((stop.step, stop.label, stop.why, stop.frame.f_code.co_name, dict(stop.args)))

    with reenact.replay(id, breakpoints=["tool:outer", 4], on_break=look) as replay:
        assert program() == output
    assert stops == [
        (2, "tool:outer", "tool:outer", "program", {"total": output[0]}),
        (4, "tool:draw", "4", "program", {"total": output[1]}),
    ]
    assert replay.verdict.faithful


def test_a_step_and_a_stop_at_it_have_the_same_label(recorded):
    seen = []
    with reenact.replay(recorded[0], breakpoints="tool", on_break=seen.append):
        program()
    assert [stop.recorded.label for stop in seen] == [stop.label for stop in seen]
    assert [step.label for step in reenact.load(recorded[0])] == [
        "tool:draw",
        "tool:outer",
        "tool:draw",
        "tool:draw",
    ]


def test_breakpoints_can_be_changed_while_the_program_stands(recorded):
    id, _ = recorded
    seen = []

    def look(stop):
        seen.append(stop.step)
        if stop.step == 1:
            stop.breakpoints.remove("tool")
            stop.breakpoints.add("step == 4")

    with reenact.replay(id, breakpoints="tool", on_break=look) as replay:
        program()
    assert seen == [1, 4]
    assert list(replay.breakpoints) == ["step == 4"]
    with pytest.raises(UsageError, match="there is no breakpoint tool"):
        replay.breakpoints.remove("tool")


def test_another_answer_can_be_given_at_a_stop_and_the_verdict_says_so(recorded):
    id, output = recorded

    def look(stop):
        stop.answer(7) if stop.step == 4 else None

    with reenact.replay(id, breakpoints=4, on_break=look) as replay:
        assert program() == (output[0], output[1], 7)
    assert not replay.verdict.faithful
    assert "step 4, tool:draw: its answer was edited" in replay.verdict.notes


def test_a_call_can_be_made_to_fail_at_a_stop(recorded):
    id, _ = recorded
    with reenact.replay(id, breakpoints=4, on_break=lambda stop: stop.fail(LookupError("gone"))):
        with pytest.raises(LookupError, match="gone"):
            program()


def test_a_call_can_be_opened_at_a_stop_and_its_inside_is_answered_from_the_recording(recorded):
    id, output = recorded
    seen = []

    def look(stop):
        seen.append(stop.step)
        if stop.step == 2:
            stop.open()

    with reenact.replay(id, breakpoints=["tool"], on_break=look) as replay:
        assert program() == output
    assert seen == [1, 2, 3, 4]
    assert not replay.verdict.divergences


def test_a_divergence_can_be_a_breakpoint(recorded):
    id, _ = recorded
    seen = []
    with pytest.raises(DivergenceError):
        with reenact.replay(id, breakpoints="divergence", on_break=seen.append):
            draw(1)
    (stop,) = seen
    assert (stop.step, stop.why, stop.divergence.step) == (1, "divergence", 1)
    assert stop.args == {"total": 1}
    with pytest.raises(UsageError, match="has no recorded answer to be changed"):
        stop.answer(1)


def test_a_question_that_is_not_recorded_is_stopped_at_by_a_filter(recorded):
    id, _ = recorded
    seen = []
    with reenact.replay(id, breakpoints="tool:extra args.n > 2", on_break=seen.append, on_divergence="live"):
        for n in range(4):
            reenact.tool(lambda n: n, name="extra")(n)
    assert [stop.args for stop in seen] == [{"n": 3}]
    assert "not recorded" in seen[0].why


def test_a_breakpoint_that_does_not_parse_points_at_the_column_before_anything_runs(recorded):
    with pytest.raises(FilterError, match="column 6"):
        reenact.replay(recorded[0], breakpoints=["tool:("])


SCRIPT = """
    import sys, time
    import reenact

    @reenact.tool
    def ask(n):
        return time.time_ns()

    def agent():
        first = ask(1)
        if "--stop" in sys.argv:
            breakpoint()
        print(first, ask(2))

    agent()
"""


@pytest.mark.thorough
def test_breakpoint_in_the_program_opens_pdb_on_the_terminal_during_a_replay(shell):
    shell.write("agent.py", SCRIPT)
    done, _ = shell.record("agent.py")
    command = shell.command("replay", "last", "--", sys.executable, "agent.py", "--stop")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(shell.folder)
        os.execve(command[0], command, shell.environ)
    said, lines = "", ["p first + 0", "p 40 + 2", "c"]
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if select.select([terminal], [], [], 0.1)[0]:
                said += os.read(terminal, 4096).decode()
        except OSError:
            break
        if said.endswith("(pdb) ") and lines:
            os.write(terminal, lines.pop(0).encode() + b"\n")
            said += "|"
    os.waitpid(child, 0)
    assert done.out.split()[0] in said.partition("p 40 + 2")[0], said
    assert "42" in said
    assert done.out.strip() in said


@pytest.mark.thorough
def test_breakpoint_in_the_program_is_passed_over_with_a_line_where_there_is_no_terminal(shell):
    shell.write("agent.py", SCRIPT)
    done, _ = shell.record("agent.py")
    again = subprocess.run(
        shell.command("replay", "last", "--", sys.executable, "agent.py", "--stop"),
        cwd=shell.folder,
        env=shell.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,  # away from the terminal that the tests run on, if any
        check=False,
    )
    assert (again.returncode, again.stdout) == (0, done.out), again.stderr
    assert "agent.py:12: breakpoint() has no terminal to talk on, and is passed over" in again.stderr
    assert "Traceback" not in again.stderr


def test_breakpoint_in_a_replayed_block_leaves_no_trace_in_the_replay(home, tmp_path):
    script = tmp_path / "block.py"
    script.write_text(
        "import reenact, time\n"
        "@reenact.tool\n"
        "def ask(n): return time.time_ns()\n"
        "with reenact.record('x') as session: first = ask(1), ask(2)\n"
        "with reenact.replay(session.id) as replay:\n"
        "    one = ask(1)\n"
        "    breakpoint()\n"
        "    two = ask(2)\n"
        "print((one, two) == first, replay.verdict.faithful)\n"
        "import sys\n"
        "print(sys.breakpointhook is sys.__breakpointhook__)\n"
    )
    environ = {**os.environ, "REENACT_HOME": home}
    done = subprocess.run(
        [sys.executable, str(script)],
        input="p ask(5)\np time.time()\nc\n",
        capture_output=True,
        text=True,
        timeout=60,
        env=environ,
        check=False,
    )
    assert done.stdout.endswith("True True\nTrue\n"), done


def test_a_change_of_the_tracked_state_can_be_a_breakpoint(home):
    def remembering():
        memory = reenact.track("memory", {"seen": []})
        other = reenact.track("other", [])
        draw(1)
        memory["seen"].append("one")
        draw(2)
        other.append(1)
        draw(3)
        memory["seen"].append("two")
        draw(4)

    with reenact.record("state") as session:
        remembering()
    seen = []

    def look(stop):
        seen.append((stop.step, stop.why, stop.state["memory"]["seen"]))

    with reenact.replay(session.id, breakpoints="state:memory", on_break=look) as replay:
        remembering()
    assert seen == [
        (2, "state memory has changed", ["one"]),
        (4, "state memory has changed", ["one", "two"]),
    ]
    assert replay.verdict.faithful
    seen.clear()
    with reenact.replay(session.id, breakpoints="state", on_break=look):
        remembering()
    assert [step for step, _, _ in seen] == [2, 3, 4]
