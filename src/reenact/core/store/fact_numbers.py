"""The facts of a recording's arguments and outputs, as numbers for an index.

A fact says that some step has a value at a path (`args.order_id`), or a number in some range there, or that the outline
of the step lacks the value. So the recordings with none of the facts that a term asks for have no matching step;
the others are searched. Two facts may share a number: that costs a search and changes no answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any
from zlib import crc32

import orjson

from reenact.core.model.plain import compact, parsed
from reenact.core.query.facts import PATH
from reenact.core.query.grammar import Term
from reenact.core.query.outline import MARK

ALL = 0
"""Stands for all facts of a recording with more than `MOST`."""

MOST = 500_000
"""The maximum number of facts of one recording."""

_VALUE, _NUMBER, _COARSE, _FINE, _CUT, _CUT_BELOW = "t", "n", "c", "f", "x", "y"
_ITEM = "#"
"""The key of each item of a list."""

_SMALLEST, _LARGEST = -64, 128
"""Exponents of two beyond which numbers are not distinguished."""

_PIECES = 16
"""The parts of the range between two powers of two."""

_READINGS = 16
"""The maximum number of meanings of a path: a digit may be a place in a list or a name."""

_ORDERED = {"<", "<=", ">", ">="}


def facts_of(args: Iterable[str | bytes], outputs: Iterable[str | bytes]) -> list[int]:
    """Return the sorted facts of the outlines, as JSON, of a recording's arguments and outputs."""
    known = _Facts()
    for root, texts in (("args", args), ("output", outputs)):
        # Steps of one agent repeat themselves.
        for text in dict.fromkeys(texts):
            known.collect(root, orjson.loads(text))
            if len(known.found) > MOST:
                return [ALL]
    return sorted(known.found)


def sought(term: Term) -> list[int] | None:
    """Return the facts of which a recording has one if the term holds for one of its steps.

    None for a term that no facts decide.
    """
    root, *keys = PATH.findall(term.field)
    if root not in ("args", "output") or not keys or MARK in keys:
        return None
    facts = _of_order(term) if term.op in _ORDERED else _of_value(term.value) if term.op == "==" else None
    if facts is None:
        return None
    readings = [(key, _ITEM) if key.lstrip("-").isdigit() else (key,) for key in keys]
    if math.prod(map(len, readings)) > _READINGS:
        return None
    found = {ALL}
    for each in product(*readings):
        paths = ["\0".join((root, *each[:length])) for length in range(len(each) + 1)]
        found.update(_place(path) | _sum(_CUT_BELOW) for path in paths)
        place = _place(paths[-1])
        found.update(place | _sum(fact) for fact in (*facts, _CUT))
    return sorted(found)


def _place(path: str) -> int:
    return (_sum(path) & 0xFFFF) << 32


