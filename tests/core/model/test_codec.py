"""Values come back as they were: equal, and of the same type."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import enum
import gzip
import pathlib
import subprocess
import sys
import uuid
from collections import Counter, OrderedDict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, PrivateAttr

from reenact.core.model import codec


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 3


class Name(str):
    """A subclass of a built-in type."""


Point = namedtuple("Point", "x y")


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: int
    y: tuple[int, ...] = ()


class Order(BaseModel):
    id: str
    when: dt.datetime
    lines: list[tuple[str, Decimal]] = []
    _secret: int = PrivateAttr(default=7)


class Loud(ValueError):
    def __init__(self, text: str, *, code: int) -> None:
        super().__init__(text)
        self.code = code


def through(value: Any) -> Any:
    return codec.rebuild(codec.loads(codec.dumps(codec.Encoder().encode(value))))


@pytest.mark.parametrize(
    "value",
    [
        2**70, -(2**63), float("inf"), (1, (2, [3])), {1: "a", None: 2}, {"$tuple": 1}, {"$x": 1, "b": (1,)}, {1, 2},
        frozenset({"a"}), b"text", b"\xff\x00", bytearray(b"x"), dt.datetime(2026, 1, 2, 3, 4, 5, 6),
        dt.datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1), dt.date(2026, 1, 2), dt.time(1, 2),
        dt.timedelta(days=-1, microseconds=3), Decimal("1.10"), Fraction(1, 3), 1j, uuid.UUID(int=5), Colour.RED,
        Level.HIGH, Name("Ann"), Point(1, (2,)), Frozen(1, (2,)), OrderedDict(a=1), Counter("aab"),
        deque([1, 2], maxlen=3), range(3), pathlib.Path("/a/b"), "\ud800 lone", {"\ud800": 1}, ..., "",
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_comes_back_equal_and_of_its_type(value: Any) -> None:
    again = through(value)
    assert again == value
    assert type(again) is type(value)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)


@given(plain)
def test_any_nested_value_comes_back(value: Any) -> None:
    assert repr(through(value)) == repr(value)


def test_not_a_number_comes_back() -> None:
    assert repr(through(float("nan"))) == "nan"


def test_a_pydantic_model_comes_back_with_its_set_fields_and_private_ones() -> None:
    order = Order(id="A", when=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    order._secret = 9
    again = through(order)
    assert again == order
    assert again.model_fields_set == {"id", "when"}
    assert again._secret == 9


def test_an_exception_comes_back_with_text_arguments_and_attributes() -> None:
    again = through(Loud("no", code=4))
    assert (type(again), str(again), again.args, again.code) == (Loud, "no", ("no",), 4)


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_an_error_keeps_the_response_that_it_tells_of(library: str) -> None:
    http = pytest.importorskip(library)
    request = http.Request("GET", "https://api.example.com/rate", headers={"authorization": "Bearer of mine"})
    packed = gzip.compress(b'{"error": "busy"}')
    headers = {"retry-after": "2", "content-encoding": "gzip"}
    response = http.Response(503, headers=headers, content=packed, request=request)
    tree = codec.encode_error(
        http.HTTPStatusError("busy", request=request, response=response), codec.Encoder()
    )
    assert "of mine" not in str(tree)

    error: Any = codec.rebuild_error(tree)
    assert error.response.status_code == 503
    assert error.response.json() == {"error": "busy"}
    assert error.response.headers["Retry-After"] == "2"
    assert (error.request.method, str(error.request.url)) == ("GET", "https://api.example.com/rate")
    with pytest.raises(http.HTTPStatusError, match="503"):
        error.response.raise_for_status()


def test_a_response_without_its_request_is_kept_all_the_same() -> None:
    response = codec.rebuild(codec.Encoder().encode(httpx.Response(204)))
    assert (response.status_code, response.content) == (204, b"")


def test_an_error_of_requests_keeps_its_response() -> None:
    response = requests.Response()
    response.status_code, response.url, response.encoding = 429, "https://api.example.com/rate", "utf-8"
    response.headers.update({"Retry-After": "2", "Content-Type": "application/json"})
    response._content = "später".encode()
    response.request = requests.Request("GET", response.url).prepare()

    kept: Any = codec.rebuild_error(
        codec.encode_error(requests.HTTPError("no", response=response), codec.Encoder())
    )
    assert (kept.response.status_code, kept.response.text, kept.response.ok) == (429, "später", False)
    assert kept.response.headers["retry-after"] == "2"
    assert (kept.request.method, kept.request.url) == ("GET", response.url)


def test_a_response_whose_library_is_not_loaded_says_so() -> None:
    tree = {"$response": {"type": "httpx9:Response", "status": 200, "headers": {}, "body": ""}}
    assert "not loaded" in str(codec.flaw(tree))
    unkept = codec.rebuild(tree)
    assert copy.deepcopy(unkept) == unkept
    with pytest.raises(
        AttributeError, match=r"not kept in the recording: httpx9:Response .* has no 'status_code'"
    ):
        _ = unkept.status_code


def test_an_os_error_keeps_its_file_name() -> None:
    again = through(FileNotFoundError(2, "No such file", "/a"))
    assert (type(again), str(again)) == (FileNotFoundError, "[Errno 2] No such file: '/a'")


def test_equal_sets_are_equal_trees_whatever_their_order() -> None:
    assert codec.Encoder().encode({"a", "b", "c"}) == codec.Encoder().encode({"c", "b", "a"})


@pytest.mark.parametrize("value", [object(), lambda: 1, open, type("Odd", (), {})()], ids=range(4))
def test_what_cannot_be_kept_is_named_and_says_so_when_read(value: Any) -> None:
    encoder = codec.Encoder()
    tree = encoder.encode({"part": value})
    assert len(encoder.unkept) == 1
    assert "could not be kept" in (codec.flaw(tree) or "")
    assert isinstance(codec.rebuild(tree)["part"], codec.Unkept)


def test_an_address_in_memory_is_no_part_of_what_is_compared() -> None:
    assert codec.Encoder().encode(object()) == codec.Encoder().encode(object())


def test_a_value_that_contains_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    encoder = codec.Encoder()
    encoder.encode(loop)
    assert encoder.unkept


def test_objects_that_name_each_other_twice_end_soon() -> None:
    # Each level doubles what there is to write: without a guard it is no question of depth, but of the next ice age.
    error = ValueError("no")
    error.args = (error, error)
    error.again = [error, error]  # type: ignore[attr-defined]
    encoder = codec.Encoder()
    tree = encoder.encode(error)
    assert tree["$error"]["type"] == "builtins:ValueError"
    assert encoder.unkept


def test_reading_imports_nothing_and_calls_no_constructor(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = codec.Encoder().encode(Frozen(1))
    monkeypatch.setattr(Frozen, "__init__", lambda *_: pytest.fail("called"))
    assert codec.rebuild(tree).x == 1
    assert codec.find_type("antigravity:anything") is None


def test_a_type_that_is_gone_becomes_a_stand_in_that_names_it() -> None:
    tree = {"$dataclass": {"type": "gone.module:Thing", "fields": {}}}
    assert "gone.module:Thing" in repr(codec.rebuild(tree))
    assert "gone.module:Thing, which is not loaded" in (codec.flaw([tree]) or "")


# -- what is encoded already -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "there"),
    [
        ({"$blob": "x"}, True),
        ({"a": ["$blob"]}, True),
        ({"a": "5 $, $6"}, False),
        ({"a": "$" * 500}, True),
        ({"a": "5$" * 500}, False),
        ({"a": "5$" * 500, "b": {"$blob": 1}}, True),
        ("$", True),
        ([], False),
    ],
)
def test_a_tag_is_seen_wherever_it_may_be_and_seldom_where_it_is_not(value, there):
    assert codec.tagged(codec.dumps(value)) is there


def test_one_tag_is_told_from_another():
    data = codec.dumps([{"$tuple": [1]}, "5$" * 100, {"$unkept": ["a", "b"]}])
    assert codec.tagged(data, b"unkept")
    assert not codec.tagged(data, b"blob")


def test_items_are_written_as_the_list_that_they_are():
    items = codec.Items([b'{"a":1}', b'"b"'])
    assert codec.dumps({"messages": items}) == b'{"messages":[{"a":1},"b"]}'
    assert codec.packed(items) == b'[{"a":1},"b"]'
    assert codec.Encoder().encode(items) is items


def test_items_that_the_encoder_has_to_encode_are_encoded_by_it():
    encoder = codec.Encoder(blob=lambda _: "sha256:x")
    items = encoder.encode(codec.Items([b"1", {"z": b"\xff" * 20000, "a": (1,)}], rest=True))
    assert codec.dumps(items) == b'[1,{"a":{"$tuple":[1]},"z":{"$blob":"sha256:x"}}]'


def test_items_equal_a_list_to_the_letter_and_again_when_it_is_remembered():
    memory = {}
    recorded = [{"b": 1, "a": 2}, "x"]
    for _ in range(2):
        assert codec.Items([b'{"a":2,"b":1}', b'"x"'], memory=memory).equals(recorded)
        assert not codec.Items([b'{"a":2,"b":1.0}', b'"x"'], memory=memory).equals(recorded)
        assert not codec.Items([b'{"a":2,"b":true}', b'"x"'], memory=memory).equals(recorded)
        assert not codec.Items([b'{"a":2,"b":1}'], memory=memory).equals(recorded)


@dataclasses.dataclass(slots=True)
class Slotted:
    known: int


def test_a_slotted_class_leaves_out_what_its_version_does_not_know():
    tree = codec.Encoder().encode(Slotted(1))
    tree["$dataclass"]["fields"]["brand_new"] = 2
    assert codec.rebuild(tree) == Slotted(1)


SMALL_STACK = """
import threading
from reenact.core.model import codec
from reenact.core.model.exact import exact

value = "x"
for _ in range(900):
    value = {"key": [value]}

def encode():
    encoder = codec.Encoder()
    print(exact(value), encoder.encode(value)["key"][0]["key"], encoder.unkept)

threading.stack_size(128 << 10)
thread = threading.Thread(target=encode)
thread.start()
thread.join()
"""
"""A thread as musl makes it; the value has more levels than that stack has room for marshal's or repr's calls."""


def test_a_deep_value_is_left_out_in_a_thread_with_a_small_stack():
    done = subprocess.run(
        [sys.executable, "-c", SMALL_STACK], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("None [{'key': [")
    assert done.stdout.rstrip().endswith("['builtins:dict']")
