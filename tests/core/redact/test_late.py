"""Values that become known after data with them was written."""

from __future__ import annotations

import json

import pytest

from reenact.core.redact import LateSecrets, Redactor
from tests.core.redact.samples import SALT, TOKEN


def known(*values: str) -> tuple[Redactor, LateSecrets]:
    redactor = Redactor(salt=SALT)
    for value in values:
        redactor.secret("", value, typed=True)
    late = redactor.late()
    assert late is not None
    return redactor, late


def test_a_value_is_replaced_as_it_would_have_been_had_it_been_known() -> None:
    redactor, late = known("hunter2")
    line = json.dumps({"args": json.dumps({"value": "hunter2"}), "text": "type hunter2."}).encode()
    assert late.line(line) == redactor.line(line)
    assert b"hunter2" not in late.line(line)
    assert len(TOKEN.findall(late.line(line).decode())) == 2


def test_data_without_the_value_stays_the_same_object() -> None:
    _, late = known("hunter2")
    line = b'{"text":"hunters"}'
    assert late.line(line) is line


def test_a_value_is_known_late_only_once() -> None:
    redactor, _ = known("hunter2")
    redactor.secret("", "hunter2", typed=True)
    assert redactor.late() is None


@pytest.mark.parametrize(
    ("value", "text", "hidden"),
    [
        ("hunter2", "it is hunter2!", True),
        ("hunter2", "hunter22", False),
        ("123", '{"cvv": "123"}', True),
        ("123", "room 123", False),
        ("4711", '{"size": 4711}', False),
        ("482913", "the code is 482913", True),
        ("482913", '{"size": 482913}', False),
        ("demo", "log in as demo", True),
        ("demo", '{"demo": 1}', False),
        ("ab", '"ab"', False),
        ("called", '{"event": "called"}', False),
        ("password", "the password", False),
    ],
)
def test_a_short_value_is_replaced_where_it_stands_as_a_word_or_between_quotes(
    value: str, text: str, *, hidden: bool
) -> None:
    redactor = Redactor(salt=SALT)
    assert redactor.secret("", value, typed=True) != value
    assert (redactor.raw(text.encode()) != text.encode()) is hidden


def test_a_value_in_the_pieces_of_a_text_leaves_its_token_where_it_begins() -> None:
    redactor, late = known("hunter2")
    token = redactor.secret("", "hunter2")
    assert late.pieces([b"type hun", b"ter", b"2 now"]) == [f"type {token}".encode(), b"", b" now"]


@pytest.mark.parametrize(
    "shape",
    [
        'data: {{"choices":[{{"index":0,"delta":{{"content":{0}}}}}]}}\n\n',
        '{{"type":"content_block_delta","index":1,"delta":{{"partial_json":{0}}}}}\n',
        '{{"value":{{"$model":{{"type":"m:Delta","fields":{{"anything":{0}}}}}}}}}\n',
        '{{"value":{0}}}\n',
    ],
)
def test_a_value_is_found_in_the_same_member_of_several_lines(shape: str) -> None:
    redactor, late = known("hunter2")
    token = redactor.secret("", "hunter2")
    texts = ['{"value": "h', "un", 'ter2"', "}"]
    pieces = [shape.format(json.dumps(text)).encode() for text in texts]
    expected = ['{"value": "' + token, "", '"', "}"]
    assert late.pieces(pieces) == [
        shape.format(json.dumps(text, ensure_ascii=False)).encode() for text in expected
    ]


def test_lines_that_pieces_cut_are_joined_before_they_are_read() -> None:
    _, late = known("hunter2")
    whole = b'data: {"delta":{"content":"hun"}}\n\ndata: {"delta":{"content":"ter2"}}\n\n'
    for size in range(1, 40):
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        clean = late.pieces(pieces)
        assert len(clean) == len(pieces)
        lines = [json.loads(line[6:]) for line in b"".join(clean).split(b"\n\n") if line]
        assert TOKEN.fullmatch("".join(line["delta"]["content"] for line in lines))


def test_members_of_other_indices_are_not_joined() -> None:
    _, late = known("hunter2")
    pieces = [b'{"index":0,"delta":{"text":"hun"}}\n', b'{"index":1,"delta":{"text":"ter2"}}\n']
    assert late.pieces(pieces) == pieces


def test_many_pieces_take_linear_time() -> None:
    _, late = known("hunter2")
    pieces = [b'data: {"delta":{"content":"hun"}}\n\n'] * 20_000
    assert late.pieces(pieces) == pieces


@pytest.mark.parametrize("value", ["hunter2", "pass word, with: all", "".join(map(str, range(1000)))])
def test_values_are_recognised_by_their_tokens(value: str) -> None:
    redactor, _ = known(value)
    text = f"log in with {value}, please, and {value}"
    clean = redactor.raw(text.encode()).decode()
    fresh = Redactor(salt=SALT)
    assert fresh.recognise(clean, text)
    assert fresh.raw(text.encode()).decode() == clean


def test_another_value_is_not_recognised() -> None:
    redactor, _ = known("hunter2")
    clean = redactor.raw(b"with hunter2").decode()
    fresh = Redactor(salt=SALT)
    assert not fresh.recognise(clean, "with hunter3")
    assert fresh.raw(b"hunter3") == b"hunter3"
