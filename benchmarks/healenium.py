"""Healenium's method, for comparison: the element whose way through the tree is most like the one that was kept.

Written anew from its documentation (https://healenium.io/docs/how_healenium_works) and from what its published
tree-comparing package (https://github.com/healenium/healenium, Apache-2.0) says it counts: the longest common
subsequence of the two paths, where nodes are the same by tag and id, and for the node itself tag, id, inner text,
classes and other attributes, with the points below. The best is taken where its score reaches the cap of 0.6, which is
the value in Healenium's own examples; one try, as there. Its storage, its proxies and its screenshots are not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

CAP = 0.6
"""`score-cap` of its examples."""

_TAG, _PATH, _ID, _CLASS, _TEXT, _OTHER = 100.0, 100.0, 50.0, 40.0, 30.0, 30.0
_ALL = _TAG + _PATH + _ID + _CLASS + _TEXT + _OTHER
_HIGH = 5
"""Paths longer than this must have `_COMMON` of it in common."""
_COMMON = 0.7
_NEAR, _NEAR_NAME = 0.3, 0.75
"""How much of a text, and of a class or attribute, may differ."""

TREE = """() => {
  const nodes = [];
  const walk = (el, parent, path) => {
    const other = {};
    for (const { name, value } of el.attributes) if (name !== "id" && name !== "class") other[name] = value;
    const own = [...el.childNodes].filter(one => one.nodeType === 3).map(one => one.data).join(" ");
    const text = own.replace(/\\s+/g, " ").trim();
    const number = nodes.length;
    nodes.push({ parent, path, tag: el.localName, id: el.id || "", classes: [...el.classList], text, other });
    [...el.children].forEach((child, place) => walk(child, number, [...path, place]));
  };
  walk(document.documentElement, null, []);
  return nodes;
}"""
"""Reads a page: its elements in order, each with its parent's number."""


@dataclass(frozen=True)
class Node:
    """An element as it is compared."""

    tag: str
    id: str
    classes: frozenset[str]
    text: str
    other: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, told: dict[str, Any]) -> Node:
        """One of `TREE`'s."""
        return cls(
            told["tag"],
            told["id"],
            frozenset(told["classes"]),
            told["text"],
            tuple(sorted(told["other"].items())),
        )


def way(tree: Sequence[dict[str, Any]], path: Sequence[int]) -> list[Node]:
    """The way from the root to the element at a path: what is kept of it."""
    return [Node.of(one) for one in tree if list(path[: len(one["path"])]) == one["path"]]


def nearest(kept: Sequence[Node], tree: Sequence[dict[str, Any]]) -> tuple[float, list[int] | None]:
    """The best element of a page and its score; no element where none reaches the cap."""
    nodes = [Node.of(one) for one in tree]
    common = _common(kept, tree, nodes)
    parents = {one["parent"] for one in tree}
    leaves = [number for number in range(len(nodes)) if number not in parents]
    most = max((common[leaf][-1] for leaf in leaves), default=0)
    height = min(most, len(kept))
    best: tuple[float, int] = (0.0, -1)
    seen: set[tuple[int, int]] = set()
    for leaf in leaves:
        length = common[leaf][-1]
        at: int | None = leaf
        # Of a path only what lies at least as deep as the common part is looked at.
        while length and at is not None and len(tree[at]["path"]) >= length - 1:
            if (at, length) not in seen:
                seen.add((at, length))
                score = _score(kept[-1], nodes[at], length, height)
                if (score, -at) > (best[0], -best[1]):
                    best = (score, at)
            at = tree[at]["parent"]
    score, at = best
    return score, list(tree[at]["path"]) if score >= CAP and at >= 0 else None


def _common(kept: Sequence[Node], tree: Sequence[dict[str, Any]], nodes: Sequence[Node]) -> list[list[int]]:
    """For each element the row of the longest common subsequence of its path with the kept one."""
    rows: list[list[int]] = []
    for told, node in zip(tree, nodes, strict=True):
        above = rows[told["parent"]] if told["parent"] is not None else [0] * (len(kept) + 1)
        row = [0]
        for place, other in enumerate(kept, 1):
            same = (node.tag, node.id) == (other.tag, other.id)
            row.append(above[place - 1] + 1 if same else max(above[place], row[place - 1]))
        rows.append(row)
    return rows


def _score(kept: Node, node: Node, length: int, height: int) -> float:
    if height == 0 or (height > _HIGH and length / height < _COMMON):
        return 0.0
    points = length / height * _PATH
    points += _TAG * (kept.tag == node.tag)
    points += _ID * _alike(kept.id, node.id, _NEAR)
    points += _TEXT * _alike(kept.text, node.text, _NEAR)
    points += _CLASS * _classes(kept.classes, node.classes)
    mine, its = dict(kept.other), dict(node.other)
    names = mine.keys() | its.keys()
    if names:
        alike = [
            _alike(mine[name], its[name], _NEAR_NAME) if name in mine and name in its else 0.0
            for name in names
        ]
        points += _OTHER * sum(alike) / len(names)
    else:
        points += _OTHER
    return points / _ALL


def _classes(mine: frozenset[str], its: frozenset[str]) -> float:
    every = mine | its
    if not every:
        return 1.0
    same = len(mine & its) / len(every)
    apart = len(mine ^ its)
    if not apart:
        return same
    pairs = [(one, other) for one in (mine - its or mine) for other in (its if mine - its else its - mine)]
    near = sum(_alike(one, other, _NEAR_NAME) for one, other in pairs) / len(pairs) if pairs else 0.0
    return same + apart * near / len(every)


@lru_cache(maxsize=65536)
def _alike(one: str, other: str, may: float) -> float:
    """The share of two texts that is the same, by edits; 0 where too much differs."""
    one, other = one.lower(), other.lower()
    longest = max(len(one), len(other))
    if not longest:
        return 1.0
    if one == other:
        return 1.0
    most = int(longest * may + 1)
    if abs(len(one) - len(other)) > most:
        return 0.0
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        before, row[0] = row[0], place
        for column, against in enumerate(other, 1):
            before, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, before + (letter != against)),
            )
    return 0.0 if row[-1] > most else (longest - row[-1]) / longest
