"""The debugger on programs that really run."""

from __future__ import annotations

import os
import pty
import random
import select
import subprocess
import sys
import threading
import time

import pytest

from reenact.core.model import codec
from reenact.core.replay.watch import Edit
from reenact.errors import FilterError, ProgramError, UsageError
from reenact.run.debugger.machine import Phase
from reenact.run.debugger.orders import ProgramPlace
from reenact.run.driver import Driver
from reenact.run.launch import Options

LOOP = """
    import random
    import reenact

    @reenact.tool
    def draw(sum):
        return random.random()

    @reenact.tool
    def outer(sum):
        inside = draw(sum) + draw(sum / 2)
        return inside

    sum = 0.0
    for turn in range(30):
        sum += outer(sum) if turn % 5 == 4 else draw(sum)
        print("turn", turn, sum)
"""

ASYNC = """
    import asyncio, random
    import reenact

    @reenact.tool
    async def fetch(name, sum):
        await asyncio.sleep(random.random() / 100)
        return random.random()

    async def main():
        sum = 0.0
        for turn in range(12):
            found = await asyncio.gather(fetch("a", sum), fetch("b", sum))
            for future in asyncio.as_completed([fetch("c", sum), fetch("d", sum)]):
                sum = sum / 2 + await future
            sum += found[0]
            print("turn", turn, sum)

    asyncio.run(main())
    asyncio.run(main())
"""


@pytest.fixture
def debug(shell, monkeypatch):
    """Record a program, and open the debugger on it."""
    opened = []
    monkeypatch.setenv("REENACT_HOME", str(shell.home))

    def begin(text, *args, start=True, **more):
        shell.write("agent.py", text)
        shell.record("agent.py", *args)
        driver = Driver(shell.last(), **more)
        opened.append(driver)
        if start:
            tell(driver, "start")
        return driver

    yield begin
    for driver in opened:
        driver.close()


def tell(driver, *words, timeout=120):
    driver.tell(*words)
    assert driver.wait(timeout), f"{words} did not come to an end"
    return driver.machine.state


def seen(state):
    """What a user sees of a program that stands."""
    return state.phase, state.at, state.passed, state.actual.label, state.actual.args, state.actual.stack


@pytest.mark.thorough
@pytest.mark.parametrize("text", [pytest.param(LOOP, marks=pytest.mark.thorough), ASYNC])
def test_a_random_walk_sees_at_each_place_what_a_fresh_run_sees_there(debug, text):
    driver = debug(text)
    total = len(driver.machine.recording.steps)
    walk = random.Random(5)
    for turn in range(60):
        command = walk.choice(["step", "over", "back", "reverse", "go", "run_to", "break_at", "into"])
        words = {"run_to": (walk.randint(1, total),), "break_at": (walk.randint(1, total),)}.get(command, ())
        try:
            tell(driver, command, *words)
        except UsageError:
            continue
        if turn % 10 == 9 and driver.machine.state.phase is Phase.STOPPED:
            state, output = driver.machine.state, driver.output
            with Driver(driver.machine.recording) as fresh:
                fresh.machine.state = type(state)(Phase.ENDED, opened=state.opened)
                tell(fresh, "start")
                assert seen(tell(fresh, "run_to", state.at.step)) == seen(state)
                assert fresh.output == output


@pytest.mark.thorough
def test_an_event_loop_is_gone_back_in_without_running_the_program_from_its_beginning(debug):
    driver = debug(ASYNC)
    tell(driver, "run_to", 90)
    process = driver._program._process.pid
    for step in (60, 30, 80, 10, 70):
        assert tell(driver, "run_to", step).at == ProgramPlace(step)
    assert driver._program._process.pid == process
    state = tell(driver, "go")
    assert state.phase is Phase.ENDED, driver.output
    assert state.verdict.faithful


