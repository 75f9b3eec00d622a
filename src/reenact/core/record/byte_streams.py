"""The chunks of streams of bytes, as lines of a recording without secrets."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from reenact.core.model import codec
from reenact.core.redact import Redactor, StreamRedactor

CHUNK = b'{"event":"chunk","call":%d,"value":%b,"t":%.6f}'
_TEXT = b'{"event":"chunk","call":%d,"value":{"$utf8":%b},"t":%.6f}'


class ByteStreams:
    """Removes the secrets from the bytes of each stream, also those that span two chunks.

    Args:
        redactor: Knows the secrets.
        blob: Keeps large values, and returns their addresses.
    """

    def __init__(self, redactor: Redactor, blob: Callable[[bytes], str]) -> None:
        self._redactor = redactor
        self._blob = blob
        self._streams: dict[int, StreamRedactor] = {}

    def chunk(self, call: int, data: bytes, now: float) -> bytes:
        """Return the line of the next chunk of a call."""
        stream = self._streams.get(call)
        if stream is None:
            stream = self._streams[call] = self._redactor.stream()
        return self._line(call, stream.chunk(data), now)

    def end(self, call: int, now: float) -> bytes:
        """Return the line of the bytes that were held back, if any.

        They might have been the beginning of a secret.
        """
        stream = self._streams.pop(call, None)
        rest = b"" if stream is None else stream.end()
        return self._line(call, rest, now) if rest else b""

    def _line(self, call: int, data: bytes, now: float) -> bytes:
        try:
            return _TEXT % (call, orjson.dumps(data.decode()), now)
        except UnicodeDecodeError:
            return CHUNK % (call, codec.dumps(codec.Encoder(blob=self._blob).encode(data)), now)
