r"""Texts with their escapes decoded: `pass\u0077ord`, `pass%77ord`, `&quot;password&quot;`.

No encoder escapes a letter that needs no escape, so most texts have no such view. In a view the usual rules find what
the escapes hide, and its positions lead back to the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from reenact.core.patterns import lazy
from reenact.core.redact.text import FoundSecret
from reenact.core.redact.work import TooDense, Work

_MOST_ROUNDS = 3  # `%2570` is `%70` is `p`
_LOOKS_AN_ESCAPE = 1.3  # what decoding one run of escapes costs, in looks
_ENTITIES = {b"quot": b'"', b"apos": b"'", b"amp": b"&", b"lt": b"<", b"gt": b">"}
# It begins with one of three characters, for which `re` searches fast.
_ESCAPE = lazy(
    rb"[%\\&](?:(?P<percent>(?<=%)[2-7][0-9a-fA-F](?:%[2-7][0-9a-fA-F])*+)"
    rb"|(?P<unicode>(?<=\\)(?<!\\\\)u00(?!22|5[cC])[2-7][0-9a-fA-F](?:\\u00(?!22|5[cC])[2-7][0-9a-fA-F])*+)"
    rb"|(?<=\\)(?P<slashes>\\*+)(?:u00|x)(?P<code>[2-7][0-9a-fA-F])"
    rb"|(?<=&)(?:(?P<entity>quot|apos|amp|lt|gt)|\#0{0,4}(?P<decimal>[0-9]{2,3})"
    rb"|\#[xX]0{0,4}(?P<hex>[2-7][0-9a-fA-F]));)"
)
# Characters that names, shapes and their delimiters are made of. Those that encoders must escape (`%2F`, `%20`,
# `\u00fc`, `\u003c`) ask for no view by themselves.
_LETTER = rb"2[dDeE]|3[0-9]|4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aA]"
_PERCENT = lazy(rb"%(?:22|25|26|27|3[aAdDfF]|5[bB]|" + _LETTER + rb")")
_BACKSLASH = lazy(rb"\\(?:u00|x)(?:22|27|3[aAdD]|" + _LETTER + rb")")
_REFERENCE = lazy(rb"&(?:quot|apos|\#0{0,4}[0-9]{2,3}|\#[xX]0{0,4}[2-7][0-9a-fA-F]);")
_QUOTED_KEY = lazy(rb"[\"']\s*:\s*\Z")
ESCAPES = (r"\u00", r"\x")
"""The beginnings of escapes with a backslash.

They are looked for with the marks of secrets, in one scan.
"""


def views(data: bytes, work: Work) -> Iterator[DecodedBytes]:
    """Yield the text with its escapes decoded once, twice and three times, while it has any.

    Raises:
        TooDense: There are more escapes than `work` allows.
    """
    view = None
    for _ in range(_MOST_ROUNDS):
        if not _is_escaped(data, backslashes=work.escapes):
            return
        view = DecodedBytes(data, work, view)
        data = view.data
        yield view


def _is_escaped(data: bytes, *, backslashes: bool) -> bool:
    return (
        (b"%" in data and _PERCENT.search(data) is not None)
        or (backslashes and _BACKSLASH.search(data) is not None)
        or (b"&" in data and _REFERENCE.search(data) is not None)
    )


class DecodedBytes:
    """A text with its escapes decoded.

    Attributes:
        data: The decoded text.
    """

    __slots__ = ("_base", "_begins", "_runs", "_source", "data")

    def __init__(self, source: bytes, work: Work, base: DecodedBytes | None) -> None:
        self._source, self._base = source, base
        self._begins: list[int] = []  # of each run of escapes, in the view
        self._runs: list[tuple[int, int, int]] = []  # start and end in the source, and the length in the view
        out: list[bytes] = []
        known: dict[bytes, bytes | None] = {}
        at = length = count = 0
        most = work.left / _LOOKS_AN_ESCAPE
        for count, found in enumerate(_ESCAPE.finditer(source), 1):
            if count > most:
                raise TooDense
            start, end = found.span()
            run = found[0]
            text = known[run] if run in known else known.setdefault(run, _decode(found))
            if text is None:
                continue
            length += start - at
            out += (source[at:start], text)
            self._begins.append(length)
            self._runs.append((start, end, len(text)))
            length += len(text)
            at = end
        work.left -= count * _LOOKS_AN_ESCAPE
        out.append(source[at:])
        self.data = b"".join(out)

    def hit(self, found: FoundSecret) -> FoundSecret:
        """Return the same hit in the text of which the view was made."""
        start, end = self._source_of(found.start, last=False), self._source_of(found.end - 1, last=True)
        quote = found.quote if _QUOTED_KEY.search(self._source, max(0, start - 16), start) else b""
        hit = found._replace(start=start, end=end, quote=quote)
        return self._base.hit(hit) if self._base else hit

    def _source_of(self, at: int, *, last: bool) -> int:
        """Return the source position of a decoded byte: its start, or its end for a hit's last byte."""
        number = bisect_right(self._begins, at) - 1
        if number < 0:
            return at + last
        start, end, length = self._runs[number]
        within = at - self._begins[number]
        if within >= length:
            return end + within - length + last
        width, rest = divmod(end - start, length)
        if not rest and (width == 3 or length > 1):  # a run of escapes of one width
            return start + width * (within + last)
        return end if last else start


def _decode(found: re.Match[bytes]) -> bytes | None:
    """Decode a run of escapes. A quote inside a JSON string keeps its backslashes."""
    if found["percent"]:
        return bytes.fromhex(found[0].replace(b"%", b"").decode())
    if found["unicode"]:
        return bytes.fromhex(found[0].replace(b"\\u00", b"").decode())
    if code := found["code"]:
        char, slashes = bytes.fromhex(code.decode()), b"\\" + found["slashes"]
        if char in b'"\\':
            return slashes * 2 if char == b"\\" else slashes + slashes[1:] + char
        return slashes[1:] + char if len(slashes) & (len(slashes) - 1) else char
    if entity := found["entity"]:
        return _ENTITIES[entity]
    number = int(found["decimal"]) if found["decimal"] else int(found["hex"], 16)
    return bytes([number]) if 32 <= number < 127 else None