@pytest.mark.thorough
def test_stepping_into_a_call_runs_it_and_answers_its_inside(debug):
    driver = debug(LOOP)
    tell(driver, "break_at", "tool:outer")
    tell(driver, "go")
    state = tell(driver, "into")
    assert state.actual.label == "tool:draw"
    assert state.actual.stack[-1].endswith("in outer")
    tell(driver, "clear")
    state = tell(driver, "go")
    assert state.phase is Phase.ENDED
    assert not state.verdict.divergences


@pytest.mark.thorough
def test_an_edited_answer_reaches_the_program_and_the_first_departure_is_shown(debug):
    driver = debug(LOOP)
    tell(driver, "run_to", 3)
    tell(driver, "edit", 3, Edit(codec.Encoder().encode(100.0)))
    state = tell(driver, "step")
    assert state.phase is Phase.DEPARTED
    assert state.divergence.step == 4
    (difference,) = state.divergence.mismatches
    assert difference.path == "args.sum"
    assert difference.actual > 100 > difference.recorded
    assert state.actual.args["sum"] == difference.actual
    assert tell(driver, "back").at == ProgramPlace(3)
    tell(driver, "edit", 3, None)
    assert tell(driver, "step").at == ProgramPlace(4)


@pytest.mark.thorough
def test_a_changed_program_stops_where_it_leaves_its_recording(debug, shell):
    driver = debug(LOOP)
    changed = shell.write("changed.py", LOOP.replace("sum / 2", "sum / 3").replace("range(30)", "range(31)"))
    other = Driver(
        driver.machine.recording,
        command=[sys.executable, str(changed)],
        options=Options(live=("tool:outer",)),
    )
    with other:
        tell(other, "start")
        state = tell(other, "go")
        assert state.phase is Phase.DEPARTED
        assert state.why == "the program no longer matches its recording"
        assert "args.sum" in str(state.divergence)
        state = tell(other, "go")
        assert state.phase is Phase.ENDED
        assert state.verdict.divergence == other.machine.state.divergence


@pytest.mark.thorough
def test_a_program_that_never_makes_another_call_can_be_stopped_and_looked_at(debug):
    driver = debug(
        """
        import os, reenact
        @reenact.tool
        def ask(): return 1
        ask()
        while os.path.exists("spin"):
            pass
        """,
        start=False,
    )
    spin = os.path.join(driver.machine.recording.header["program"]["cwd"], "spin")
    with open(spin, "w", encoding="utf-8"):
        pass
    tell(driver, "start")
    driver.tell("go")
    assert not driver.wait(0.5)
    driver.tell("interrupt")
    assert driver.wait(120)
    state = driver.machine.state
    assert (state.phase, state.why) == (Phase.STOPPED, "interrupted")
    assert "agent.py:7" in state.actual.stack[-1] or "agent.py:6" in state.actual.stack[-1]
    assert tell(driver, "back").at == ProgramPlace(1)


@pytest.mark.thorough
def test_a_program_that_does_not_even_listen_is_ended_and_can_be_gone_back_in(debug):
    driver = debug(
        """
        import os, signal, reenact
        @reenact.tool
        def ask(): return 1
        ask()
        if os.path.exists("deaf"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGURG})
            while True:
                pass
        """,
        start=False,
    )
    cwd = driver.machine.recording.header["program"]["cwd"]
    open(os.path.join(cwd, "deaf"), "w", encoding="utf-8").close()
    tell(driver, "start")
    driver.tell("go")
    assert not driver.wait(0.3)
    driver.tell("interrupt")
    assert driver.wait(120)
    state = driver.machine.state
    assert (state.phase, state.why) == (Phase.DIED, "the program did not react, and was killed")
    assert tell(driver, "back").at == ProgramPlace(1)


@pytest.mark.thorough
def test_a_program_that_crashes_shows_its_traceback_and_can_be_gone_back_in(debug):
    driver = debug(
        """
        import reenact
        @reenact.tool
        def ask(): return 1
        ask()
        raise ValueError("no such order")
        """
    )
    state = tell(driver, "go")
    assert state.phase is Phase.ENDED
    assert "ValueError: no such order" in driver.output
    assert "exit status 1" in state.why
    assert tell(driver, "back").at == ProgramPlace(1)
    assert driver.output == ""


