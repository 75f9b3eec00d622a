"""Digests of messages: equal values have equal digests, whatever texts their pickles share."""

from __future__ import annotations

import json
import pickle

import pytest

from reenact.adapters.message_digest import digest


def test_texts_that_are_shared_do_not_count_in_a_digest():
    text = "ok"
    shared, apart = [text, text, {"a": text}], json.loads('["ok", "ok", {"a": "ok"}]')
    assert shared == apart
    assert pickle.dumps(shared) != pickle.dumps(apart)
    assert digest(pickle.dumps(shared)) == digest(pickle.dumps(apart))


@pytest.mark.parametrize(
    "other", [["ok", "ok", {"a": "no"}], ["ok", {"a": "ok"}], ["ok", b"ok", {"a": "ok"}]]
)
def test_other_values_have_other_digests(other):
    here = digest(pickle.dumps(["ok", "ok", {"a": "ok"}]))
    assert digest(pickle.dumps(other)) != here


def test_what_is_no_pickle_has_a_digest_too():
    assert digest(b"\x80 no pickle") != digest(b"\x80 other")
