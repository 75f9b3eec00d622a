"""time-machine is loaded as far as a recording needs it, and whole for a program that travels by itself."""

from __future__ import annotations

import pytest


def test_a_recorded_clock_is_replayed_without_the_module_having_run(processes):
    run = processes("""
        import datetime as dt, sys, time
        def work():
            now = (
                time.time(), time.time_ns(), dt.datetime.now(), dt.datetime.now(dt.UTC), dt.date.today(),
                time.gmtime(), time.localtime(), time.strftime("%c"), time.clock_gettime(time.CLOCK_REALTIME),
            )
            return now, "pytest" in sys.modules, "dateutil" in sys.modules
    """)
    recorded, replayed = run("record"), run("replay")
    assert recorded[0] == replayed[0]
    assert "False, False" in recorded[0]


@pytest.mark.thorough
def test_a_program_that_travels_within_a_recording_gets_its_own_time_and_then_the_recorded_one(processes):
    run = processes("""
        import time
        def work():
            before = time.time()
            import time_machine
            with time_machine.travel(1_000_000_000, tick=False):
                there = time.time()
            assert time_machine.escape_hatch.is_travelling()
            return before, there, time.time()
    """)
    recorded, replayed = run("record"), run("replay")
    assert recorded[0] == replayed[0]
    assert ", 1000000000.0, " in recorded[0]


@pytest.mark.thorough
def test_a_program_that_had_it_loaded_before_keeps_its_own(processes):
    run = processes("""
        import time, time_machine
        stack = time_machine.traveller_stack
        def work():
            with time_machine.travel(1_000_000_000, tick=False):
                there = time.time()
            return there, time.time(), stack is time_machine.traveller_stack
    """)
    recorded, replayed = run("record"), run("replay")
    assert recorded[0] == replayed[0]
    assert recorded[0].startswith("(1000000000.0")
    assert "True)" in recorded[0]


@pytest.mark.thorough
def test_its_fixture_and_its_marker_are_there_for_tests_that_are_run_after_a_recording(processes, tmp_path):
    (tmp_path / "test_travelling.py").write_text(
        "import time\n"
        "import pytest\n"
        "def test_fixture(time_machine):\n"
        "    time_machine.move_to(1_000_000_000, tick=False)\n"
        "    assert time.time() == 1_000_000_000\n"
        "@pytest.mark.time_machine(2_000_000_000, tick=False)\n"
        "def test_marker():\n"
        "    assert time.time() == 2_000_000_000\n"
    )
    run = processes("""
        import sys, time
        def work():
            return time.time() > 0
        if __name__ == "__main__":
            import reenact
            with reenact.record("before"):
                work()
            assert "pytest" not in sys.modules
            import pytest
            code = pytest.main(["-q", "--strict-markers", "-p", "no:cacheprovider", "test_travelling.py"])
            assert code == 0, code
    """)
    assert any("2 passed" in line for line in run("plain"))


@pytest.mark.thorough
def test_what_it_does_not_have_is_said(processes):
    run = processes("""
        import reenact.adapters.stdlib.travel
        import time_machine
        def work():
            try:
                time_machine.wormhole
            except AttributeError as error:
                return str(error)
    """)
    assert run("plain") == ["module 'time_machine' has no attribute 'wormhole'"]
