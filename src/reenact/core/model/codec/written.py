"""Trees as JSON bytes, and back."""

from __future__ import annotations

from typing import Any, TypeAlias

import orjson

from reenact.core.model.event import Tree
from reenact.core.patterns import lazy
from reenact.errors import CorruptRecording

_SURROGATE = lazy(r"[\\\ud800-\udfff]")
_LOOKS = 64

Memory: TypeAlias = dict[int, tuple[Tree, bytes]]
"""Trees by their ids, each with its bytes."""


class Items:
    """A list that is encoded already, item by item. Takes the place of a list's tree.

    A walk through a long chat for each request would cost more than everything else.

    Args:
        data: The items, each as bytes of JSON with its keys sorted.
        rest: Some values among them still have to be encoded.
        memory: The known items, shared by lists that are compared with the same recorded ones.
    """

    __slots__ = ("data", "memory", "rest")

    def __init__(self, data: list[Any], *, rest: bool = False, memory: Memory | None = None) -> None:
        self.data = data
        self.rest = rest
        self.memory: Memory = {} if memory is None else memory

    def equals(self, items: list[Tree]) -> bool:
        """Return True if that is exactly this list's tree."""
        if len(items) != len(self.data):
            return False
        memory = self.memory
        for item, data in zip(items, self.data, strict=True):
            # The memory holds its items, so no other item can have their ids.
            known = memory.get(id(item))
            if known is not None and known[1] is data:
                continue
            if (known[1] if known is not None else packed(item)) != data:
                return False
            # The next list usually holds the same bytes.
            memory[id(item)] = item, data
        return True

    def __len__(self) -> int:
        return len(self.data)


def fragments(items: list[bytes]) -> list[orjson.Fragment]:
    """Return bytes of JSON as parts of a tree."""
    return list(map(orjson.Fragment, items))


def _default(value: Any) -> Any:
    if type(value) is Items:
        return fragments(value.data)
    raise TypeError(f"{type(value).__qualname__} is no tree")


def dumps(tree: Tree) -> bytes:
    """Return a tree as JSON bytes on one line, keys in their own order. Lone surrogates survive."""
    try:
        return orjson.dumps(tree, _default)
    except TypeError:
        try:
            return orjson.dumps(_without_surrogates(tree), _default)
        except RecursionError:
            raise CorruptRecording("a value is nested too deeply to be read") from None


def packed(tree: Tree) -> bytes:
    """Return a tree as bytes for comparison: keys sorted, so that equal values have equal bytes."""
    try:
        return orjson.dumps(tree, _default, orjson.OPT_SORT_KEYS)
    except TypeError:
        return orjson.dumps(_without_surrogates(tree), _default, orjson.OPT_SORT_KEYS)


DEEPEST = 190
"""The maximum depth of a kept value in lists and objects. Readers would fail on deeper ones."""

MOST = 254
"""The maximum depth that orjson writes."""


def nested(data: bytes, tree: Any, levels: int) -> bool:
    """Return True if a tree is nested deeper than `levels`; `data` is its JSON. Counted in C."""
    if data.count(b"[") + data.count(b"{") <= levels:
        return False
    for _ in range(MOST - levels):
        tree = [tree]
    try:
        orjson.dumps(tree)
    except TypeError:
        return True
    return False


loads = orjson.loads
"""The tree of JSON bytes."""


def tagged(data: bytes, tag: bytes = b"") -> bool:
    """Return True if JSON bytes may hold that codec tag (`b"blob"`), or any tag.

    A string that begins with it counts too. Dollar signs are rare, and found ten times as fast as the quotes before
    them.
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
    """Return a text without lone surrogates, for display."""
    return text.encode("utf-8", "backslashreplace").decode()
