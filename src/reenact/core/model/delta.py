"""Store repeated parts of arguments once.

A chat's history is sent whole with every model call, so calls that stored it whole would grow with the square of the
steps. An argument is therefore written as its difference from the same argument of an earlier call, its base:

    {"$text": [base call, characters kept from its start, characters kept from its end], "new": "…"}
    {"$items": [base call, items kept from its start, items kept from its end], "new": [...]}
    {"$same": base call}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import orjson

from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.patterns import lazy

SMALL = 256
"""Characters of a text, or bytes of another value, that are not worth a reference."""

_BLOCK = 65536
_BACK = 128


class Arg(NamedTuple):
    """One encoded argument: a text, the JSON of a list's items, or the JSON of another value."""

    text: str | None = None
    data: bytes = b""
    items: list[bytes] | None = None

    @classmethod
    def of(cls, tree: Tree) -> Arg:
        """Return an argument ready to be compared with the same argument of a later call."""
        if type(tree) is codec.Items:
            return cls(items=tree.data)
        if isinstance(tree, str):
            return cls(tree)
        # Bytes, not trees, are compared: to Python 1, 1.0 and True are equal.
        if isinstance(tree, list):
            return cls(items=[codec.dumps(item) for item in tree])
        return cls(data=codec.dumps(tree))

    def whole(self) -> bytes:
        """Return the argument's JSON without a base.

        Raises TypeError for a text with lone surrogates, which has to be encoded as `data` and is not shared.
        """
        if self.text is not None:
            return orjson.dumps(self.text)
        return self.data if self.items is None else b"[%b]" % b",".join(self.items)

    def against(self, base: Arg, call: int) -> bytes:
        """Return its JSON as a difference from call `call`, or whole if that is not larger."""
        if self.text is not None:
            return self.whole() if base.text is None else _text(self.text, base.text, call)
        if self.items is not None:
            return self.whole() if base.items is None else _items(self.items, base.items, call)
        if len(self.data) > SMALL and self.data == base.data:
            return b'{"$same":%d}' % call
        return self.data


_NOTHING_NEW = lazy(rb'\{"\$(?:items":\[\d+,\d+,0\],"new":\[\]|same":\d+)\}')


def adds_nothing(written: bytes) -> bool:
    """Return True if an argument, as `against` gives it, only refers to an earlier call."""
    return _NOTHING_NEW.fullmatch(written) is not None


def tag_of(tree: Tree) -> str | None:
    """Return the tag (`$same`, `$text`, `$items`) of an argument with a base, or None."""
    if isinstance(tree, dict):
        if "$same" in tree:
            return "$same"
        if "new" in tree:
            return "$text" if "$text" in tree else "$items" if "$items" in tree else None
    return None


def base_of(tree: Tree) -> int | None:
    """Return the base call of an argument, or None."""
    tag = tag_of(tree)
    if tag is None:
        return None
    number: int = tree[tag] if tag == "$same" else tree[tag][0]
    return number


def restore(tree: Tree, base: Tree) -> Tree:
    """Return the whole argument, from the written one and the base.

    Raises ValueError if they do not fit.
    """
    if "$same" in tree:
        return base
    _, head, tail = tree.get("$text") or tree["$items"]
    if head < 0 or tail < 0 or head + tail > len(base):
        raise ValueError("it takes more of its base than there is")
    return base[:head] + tree["new"] + base[len(base) - tail :]


def _text(text: str, base: str, call: int) -> bytes:
    head = tail = 0
    if len(text) > SMALL:
        most = min(len(text), len(base))
        # A shorter common part is not worth a reference.
        if text[:SMALL] == base[:SMALL]:
            head = _common(text, base, most)
        if text[-SMALL:] == base[-SMALL:]:
            tail = _common_end(text, base, most - head)
        # Write some characters again on either side, so that a secret is whole when it is looked for.
        head, tail = max(0, head - _BACK), max(0, tail - _BACK)
    if head + tail <= SMALL:
        return orjson.dumps(text)
    return b'{"$text":[%d,%d,%d],"new":%b}' % (call, head, tail, orjson.dumps(text[head : len(text) - tail]))


def _items(items: list[bytes], base: list[bytes], call: int) -> bytes:
    most = min(len(items), len(base))
    # Lists of tools usually do not change.
    head = most if items == base else _common(items, base, most)
    if head and items[head - 1].startswith(b'"'):
        # A flag may stand before its secret (`--api-key`, …): both are written together, to be searched together.
        head -= 1
    tail = _common_end(items, base, most - head)
    new = b"[%b]" % b",".join(items[head : len(items) - tail])
    return b'{"$items":[%d,%d,%d],"new":%b}' % (call, head, tail, new) if head + tail else new


def _common(one: Sequence[Any], other: Sequence[Any], most: int) -> int:
    """Return the number of equal leading characters or items.

    Comparing slices runs at memory speed.
    """
    if not most or one[0] != other[0]:
        return 0
    return _search(lambda low, high: one[low:high] == other[low:high], most)


def _common_end(one: Sequence[Any], other: Sequence[Any], most: int) -> int:
    if not most or one[-1] != other[-1]:
        return 0
    ends = len(one), len(other)
    return _search(
        lambda low, high: one[ends[0] - high : ends[0] - low] == other[ends[1] - high : ends[1] - low], most
    )


def _search(same: Callable[[int, int], bool], most: int) -> int:
    # In growing blocks, as common parts are long.
    low, block = 0, SMALL
    while low < most and same(low, high := min(low + block, most)):
        low, block = high, min(block * 4, _BLOCK)
    high = min(low + block, most)
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
