"""A project's recordings, as the routes ask for them: the store, and what is kept in memory to answer at once."""

from __future__ import annotations

from pathlib import Path

from reenact.store.local import LocalStore


class Library:
    """The recordings of one project.

    Args:
        home: Its folder.
    """

    def __init__(self, home: Path) -> None:
        self.store = LocalStore(home)
