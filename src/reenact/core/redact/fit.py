"""Move hits so that JSON stays valid when they are replaced."""

from __future__ import annotations

from reenact.core.patterns import lazy
from reenact.core.redact.text import FoundSecret, slashes

_UNICODE_ESCAPE = lazy(rb"\\u[0-9a-fA-F]{0,3}\Z")
_NUMBER = lazy(rb"[0-9.+\-eE]+")
_OF_NUMBERS = b"0123456789.+-eE"


class Strings:
    """The strings in a JSON text, asked for in the order of the text."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._text: bytes | None = None
        self._span: tuple[int, int] = (0, -1)
        self._asked = 0

    def after(self, at: int) -> tuple[int, int] | None:
        """Return the inside of the first string that does not end before this place."""
        if self._text is None:  # without escaped quotes, at the same length
            self._text = self._data.replace(rb"\\", b"__").replace(rb"\"", b"__")
        if at < self._asked:
            self._span = (0, -1)
        self._asked = at
        if self._span[1] <= at:
            begin = self._span[1] + 1  # outside of any string
            within = self._text.count(b'"', begin, at) % 2
            quote = self._text.rfind(b'"', begin, at) if within else self._text.find(b'"', max(begin, at))
            self._span = self._string(quote)
            if self._span[1] <= at:
                self._span = self._string(self._text.find(b'"', at + 1))
        return self._span if self._span[0] <= len(self._data) else None

    def _string(self, quote: int) -> tuple[int, int]:
        """Return the inside of the string that this quote opens; beyond the text if there is none."""
        text = self._text or b""
        if quote < 0:
            return len(text) + 1, len(text) + 1
        end = text.find(b'"', quote + 1)
        return quote + 1, end if end >= 0 else len(text) - text.endswith(b"\\")


def fit(data: bytes, hit: FoundSecret, strings: Strings) -> FoundSecret:
    """Move a hit so that JSON stays valid: it cuts no escape and spans one string or number."""
    if hit.quote:
        return hit
    text = data[hit.start : hit.end]
    if b'"' in text or (hit.whole and not text.strip(_OF_NUMBERS)):
        return _fit_token(data, hit, strings)
    start = hit.start
    if slashes(data, start) % 2:
        start -= 1
    elif (cut := _cut_escape(data, start, 0)) is not None:
        start = cut
    return FoundSecret(start, _fit_end(data, start, hit.end), hit.value)


def _cut_escape(data: bytes, at: int, least: int) -> int | None:
    r"""Return the start of a \uXXXX that a cut at this place would divide."""
    cut = _UNICODE_ESCAPE.search(data, max(least, at - 5), at)
    return cut.start() if cut and slashes(data, cut.start()) % 2 == 0 else None


def _fit_end(data: bytes, start: int, end: int) -> int:
    if slashes(data, end) % 2:
        return end + (5 if data[end : end + 1] == b"u" else 1)
    cut = _cut_escape(data, end, start)
    return end if cut is None else cut + 6


def _fit_token(data: bytes, hit: FoundSecret, strings: Strings) -> FoundSecret:
    """Fit a hit that may cross quotes or stand outside of them: walk the strings. Slow."""
    string = strings.after(hit.start)
    if string and string[0] < hit.end:
        first, last = string
        start, end = max(hit.start, first), min(hit.end, last)
        if b'"' not in data[start:end]:
            return fit(data, FoundSecret(start, end, hit.value), strings)
        return FoundSecret(start - slashes(data, start) % 2, min(_fit_end(data, start, end), last), hit.value)
    start = hit.start
    while start and data[start - 1] in _OF_NUMBERS:
        start -= 1
    number = _NUMBER.match(data, start)
    return (
        FoundSecret(start, number.end(), hit.value, b'"') if number else FoundSecret(hit.start, hit.start, "")
    )