def _sum(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


class _Facts:
    """The facts of one recording, and a cache to find them fast."""

    def __init__(self) -> None:
        self.found: set[int] = set()
        self._places: dict[str, int] = {}
        self._numbers: dict[float, list[int]] = {}
        self._items: set[tuple[str, ...]] = set()

    def collect(self, root: str, kept: Any) -> None:
        """Add the facts of an outline."""
        left = [(root, kept)]
        while left:
            path, value = left.pop()
            if isinstance(value, dict):
                for key, item in value.items():
                    if key != MARK:
                        left.append((f"{path}\0{key}", item))
                    elif item is None:
                        self._add(path, _sum(_CUT_BELOW))
                    else:
                        self._add(path, _sum(_CUT))
                        left.append((path, item))
            elif isinstance(value, list):
                self._collect_items(path, value, left)
            else:
                self._add_value(path, value)
                if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
                    inside = parsed(value)
                    if isinstance(inside, (dict, list)):
                        left.append((path, inside))

    def _collect_items(self, path: str, items: list[Any], left: list[tuple[str, Any]]) -> None:
        below = f"{path}\0{_ITEM}"
        for item in items:
            if isinstance(item, dict):
                if MARK in item:
                    self._add(path, _sum(_CUT))
                elif all(type(each) is str for each in item.values()):
                    # A chat repeats its messages in each step.
                    known = (below, *item.keys(), *item.values())
                    if known in self._items:
                        continue
                    self._items.add(known)
            elif not isinstance(item, list):
                # A list is compared item by item.
                self._add_value(path, item)
            left.append((below, item))

    def _add(self, path: str, fact: int) -> None:
        place = self._places.get(path)
        if place is None:
            place = self._places[path] = _place(path)
        self.found.add(place | fact)

    def _add_value(self, path: str, value: Any) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number = _float(value)
            sums = self._numbers.get(number)
            if sums is None:
                sums = [_sum(f"{_NUMBER}{number!r}"), *map(_sum, _buckets(number))]
                self._numbers[number] = sums
            for each in sums:
                self._add(path, each)
            return
        if isinstance(value, bool):
            self._add(path, _sum(f"{_NUMBER}{float(value)!r}"))
        self._add(path, _sum(_VALUE + compact(value)))


def _of_value(wanted: Any) -> list[str] | None:
    """Return the facts of values that are equal, as values or as text."""
    text = compact(wanted)
    if text[:1] in ("{", "["):
        # An object, as its JSON.
        return None
    found = [_VALUE + text]
    with suppress(ValueError):
        found.append(f"{_NUMBER}{_float(wanted if isinstance(wanted, (int, float)) else float(text))!r}")
    return found


def _of_order(term: Term) -> list[str] | None:
    """Return the ranges of numbers that a comparison may hold for."""
    if not isinstance(term.value, (int, float)) or isinstance(term.value, bool) or math.isnan(term.value):
        return None
    number = _float(term.value)
    if term.op in (">", ">="):
        return list(_from(number))
    return [_mirrored(bucket) for bucket in _from(-number)]


def _float(value: float) -> float:
    try:
        # Without the sign of a zero.
        return float(value) + 0.0
    except OverflowError:
        return math.copysign(math.inf, value)


def _buckets(number: float) -> Iterator[str]:
    """Yield the ranges that a number lies in, the wide one first."""
    sign = "+" if number >= 0 else "-"
    exponent, piece = _range(abs(number))
    yield f"{_COARSE}{sign}{exponent}"
    if _SMALLEST < exponent < _LARGEST:
        yield f"{_FINE}{sign}{exponent}:{piece}"


def _range(size: float) -> tuple[int, int]:
    """Return the exponent of two of a size, limited, and its piece of that range."""
    if math.isinf(size):
        return _LARGEST, 0
    fraction, exponent = math.frexp(size)
    if size == 0 or exponent <= _SMALLEST:
        return _SMALLEST, 0
    return min(exponent, _LARGEST), int((fraction - 0.5) * 2 * _PIECES)


def _from(number: float) -> Iterator[str]:
    """Yield ranges that cover all numbers from this one on."""
    exponent, piece = _range(abs(number))
    fine = _SMALLEST < exponent < _LARGEST
    if number > 0:
        if fine:
            yield from (f"{_FINE}+{exponent}:{each}" for each in range(piece, _PIECES))
        first = exponent + 1 if fine else exponent
        yield from (f"{_COARSE}+{each}" for each in range(first, _LARGEST + 1))
        return
    yield from (f"{_COARSE}+{each}" for each in range(_SMALLEST, _LARGEST + 1))
    if fine:
        yield from (f"{_FINE}-{exponent}:{each}" for each in range(piece + 1))
    yield from (f"{_COARSE}-{each}" for each in range(_SMALLEST, exponent + (not fine)))


def _mirrored(bucket: str) -> str:
    # Zero is among the numbers with a plus; its range, the smallest, is asked for on both sides.
    sign = bucket[1]
    return f"{bucket[0]}{'-' if sign == '+' else '+'}{bucket[2:]}"
