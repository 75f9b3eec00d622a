"""Bytes in a line are base64: their secrets are replaced, and base64 that looks like a key is left as it is."""

from __future__ import annotations

import base64
import os

import pytest

from reenact.core.model import codec
from reenact.core.redact import Redactor

KEY = "kd93jfo2kd03kfmwo2kd9fk"
LIKE_A_KEY = base64.b64decode("AIza" * 13)


@pytest.fixture
def redactor():
    redactor = Redactor(salt=b"salt")
    redactor.learn(KEY)
    return redactor


def line(*values, **members):
    return codec.dumps(
        {"event": "called", "args": [codec.Encoder().encode(value) for value in values], **members}
    )


def read(text):
    return [codec.view(tree) for tree in codec.loads(text)["args"]]


@pytest.mark.parametrize("before", [b"\xff", b"\xff\xfe", b"\xff\xfe\x00", b"\xff\xfe\x00\x01"])
def test_a_known_secret_in_bytes_becomes_a_token_in_the_bytes(redactor, before):
    clean = redactor.line(line(before + KEY.encode() + b"\xff"))
    assert read(clean) == [before + redactor.secret("", KEY).encode() + b"\xff"]
    assert redactor.line(clean) is clean


def test_base64_that_looks_like_a_key_is_left_as_it_is(redactor):
    found = line(LIKE_A_KEY, "a key AIzaSyA1234567890abcdefghijklmnopqrstuv", LIKE_A_KEY)
    first, text, last = read(redactor.line(found))
    assert (first, last) == (LIKE_A_KEY, LIKE_A_KEY)
    assert text == f"a key {redactor.secret('', 'AIzaSyA1234567890abcdefghijklmnopqrstuv')}"


def test_what_looks_like_a_key_by_chance_is_not_looked_for_elsewhere(redactor):
    redactor.line(line(LIKE_A_KEY))
    assert redactor.line(other := line("AIza" * 2)) is other


def test_random_bytes_are_read_back_as_they_were(redactor):
    pieces = [os.urandom(300) + base64.b64decode("AIza" * 12) + os.urandom(300) for _ in range(50)]
    assert read(redactor.line(line(*pieces))) == pieces


def test_base64_that_is_none_stays(redactor):
    broken = codec.dumps({"event": "called", "args": {"$bytes": "AIza" * 12 + "A"}})
    assert redactor.line(broken) == broken
