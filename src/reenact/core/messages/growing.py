"""Read the growing requests of a chat without parsing their common part again.

Each call of a chat sends all earlier messages again. A thousand calls, each read by itself, are half a million
messages, nearly all of them the same. Here, a request is read only after the part that it shares with an earlier one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import field
from operator import is_
from typing import Any, TypeVar

import orjson

from reenact.core.dataclass import dataclass
from reenact.core.model.plain import parsed
from reenact.core.patterns import lazy

T = TypeVar("T")

_KEPT = 4
"""The number of conversations followed at a time, for agents that alternate."""

_SHORT = 4096
_GROWS = ("messages", "input", "contents")
_SPACE = lazy(r"[ \t\r\n]*")
_scan = json.JSONDecoder().raw_decode


class Memory:
    """The memory of one log's earlier calls."""

    def __init__(self) -> None:
        self._made: dict[Any, tuple[Any, Any]] = {}
        self._bodies: list[_Body] = []
        self._lists: dict[Any, list[tuple[list[Any], Any]]] = {}

    def once(self, item: Any, make: Callable[[Any], T]) -> T:
        """Return the result of `make` for an item that many calls share, made once.

        Items are told apart by their place in memory, so they are kept.
        """
        key = (make, id(item))
        known = self._made.get(key)
        if known is None:
            known = self._made[key] = (item, make(item))
        return known[1]

    def request(self, body: Any) -> Any:
        """Return the JSON value of a request's text; items shared with an earlier one are the same.

        Do not change it.
        """
        if not isinstance(body, str) or len(body) < _SHORT:
            return parsed(body)
        try:
            return self._grown(body)
        except (ValueError, IndexError, RecursionError):
            return parsed(body)

    def follow(
        self, name: str, items: list[Any], start: Callable[[], T], go_on: Callable[[T, list[Any]], T]
    ) -> T:
        """Return a list's result from the result of the earlier list that it extends.

        Args:
            name: The name of the result's kind.
            items: The list.
            start: Returns the result of no items.
            go_on: Adds items to a result; it must leave the given one unchanged.
        """
        known = self._lists.setdefault(name, [])
        best = -1
        for place, (before, _) in enumerate(known):
            longer = best < 0 or len(before) > len(known[best][0])
            # By identity: what is equal need not be the same (1 and True).
            if longer and len(before) <= len(items) and all(map(is_, before, items)):
                best = place
        before, made = known.pop(best) if best >= 0 else ([], start())
        made = go_on(made, items[len(before) :])
        known.append((items, made))
        del known[:-_KEPT]
        return made

    def _grown(self, text: str) -> Any:
        known, shared = None, 0
        for body in self._bodies:
            count = body.shared(text)
            if count > shared:
                known, shared = body, count
        body = _begun(text) if known is None else known.until(shared, text)
        place = body.read_items()
        rest = text[_after(text, place) :]
        rest_of = orjson.loads("{" + rest[1:]) if rest.startswith(",") else orjson.loads("{" + rest)
        if known is not None and shared == len(known.items):
            self._bodies.remove(known)
        self._bodies.append(body)
        del self._bodies[:-_KEPT]
        return {**body.head, body.key: body.items, **rest_of}


@dataclass(slots=True)
class _Body:
    """A request's text, up to the end of the list in it that grows.

    Attributes:
        head: The members before that list.
        start: The place of its first item.
        ends: The place of each item's end.
    """

    text: str
    head: dict[str, Any]
    key: str
    start: int
    items: list[Any] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def shared(self, text: str) -> int:
        """Return the number of leading items that another text shares."""
        low, high = 0, len(self.ends)
        while low < high:
            # Most requests share all items, so that is tried first.
            middle = high if high == len(self.ends) and low == 0 else (low + high + 1) // 2
            end = self.ends[middle - 1]
            # The end of the shorter text may be in the middle of a number: the next letter decides.
            if text.startswith(self.text[:end]) and text[_after(text, end)] in ",]":
                low = middle
            else:
                high = middle - 1
        return low

    def until(self, count: int, text: str) -> _Body:
        """Return the body of another text that begins with so many of the items."""
        return _Body(text, self.head, self.key, self.start, self.items[:count], self.ends[:count])

    def read_items(self) -> int:
        """Read the items after the known ones; return the place of the list's end."""
        text = self.text
        place = _after(text, self.ends[-1] if self.ends else self.start)
        while text[place] != "]":
            if self.ends:
                if text[place] != ",":
                    raise ValueError("no list")
                place = _after(text, place + 1)
            _, end = _scan(text, place)
            self.items.append(orjson.loads(text[place:end]))
            self.ends.append(end)
            place = _after(text, end)
        return place + 1


def _begun(text: str) -> _Body:
    """Parse a request's text up to the growing list. Raises ValueError if it has none."""
    place = _after(text, 0)
    if text[place] != "{":
        raise ValueError("no object")
    head: dict[str, Any] = {}
    while True:
        place = _after(text, place + 1)
        key, place = _scan(text, place)
        place = _after(text, place)
        if not isinstance(key, str) or text[place] != ":":
            raise ValueError("no member")
        place = _after(text, place + 1)
        if key in _GROWS and text[place] == "[":
            return _Body(text, head, key, place + 1)
        _, end = _scan(text, place)
        head[key] = orjson.loads(text[place:end])
        place = _after(text, end)
        if text[place] != ",":
            raise ValueError("no list in it")


def _after(text: str, place: int) -> int:
    """Return the place of the next letter that is no space."""
    space = _SPACE.match(text, place)
    return space.end() if space is not None else place
