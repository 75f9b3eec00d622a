"""The work of redaction in lines of Python; times are measured by `python -m benchmarks.redaction`."""

from __future__ import annotations

import json

from reenact.core.redact import DEFAULT_RULES, Redactor
from reenact.core.redact.find import Finder
from tests.core.redact.samples import SALT
from tests.hostile.counting import lines_of


def test_the_built_in_rules_are_compiled_in_few_lines():
    Redactor(salt=SALT)
    assert lines_of(lambda: Finder(DEFAULT_RULES)) < 40_000


def test_redactors_with_equal_rules_share_what_is_compiled():
    Redactor(salt=SALT)
    assert lines_of(lambda: Redactor(salt=b"another")) < 100


def test_a_line_without_a_secret_is_read_by_the_automaton_alone():
    text = "Hello, I would like to pass on an opinion: the typing of my order is in session. " * 275
    data = json.dumps(
        {"messages": [{"role": "user", "content": text}], "usage": {"total_tokens": 12}}
    ).encode()
    redactor = Redactor(salt=SALT)
    assert redactor.line(data) is data
    assert lines_of(lambda: redactor.line(data)) < 150
