"""A tree is shown without the types that were recorded, whatever they were."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import uuid
from collections import Counter, OrderedDict, deque

import orjson
import pytest

from reenact.core.model import codec
from reenact.core.model.plain import binary, error_line, plain


@dataclasses.dataclass
class Order:
    id: str
    lines: tuple[int, ...]


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, "a"), [1, "a"]),
        ({"$weird": 1}, {"$weird": 1}),
        ({1: "a"}, {"1": "a"}),
        (Order("x", (1, 2)), {"id": "x", "lines": [1, 2]}),
        ([dt.datetime(2026, 1, 2, tzinfo=dt.UTC)], ["2026-01-02T00:00:00+00:00"]),
        (decimal.Decimal("1.50"), "1.50"),
        (uuid.UUID(int=3), "00000000-0000-0000-0000-000000000003"),
        (Colour.RED, "RED"),
        (b"text", "text"),
        (b"\xff\x00", "<2 bytes>"),
        (2**70, str(2**70)),
        (float("inf"), "inf"),
        ({3}, [3]),
        (OrderedDict(a=1), {"a": 1}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (deque([1], 3), [1]),
        (range(3), "range(0, 3, 1)"),
        (1 + 2j, "(1+2j)"),
        (ValueError("no"), "ValueError: no"),
        (None, None),
    ],
)
def test_values_become_plain_json(value, expected):
    found = plain(codec.Encoder().encode(value))
    assert found == expected
    orjson.dumps(found)


def test_a_tag_that_is_damaged_does_no_harm():
    for tree in (
        {"$tuple": 3},
        {"$bytes": "!"},
        {"$dataclass": []},
        {"$enum": 1},
        {"$datetime": {}},
        {"$surrogates": "x"},
    ):
        orjson.dumps(plain(tree))


def test_bytes_come_back_from_each_of_their_forms():
    for value in (b"text", b"\xff\x00", "käse".encode()):
        assert binary(codec.Encoder().encode(value)) == value
    assert binary("text") == b"text"
    assert binary({"$blob": "sha256:00"}) is None


def test_an_error_is_named_by_its_type():
    encoder = codec.Encoder()
    assert error_line(codec.encode_error(KeyError("x"), encoder)) == "KeyError: 'x'"
    assert error_line(codec.encode_error(decimal.InvalidOperation(), encoder)) == "decimal.InvalidOperation"
