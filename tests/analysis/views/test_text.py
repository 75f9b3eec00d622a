"""Texts for readers."""

from __future__ import annotations

from reenact.analysis.views.text import moment, without_tokens


def test_a_token_is_the_word_secret() -> None:
    text = "fill with [[secret:secret:0123abcd]] and [[secret:openai:0123abcd]]"
    assert without_tokens(text) == "fill with (secret) and (secret)"


def test_other_brackets_stay() -> None:
    text = "[[secret: none]] [[secret:" + "x" * 100
    assert without_tokens(text) == text


def test_a_moment_is_told_in_utc_to_the_second() -> None:
    assert moment("2026-11-27T17:12:59.831+02:00") == "2026-11-27 15:12:59 UTC"
    assert moment("") == ""
