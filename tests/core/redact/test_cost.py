"""What it costs; processor time, the best of some, so that a busy machine does not matter."""

from __future__ import annotations

import json
import time

from reenact.core.redact import DEFAULT_RULES, Redactor
from reenact.core.redact.find import Finder
from tests.core.redact.samples import SALT


def best_of(count, work):
    def once():
        began = time.process_time()
        work()
        return time.process_time() - began

    return min(once() for _ in range(count))


def test_the_built_in_rules_are_compiled_in_the_time_of_a_short_loop():
    loop = best_of(10, lambda: sum(range(10**6)))  # 25 ms on an idle machine
    assert best_of(10, lambda: Finder(DEFAULT_RULES)) < 0.8 * loop


def test_redactors_with_equal_rules_share_what_is_compiled():
    Redactor(salt=SALT)
    assert best_of(10, lambda: Redactor(salt=b"another")) < 0.001


def test_a_line_without_a_secret_costs_some_microseconds():
    text = "Hello, I would like to pass on an opinion: the typing of my order is in session. " * 275
    data = json.dumps(
        {"messages": [{"role": "user", "content": text}], "usage": {"total_tokens": 12}}
    ).encode()
    redactor = Redactor(salt=SALT)
    assert redactor.line(data) is data
    assert best_of(20, lambda: [redactor.line(data) for _ in range(100)]) / 100 < 0.000_1
