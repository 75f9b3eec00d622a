"""A text is read as JSON exactly where it is JSON."""

from __future__ import annotations

import random

import orjson
import pytest

from reenact.core.model.plain import parsed

PIECES = [
    "{", "}", "[", "]", '"', '"a"', "1", "0", "-", ".", "e", "t", "true", "false", "null", "a", ":", ",", " ", "\n", "\t",
    "\x0b", "\xa0", "\u2028", "\ufeff",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_a_look_at_both_ends_loses_no_json(seed: int) -> None:
    drawn = random.Random(seed)
    for _ in range(2000):
        text = "".join(drawn.choice(PIECES) for _ in range(drawn.randint(0, 6)))
        for given in (text, text.encode()):
            try:
                expected = orjson.loads(given)
            except orjson.JSONDecodeError:
                expected = given
            found = parsed(given)
            assert (type(found), found) == (type(expected), expected), repr(given)
