"""A bound on the work of one redaction, whatever the text."""

from __future__ import annotations

from typing import Any

LEAST = 4096  # looks that any text may cost, however short it is
BYTES_A_LOOK = 128
LOOKS_A_HIT = 4  # the cost of replacing one secret, in looks
_BYTES_READ = 160  # bytes of a value that are read in the time of one look


class TooDense(Exception):
    """The text has too many places to look at for its length."""


class Work:
    """The looks that a text of that length may cost: in proportion to its length.

    A text of everyday use needs a small part of them. A text that was made to be expensive (`sk-` a hundred
    thousand times) needs more: `TooDense` then ends the looking, and such a text is replaced as a whole.
    """

    __slots__ = ("closes", "escapes", "left", "read_to", "tag", "word")

    def __init__(self, length: int, *, least: int = LEAST) -> None:
        self.left: float = least + length / BYTES_A_LOOK
        self.closes: dict[tuple[int, int], tuple[int, int | None]] = {}
        """The last string of each kind whose end was found: the search's start, the string's end."""
        self.escapes = True
        """False if the last text is known to have no escape that begins with a backslash."""
        self.tag = -1
        """The start of the last tag that was read."""
        self.read_to: dict[str, int] = {}
        """The end of the read arguments of each command, and of cookie lists."""

        self.word: tuple[int, Any] = (-1, None)
        """The last name that was read, by its end."""

    def begin(self) -> None:
        """Forget the places of a text: another one is looked at."""
        self.closes.clear()
        self.read_to.clear()
        self.tag = -1
        self.word = (-1, None)

    def spend(self, looks: float) -> None:
        """Count that many looks.

        Raises:
            TooDense: There are none left.
        """
        self.left -= looks
        if self.left < 0:
            raise TooDense

    def read(self, length: int) -> None:
        """Count the reading of a value of that many bytes."""
        self.spend(length / _BYTES_READ)
