"""The search for the smallest set of answers, without any program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.analysis.decisive import Alike, Change, Differences, Result, search


def answers(count):
    return tuple(Change(f"step {number}", number, number, Alike.SAME) for number in range(1, count + 1))


def steps(changes):
    return {change.step for change in changes}


def found_by(good, count, *, trials=400, reads=()):
    seen = []

    def test(changes):
        seen.append(steps(changes))
        return good(changes)

    return search(Differences(answers(count), reads, count), test, trials=trials), seen


def needs(*wanted):
    return lambda changes: Result.GOOD if set(wanted) <= steps(changes) else Result.BAD


def test_one_decisive_answer_is_found_by_trying_each_from_the_first_on():
    found, seen = found_by(needs(3), 5)
    assert steps(found.changes) == {3}
    assert seen == [{1, 2, 3, 4, 5}, {1}, {2}, {3}]
    assert found.minimal


def test_a_decisive_answer_far_behind_is_found_within_the_trials():
    found, seen = found_by(needs(97), 100, trials=40)
    assert steps(found.changes) == {97}
    assert len(seen) <= 40


@given(st.sets(st.integers(1, 12), min_size=1, max_size=4))
def test_what_is_found_turns_the_outcome_and_no_part_of_it_does(wanted):
    found, _ = found_by(needs(*wanted), 12)
    assert steps(found.changes) == wanted
    assert found.minimal


@pytest.mark.thorough
@given(st.sets(st.integers(1, 12), min_size=1, max_size=4), st.data())
def test_undecided_trials_lead_to_no_false_answer(wanted, data):
    undecided = data.draw(st.sets(st.frozensets(st.integers(1, 12), min_size=1, max_size=6), max_size=20))

    def good(changes):
        return Result.UNDECIDED if frozenset(steps(changes)) in undecided else needs(*wanted)(changes)

    found, _ = found_by(good, 12)
    assert found.changes is None or wanted <= steps(found.changes)


def test_where_all_answers_together_turn_nothing_there_is_nothing_decisive():
    found, seen = found_by(lambda _: Result.BAD, 4)
    assert found.changes is None
    assert not found.spent
    assert len(seen) == 5


def test_the_reads_count_only_where_the_answers_alone_do_not_turn_the_outcome():
    clock = Change("the reads of clock:time in main", reads=("main", "clock:time"))
    with_clock, _ = found_by(
        lambda changes: Result.GOOD if clock in changes and 2 in steps(changes) else Result.BAD,
        3,
        reads=(clock,),
    )
    assert set(with_clock.changes) == {answers(3)[1], clock}
    without, seen = found_by(needs(2), 3, reads=(clock,))
    assert steps(without.changes) == {2}
    assert not any(None in each for each in seen)


@pytest.mark.parametrize("trials", [1, 2, 3, 7])
def test_the_search_never_takes_more_trials_than_it_may_and_says_so(trials):
    found, seen = found_by(needs(5, 11, 12), 12, trials=trials)
    assert len(seen) == trials
    assert found.spent
    assert not found.minimal
    assert {5, 11, 12} <= steps(found.changes)


def test_answers_to_other_questions_are_tried_only_where_those_to_equal_ones_turn_nothing():
    last = Change("step 9", 9, 9, Alike.PLACE)
    changes = Differences((*answers(3), last), (), 4)

    def test(chosen):
        return Result.GOOD if 9 in steps(chosen) or 2 in steps(chosen) else Result.BAD

    assert steps(search(changes, test, trials=40).changes) == {2}
    assert steps(
        search(changes, lambda c: Result.GOOD if 9 in steps(c) else Result.BAD, trials=40).changes
    ) == {9}


def test_no_set_is_tried_twice():
    _, seen = found_by(needs(2, 9), 10)
    assert len(seen) == len({frozenset(each) for each in seen})
