"""A common subsequence is as long as possible, and gaps are what lies between."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.core.align import common, common_runs, gaps, increasing, subsequence


def longest(a, b):
    """The length by the book."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = row
        row = [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


def sound(pairs, a, b):
    rising = all(p < q and r < s for (p, r), (q, s) in itertools.pairwise(pairs))
    return rising and all(a[i] == b[j] for i, j in pairs)


sequences = st.lists(st.integers(0, 5), max_size=30)


@given(sequences, sequences)
def test_no_common_subsequence_is_longer(a, b):
    pairs = common(a, b)
    assert sound(pairs, a, b)
    assert len(pairs) == longest(a, b)


@given(sequences, sequences)
def test_runs_are_the_same_pairs_and_no_run_goes_on_in_the_next(a, b):
    runs = common_runs(a, b)
    assert [(i + place, j + place) for i, j, length in runs for place in range(length)] == common(a, b)
    assert all(length > 0 for _, _, length in runs)
    assert all((i + n, j + n) != (p, q) for (i, j, n), (p, q, _) in itertools.pairwise(runs))


@given(sequences, sequences)
def test_one_too_long_for_a_table_is_cut_in_sound_pieces(a, b):
    cells, subsequence._CELLS = subsequence._CELLS, 20
    try:
        assert sound(common(a, b), a, b)
    finally:
        subsequence._CELLS = cells


@given(st.permutations(range(12)))
def test_an_increasing_subsequence_increases(values):
    places = increasing(values)
    assert places == sorted(places)
    assert [values[place] for place in places] == sorted(values[place] for place in places)
    assert len(places) == longest(values, sorted(values))


@pytest.mark.parametrize("lengths", [(0, 0), (3, 0), (5, 7)])
def test_gaps_are_what_lies_between_anchors(lengths):
    anchors = [(1, 1), (3, 5)] if lengths == (5, 7) else []
    found = gaps(anchors, lengths)
    expected = {(0, 0): [], (3, 0): [], (5, 7): [([0], [0]), ([2], [2, 3, 4]), ([4], [6])]}
    assert [(list(one), list(other)) for one, other in found] == expected[lengths]
