"""Trees as JSON bytes, and back."""

from __future__ import annotations

import re
from typing import Any

import orjson

from reenact.model.event import Tree

_SURROGATE = re.compile(r"[\\\ud800-\udfff]")
_LOOKS = 64


class Items:
    """A list that is encoded already, item by item: walking a long chat anew for each request would cost more than
    all else. Takes the place of a list's tree.

    Args:
        data: The items, each as bytes of JSON with its keys sorted.
        rest: Whether there are values among them that the encoder still has to encode.
    """

    __slots__ = ("data", "rest")

    def __init__(self, data: list[Any], *, rest: bool = False) -> None:
        self.data = data
        self.rest = rest

    def __len__(self) -> int:
        return len(self.data)


def fragments(items: list[bytes]) -> list[orjson.Fragment]:
    """Bytes of JSON as parts of a tree."""
    return list(map(orjson.Fragment, items))


def _default(value: Any) -> Any:
    if type(value) is Items:
        return fragments(value.data)
    raise TypeError(f"{type(value).__qualname__} is no tree")


def dumps(tree: Tree) -> bytes:
    """A tree as JSON bytes on one line, keys in their own order. Lone surrogates, which UTF-8 cannot hold, survive."""
    try:
        return orjson.dumps(tree, _default)
    except TypeError:
        return orjson.dumps(_without_surrogates(tree), _default)


def packed(tree: Tree) -> bytes:
    """A tree as bytes for comparison: keys sorted, so that equal values have equal bytes."""
    try:
        return orjson.dumps(tree, _default, orjson.OPT_SORT_KEYS)
    except TypeError:
        return orjson.dumps(_without_surrogates(tree), _default, orjson.OPT_SORT_KEYS)


loads = orjson.loads
"""The tree of JSON bytes."""


def tagged(data: bytes, tag: bytes = b"") -> bool:
    """Whether JSON bytes may hold that tag of the codec's (`b"blob"`), or any: a string that begins with it does.

    Dollar signs are rare, and found ten times as fast as the quotes before them.
    """
    start = b'"$' + tag
    at = data.find(b"$", 1)
    for _ in range(_LOOKS):
        if at < 0:
            return False
        if data.startswith(start, at - 1):
            return True
        at = data.find(b"$", at + 1)
    return at >= 0 and start in data


def _without_surrogates(tree: Tree) -> Tree:
    if isinstance(tree, dict):
        pairs = [(_without_surrogates(key), _without_surrogates(item)) for key, item in tree.items()]
        plain = all(isinstance(key, str) for key, _ in pairs)
        return dict(pairs) if plain else {"$dict": [list(pair) for pair in pairs]}
    if isinstance(tree, list):
        return [_without_surrogates(item) for item in tree]
    if isinstance(tree, str) and printable(tree) != tree:
        # Escaped, not packed: a redactor must still find a secret beside it.
        return {
            "$surrogates": _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}" if m[0] != "\\" else "\\\\", tree)
        }
    return tree


def printable(text: str) -> str:
    """A text without lone surrogates, for people."""
    return text.encode("utf-8", "backslashreplace").decode()
