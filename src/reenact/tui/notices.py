"""The driver's notices, from any thread, as messages of the application."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.message import Message


class Changed(Message):
    """The session has changed its state, or the program has written output."""


class Heard:
    """Post the driver's notices, from any thread, to the application once it exists."""

    def __init__(self) -> None:
        self.app: App[Any] | None = None
        self.waiting = False

    def __call__(self) -> None:
        if self.app is not None and not self.waiting:
            # One message stands for all changes until it is read, because a program may write very many lines.
            self.waiting = True
            self.app.post_message(Changed())
