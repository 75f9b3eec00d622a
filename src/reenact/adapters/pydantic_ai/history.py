"""Long histories, each message encoded once.

Every request has the chat's whole history, most of which the last request had, too. Programs may change messages in
place, so each time all fields of a message are compared with copies of those that were encoded. Python does that in C,
and compares texts by identity first: a history of 1 MB takes a hundred microseconds. Values that such a comparison does
not distinguish (the inside of containers; numbers, since 1, 1.0 and True are equal) are encoded again and compared as
bytes. Only an object whose `__eq__` claims to equal a text is taken for that text.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import chain, zip_longest
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

from reenact.adapters.pydantic_ai import message as one
from reenact.core.boundary import Run
from reenact.core.model import codec

_MOST = 32
"""The maximum number of cached histories; an agent's run has one, or a few."""

_parts = attrgetter("parts")
_Place = tuple[int, str]
"""An intricate field: the index of its message or part, and its name."""


class Histories:
    """The histories of one recording's or replay's requests so far. Any thread may use it."""

    def __init__(self) -> None:
        self._known: dict[int, _History] = {}
        self._memory: codec.Memory = {}
        self._lock = threading.Lock()

    def encoded(self, messages: Sequence[Any]) -> codec.Items:
        """Each message, encoded as `message.encoded` does it."""
        if not messages:
            return codec.Items([])
        # A history is found by the id of its first message, which it keeps alive. One request at a time uses it;
        # another one at the same time begins a new history.
        key = id(messages[0])
        history = self._known.pop(key, None)
        if history is None:
            # Many histories have only one request: a history is cached from its second request on.
            reduce = one.Reducer()
            data = [one.encoded(message, reduce) for message in messages]
            items = codec.Items(data, rest=any(type(item) is not bytes for item in data), memory=self._memory)
            history = _History(messages[0])
        else:
            history.become(messages)
            items = codec.Items(history.data.copy(), rest=not history.whole, memory=self._memory)
        with self._lock:
            self._known[key] = history
            if len(self._known) > _MOST:
                del self._known[next(iter(self._known))]
        return items


_runs: WeakKeyDictionary[Run, Histories] = WeakKeyDictionary()


def of_run(run: Run) -> Histories:
    """Return the histories of a recording or replay, which all of its agents share."""
    return _runs.setdefault(run, Histories())


class _Message:
    """One message as it was when encoded: its data and its generated ids, in order.

    The copies of its fields are shallow: nested fields are in `odd`, as (index of the part, name), with -1 as the index
    of the message itself, and their bytes in `odds`. `kept` is True if the message can be recognised by all that.
    """

    __slots__ = ("data", "fields", "ids", "kept", "kind", "odd", "odds", "part_fields", "part_kinds")

    def __init__(self, message: Any, reduce: one.Reducer) -> None:
        # The copies first: a change by another thread during the encoding is then found the next time.
        copied = self._copied(message)
        reduce.named.clear()
        self.data = one.encoded(message, reduce)
        self.ids = tuple(reduce.named.items())
        self.kept = copied and type(self.data) is bytes

    def _copied(self, message: Any) -> bool:
        try:
            self.kind = type(message)
            parts = message.parts
            self.fields = {**vars(message), "parts": tuple(parts) if type(parts) is tuple else list(parts)}
            self.part_kinds = [type(part) for part in parts]
            self.part_fields = [dict(vars(part)) for part in parts]
            self.odd = [(-1, name) for name in one.intricate(message) if name != "parts"]
            self.odd += [(index, name) for index, part in enumerate(parts) for name in one.intricate(part)]
            self.odds = [one.verbatim(_field(message, *place)) for place in self.odd]
        except Exception:
            # A class of the program's own, or bytes, must be encoded each time.
            return False
        return True

    def holds(self, message: Any) -> bool:
        """Return True if that message still has all the data of this one."""
        try:
            parts = message.parts
            return (
                self.kept
                and type(message) is self.kind
                and vars(message) == self.fields
                and [*map(type, parts)] == self.part_kinds
                and [*map(vars, parts)] == self.part_fields
                and (
                    not self.odd or [one.verbatim(_field(message, *place)) for place in self.odd] == self.odds
                )
            )
        except Exception:
            # The field has another value now, which cannot be compared.
            return False


