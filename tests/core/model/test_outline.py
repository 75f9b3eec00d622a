"""An outline answers as the value does, or says that it cannot."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.core.model.plain import compact
from reenact.core.query.facts import PATH, lookup
from reenact.core.query.outline import CUT, MARK, outline, outline_args, part, whole

LONG = "x" * 5000
BODY = orjson.dumps(
    {"model": "gpt-4o", "messages": [{"role": "user", "content": LONG}], "n": [1, 2]}
).decode()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("url", "https://a.b"),
        ("body", CUT),
        ("body.model", "gpt-4o"),
        ("body.n[1]", 2),
        ("body.n[-1]", 2),
        ("body.messages[0].role", "user"),
        ("body.messages[0].content", CUT),
        ("body.messages", CUT),
        ("body.none", None),
        ("none", None),
        ("url.deeper", None),
        ("long", CUT),
        ("long.deeper", CUT),
    ],
)
def test_long_values_are_left_out_and_what_stands_beside_them_is_not(path, expected):
    kept = outline_args({"url": "https://a.b", "body": BODY, "long": LONG})
    assert len(compact(kept)) < 1000
    assert part(kept, PATH.findall(path)) == expected


def test_all_names_of_arguments_are_kept():
    args = {f"name{number}": LONG for number in range(2000)}
    assert outline_args(args).keys() == args.keys()


KEYS = st.sampled_from(["a", "b", "0", MARK, "long" * 300])
VALUES = st.recursive(
    st.none()
    | st.integers()
    | st.booleans()
    | st.sampled_from(["", "x", LONG, '{"a": {"b": 1}}', BODY, "[" + " " * 2000 + "1]"]),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=60,
)


@given(VALUES, st.lists(KEYS | st.sampled_from(["model", "n", "1", "-1"]), max_size=4))
def test_what_an_outline_says_is_what_the_value_says(value, keys):
    kept = outline(value)
    said = part(kept, keys)
    assert said is CUT or said == lookup(value, ".".join(keys))
    assert len(compact(kept)) < 20_000
    if not keys:
        assert whole(kept) is CUT or whole(kept) == (None if value is None else compact(value))


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.lists(KEYS, min_size=1, max_size=3))
def test_what_the_outline_of_arguments_says_is_what_they_say(args, keys):
    said = part(outline_args(args), keys)
    assert said is CUT or said == lookup(args, ".".join(keys))
