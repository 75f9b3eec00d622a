"""A waiting thread counts only the time in which it looked on."""

from __future__ import annotations

import pytest

from reenact.core.boundary.turnstile import working


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(working, "monotonic", lambda: now[0])
    return now


def test_time_between_two_looks_counts_up_to_a_limit(clock):
    attention = working.Attention(0.02)
    assert attention.since(100.0) == 0.0
    clock[0] += 0.01
    assert attention.since(100.0) == pytest.approx(0.01)
    clock[0] += 5.0
    assert attention.since(100.0) == pytest.approx(0.03)


def test_another_moment_begins_anew(clock):
    attention = working.Attention(0.02)
    clock[0] += 5.0
    assert attention.since(100.0) == pytest.approx(0.02)
    assert attention.since(104.99) == pytest.approx(0.01)
    attention.forget()
    assert attention.since(105.0) == 0.0
