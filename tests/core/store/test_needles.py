"""What is looked for first must be in whatever a pattern matches."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.core.store.needles import runs


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("refund", ["refund"]),
        (r"refund of \d+ euro", ["refund of ", " euro"]),
        ("colou?r", ["colo", "r"]),
        ("ab{2,3}c", ["a", "c"]),
        ("(lost)?found", ["found"]),
        (r"a\(b\)c", ["a(b)c"]),
        (r"[\]xyz]end", ["end"]),
        ("[]xyz]end", ["end"]),
        ("one|two", []),
        ("(?-i:A)b", []),
        (r"\x41bc", []),
    ],
)
def test_the_plain_texts_of_a_pattern(pattern, expected):
    assert [run for run in runs(pattern) if run] == expected


PARTS = st.sampled_from(
    [
        "ab",
        "c",
        "(d)",
        "(ef)?",
        "g*",
        "h+",
        "[ij]",
        "[^]k]",
        r"\.",
        r"\w",
        "l{0,2}",
        "{m}",
        "^",
        "$",
        ".",
        "((n)o)p",
    ]
)


@given(st.lists(PARTS, min_size=1, max_size=6).map("".join), st.data())
def test_they_stand_in_all_that_matches(pattern, data):
    try:
        text = data.draw(st.from_regex(pattern))
    except re.error:
        return
    assert re.search(pattern, text)
    assert all(run in text for run in runs(pattern))
