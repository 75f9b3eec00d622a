"""Texts word by word, and what they have in common."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from reenact.analysis.diff.words import Segment, marked
from reenact.core.align.subsequence import common

texts = st.text(alphabet="ab ,.\n客é", max_size=40)


@given(texts, texts)
def test_the_marks_give_both_texts_back(a, b):
    segments = marked(a, b)
    assert "".join(s.text for s in segments if s.sign in "=-") == a
    assert "".join(s.text for s in segments if s.sign in "=+") == b
    assert all(one.sign != other.sign for one, other in itertools.pairwise(segments))


def test_one_word_is_marked_and_the_rest_is_not():
    assert marked("cancel order 5521 please", "cancel order 5522 please") == (
        Segment("=", "cancel order "),
        Segment("-", "5521"),
        Segment("+", "5522"),
        Segment("=", " please"),
    )


def test_scripts_without_spaces_are_marked_by_the_letter():
    assert marked("客户要求退款", "客户要求换货") == (
        Segment("=", "客户要求"),
        Segment("-", "退款"),
        Segment("+", "换货"),
    )


def test_texts_with_little_in_common_are_told_whole():
    assert [segment.sign for segment in marked("one two three four", "five, six and seven")] == ["-", "+"]


def test_another_indent_is_marked_and_the_line_is_not():
    assert marked("  total 1204", "    total 1204") == (
        Segment("-", "  "),
        Segment("+", "    "),
        Segment("=", "total 1204"),
    )


def test_another_space_is_marked_after_its_word():
    assert marked("order 5521 was sent", "order  5521 was sent") == (
        Segment("=", "order"),
        Segment("-", " "),
        Segment("+", "  "),
        Segment("=", "5521 was sent"),
    )


def test_a_word_shared_by_chance_does_not_tear_a_rewritten_sentence_apart():
    told = marked("Your bag of apples is here today", "Your box of pears is here today")
    assert [segment.text for segment in told if segment.sign == "-"] == ["bag of apples"]


def test_a_very_long_text_is_compared_by_its_lines():
    lines = [f"line {n} of a long page" for n in range(3000)]
    other = [*lines[:1500], "a new line", *lines[1500:]]
    told = marked("\n".join(lines), "\n".join(other))
    assert [segment.text.strip() for segment in told if segment.sign != "="] == ["a new line"]


def test_a_list_of_ten_thousand_is_aligned():
    source = random.Random(1)
    a = [source.randrange(5000) for _ in range(10_000)]
    b = [item for item in a if item % 50]
    assert len(common(a, b)) == len(b)
