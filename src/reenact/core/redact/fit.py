"""Hits are moved a little, so that JSON stays JSON when they are replaced."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter

from reenact.core.redact.text import Hit, slashes

_STRING = re.compile(rb'"((?:[^"\\]++|\\.)*+)(?:"|\\?\Z)', re.DOTALL)  # one that breaks off is one, too
_UNICODE_ESCAPE = re.compile(rb"\\u[0-9a-fA-F]{0,3}\Z")
_NUMBER = re.compile(rb"[0-9.+\-eE]+")
_OF_NUMBERS = b"0123456789.+-eE"


class Strings:
    """The positions of the strings in a JSON text, read once on first use."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._spans: list[tuple[int, int]] | None = None

    def after(self, at: int) -> tuple[int, int] | None:
        """The insides of the first string that does not end before this place."""
        if self._spans is None:
            self._spans = [found.span(1) for found in _STRING.finditer(self._data)]
        number = bisect_right(self._spans, at, key=itemgetter(1))
        return self._spans[number] if number < len(self._spans) else None


def fit(data: bytes, hit: Hit, strings: Strings) -> Hit:
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
    return Hit(start, _fit_end(data, start, hit.end), hit.value)


def _cut_escape(data: bytes, at: int, least: int) -> int | None:
    r"""Return the start of a \uXXXX that a cut at this place would divide."""
    cut = _UNICODE_ESCAPE.search(data, max(least, at - 5), at)
    return cut.start() if cut and slashes(data, cut.start()) % 2 == 0 else None


def _fit_end(data: bytes, start: int, end: int) -> int:
    if slashes(data, end) % 2:
        return end + (5 if data[end : end + 1] == b"u" else 1)
    cut = _cut_escape(data, end, start)
    return end if cut is None else cut + 6


def _fit_token(data: bytes, hit: Hit, strings: Strings) -> Hit:
    """Fit a hit that may cross quotes or stand outside of them: walk the strings. Slow."""
    string = strings.after(hit.start)
    if string and string[0] < hit.end:
        first, last = string
        start, end = max(hit.start, first), min(hit.end, last)
        if b'"' not in data[start:end]:
            return fit(data, Hit(start, end, hit.value), strings)
        return Hit(start - slashes(data, start) % 2, min(_fit_end(data, start, end), last), hit.value)
    start = hit.start
    while start and data[start - 1] in _OF_NUMBERS:
        start -= 1
    number = _NUMBER.match(data, start)
    return Hit(start, number.end(), hit.value, b'"') if number else Hit(hit.start, hit.start, "")
