"""Events of a project for listeners; of each item only the last one is kept."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_KEPT = 4096


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """An event: its number, its kind (`recording`, `gone`, `job`), and the key of its item.

    `tell` makes the data when it is sent, so a listener that was away gets only the newest state.
    """

    number: int
    kind: str
    key: str
    tell: Callable[[], Any]


class Feed:
    """One project's events. May be used from any thread."""

    def __init__(self) -> None:
        self.epoch = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._number = 0
        self._news: OrderedDict[tuple[str, str], FeedEvent] = OrderedDict()
        self._forgotten = 0
        self._listeners: set[Callable[[], None]] = set()

    def say(self, kind: str, key: str, tell: Callable[[], Any]) -> None:
        """Announce that an item is new or has changed.

        Args:
            kind: `recording`, `gone`, `job`.
            key: Its id; it replaces an earlier event of the same kind and key.
            tell: Returns its data as JSON values; called once for each listener.
        """
        with self._lock:
            self._number += 1
            self._news[kind, key] = FeedEvent(self._number, kind, key, tell)
            self._news.move_to_end((kind, key))
            if len(self._news) > _KEPT:
                _, oldest = self._news.popitem(last=False)
                self._forgotten = oldest.number
            listeners = list(self._listeners)
        for wake in listeners:
            wake()

    @property
    def place(self) -> str:
        """The current position, in the form of `Last-Event-ID`."""
        return f"{self.epoch}-{self._number}"

    def since(self, number: int) -> list[FeedEvent] | None:
        """Return the events after a number, in order, or None if some of them are lost."""
        with self._lock:
            if not self._forgotten <= number <= self._number:
                return None
            found = []
            for news in reversed(self._news.values()):
                if news.number <= number:
                    break
                found.append(news)
        return found[::-1]

    def number_of(self, place: str) -> int | None:
        """Return the number in a `Last-Event-ID`.

        None for an id of another run of the server, or an invalid one.
        """
        epoch, _, number = place.partition("-")
        if epoch != self.epoch or not number.isdigit() or len(number) > 15:
            return None
        return int(number)

    @property
    def number(self) -> int:
        """The number of the last event."""
        return self._number

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call a function at each event, from any thread; return a function that ends this."""
        with self._lock:
            self._listeners.add(wake)
        return lambda: self._listeners.discard(wake)