@pytest.mark.thorough
def test_a_program_that_is_killed_says_by_what(debug):
    driver = debug(
        """
        import os, reenact
        @reenact.tool
        def ask(): return 1
        ask()
        if os.path.exists("die"):
            os.kill(os.getpid(), 9)
        """,
        start=False,
    )
    open(
        os.path.join(driver.machine.recording.header["program"]["cwd"], "die"), "w", encoding="utf-8"
    ).close()
    tell(driver, "start")
    state = tell(driver, "go")
    assert (state.phase, state.why) == (Phase.DIED, "the program was ended by SIGKILL")


@pytest.mark.thorough
def test_what_the_program_reads_from_its_input_is_answered_from_the_recording(shell, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(shell.home))
    shell.write("agent.py", "name = input('who? ')\nprint('hello', name)\n")
    shell.record("agent.py", text="Ünal ☃\n")
    with Driver(shell.last()) as driver:
        tell(driver, "start")
        state = tell(driver, "go")
        assert state.verdict.faithful, state.verdict
        assert "hello Ünal ☃" in driver.output


@pytest.mark.thorough
def test_several_threads_stand_still_together(debug):
    driver = debug(
        """
        import threading, time, reenact
        @reenact.tool
        def ask(n):
            time.sleep(0.01)
            return n
        def work(n):
            for turn in range(5):
                ask(n * 10 + turn)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """
    )
    for _ in range(4):
        state = tell(driver, "step")
        assert state.phase is Phase.STOPPED
        # Longer than any patience of the turnstile.
        time.sleep(0.8)
    state = tell(driver, "go")
    assert state.verdict.faithful, state.verdict


@pytest.mark.thorough
def test_pdb_opens_in_the_programs_own_frame_on_a_terminal_of_ones_choice(debug):
    driver = debug(LOOP)
    tell(driver, "run_to", 4)
    said = talk(driver, ["p turn + 1000", "p sum > 0", "c"])
    assert "1003" in said
    assert "True" in said
    assert "agent.py" in said
    assert driver.machine.state.at == ProgramPlace(4)
    state = tell(driver, "go")
    assert state.phase is Phase.ENDED, driver.output
    assert state.verdict.faithful


@pytest.mark.thorough
def test_stepping_along_in_pdb_comes_back_to_the_debugger_at_the_next_question(debug):
    driver = debug(LOOP)
    tell(driver, "run_to", 2)
    said = talk(driver, ["n", "p turn + 1000", "n", "n", "n"])
    assert "1001" in said
    assert driver.wait(120)
    assert driver.machine.state.at == ProgramPlace(3)


@pytest.mark.thorough
def test_the_programs_own_breakpoint_stops_it_and_asks_for_pdb(debug):
    driver = debug(
        """
        import sys, reenact
        @reenact.tool
        def ask(n):
            if "--stop" in sys.argv: breakpoint()
            return n
        ask(1)
        ask(2)
        """,
        start=False,
    )
    recording = driver.machine.recording
    program = recording.header["program"]
    command = [*program["argv"], "--stop"]
    os.chdir(program["cwd"])
    with Driver(recording, command=command, options=Options(live=("tool",))) as live:
        tell(live, "start")
        state = tell(live, "go")
        assert state.phase is Phase.STOPPED
        assert state.why == "breakpoint() in ask"
        assert live.wants_shell
        assert "1" in talk(live, ["p n", "c"])
        state = tell(live, "step")
        assert state.at == ProgramPlace(2), (state, live.output)


def talk(driver, lines):
    """Open pdb on a terminal, type lines into it, and return what it said."""
    ours, theirs = pty.openpty()
    said = []
    done = threading.Event()

    def type_in():
        left = list(lines)
        while not done.is_set():
            if select.select([ours], [], [], 0.05)[0]:
                said.append(os.read(ours, 4096).decode())
                if "(pdb) " in "".join(said)[-8:] and left:
                    os.write(ours, left.pop(0).encode() + b"\n")

    typist = threading.Thread(target=type_in)
    typist.start()
    driver.shell(os.ttyname(theirs))
    done.set()
    typist.join()
    os.close(ours)
    os.close(theirs)
    return "".join(said)


