"""Write a state as its changes since its last snapshot, and read it again.

    {"$same": true}                                                 nothing
    {"$keys": {name: new or changed}, "gone": [...], "order": runs} members of an object
    {"$pieces": [[first, count], {"new": [...]}, {"at": 7, "by": change}]}    a list, from pieces of the earlier one
    {"$text": [0, head, tail], "new": "…"}                          a long text

`$keys` and `by` hold changes or whole trees. Runs are pieces `[first, count]`: of an object's names, the remaining
earlier ones and then the new ones, if their order is another.
"""

from __future__ import annotations

import marshal
import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Any

import orjson

from reenact.core.model import codec, delta
from reenact.core.model.event import Tree
from reenact.core.model.shadow import SPLIT, Branch, Leaf, Node, mark, same
from reenact.core.patterns import lazy
from reenact.errors import CorruptRecording

_LARGEST = 256 << 20
_MOST = 1_000_000

SAME: Tree = {"$same": True}


class Patch:
    """Writes one change.

    Args:
        encoder: Encodes the parts that are written.
        clean: Returns True if a tree is written as it is. If a secret within is replaced, the places in the written
            text differ from those in the compared one.
    """

    def __init__(self, encoder: codec.Encoder, clean: Callable[[Tree], bool]) -> None:
        self._encoder = encoder
        self._clean = clean

    def whole(self, node: Node) -> Tree:
        """Return the tree of a node."""
        if isinstance(node, Leaf):
            return node.tree(self._encoder)
        if isinstance(node.kids, dict):
            return {key: self.whole(kid) for key, kid in node.kids.items()}
        return [self.whole(kid) for kid in node.kids]

    def between(self, new: Node, old: Node | None) -> Tree:
        """Return the change from `old` to `new`; without an `old`, the whole tree."""
        if old is None:
            return self.whole(new)
        return SAME if same(new, old) else self._change(new, old, lambda text: text)

    def _change(self, new: Node, old: Node, around: Callable[[str], Tree] | None) -> Tree:
        if isinstance(new, Branch) and isinstance(old, Branch):
            if isinstance(new.kids, dict) and isinstance(old.kids, dict):
                return self._keys(new.kids, old.kids)
            if isinstance(new.kids, list) and isinstance(old.kids, list):
                return self._pieces(new.kids, old.kids)
        if (
            around is not None
            and isinstance(new, Leaf)
            and isinstance(old, Leaf)
            and new.is_text
            and old.is_text
        ):
            return self._text(new, old, around)
        return self.whole(new)

    # -- objects ---------------------------------------------------------------------------------------------

    def _keys(self, new: dict[str, Node], old: dict[str, Node]) -> Tree:
        changed: dict[str, Tree] = {}
        previous = ""
        for key, kid in new.items():
            earlier = old.get(key)
            if kid is not earlier and (earlier is None or not same(kid, earlier)):
                beside = _short_text(new.get(previous)) if key.lower() == "value" else None
                named: dict[str, Tree] = {}
                if beside is not None and isinstance(kid, Leaf) and kid.is_text:
                    # `{"name": "api-key", "value": "…"}`: never written without the member that may name it.
                    named = {previous: self.whole(beside)}
                    changed |= named
                changed[key] = self.whole(kid) if earlier is None else self._member(key, kid, earlier, named)
            previous = key
        tree: dict[str, Tree] = {"$keys": changed}
        if missing := old.keys() - new.keys():
            tree["gone"] = [key for key in old if key in missing]
        names = list(new)
        if names != list(old) and names != (natural := _natural(new, old)):
            tree["order"] = _runs(names, natural)
        return tree

    def _member(self, key: str, kid: Node, earlier: Node, named: dict[str, Tree]) -> Tree:
        if isinstance(kid, Branch) and isinstance(kid.kids, list) and not self._clean({key: [_PROBE]}):
            # `"passwords": ["…", "…"]`: they are recognised by the name before the bracket.
            return self.whole(kid)
        return self._change(kid, earlier, lambda text: {**named, key: text})

    # -- lists -----------------------------------------------------------------------------------------------

    def _pieces(self, new: Sequence[Node], old: Sequence[Node]) -> Tree:
        made = _Pieces(self, new)
        most = min(len(new), len(old))
        head = 0
        while head < most and (new[head] is old[head] or same(new[head], old[head])):
            head += 1
        tail = 0
        while tail < most - head and same(new[-1 - tail], old[-1 - tail]):
            tail += 1
        made.run(0, head)
        self._middle(made, new, old, range(head, len(new) - tail), range(head, len(old) - tail))
        made.run(len(old) - tail, tail)
        return {"$pieces": made.found}

    def _middle(
        self, made: _Pieces, new: Sequence[Node], old: Sequence[Node], news: range, olds: range
    ) -> None:
        where: dict[Any, list[int]] = {}
        for place in olds:
            where.setdefault(mark(old[place]), []).append(place)
        wanted = {mark(new[place]) for place in news}
        expected = olds.start
        for place in news:
            known = where.get(mark(new[place]))
            if known is not None:
                found = known[min(bisect_left(known, expected), len(known) - 1)]
                made.run(found, 1)
                expected = found + 1
                continue
            if expected < olds.stop and mark(old[expected]) not in wanted:
                # It replaces an item that is gone: write it as a change of that item.
                if isinstance(old[expected], Branch) and isinstance(new[place], Branch):
                    made.changed(expected, self._change(new[place], old[expected], None))
                else:
                    made.literal(place)
                expected += 1
                continue
            made.literal(place)

    # -- texts -----------------------------------------------------------------------------------------------

    def _text(self, new: Leaf, old: Leaf, around: Callable[[str], Tree]) -> Tree:
        one, other = (str(marshal.loads(leaf.data)) for leaf in (new, old))  # noqa: S302 - our own bytes
        if len(new.data) > SPLIT:
            tree = self._against(one, other)
            if isinstance(tree, dict) and self._clean(around(one)) and self._clean(around(other)):
                return tree
        return one

    @staticmethod
    def _against(one: str, other: str) -> Tree:
        try:
            return orjson.loads(delta.Arg(one).against(delta.Arg(other), 0))
        except TypeError:
            # Lone surrogates, which JSON cannot hold.
            return one


