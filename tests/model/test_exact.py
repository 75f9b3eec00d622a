"""JSON bytes of what JSON holds exactly, and of nothing else."""

from __future__ import annotations

import math
from collections import OrderedDict, namedtuple
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.model import codec
from reenact.model.exact import exact

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


@given(values)
def test_what_it_gives_reads_as_the_very_same_value(value: Any) -> None:
    data = exact(value)
    if data is not None:
        assert repr(codec.loads(data)) == repr(value)


@given(values)
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
