"""The work of redaction is bounded by the length of a text, in lines of Python and in processor time."""

from __future__ import annotations

import json
import time

import pytest

from reenact.core.redact import Redactor
from tests.hostile.atoms import RUNS, deep, pieces, wide
from tests.hostile.counting import lines_of
from tests.hostile.dense import forms, fragments
from tests.sampling import sampled

TEXTS = [text for text in (*RUNS, *pieces(), *fragments()) if "\ud800" not in text]
SMALL, TIMES = 1500, 8
"""The bytes of a text, and how many times as long the other one is."""


@pytest.fixture(scope="module")
def redactor():
    one = Redactor(salt=b"a salt")
    for text in RUNS:  # what is compiled on first use
        one.line(json.dumps([text.replace("\ud800", "?")]).encode())
    return one


def lines(redactor, name, data):
    clean = redactor.raw if name == "raw" else redactor.line
    return lines_of(lambda: clean(data))


def assert_in_proportion(redactor, name, data, longer):
    """A text that uses up its work is looked at again in parts: that may take as much once more."""
    lines(redactor, name, longer)  # compiles the patterns that are used for the first time
    assert lines(redactor, name, longer) <= 2.5 * TIMES * lines(redactor, name, data) + 2000, name


@pytest.mark.parametrize("text", sampled(TEXTS[::20], 40))
def test_a_longer_text_takes_lines_of_python_in_proportion(redactor, text):
    longer = forms(text, TIMES * SMALL)
    for name, data in forms(text, SMALL).items():
        assert_in_proportion(redactor, name, data, longer[name])


@pytest.mark.thorough
@pytest.mark.parametrize("text", TEXTS[::40])
def test_twice_the_text_takes_at_most_some_twice_the_processor_time(redactor, text):
    longer = forms(text, 400_000)
    for name, data in forms(text, 200_000).items():
        clean = redactor.raw if name == "raw" else redactor.line
        assert seconds(clean, longer[name]) <= 3 * seconds(clean, data) + 0.1, name


def seconds(clean, data):
    def once():
        began = time.process_time()
        clean(data)
        return time.process_time() - began

    return min(once() for _ in range(3))


def test_a_secret_in_values_500_deep_leaves(redactor):
    for value in deep(500):
        clean = redactor.line(json.dumps({"value": value}).encode())
        assert b"x1y2z3w4" not in clean
        json.loads(clean)


def test_texts_in_utf_16_take_lines_in_proportion(redactor):
    for data, longer in zip(wide(SMALL), wide(TIMES * SMALL), strict=True):
        assert_in_proportion(redactor, "raw", data, longer)


def test_a_lone_surrogate_and_a_broken_off_escape_stay_as_they_are(redactor):
    for data in (rb'{"a": "\ud800x"}', rb'{"a": "\ud800\u00', "\ud800x".encode("utf-8", "surrogatepass")):
        assert redactor.raw(data) is data
