"""Bodies that arrive chunk by chunk."""

from __future__ import annotations

import codecs

from reenact.core.redact.events import Events, is_events, may_be_events
from reenact.core.redact.pieces import Pieces
from reenact.core.redact.replace import Replacer
from reenact.core.redact.text import is_json
from reenact.core.redact.wide import may_be_wide, wide_encoding

_TELLS = 8  # bytes that tell a wide encoding
_SAMPLE = 64  # bytes of the beginning in which one shows


class StreamRedactor:
    """Redacts one body chunk by chunk; the result of `chunk` can be written at once.

    Where a chunk ends within what may be a secret, that part is left out, and nothing else. The next chunk
    decides: the token is written where the secret ends, or, if it was none, the text that was left out. So
    all chunks together read like the whole body redacted at once (except for a split within the first characters of
    a secret: one character of a prefix, or three of a known value, may be written before it is recognised). `end`
    gives the text that the last chunk left out; without it the last word of a body may be lost. Of a body that may be
    in UTF-16 or UTF-32 the first eight bytes come together. Made by `Redactor.stream`.
    """

    def __init__(self, replacer: Replacer) -> None:
        self._text: _PlainText | _WideText = _PlainText(replacer)
        self._replacer = replacer
        self._head: bytes | None = b""
        """The beginning, until its encoding is known."""
        self._out = 0
        """Bytes of the beginning that were passed on."""

    def chunk(self, data: bytes) -> bytes:
        """Return the redacted chunk, to be written now."""
        if self._head is not None:
            data = self._begun(self._head + data)
        return self._text.chunk(data) if data else b""

    def end(self) -> bytes:
        """Return the text held back at the end: empty unless a body ends in a possible secret."""
        held = self._head[self._out :] if self._head else b""
        self._head = None
        return (self._text.chunk(held) if held else b"") + self._text.end()

    @property
    def pending(self) -> bool:
        """Return True if some text is held back."""
        return bool(self._head and len(self._head) > self._out) or self._text.pending

    def _begun(self, head: bytes) -> bytes:
        """Return the bytes that may be looked at now: none while the encoding may be a wide one."""
        wide = may_be_wide(head)
        if wide and len(head) < _TELLS:
            self._head = head
            return b""
        data = head[self._out :]
        if wide and (encoding := wide_encoding(head)):
            self._text = _WideText(self._replacer, encoding, head[: self._out])
            data = head
        self._out = len(head)
        self._head = head if not wide and len(head) < _SAMPLE else None
        return data


class _PlainText:
    """A body in UTF-8, or of bytes."""

    def __init__(self, replacer: Replacer) -> None:
        self._replacer = replacer
        self._pieces = Pieces(replacer)
        self._events: Events | None = None
        self._first = b""
        """The beginning, until it shows if the body consists of events."""
        self._begun = False

    def chunk(self, data: bytes) -> bytes:
        if not self._begun and (self._first or data.strip()):
            data = self._first + data
            self._first = data if may_be_events(data) else b""
            if self._first:
                return b""
            self._begun, self._pieces.json = True, is_json(data)
            self._events = Events(self._replacer) if is_events(data) else None
        return self._pieces.feed(self._events.chunk(data) if self._events else data)

    def end(self) -> bytes:
        return self._pieces.end(self._first + (self._events.end() if self._events else b""))

    @property
    def pending(self) -> bool:
        return bool(self._first) or self._pieces.pending


class _WideText:
    """A body in UTF-16 or UTF-32, looked at in UTF-8.

    Args:
        replacer: Finds the secrets.
        encoding: The body's encoding, with its byte order.
        out: Bytes at its beginning that were passed on before the encoding was known.
    """

    def __init__(self, replacer: Replacer, encoding: str, out: bytes) -> None:
        self._text = _PlainText(replacer)
        self._encoding, self._out = encoding, out
        self._wide = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._narrow = codecs.getincrementaldecoder("utf-8")("surrogatepass")
        self._broken = False

    def chunk(self, data: bytes) -> bytes:
        if self._broken:
            return self._text.chunk(data)
        held = self._wide.getstate()[0]
        try:
            text = self._wide.decode(data)
        except UnicodeDecodeError:
            # The rest is no text in that encoding: it is looked at as bytes, as a whole body is.
            before = self._encoded(self._text.end())
            self._broken = True
            return before + self._text.chunk(held + data)
        return self._encoded(self._text.chunk(text.encode("utf-8", "surrogatepass")))

    def end(self) -> bytes:
        if self._broken:
            return self._text.end()
        return self._encoded(self._text.end()) + self._wide.getstate()[0]

    @property
    def pending(self) -> bool:
        return self._text.pending or bool(self._wide.getstate()[0])

    def _encoded(self, data: bytes) -> bytes:
        encoded = self._narrow.decode(data).encode(self._encoding, "surrogatepass")
        if encoded and self._out:
            encoded, self._out = encoded.removeprefix(self._out), b""
        return encoded