@pytest.mark.thorough
def test_a_recording_whose_program_is_gone_can_only_be_read(debug, shell):
    driver = debug(LOOP, start=False)
    (shell.folder / "agent.py").unlink()
    with pytest.raises(ProgramError, match="the program is gone"):
        Driver(driver.machine.recording)
    reading = Driver(driver.machine.recording, reading=True)
    reading.tell("step")
    assert reading.machine.state.at == ProgramPlace(2)
    reading.close()


@pytest.mark.thorough
def test_a_program_that_is_no_python_says_so(debug):
    driver = debug(LOOP, start=False)
    with Driver(driver.machine.recording, command=["true"]) as other:
        state = tell(other, "start")
        assert state.phase is Phase.DIED
        assert "no Python was started by `true`" in state.why


@pytest.mark.thorough
def test_another_program_than_the_recorded_one_departs_at_its_first_question(debug, shell):
    driver = debug(LOOP, start=False)
    other = shell.write("other.py", "import reenact\nreenact.tool(lambda x: x)('hello')\n")
    with Driver(driver.machine.recording, command=[sys.executable, str(other)]) as stranger:
        state = tell(stranger, "start")
        assert state.phase is Phase.DEPARTED
        assert state.divergence.step == 1


@pytest.mark.thorough
def test_a_filter_that_does_not_parse_costs_one_line_and_the_session_goes_on(debug):
    driver = debug(LOOP)
    with pytest.raises(FilterError, match="column 6"):
        driver.tell("break_at", "tool:(")
    with pytest.raises(UsageError, match="there is no command jump"):
        driver.tell("jump")
    assert tell(driver, "step").at == ProgramPlace(2)


@pytest.mark.thorough
def test_closing_leaves_no_process_and_no_folder_behind(debug):
    driver = debug(ASYNC)
    tell(driver, "run_to", 80)
    folder = driver._program._folder
    processes = [copy.line.process for copy in driver._program._copies]
    assert processes
    driver.close()
    assert not folder.exists()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and any(alive(process) for process in processes):
        time.sleep(0.05)
    assert not any(alive(process) for process in processes)


def alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.thorough
def test_the_tracked_state_is_shown_where_the_program_stands(debug):
    driver = debug(
        """
        import reenact
        memory = reenact.track("memory", {"seen": []})
        @reenact.tool
        def ask(n): return n
        for n in range(6):
            memory["seen"].append(ask(n))
        """
    )
    assert tell(driver, "run_to", 4).actual.state == {"memory": {"seen": [0, 1, 2]}}
    assert tell(driver, "back").actual.state == {"memory": {"seen": [0, 1]}}
    tell(driver, "break_at", "state:memory")
    state = tell(driver, "go")
    assert (state.at, state.why) == (ProgramPlace(4), "state memory has changed")


@pytest.mark.thorough
def test_a_program_that_spins_ends_with_a_debugger_that_is_killed(shell, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(shell.home))
    shell.write(
        "agent.py",
        "import reenact, sys, os\n@reenact.tool\ndef ask(): return 1\nask()\n"
        "if sys.argv[1:]:\n    open('pid', 'w').write(str(os.getpid()))\n    while True: pass\n",
    )
    shell.record("agent.py")
    command = shell.command(
        "debug", "last", "--plain", "--files", "live", "--", sys.executable, "agent.py", "spin"
    )
    debugger = subprocess.Popen(
        command,
        cwd=shell.folder,
        env=shell.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    debugger.stdin.write("continue\n")
    debugger.stdin.flush()
    pid = shell.folder / "pid"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (pid.exists() and pid.read_text()):
        time.sleep(0.05)
    spinning = int(pid.read_text())
    assert alive(spinning)
    debugger.kill()
    debugger.communicate()
    while time.monotonic() < deadline and alive(spinning):
        time.sleep(0.05)
    assert not alive(spinning)
