"""JSON bytes of what JSON holds exactly, and of nothing else."""

from __future__ import annotations

import math
from collections import OrderedDict, namedtuple
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.core.model import codec
from reenact.core.model.exact import exact, exact_items

Point = namedtuple("Point", "x y")


class Colour(IntEnum):
    RED = 1


class Loud(str):
    __slots__ = ()


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["(it", ")", "g(a, b)", "$tag", "\ud800", "null"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from(["$set", "a"]), inner, max_size=4)
    ),
    max_leaves=12,
)


# A value of many parts is judged otherwise than one of few.
sized = st.builds(lambda value, many: [value, *range(100)] if many else value, values, st.booleans())


@given(sized)
def test_what_it_gives_reads_as_the_very_same_value(value: Any) -> None:
    data = exact(value)
    if data is not None:
        assert repr(codec.loads(data)) == repr(value)


@given(sized)
def test_what_it_gives_is_what_the_codec_writes(value: Any) -> None:
    data = exact(value)
    if data is not None:
        assert data == codec.dumps(codec.Encoder().encode(value))


@pytest.mark.parametrize(
    "value",
    [
        (1, 2), [(1,)], {"a": ((),)}, [tuple(range(300))], math.nan, [math.inf], {"a": -math.inf}, Point(1, 2),
        [Colour.RED], Loud("x"), {Loud("k"): 1}, OrderedDict(a=1), {1: 2}, {"$tuple": [1]}, [{"$x": 1}], "\udc80",
        ["\udc80"], b"bytes", [b"bytes"], {1, 2}, 2**63, [2**60], object(), [...], 1j,
    ],
)  # fmt: skip
def test_what_json_would_change_is_left_to_the_codec(value: Any) -> None:
    assert exact(value) is None


@pytest.mark.parametrize(
    "value",
    [
        "text (with) brackets", {"a": [1, 2.5, None, True, "g (a, b)"]}, [], {}, None, {"text": "it costs $5"},
        [{"note": "(((\0\0\0("}], ["g" * 20], "g\0\0\0\0\0\0\xf0\x7f", 2**52, -0.0,
    ],
)  # fmt: skip
def test_what_only_looks_like_that_is_kept(value: Any) -> None:
    data = exact(value)
    assert data is not None
    assert repr(codec.loads(data)) == repr(value)


@given(st.lists(values, max_size=5))
def test_the_items_of_a_list_are_those_of_its_json(value: list[Any]) -> None:
    data, items = exact(value), exact_items(value)
    assert items == (None if data is None else [exact(item) for item in value])


PAIR, NAN, TEXT = (1, 2), math.nan, "a text that is referred to twice"


@pytest.mark.parametrize("value", [[PAIR, PAIR], [{"a": PAIR}], [NAN, NAN], [[NAN]] * 2, [tuple(TEXT)]])
def test_what_is_referred_to_more_than_once_is_no_more_exact_for_that(value: Any) -> None:
    assert exact(value) is None
    assert exact_items(value) is None


def test_a_text_that_is_referred_to_more_than_once_is_written_each_time() -> None:
    assert exact([TEXT, {"a": TEXT}]) == codec.dumps([TEXT, {"a": TEXT}])


def test_a_list_within_itself_is_left_to_the_codec() -> None:
    value: list[Any] = []
    value.append(value)
    assert exact(value) is None
    assert exact_items(value) is None
