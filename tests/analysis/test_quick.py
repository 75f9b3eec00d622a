"""What rules ask of long runs is answered without looking at all of it each time, and answered the same."""

from __future__ import annotations

import random

import pytest

from reenact.analysis.anomalies.known import Numbers
from reenact.analysis.anomalies.rules.calls import tandems
from reenact.analysis.anomalies.vocabulary import Vocabulary


def calculated(numbers, value, near):
    """By trying all pairs."""
    return any(
        abs(made - value) < near
        for one in numbers
        for other in numbers
        for made in (
            *(one * many for many in range(1, 10)),
            one + other,
            one - other,
            one * other,
            one / other,
            100 * one / other,
        )
    )


@pytest.mark.parametrize("near", [0.5001, 0.05001, 0.0005001])
def test_what_one_calculation_makes_is_found_as_by_trying_all_pairs(near):
    source = random.Random(7)
    made = [0, 0]
    for _ in range(300):
        numbers = [round(source.uniform(0.01, 3000), source.randrange(3)) or 1.0 for _ in range(6)]
        value = round(source.choice([source.uniform(0, 5000), numbers[0] / numbers[1], numbers[2] * 3]), 2)
        expected = calculated(numbers, value, near)
        made[expected] += 1
        assert Numbers(numbers).make(value, near) == expected, (numbers, value)
    assert min(made) > 20


def test_a_word_is_held_where_it_stands_in_a_text_by_itself_or_within_another():
    later, texts, source = Vocabulary(), "", random.Random(3)
    words = [f"{source.choice(['id', 'ord-', 'Ab.'])}{source.randrange(400)}" for _ in range(300)]
    for word in words:
        assert later.holds(word) == (word in texts)
        text = f'{{"key":"x{source.choice(words)}7"}} said ({source.choice(words)})'
        later.learn(text)
        texts += text


def test_what_repeats_itself_is_found_with_its_period_and_its_length():
    assert tandems("xabababy", 3) == [(1, 2, 6)]
    assert tandems("aaaab", 3) == [(0, 1, 4)]
    assert tandems("abcabc", 3) == []
    assert tandems("abcabcabcd", 3) == [(0, 3, 9)]