def _field(message: Any, index: int, name: str) -> Any:
    return getattr(message if index < 0 else message.parts[index], name)


class _History:
    """The messages of one request. All fields are in one list, for one comparison.

    Args:
        first: The first message, kept alive as long as this history.
    """

    def __init__(self, first: Any) -> None:
        self.first = first
        self._clear()

    def _clear(self) -> None:
        self.data: list[Any] = []
        self.whole = True
        """True if all data are bytes."""
        self._messages: list[_Message] = []
        self._ids: dict[str, str] = {}
        self._kept = True
        self._kinds: list[type] = []
        self._fields: list[dict[str, Any]] = []
        self._part_kinds: list[type] = []
        self._part_fields: list[dict[str, Any]] = []
        self._odd: list[_Place] = []
        self._part_odd: list[_Place] = []
        self._odds: list[bytes] = []
        self._part_odds: list[bytes] = []

    def become(self, messages: Sequence[Any]) -> None:
        """Replace the messages by these, which mostly begin as the last ones did."""
        if self._begins(messages):
            reduce = one.Reducer(self._ids)
            self._add([_Message(message, reduce) for message in messages[len(self.data) :]])
        else:
            reduce = one.Reducer()
            pairs = zip_longest(self._messages[: len(messages)], messages)
            found = [
                known if _holds(known, message, reduce) else _Message(message, reduce)
                for known, message in pairs
            ]
            self._clear()
            self._add(found)
        self._ids = reduce.ids

    def _begins(self, messages: Sequence[Any]) -> bool:
        """Return True if messages begin with all of these, unchanged."""
        if not self._kept or len(self.data) > len(messages):
            return False
        head = messages[: len(self.data)]
        try:
            fields = list(map(vars, head))
            parts = list(chain.from_iterable(map(_parts, head)))
            part_fields = list(map(vars, parts))
            return (
                fields == self._fields
                and part_fields == self._part_fields
                and list(map(type, head)) == self._kinds
                and list(map(type, parts)) == self._part_kinds
                and _still(fields, self._odd, self._odds)
                and _still(part_fields, self._part_odd, self._part_odds)
            )
        except Exception:
            return False

    def _add(self, messages: list[_Message]) -> None:
        self._messages += messages
        self.data += [message.data for message in messages]
        self.whole = self.whole and all(type(message.data) is bytes for message in messages)
        self._kept = self._kept and all(message.kept for message in messages)
        if not self._kept:
            return
        for number, message in enumerate(messages, len(self._fields)):
            before = len(self._part_fields)
            self._part_kinds += message.part_kinds
            self._part_fields += message.part_fields
            for (index, name), data in zip(message.odd, message.odds, strict=True) if message.odd else ():
                if index < 0:
                    self._odd.append((number, name))
                    self._odds.append(data)
                else:
                    self._part_odd.append((before + index, name))
                    self._part_odds.append(data)
        self._kinds += [message.kind for message in messages]
        self._fields += [message.fields for message in messages]


def _holds(known: _Message | None, message: Any, reduce: one.Reducer) -> bool:
    """Return True if a known message equals that one, with the same generated ids."""
    if known is None or not known.holds(message):
        return False
    return not known.ids or all(reduce.name(call) == name for call, name in known.ids)


def _still(fields: list[Any], odd: list[_Place], odds: list[bytes]) -> bool:
    """Return True if nested fields are encoded as before; at once if there are none."""
    if not odd:
        return True
    values = [fields[index][name] for index, name in odd]
    together = b"[" + b",".join(odds) + b"]"
    if b"$" not in together:
        return one.verbatim(values) == together
    return [one.verbatim(value) for value in values] == odds
