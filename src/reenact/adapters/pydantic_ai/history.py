"""Long histories, each message encoded once.

A chat's whole history goes with every request, and most of it went with the one before. Whether a message is still
the one that was encoded is looked at each time, for programs may change messages in place: all of its fields are
compared with copies that were taken of them. Python does that in C, and texts by identity first: a history of 1 MB
takes a few dozen microseconds. What such a comparison does not see (the inside of containers; numbers, since to
Python 1, 1.0 and True are equal) is encoded again and compared as bytes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

from reenact.adapters.pydantic_ai import message as one
from reenact.boundary import Run
from reenact.model import codec

_MOST = 32
"""So many histories are known at once; an agent's run asks with one, or with a few."""

_parts = attrgetter("parts")
_Place = tuple[int, str]
"""An intricate field: the index of its message or part, and its name."""


class Histories:
    """The histories that the requests of one recording or replay have had so far. Any thread may use it."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, _History] = OrderedDict()
        self._lock = threading.Lock()

    def encoded(self, messages: Sequence[Any]) -> codec.Items:
        """Each message, encoded as `message.encoded` does it."""
        if not messages:
            return codec.Items([])
        # A history is known again by its first message, which it holds: while it does, the id is nobody else's.
        key = id(messages[0])
        with self._lock:
            known = self._known.get(key)
        history = (known or _History(messages[0])).grown(messages)
        with self._lock:
            self._known[key] = history
            self._known.move_to_end(key)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return codec.Items(history.data, rest=not history.whole)


_runs: WeakKeyDictionary[Run, Histories] = WeakKeyDictionary()


def of_run(run: Run) -> Histories:
    """The histories of a recording or replay under way, which its agents hand on to each other."""
    return _runs.setdefault(run, Histories())


class _Message:
    """One message as it was when it was encoded: its data and the ids that were made up in it, in order.

    The copies of its fields are shallow: what lies deeper is in `odd`, as (index of the part, name), the index -1
    for the message itself, with its bytes in `odds`. `kept` is whether it can be known again by all that.
    """

    __slots__ = ("data", "fields", "ids", "kept", "kind", "odd", "odds", "part_fields", "part_kinds")

    def __init__(self, message: Any, reduce: one.Reducer) -> None:
        # The copies first: what another thread changes meanwhile is seen to have changed the next time.
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
            # A class of the program's own, or bytes, which have to be encoded each time.
            return False
        return True

    def holds(self, message: Any, reduce: one.Reducer) -> bool:
        """Whether that message, where it stands now, would be encoded just so."""
        try:
            return (
                self.kept
                and type(message) is self.kind
                and vars(message) == self.fields
                and [type(part) for part in message.parts] == self.part_kinds
                and [vars(part) for part in message.parts] == self.part_fields
                and [one.verbatim(_field(message, *place)) for place in self.odd] == self.odds
                and all(reduce.name(call) == name for call, name in self.ids)
            )
        except Exception:
            # Something else stands there now, which cannot even be compared.
            return False


def _field(message: Any, index: int, name: str) -> Any:
    return getattr(message if index < 0 else message.parts[index], name)


class _History:
    """The messages of one request, the fields of all of them side by side: thus they are compared at once."""

    def __init__(self, first: Any) -> None:
        self.first = first
        self.data: list[Any] = []
        self._messages: list[_Message] = []
        self._ids: dict[str, str] = {}
        self.whole = True
        """Whether all data are bytes."""
        self._kept = True
        self._kinds: list[type] = []
        self._fields: list[dict[str, Any]] = []
        self._part_kinds: list[type] = []
        self._part_fields: list[dict[str, Any]] = []
        self._odd: list[_Place] = []
        self._part_odd: list[_Place] = []
        self._odds: list[bytes] = []
        self._part_odds: list[bytes] = []

    def grown(self, messages: Sequence[Any]) -> _History:
        """The history of these messages, which mostly begin as this one does. This one stays what it is."""
        same = self._begins(messages)
        history = self._copy() if same else _History(self.first)
        reduce = one.Reducer(history._ids)
        for index in range(len(history.data), len(messages)):
            message = messages[index]
            known = self._messages[index] if index < len(self._messages) else None
            if known is None or not known.holds(message, reduce):
                known = _Message(message, reduce)
            history._add(known)
        history._ids = reduce.ids
        return history

    def _begins(self, messages: Sequence[Any]) -> bool:
        """Whether messages begin with all of these, unchanged."""
        if not self._kept or len(self._messages) > len(messages):
            return False
        head = messages[: len(self._messages)]
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

    def _copy(self) -> _History:
        copy = _History(self.first)
        for name, value in vars(self).items():
            if type(value) is list:
                setattr(copy, name, value.copy())
        # Only where all are kept is one copied: `whole` and `kept` are as in a new one.
        copy._ids = self._ids
        return copy

    def _add(self, message: _Message) -> None:
        self.data.append(message.data)
        self.whole = self.whole and type(message.data) is bytes
        self._messages.append(message)
        if not (message.kept and self._kept):
            self._kept = False
            return
        for (index, name), data in zip(message.odd, message.odds, strict=True):
            odd, odds = (self._odd, self._odds) if index < 0 else (self._part_odd, self._part_odds)
            odd.append((len(self._fields) if index < 0 else len(self._part_fields) + index, name))
            odds.append(data)
        self._kinds.append(message.kind)
        self._fields.append(message.fields)
        self._part_kinds += message.part_kinds
        self._part_fields += message.part_fields


def _still(fields: list[dict[str, Any]], odd: list[_Place], odds: list[bytes]) -> bool:
    """Whether intricate fields are encoded as they were: all at once."""
    if not odd:
        return True
    return one.verbatim([fields[index][name] for index, name in odd]) == b"[" + b",".join(odds) + b"]"
