"""Patterns that are compiled when they are first used."""

import ast
import re

import pytest

from reenact.core import patterns
from reenact.core.patterns import lazy
from tests.source import modules


def test_a_pattern_is_compiled_at_its_first_use(monkeypatch):
    compiled = []
    real = patterns.compiled
    monkeypatch.setattr(patterns, "compiled", lambda *given: compiled.append(given) or real(*given))
    pattern = lazy(rb"(?P<word>[a-z]+)!", re.IGNORECASE)
    assert pattern.pattern == rb"(?P<word>[a-z]+)!"
    assert compiled == []
    assert pattern.search(b"1 Stop!")["word"] == b"Stop"
    assert pattern.sub(b"", b"Go! on") == b" on"
    assert len(compiled) == 1


def test_a_pattern_answers_as_the_compiled_one():
    pattern, compiled = lazy(r"(\d+)-(\d+)"), re.compile(r"(\d+)-(\d+)")
    text = "1-2, 30-40"
    assert pattern.findall(text) == compiled.findall(text)
    assert [found.span() for found in pattern.finditer(text)] == [(0, 3), (5, 10)]
    assert pattern.fullmatch(text) is None
    assert (pattern.groups, pattern.flags) == (compiled.groups, compiled.flags)


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError):
        lazy("a").seek  # noqa: B018


def test_no_module_compiles_such_a_pattern_while_it_is_imported():
    compiled = [
        f"{path}:{node.lineno}"
        for path, module in modules("lazy(").items()
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "lazy"
    ]
    assert compiled == []


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [
        ("(?:ab?c)++", "abca", 3),
        ("(?:ab?c)*+a", "abca", 4),
        (r'"(?:[^"\\]++|\\.)*+"', r'"a\"b" c', 6),
        (r"(?:\s|\\{1,3}[nrt])*+x", r"\n \\tx", 7),
        ("(?:x|(?:ab?c){1,2}+)d", "abcacd", 6),
        ("(?P<mark>-{0,2})(?:(?:ab?c){1,2}+|y)(?P=mark)", "-abcac-", 7),
    ],
)
@pytest.mark.parametrize("old", [True, False])
def test_a_possessive_repeat_of_a_group_ends_where_it_must(pattern, text, end, old, monkeypatch):
    monkeypatch.setattr(patterns, "_WRONG_REPEATS", old or patterns._WRONG_REPEATS)
    for given, within in ((pattern, text), (pattern.encode(), text.encode())):
        assert patterns.compiled(given).match(within).end() == end
