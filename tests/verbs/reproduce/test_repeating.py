"""Does it reproduce? Programs that do, that do not, that do now and then, and that cannot be run."""

from __future__ import annotations

import pytest

import reenact
from reenact.verbs.reproduce import Reproduces

STEADY = """
    import random, time, reenact

    @reenact.tool
    def draw(what): return random.random()

    print(draw("a"), time.time(), random.random())
    raise SystemExit(3)
"""

UNCOVERED = """
    import os, reenact

    @reenact.tool
    def draw(what): return 1

    draw("a")
    print("one")
    print("process", os.stat("counter.txt").st_size)
    with open("counter.txt", "a") as file: file.write("x")
"""

PARTING = """
    import os, reenact

    @reenact.tool
    def draw(what): return 1

    size = os.stat("counter.txt").st_size
    with open("counter.txt", "a") as file: file.write("x")
    draw("a")
    draw("b" if size != 2 else "c")
"""


def test_a_failure_that_replays_alike_each_time_is_reproduced(runs):
    (recording,) = runs(STEADY, "any")
    lines = []
    done = reenact.reproduce(recording, times=2, progress=lines.append)
    assert (done.result, done.where, done.uncovered) == (Reproduces.REPRODUCED, "", ())
    assert [attempt.status for attempt in done.attempts] == [3, 3]
    assert len(lines) == 2


@pytest.mark.thorough
def test_changed_code_is_different_each_time_and_the_place_is_named(runs, shell):
    (recording,) = runs(STEADY, "any")
    shell.write("agent.py", STEADY.replace('draw("a")', 'draw("b")'))
    done = reenact.reproduce(recording, times=2)
    assert done.result is Reproduces.DIFFERENT
    assert "CHANGED at step 1, main/tool:draw#0" in done.where


@pytest.mark.thorough
def test_output_that_no_recorded_answer_explains_is_flaky_and_its_line_is_named(runs, shell):
    (shell.folder / "counter.txt").write_text("")
    (recording,) = runs(UNCOVERED, "any")
    done = reenact.reproduce(recording, times=2)
    assert done.result is Reproduces.FLAKY
    assert done.where == "line 2 of the output: replay 1 'process 1', replay 2 'process 2'"


@pytest.mark.thorough
def test_replays_that_part_at_a_step_are_flaky_and_the_step_is_named(runs, shell):
    (shell.folder / "counter.txt").write_text("")
    (recording,) = runs(PARTING, "any")
    done = reenact.reproduce(recording, times=2)
    assert done.result is Reproduces.FLAKY
    assert "replay 1: faithful; replay 2: CHANGED at step 2, main/tool:draw#1" in done.where


@pytest.mark.thorough
def test_a_file_that_is_another_now_is_named_among_what_is_not_covered(runs, shell):
    (recording,) = runs('print(len(open("mood.txt").read()) > 0)', "any")
    done = reenact.reproduce(recording, times=1)
    assert done.result is Reproduces.REPRODUCED
    assert any("mood.txt has changed since the recording" in text for text in done.uncovered)


@pytest.mark.thorough
def test_a_program_that_is_gone_cannot_be_run(runs, shell):
    (recording,) = runs(STEADY, "any")
    (shell.folder / "agent.py").unlink()
    done = reenact.reproduce(recording)
    assert done.result is Reproduces.CANNOT_RUN
    assert "the program is gone" in done.where


@pytest.mark.thorough
def test_a_program_that_no_longer_starts_cannot_be_run_and_the_reason_is_its_own(runs, shell):
    (recording,) = runs(STEADY, "any")
    shell.write("agent.py", "import nothing_of_that_name\n")
    done = reenact.reproduce(recording, times=2)
    assert done.result is Reproduces.CANNOT_RUN
    assert "ModuleNotFoundError: No module named 'nothing_of_that_name'" in done.where


@pytest.mark.thorough
def test_a_program_that_hangs_is_ended_once_and_not_five_times(runs, shell):
    (recording,) = runs(STEADY, "any")
    shell.write("agent.py", "while True: pass\n")
    done = reenact.reproduce(recording, patience=2)
    assert done.result is Reproduces.CANNOT_RUN
    assert done.where == "it still ran after 2 seconds, and was ended"
    assert len(done.attempts) == 1
