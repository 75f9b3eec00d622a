"""Declared state: one entry for each piece, and the entries of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from reenact.core.model.event import Tree

NEVER = float("inf")

Put: TypeAlias = Callable[[Tree, Callable[[str], None]], None]


class Gone(Exception):
    """The object no longer exists."""


class Entry:
    """One declared piece of state.

    Args:
        name: Its name in the recording.
        get: Returns the value, or raises `Gone`.
        put: Puts a recorded tree back; calls its second argument with a text for each part that is not available.
        every: The number of steps between snapshots; None: as the recording has it.
        quiet: Declared by an adapter, not by the user: parts that cannot be kept cause no warning.
    """

    def __init__(
        self, name: str, get: Callable[[], Any], put: Put, *, every: int | None = None, quiet: bool = False
    ) -> None:
        self.name = name
        self.get = get
        self.put = put
        self.every = every
        self.quiet = quiet
        self.there: Callable[[], bool] = lambda: True
        """Returns True while the object lives."""


class TrackedState:
    """The tracked state of one run.

    Args:
        entries: What the process has declared outside of any run.

    Attributes:
        due: The number of the call before which an entry is to be looked at next.
        pending: States to put back as soon as an entry of that name is tracked: a run that resumes.
    """

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = dict(entries)
        self.due: float = 0 if self.entries else NEVER
        self.pending: dict[str, Tree] = {}

    def add(self, entry: Entry) -> None:
        """Track an entry, in place of an earlier one of the same name."""
        known = self.entries.get(entry.name)
        self.entries[entry.name] = entry
        self.due = 0
        pending = self.pending.pop(entry.name, None)
        if pending is not None and not (known is not None and known.there() and known.get() is entry.get()):
            entry.put(pending, _ignore_lost)

    def drop(self, entry: Entry) -> None:
        """Stop tracking an entry."""
        if self.entries.get(entry.name) is entry:
            del self.entries[entry.name]


def _ignore_lost(what: str) -> None:
    """Ignore a part that is not in the recording: it stays as the program has just made it."""
