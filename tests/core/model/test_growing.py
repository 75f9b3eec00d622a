"""A growing chat is read as if each request were read by itself, and what it shares is read once."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.core.messages.growing import Memory

PAD = "x" * 5000
ITEMS = st.lists(
    st.sampled_from([1, 10, True, "a", {"role": "user", "content": "é💥"}, {"content": [PAD]}, None]),
    max_size=6,
)
HEADS = st.sampled_from([{"model": "m", "pad": PAD}, {"pad": PAD}, {}])
TAILS = st.sampled_from([{}, {"tools": [1, {"messages": []}]}])


def body(head, items, tail, indented):
    return orjson.dumps(
        {**head, "messages": items, **tail}, option=orjson.OPT_INDENT_2 if indented else 0
    ).decode()


@given(st.lists(st.builds(body, HEADS, ITEMS, TAILS, st.booleans()), max_size=8))
def test_requests_say_what_their_json_says_whatever_came_before(bodies):
    memory = Memory()
    for text in bodies:
        found = memory.request(text)
        assert orjson.dumps(found) == orjson.dumps(orjson.loads(text))


def test_what_an_earlier_request_had_is_the_same_object():
    memory = Memory()
    items = [{"role": "user", "content": PAD}]
    first = memory.request(body({}, items, {}, False))
    second = memory.request(body({}, [*items, {"role": "assistant"}], {}, False))
    assert second["messages"][0] is first["messages"][0]
    assert second["messages"][1] == {"role": "assistant"}


@pytest.mark.parametrize(
    "damage",
    [
        "{" + PAD,
        '{"messages": [1, 2' + " " * 5000,
        '{"messages": [1}' + " " * 5000,
        PAD,
        '["a"]' + " " * 5000,
    ],
)
def test_what_is_no_request_stays_as_it_is(damage):
    expected = ["a"] if damage.startswith("[") else damage
    assert Memory().request(damage) == expected
