"""Bytes as recordings hold them: base64, in which a secret cannot be replaced as in text."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable

from reenact.core.patterns import lazy

_BYTES = lazy(rb'"\$bytes":"([A-Za-z0-9+/=]++)"')


class PackedBytes:
    """The base64 of the bytes in a line.

    It may look like a key by chance, so only a secret in the bytes counts.

    Args:
        data: The line.
        clean: Redacts bytes.
    """

    def __init__(self, data: bytes, clean: Callable[[bytes], bytes]) -> None:
        self._data, self._clean = data, clean
        self._spans = [match.span(1) for match in _BYTES.finditer(data)] if b'"$bytes"' in data else []

    def around(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the place of the base64 that has this part of the line; None if it is no base64."""
        number = bisect_right(self._spans, (start, len(self._data))) - 1
        if number < 0 or end > self._spans[number][1]:
            return None
        return self._spans[number]

    def redacted(self, start: int, end: int) -> bytes:
        """Return the base64 at this place for the redacted bytes; the same if they have no secret."""
        text = self._data[start:end]
        try:
            found = base64.b64decode(text, validate=True)
        except binascii.Error:
            return text
        clean = self._clean(found)
        return text if clean == found else base64.b64encode(clean)