_NAMES = 4
_FLAG = lazy(rb"u.{4}-[^=]*\Z", re.DOTALL)
"""The bytes of a text that begins with a dash: the value after a flag may begin so too."""

_PROBE = "x7Gq2mVt9LbRz4Kd"
"""Stands for a secret: if it is redacted under a name, the name is that of secrets."""


class _Pieces:
    """The pieces of a list, neighbours joined."""

    def __init__(self, patch: Patch, new: Sequence[Node]) -> None:
        self.found: list[Tree] = []
        self._patch = patch
        self._new = new

    def run(self, first: int, count: int) -> None:
        """Add a run of earlier items."""
        if not count:
            return
        last = self.found[-1] if self.found else None
        if isinstance(last, list) and last[0] + last[1] == first:
            last[1] += count
        else:
            self.found.append([first, count])

    def changed(self, place: int, change: Tree) -> None:
        """Add an earlier item, changed."""
        self.found.append({"at": place, "by": change})

    def literal(self, place: int) -> None:
        """Add the item at a place of the new list, whole."""
        last = self.found[-1] if self.found else None
        if isinstance(last, dict) and "new" in last:
            items = last["new"]
        else:
            items = [self._patch.whole(node) for node in self._named_by(place, last)]
            if isinstance(last, list) and items:
                last[1] -= len(items)
                if not last[1]:
                    self.found.pop()
            self.found.append({"new": items})
        items.append(self._patch.whole(self._new[place]))

    def _named_by(self, place: int, last: Tree) -> list[Node]:
        """Return the items before an item that may name it (`"--api-key", "…"`): they stay together."""
        if not isinstance(last, list) or not _is_text(self._new[place]):
            return []
        first = place
        while place - first < min(last[1], _NAMES):
            node = _short_text(self._new[first - 1])
            if node is None or (first > 1 and not _FLAG.match(node.data)):
                break
            first -= 1
        return list(self._new[first:place])


def _is_text(node: Node | None) -> bool:
    return isinstance(node, Leaf) and node.is_text


def _short_text(node: Node | None) -> Leaf | None:
    """Return the node if it is a text that may name its neighbour."""
    return node if isinstance(node, Leaf) and node.is_text and len(node.data) <= SPLIT else None


