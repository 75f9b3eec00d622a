"""The places of keys and values agree with the tree that `tomllib` reads."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.core.config.positions import Positions, TextPosition

TEXT = (
    """# a comment with [brackets] and "quotes"
home = "recs"   # behind it
ignore = [
  "one",  # ] not the end
  'two # not a comment',
]
a . "b.c".d = 1979-05-27 07:32:00

[policy]
"api.example.com" = QQQlive
 ] "" ["QQQ
[[shop]]
name = '''it's'''
[shop.inner]
at = { x = 1, y = [{ z = true }] }
[[shop]]
name = "second"
"""
).replace("QQQ", '"' * 3)


def paths(tree, above=()):
    """The paths of a tree, of all its levels."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*above, key)
        yield from paths(value, (*above, key))


def test_all_forms_of_keys_and_values_are_found():
    assert Positions(TEXT).paths == set(paths(tomllib.loads(TEXT)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("home",), '"recs"'),
        (("ignore", 1), "'two # not"),
        (("a", "b.c", "d"), "1979-05-27 07"),
        (("policy", "api.example.com"), '"""live'),
        (("shop", 0, "name"), "'''it's"),
        (("shop", 0, "inner", "at", "y", 0, "z"), "true"),
        (("shop", 1, "name"), '"second"'),
    ],
)
def test_a_value_is_at_its_line_and_column(path, value):
    place = Positions(TEXT).value(path)
    assert TEXT.split("\n")[place.line - 1][place.column - 1 :].startswith(value)


def test_a_key_that_is_written_in_no_line_has_the_place_of_the_table_above():
    assert Positions("[a]\nb = 1\n").key(("a", "nothing")) == TextPosition(1, 2)


def test_an_empty_text_has_one_place():
    assert Positions("").key(("a",)) == TextPosition(1, 1)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=6)
WORDS = st.text(st.sampled_from("ab\"'\\#=[]{},.\n é"), max_size=8)
VALUES = st.recursive(
    st.one_of(WORDS, st.integers(-9, 9), st.booleans(), st.just(1.5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


def key_of(name, draw):
    if name and name.isascii() and name.replace("-", "").replace("_", "").isalnum() and draw(st.booleans()):
        return name
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def written(value, draw):
    """A value as TOML, in one of its forms."""
    if isinstance(value, str):
        forms = [json.dumps(value)]
        if "'" not in value and "\n" not in value:
            forms.append(f"'{value}'")
        if "'''" not in value and not value.endswith("'"):
            forms.append(f"'''\n{value}'''")
        escaped = value.replace("\\", "\\\\").replace('"""', '""\\"')
        forms.append(f'"""\n{escaped}"""' if not escaped.endswith('"') else json.dumps(value))
        return draw(st.sampled_from(forms))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        gap = draw(st.sampled_from(["", " ", "\n  # ] , '\n"]))
        return f"[{gap}" + f",{gap}".join(written(each, draw) for each in value) + f"{gap}]"
    if isinstance(value, dict):
        pairs = (f"{key_of(name, draw)} = {written(each, draw)}" for name, each in value.items())
        return "{ " + ", ".join(pairs) + " }"
    return repr(value)


def document(tree, draw):
    """A document of tables, some as headers."""
    lines = []
    for name, value in tree.items():
        if not isinstance(value, dict):
            lines.append(f"{key_of(name, draw)}={written(value, draw)} # '{{'")
    for name, value in tree.items():
        if isinstance(value, dict):
            lines.append(f"\n[ {key_of(name, draw)} ] # ]")
            lines += [f"  {key_of(key, draw)} = {written(each, draw)}" for key, each in value.items()]
    return "\n".join(lines)


@given(st.data(), st.dictionaries(NAMES, VALUES, max_size=4))
def test_any_document_has_the_paths_of_its_tree(data, tree):
    text = document(tree, data.draw)
    read = tomllib.loads(text)
    found = Positions(text)
    assert found.paths == set(paths(read))
    lines = text.split("\n")
    for path in paths(read):
        value = read
        for part in path:
            value = value[part]
        place = found.value(path)
        rest = lines[place.line - 1][place.column - 1 :]
        if isinstance(value, (bool, int)):
            assert rest.startswith(str(value).lower())
        elif isinstance(value, (str, list)):
            assert rest[0] in "\"'["
