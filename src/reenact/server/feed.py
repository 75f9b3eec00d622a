"""What happens, as it happens, to whoever listens: each thing by its key, only its newest state kept."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_KEPT = 4096


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened: its number, what it is (`recording`, `gone`, `job`), and of which thing it speaks.

    `tell` makes its data when it is sent: who was away gets the newest state once.
    """

    number: int
    kind: str
    key: str
    tell: Callable[[], Any]


class Feed:
    """One project's news. May be used from any thread."""

    def __init__(self) -> None:
        self.epoch = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._number = 0
        self._news: OrderedDict[tuple[str, str], News] = OrderedDict()
        self._forgotten = 0
        self._listeners: set[Callable[[], None]] = set()

    def say(self, kind: str, key: str, tell: Callable[[], Any]) -> None:
        """Tell that a thing is new or has changed.

        Args:
            kind: `recording`, `gone`, `job`.
            key: Its id; what was said before of the same kind and key is forgotten.
            tell: Gives its data, as JSON has it; called once for each who listens.
        """
        with self._lock:
            self._number += 1
            self._news[kind, key] = News(self._number, kind, key, tell)
            self._news.move_to_end((kind, key))
            if len(self._news) > _KEPT:
                _, oldest = self._news.popitem(last=False)
                self._forgotten = oldest.number
            listeners = list(self._listeners)
        for wake in listeners:
            wake()

    @property
    def place(self) -> str:
        """Where it stands: what `Last-Event-ID` brings back."""
        return f"{self.epoch}-{self._number}"

    def since(self, number: int) -> list[News] | None:
        """What happened after that number, in order, or None where that is not known any more."""
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
        """The number that a `Last-Event-ID` means, or None where it is of another run of the server, or nonsense."""
        epoch, _, number = place.partition("-")
        if epoch != self.epoch or not number.isdigit() or len(number) > 15:
            return None
        return int(number)

    @property
    def number(self) -> int:
        """The number of what happened last."""
        return self._number

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Have that called at each news, from any thread; returns what ends it."""
        with self._lock:
            self._listeners.add(wake)
        return lambda: self._listeners.discard(wake)
