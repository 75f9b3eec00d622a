"""Entries of two sequences are paired by keys, in order or anywhere, and then by likeness."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.core.align import Pairing, nearest

texts = st.lists(st.sampled_from("abc"), max_size=12)


def all_of(items):
    return list(range(len(items)))


def close(one, other):
    return 1 - abs(one - other) / 10


@pytest.mark.thorough
@given(texts, texts)
def test_pairs_in_order_rise_on_both_sides_and_have_equal_keys(a, b):
    pairing = Pairing(a, b)
    pairing.in_order(all_of(a), all_of(b), str)
    pairs = sorted(pairing.mates.items())
    assert [j for _, j in pairs] == sorted(j for _, j in pairs)
    assert all(a[i] == b[j] for i, j in pairs)


@given(texts, texts)
def test_pairs_anywhere_are_as_many_as_both_have_of_each_key_the_first_with_the_first(a, b):
    pairing = Pairing(a, b)
    pairing.anywhere(str)
    for key in set(a):
        mine = [i for i, item in enumerate(a) if item == key]
        theirs = [j for j, item in enumerate(b) if item == key]
        assert [pairing.mates[i] for i in mine if i in pairing.mates] == theirs[: len(mine)]


def test_an_entry_that_has_a_counterpart_is_not_paired_again():
    pairing = Pairing("ab", "ba")
    pairing.in_order([0], [1], str)
    pairing.anywhere(lambda _: "same")
    assert pairing.mates == {0: 1, 1: 0}


def test_gaps_lie_between_pairs_of_the_same_order():
    pairing = Pairing("axb", "ayzb")
    pairing.in_order(all_of("axb"), all_of("ayzb"), str)
    assert pairing.gaps(all_of("axb"), all_of("ayzb")) == [([1], [1, 2])]


@pytest.mark.thorough
def test_the_pairing_of_greatest_likeness_wins_and_what_is_too_unlike_stays_alone():
    pairing = Pairing([1, 5], [0, 5, 30])
    pairing.alike([0, 1], [0, 1, 2], close, 0.8)
    assert pairing.mates == {0: 0, 1: 1}


def test_the_nearest_is_the_first_of_the_most_alike_above_the_limit():
    assert nearest([3, 7, 5, -5], lambda number: close(number, 6), 0.6) == 7
    assert nearest([100], lambda number: close(number, 6), 0.6) is None
    assert nearest([], float, 0.6) is None


def test_thousands_of_entries_are_paired_by_likeness_in_memory_in_proportion():
    count, asked = 2000, 0

    def alike(one, other):
        nonlocal asked
        asked += 1
        return 1.0 if one == other else 0.0

    entries = list(range(count))
    pairing = Pairing(entries, entries)
    tracemalloc.start()
    try:
        pairing.alike(entries, entries, alike, 0.5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert pairing.mates == dict(zip(entries, entries, strict=True))
    assert asked < 70 * count
    assert peak < 70 * 100 * count
