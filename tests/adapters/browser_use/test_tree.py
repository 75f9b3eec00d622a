"""A page's tree as bytes, in an environment without browser-use too."""

from __future__ import annotations

import json
import sys
import zlib
from dataclasses import dataclass, field
from enum import Enum

import pytest

from reenact.adapters.browser_use import tree
from reenact.errors import RecordingError

VIEWS = sys.modules[__name__]


class Kind(Enum):
    ELEMENT = 1


@dataclass(slots=True)
class Node:
    name: str
    kind: Kind = Kind.ELEMENT
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    at: tuple[float, float] | None = None


def chain(depth):
    root = node = Node("html", attributes={"#": "tagged", "a": "ü"}, at=(1.5, 2))
    for number in range(depth):
        child = Node(f"div{number}", parent=node)
        node.children.append(child)
        node = child
    return root


def again(value):
    return tree.unpack(*tree.pack(value, VIEWS), VIEWS)


def test_longer_texts_stand_in_the_open_where_a_secret_is_found():
    page = Node("input", attributes={"value": "sk-proj-0123456789", "name": "key"})
    data, words = tree.pack([page, page.attributes], VIEWS)
    assert words == ["sk-proj-0123456789"]
    assert b"0123456789" not in zlib.decompress(data)
    assert tree.unpack(data, ["[[secret]]"], VIEWS)[0].attributes == {"value": "[[secret]]", "name": "key"}


def test_a_deep_tree_comes_back_with_its_children_knowing_their_parents():
    root = again(chain(5000))
    assert root.attributes == {"#": "tagged", "a": "ü"}
    assert root.at == (1.5, 2)
    assert root.kind is Kind.ELEMENT
    node, depth = root, 0
    while node.children:
        assert node.children[0].parent is node
        node, depth = node.children[0], depth + 1
    assert depth == 5000


def test_values_that_python_takes_for_equal_keep_their_types():
    values = [
        1,
        1.0,
        True,
        {"a": 1},
        {"a": True},
        {"a": "1"},
        {1: "a"},
        {True: "a"},
        {},
        (1,),
        {2},
        [None],
        [],
    ]
    assert repr(again(values)) == repr(values)


def test_elements_that_share_their_attributes_texts_do_not_share_the_dict():
    first, second = again([Node("a", attributes={"x": "y"}), Node("b", attributes={"x": "y"})])
    first.attributes["x"] = "z"
    assert second.attributes == {"x": "y"}


def test_the_same_element_under_two_names_is_one_again():
    root = chain(1)
    found = again({"root": root, "numbers": {7: root.children[0]}})
    assert found["numbers"][7] is found["root"].children[0]


def test_what_another_version_did_not_record_gets_its_default():
    data = json.loads(zlib.decompress(tree.pack(Node("a"), VIEWS)[0]))
    table = data["tables"]["Node"]
    table["fields"], table["columns"] = ["name", "colour"], [{"each": ["a"]}, {"all": "red"}]
    assert tree.unpack(zlib.compress(json.dumps(data).encode()), [], VIEWS) == Node("a")


def test_an_object_that_is_none_of_the_librarys_is_no_part_of_a_page():
    with pytest.raises(TypeError, match="contains a object"):
        tree.pack(Node("a", at=object()), VIEWS)


@pytest.mark.parametrize(
    "data",
    [
        b"no zlib",
        zlib.compress(b"{}"),
        zlib.compress(
            b'{"root": {"#": 0}, "tables": {"Thread": {"fields": [], "numbers": [0], "rows": [[]]}}}'
        ),
        zlib.compress(b'{"root": {"=": ["Node", "name"]}, "tables": {}}'),
    ],
)
def test_bytes_that_are_no_page_are_refused_and_make_nothing(data):
    with pytest.raises(RecordingError, match="cannot be read by this version of browser-use"):
        tree.unpack(data, [], VIEWS)
