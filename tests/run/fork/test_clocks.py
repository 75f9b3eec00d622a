"""Monotonic clocks of a fork: they go on from the last recorded value."""

from __future__ import annotations

import time

from reenact.run.fork.clocks import SteadyClocks

FAR = 10**18


def test_a_clock_goes_on_from_its_last_recorded_value():
    clocks = SteadyClocks()
    clocks.read("clock:monotonic", FAR + 5)
    clocks.read("clock:monotonic", FAR)
    assert clocks.onward("clock:monotonic", time.monotonic_ns)() < FAR
    clocks.go_live()
    assert clocks.onward("clock:monotonic", time.monotonic_ns)() >= FAR + 5


def test_a_clock_that_was_not_read_stays_the_real_one():
    clocks = SteadyClocks()
    clocks.read("clock:time", FAR)
    clocks.go_live()
    for source in ("clock:time", "clock:perf_counter"):
        assert clocks.onward(source, time.monotonic_ns)() < FAR


def test_a_clock_that_is_read_on_goes_on_at_once():
    clocks = SteadyClocks()
    clocks.read_on("clock:perf_counter", FAR)
    assert clocks.onward("clock:perf_counter", time.perf_counter_ns)() >= FAR