def _natural(new: dict[str, Any], old: dict[str, Any]) -> list[str]:
    """Return the order that a reader gives the members without being told."""
    return [*(key for key in old if key in new), *(key for key in new if key not in old)]


def _runs(new: Sequence[Hashable], natural: Sequence[Hashable]) -> list[list[int]]:
    places = {key: place for place, key in enumerate(natural)}
    found: list[list[int]] = []
    for key in new:
        place = places[key]
        if found and sum(found[-1]) == place:
            found[-1][1] += 1
        else:
            found.append([place, 1])
    return found


# -- reading -------------------------------------------------------------------------------------------------


def patched(tree: Tree, base: Tree) -> Tree:
    """Return the whole tree, from the written change and the tree before. Changes neither.

    Raises CorruptRecording for a tree that was written against another one, or that takes more of it than a program's
    state can have: a few hundred bytes must not become a gigabyte.
    """
    if type(tree) is not dict:
        return tree
    if "$same" in tree:
        return base
    if "$keys" in tree:
        return _members(tree, base)
    if "$pieces" in tree:
        return _joined(tree["$pieces"], base)
    return delta.restore(tree, base) if "$text" in tree else tree


def _joined(pieces: Tree, base: Tree) -> Tree:
    items: list[Tree] = []
    taken: list[tuple[int, int]] = []
    for piece in pieces:
        if isinstance(piece, list):
            first, count = piece
            first = _place(first, base, count)
            taken.append((first, first + count))
            if len(items) + count > _MOST and _twice(taken):
                raise CorruptRecording(f"a state of more than {_MOST:,} items")
            items += base[first : first + count]
        elif "new" in piece:
            items += piece["new"]
        else:
            first = _place(piece["at"], base)
            items.append(patched(piece["by"], base[first]))
            taken.append((first, first + 1))
    # Taken twice, an earlier item is a reference here and a copy wherever the state is written out.
    if _twice(taken) and _size(items, {}) > _LARGEST:
        raise CorruptRecording(f"a state of more than {_LARGEST >> 20} MB")
    return items


def _twice(taken: list[tuple[int, int]]) -> bool:
    taken.sort()
    return any(one[1] > other[0] for one, other in pairwise(taken))


def _place(first: Tree, base: Tree, count: Tree = 1) -> int:
    if type(base) is not list or type(first) is not int or type(count) is not int:
        raise CorruptRecording("a piece of a list is named by its first item and their number")
    if first < 0 or count < 0 or first + count > len(base):
        raise CorruptRecording("a piece of a list that the state before does not have")
    return first


def _size(tree: Tree, known: dict[int, int]) -> int:
    """Return the approximate size in bytes of a tree's JSON.

    Walks shared parts once, counts each use.
    """
    if type(tree) is str:
        return len(tree) + 2
    if type(tree) is not dict and type(tree) is not list:
        return 4
    if id(tree) not in known:
        kids = tree.values() if type(tree) is dict else tree
        known[id(tree)] = 2 + sum(_size(kid, known) for kid in kids)
    return known[id(tree)]


def _members(tree: Tree, base: Tree) -> Tree:
    gone = set(tree.get("gone", ()))
    kept = {key: item for key, item in base.items() if key not in gone}
    for key, item in tree["$keys"].items():
        kept[key] = patched(item, base.get(key))
    if "order" not in tree:
        return kept
    names = list(kept)
    runs = [(_place(first, names, count), count) for first, count in tree["order"]]
    if sum(count for _, count in runs) != len(names):
        raise CorruptRecording("the order of a state's members does not name each of them once")
    return {name: kept[name] for first, count in runs for name in names[first : first + count]}


def readable(tree: Tree) -> bool:
    """Return True if a tree was written whole, and can be read without the one before."""
    return not (type(tree) is dict and any(tag in tree for tag in ("$same", "$keys", "$pieces", "$text")))


def clean_by(line: Callable[[bytes], bytes]) -> Callable[[Tree], bool]:
    """Return a function that is True if a redactor of lines leaves a tree unchanged."""

    def clean(tree: Tree) -> bool:
        try:
            data = orjson.dumps(tree)
        except TypeError:
            # A text that UTF-8 cannot hold is written in another form.
            return False
        return line(data) is data

    return clean
