"""The line and column of each key and value in a TOML text.

`tomllib` gives the values without their places. This reads a text that `tomllib` has accepted, so it checks nothing: it
finds where keys and values begin, and skips over the rest. The paths that it finds are those of `tomllib`'s tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

from reenact.core.patterns import lazy

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys, and positions in arrays, from the top of the document."""

_BLANK = lazy(r"[ \t]*")
_GAP = lazy(r"(?:[ \t\r\n]|#[^\n]*)*")
_LINE_END = lazy(r"[^\n]*")
_BARE_KEY = lazy(r"""[^\s.=\]"'#]+""")
_STRING = lazy(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_PLAIN = lazy(r"[^,\]}#\n]*")


@dataclass(frozen=True, slots=True, order=True)
class TextPosition:
    """A place in a text; both numbers begin with 1."""

    line: int
    column: int


class Positions:
    """The places of all keys and values of a TOML text.

    Args:
        text: A text that `tomllib` reads.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._keys: dict[KeyPath, int] = {}
        self._values: dict[KeyPath, int] = {}
        self._counts: dict[KeyPath, int] = {}
        self._document()

    @property
    def paths(self) -> set[KeyPath]:
        """The paths of all keys and array items."""
        return {*self._keys, *self._values}

    def key(self, path: KeyPath) -> TextPosition:
        """Return the place of a key, or of the nearest key above it in the text."""
        while path and path not in self._keys:
            if path in self._values:
                return self._position(self._values[path])
            path = path[:-1]
        return self._position(self._keys.get(path, 0))

    def value(self, path: KeyPath) -> TextPosition:
        """Return the place of a value; of a table, that of its key."""
        return self._position(self._values[path]) if path in self._values else self.key(path)

    def _position(self, offset: int) -> TextPosition:
        line_start = self._text.rfind("\n", 0, offset) + 1
        return TextPosition(self._text.count("\n", 0, offset) + 1, offset - line_start + 1)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found.group()

    def _document(self) -> None:
        table: KeyPath = ()
        self._skip(_GAP)
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_GAP)

    def _header(self) -> KeyPath:
        """Read the header of a table; return the table's path."""
        many = self._text.startswith("[[", self._at)
        self._at += 2 if many else 1
        path: KeyPath = ()
        parts = self._key()
        for number, (offset, part) in enumerate(parts, 1):
            path = (*path, part)
            self._keys.setdefault(path, offset)
            if many and number == len(parts):
                self._counts[path] = self._counts.get(path, 0) + 1
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
                self._keys.setdefault(path, offset)
        self._skip(_LINE_END)
        return path

    def _pair(self, table: KeyPath) -> None:
        """Read one `key = value`."""
        path = table
        for offset, part in self._key():
            path = (*path, part)
            self._keys.setdefault(path, offset)
        self._at += 1  # the equals sign
        self._skip(_BLANK)
        self._value(path)

    def _key(self) -> list[tuple[int, str]]:
        """Read a dotted key: each part with its place."""
        parts: list[tuple[int, str]] = []
        while True:
            self._skip(_BLANK)
            offset = self._at
            if quoted := self._skip(_STRING):
                tomllib = import_module("tomllib")  # most programs under Reenact have no such file
                parts.append((offset, tomllib.loads(f"key = {quoted}")["key"]))
            else:
                parts.append((offset, self._skip(_BARE_KEY)))
            self._skip(_BLANK)
            if not self._text.startswith(".", self._at):
                return parts
            self._at += 1

    def _value(self, path: KeyPath) -> None:
        self._values[path] = self._at
        opening = self._text[self._at : self._at + 1]
        if opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline_table(path)
        elif not self._skip(_STRING):
            self._skip(_PLAIN)

    def _array(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while not self._ends("]"):
            self._value((*path, index))
            index += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while not self._ends("}"):
            self._pair(path)

    def _ends(self, closing: str) -> bool:
        """Skip to the next item; return True after the closing bracket."""
        self._skip(_GAP)
        if self._text.startswith(",", self._at):
            self._at += 1
            self._skip(_GAP)
        if self._at >= len(self._text) or self._text[self._at] == closing:
            self._at += 1
            return True
        return False
