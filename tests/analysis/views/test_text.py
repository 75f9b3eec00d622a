"""Texts for readers."""

from __future__ import annotations

from reenact.analysis.views.text import without_tokens


def test_a_token_is_the_word_secret() -> None:
    text = "fill with [[secret:secret:0123abcd]] and [[secret:openai:0123abcd]]"
    assert without_tokens(text) == "fill with (secret) and (secret)"


def test_other_brackets_stay() -> None:
    text = "[[secret: none]] [[secret:" + "x" * 100
    assert without_tokens(text) == text
