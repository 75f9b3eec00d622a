"""The recorded turns of locks, and those that an answered call leaves out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reenact.core.boundary import Answer
from reenact.core.model.event import Value
from reenact.core.replay.lock_turns import LockTurns

TAKERS = {
    ("a", 1): ("main/x", None),
    ("a", 4): ("main/y", 7),
    ("a", 6): ("main/y", 8),
    ("a", 9): ("main/x", None),
    ("b", 1): ("main/y", 7),
}
INSIDE = {7: [8]}


@pytest.fixture
def turns():
    log = SimpleNamespace(locked=TAKERS)
    return LockTurns(log, SimpleNamespace(name=str), lambda call: INSIDE.get(call, ()))


def answered(turns, call):
    turns.passed(Answer(Value(None), None, call))


def test_a_line_names_the_thread_whose_turn_it_is(turns):
    x, y = "main/x", "main/y"
    assert turns.turn(x, "a", 1)
    assert turns.turn(x, "a", 4) is False
    assert turns.turn(y, "a", 4)
    assert turns.turn(y, "a", 5) is None


def test_a_lock_of_which_nothing_is_recorded_has_no_order(turns):
    assert turns.ordered("a")
    assert not turns.ordered("c")


def test_nothing_is_skipped_before_a_call_is_answered(turns):
    assert [turns.skipped("a", count) for count in range(1, 11)] == [0] * 10


def test_the_turns_inside_of_an_answered_call_are_skipped(turns):
    answered(turns, 8)
    assert [turns.skipped("a", count) for count in (4, 6, 9)] == [0, 3, 0]


def test_the_turns_of_calls_inside_of_it_are_skipped_too(turns):
    answered(turns, 7)
    assert [turns.skipped("a", count) for count in (1, 4, 6, 9)] == [0, 5, 3, 0]


def test_the_last_turns_of_a_lock_are_not_skipped_over(turns):
    answered(turns, 7)
    assert turns.skipped("b", 1) == 0


def test_a_call_without_turns_changes_nothing(turns):
    answered(turns, 3)
    answered(turns, None)
    assert turns.skipped("a", 4) == 0
