"""What holds for any input."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.core.redact import DEFAULT_RULES, Redactor
from tests.core.redact.samples import CANARIES, NAMES, PEM, SALT

WORDS = st.sampled_from(
    [
        *CANARIES.values(),
        *NAMES,
        PEM,
        "opaque-known-value",
        'we"ird\\va\nlue',
        "=",
        ": ",
        '": "',
        "\\",
        '"',
        "'",
        "&",
        "Bearer ",
        "\n",
        "{",
        "[",
        "]",
        ",",
        "://a:b@c",
        "cookie: a=b; c=d",
        "[[secret:x:01234567]]",
        "[[secret:",
        "1234567890",
        " ",
    ]
)

TEXT = st.lists(st.one_of(WORDS, st.text(max_size=6)), max_size=7).map("".join)

JSON = st.recursive(
    st.one_of(TEXT, st.integers(), st.booleans(), st.none(), st.just(1234567890)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(TEXT, st.sampled_from(NAMES)), inner, max_size=4),
        inner.map(json.dumps),
        inner.map(lambda v: json.dumps(v, ensure_ascii=False)),
    ),
    max_leaves=8,
)

EXAMPLES = settings(max_examples=200, deadline=None)

EAGER = Redactor(
    replace(
        DEFAULT_RULES,
        patterns=(r"op\w+", r"(?s)w.{3,9}l"),
        values=frozenset({"1234567890", 'we"ird\\va\nlue'}),
    ),
    salt=SALT,
    environ={"THE_TOKEN": "opaque-known-value"},
)
PLAIN = Redactor(salt=SALT)


class TestProperties:
    @EXAMPLES
    @given(JSON, st.booleans())
    def test_json_stays_json_and_redacting_twice_changes_nothing(self, value: object, ascii_: bool) -> None:
        data = json.dumps(value, ensure_ascii=ascii_).encode("utf-8", "replace")
        for redactor in (EAGER, PLAIN):
            clean = redactor.line(data)
            json.loads(clean)
            assert redactor.line(clean) == clean

    @EXAMPLES
    @given(JSON)
    def test_no_canary_survives_a_line(self, value: object) -> None:
        clean = EAGER.line(json.dumps(value).encode())
        assert b"opaque-known" not in clean
        for name in ("anthropic", "github-fine", "openai-proj"):
            found = clean.find(CANARIES[name].encode())
            assert found < 0 or clean[found - 1 : found].isalnum()

    @EXAMPLES
    @given(st.one_of(TEXT.map(str.encode), st.binary(max_size=80)))
    def test_redacting_any_bytes_twice_changes_nothing(self, data: bytes) -> None:
        clean = EAGER.raw(data)
        assert EAGER.raw(clean) == clean

    @EXAMPLES
    @given(TEXT, st.lists(st.integers(0, 300), max_size=4))
    def test_however_a_body_is_cut_no_known_value_survives(self, text: str, cuts: list[int]) -> None:
        data, stream, out, at = text.encode(), EAGER.stream(), b"", 0
        for cut in [*sorted(cuts), len(data)]:
            out += stream.chunk(data[at : max(at, cut)])
            at = max(at, cut)
        assert b"known-value" not in out + stream.end()


@pytest.mark.parametrize(
    "value",
    [
        [{"password": "abcd-canary"}] * 20_000,
        {"secret": ["abcd-canary"] * 20_000},
        {"outer": {"inner": [{"cookie": "a=abcd-canary"}] * 20_000}},
        [{"pin": 123456}] * 20_000,
    ],
)
def test_json_with_more_secrets_than_are_replaced_one_by_one_keeps_its_shape_and_none_of_them(value):
    event = {"event": "returned", "text": "The quick brown fox", "value": value, "n": [1, 2]}
    clean = Redactor(salt=SALT).line(json.dumps(event).encode())
    assert b"canary" not in clean
    assert b"123456" not in clean
    read = json.loads(clean)
    assert {**read, "value": 0} == {**event, "value": 0}
    assert type(read["value"]) is type(value)
    assert len(read["value"]) == len(value)


@pytest.mark.parametrize(
    "text",
    [
        '"password",["',
        '{"secret": ["abcd-canary", ',
        ']["password": "abcd-canary"',
        '"-u" -u me:abcd-canary ',
    ],
)
def test_text_that_only_looks_like_json_is_hidden_as_a_whole_where_it_is_dense(text):
    clean = Redactor(salt=SALT).raw(text.encode() * 20_000)
    assert b"canary" not in clean
    assert b"[[secret:" in clean
    assert len(clean) < 100
