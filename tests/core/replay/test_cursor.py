"""The recorded calls of a scope, and which of them a question overtakes."""

from __future__ import annotations

from dataclasses import replace

import reenact
from reenact.core.model.log import Log
from reenact.core.replay.cursor import Cursor
from reenact.core.replay.match import Rules


@reenact.tool
def put(number: int) -> int:
    return number


def recorded() -> Log:
    with reenact.record() as run:
        for number in range(3):
            put(number)
    return run.load().logs[0]


def test_a_question_overtakes_those_before_it(home: str) -> None:
    log = recorded()
    cursor = Cursor(log, Rules())
    first, second, third = log.calls.values()
    assert cursor.take(second) == [first]
    assert cursor.take(third) == []


def test_threads_in_one_scope_whose_answers_come_in_another_order_overtake_nothing(home: str) -> None:
    log = recorded()
    first, second, third = log.calls.values()
    # As two threads record it: the one that asks second is answered last.
    log.calls = {1: first, 3: replace(second, number=3), 2: replace(third, number=2)}
    cursor = Cursor(log, Rules())
    assert [cursor.take(log.calls[number]) for number in (2, 3, 1)] == [[], [], []]
