"""Bodies that arrive chunk by chunk."""

from __future__ import annotations

from reenact.core.redact.events import Events, is_events
from reenact.core.redact.pieces import Pieces
from reenact.core.redact.replace import Replacer
from reenact.core.redact.text import is_json


class StreamRedactor:
    """Redacts one body chunk by chunk; the result of `chunk` can be written at once.

    Where a chunk ends within what may be a secret, that part is left out, and nothing else. The next chunk
    decides: the token is written where the secret ends, or, if it was none, the text that was left out. So
    all chunks together read like the whole body redacted at once (but for a split within the first characters of
    a secret: one of a prefix, three of a known value may be out before anything can be told from them). `end`
    gives the text that the last chunk left out; without it the last word of a body may be lost. Made by
    `Redactor.stream`.
    """

    def __init__(self, replacer: Replacer) -> None:
        self._replacer = replacer
        self._pieces = Pieces(replacer)
        self._events: Events | None = None
        self._begun = False

    def chunk(self, data: bytes) -> bytes:
        """The chunk, redacted, to be written now."""
        if not self._begun and data.strip():
            self._begun, self._pieces.json = True, is_json(data)
            self._events = Events(self._replacer) if is_events(data) else None
        return self._pieces.feed(self._events.chunk(data) if self._events else data)

    def end(self) -> bytes:
        """Return the text held back at the end: empty unless a body ends in a possible secret."""
        return self._pieces.end(self._events.end() if self._events else b"")

    @property
    def pending(self) -> bool:
        """Return True if some text is held back."""
        return self._pieces.pending
