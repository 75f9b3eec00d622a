"""Secrets that became known after data that contains them was written."""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from reenact.core.patterns import lazy
from reenact.core.redact.decoded import views
from reenact.core.redact.events import INDEX, escaped
from reenact.core.redact.known import KnownValues
from reenact.core.redact.replace import Replacer, merged
from reenact.core.redact.shapes import TOKEN
from reenact.core.redact.text import FoundSecret, is_json
from reenact.core.redact.wide import clean_wide, may_be_wide, wide_encoding
from reenact.core.redact.work import Work

_STRING = lazy(rb'"((?:[^"\\]++|\\.)*+)"(\s*+:)?')
_ROUNDS = 8
_TRIES = 8
_ANCHOR = 32  # bytes
_LONGEST = 4096  # bytes of a value

_Channel = tuple[bytes | int, ...]
"""A member's name, its number among equal names of its line, and the line's indices."""


class _Edit(NamedTuple):
    """A new text for data[start:end]."""

    start: int
    end: int
    new: bytes


class LateSecrets:
    """Replaces some values in data that was redacted without them.

    Args:
        replacer: Gives the tokens.
        values: The values.
    """

    def __init__(self, replacer: Replacer, values: Collection[str]) -> None:
        self._replacer = replacer
        self._known = KnownValues((), typed=values)

    def line(self, data: bytes) -> bytes:
        """Redact one event's JSON. Returns the same object if it has none of the values."""
        return self._clean(data, json_=True)

    def raw(self, data: bytes) -> bytes:
        """Redact any bytes. Returns the same object if they have none of the values."""
        encoding = wide_encoding(data) if may_be_wide(data) else ""
        return clean_wide(data, encoding, self._plain) if encoding else self._plain(data)

    def pieces(self, pieces: Sequence[bytes]) -> list[bytes]:
        """Redact the pieces of one text or of one sequence of JSON lines.

        A value may be divided among the pieces, and in JSON among the same member of several lines. Its token is put
        where it begins. The number of pieces stays.
        """
        found = list(pieces)
        edits = sorted(self._divided(b"".join(found)))
        found = _edited(found, edits) if edits else found
        whole = b"".join(found)
        json_ = is_json(whole)
        edits = [self._edit(whole, hit, json_=json_) for hit in self._hits(whole)]
        return _edited(found, [edit for edit in edits if edit.start < edit.end]) if edits else found

    # -- internal --------------------------------------------------------------------------------------------

    def _plain(self, data: bytes) -> bytes:
        return self._clean(data, json_=is_json(data))

    def _clean(self, data: bytes, *, json_: bool) -> bytes:
        for _ in range(_ROUNDS):
            hits = self._hits(data)
            clean = self._replacer.cover(data, hits, json_=json_) if hits else data
            if clean == data:
                break
            data = clean
        return data

    def _hits(self, data: bytes) -> list[FoundSecret]:
        work = Work(0, least=sys.maxsize)
        hits = self._known.find(data, work)
        if b"%" in data or b"\\" in data or b"&" in data:
            for view in views(data, work):
                hits += map(view.hit, self._known.find(view.data, work))
        return merged(data, hits)

    def _edit(self, data: bytes, hit: FoundSecret, *, json_: bool) -> _Edit:
        fitting = self._replacer.fitting(data, hit) if json_ else hit
        return _Edit(fitting.start, fitting.end, self._token(fitting))

    def _token(self, hit: FoundSecret) -> bytes:
        return hit.quote + self._replacer.token(hit.value).encode() + hit.quote

    def _divided(self, whole: bytes) -> Iterator[_Edit]:
        """Yield the new texts of JSON strings among which a value is divided."""
        for places in _channels(whole).values():
            if len(places) < 2:
                continue
            texts = [_decoded(whole[start:end]) for start, end in places]
            begins = [0, *accumulate(map(len, texts))]
            edits = [
                _Edit(hit.start, hit.end, self._token(hit))
                for hit in self._hits(b"".join(texts))
                if bisect_right(begins, hit.start) != bisect_right(begins, hit.end - 1)
            ]
            for place, old, new in zip(places, texts, _edited(texts, edits), strict=True):
                if new != old:
                    yield _Edit(*place, escaped(new))


def tokens_in(clean: str, text: str, token_of: Callable[[str], str]) -> Iterator[str]:
    """Yield the values that a text has in the places of tokens, up to another difference.

    Args:
        clean: The clean form.
        text: The text.
        token_of: Returns the token of a value.
    """
    data, form = (one.encode("utf-8", "surrogatepass") for one in (clean, text))
    tokens = list(TOKEN.finditer(data))
    at = read = 0
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        literal = data[read : token.start()]
        if not form.startswith(literal, at):
            return
        at, read = at + len(literal), token.end()
        if form.startswith(token[0], at):
            at += len(token[0])
            continue
        follows = data[read : after.start() if after is not None else len(data)]
        end = _end_of(form, at, follows, token[0].decode(), token_of)
        if end < 0:
            return
        yield form[at:end].decode("utf-8", "surrogatepass")
        at = end


def _end_of(form: bytes, at: int, follows: bytes, token: str, token_of: Callable[[str], str]) -> int:
    """Return the end of the value that begins there, by the text after it; -1 if none fits."""
    ends = [len(form)] if not follows else []
    place = at
    while follows and len(ends) < _TRIES:
        place = form.find(follows[:_ANCHOR], place + 1, at + _LONGEST)
        if place < 0:
            break
        ends.append(place)
    for end in ends:
        if end - at <= _LONGEST and token_of(form[at:end].decode("utf-8", "replace")) == token:
            return end
    return -1


def _channels(whole: bytes) -> dict[_Channel, list[tuple[int, int]]]:
    """Return the places of JSON strings that are values, by the member they continue."""
    found: dict[_Channel, list[tuple[int, int]]] = {}
    at = 0
    for line in whole.splitlines(keepends=True):
        index, seen, name = INDEX.findall(line), Counter[bytes](), b""
        for text in _STRING.finditer(line):
            if text[2]:
                name = text[1]
                continue
            found.setdefault((name, seen[name], *index), []).append((at + text.start(1), at + text.end(1)))
            seen[name] += 1
        at += len(line)
    return found


def _decoded(text: bytes) -> bytes:
    try:
        decoded: str = json.loads(b'"' + text + b'"')
        return decoded.encode()
    except (ValueError, UnicodeEncodeError):
        return text


def _edited(pieces: Sequence[bytes], edits: Sequence[_Edit]) -> list[bytes]:
    """Apply edits of the pieces' whole, in order; a new text goes to the piece where it begins."""
    found, at, number = [], 0, 0
    for piece in pieces:
        parts, place, end = [], at, at + len(piece)
        while number < len(edits) and edits[number].start < end:
            edit = edits[number]
            if edit.start >= at:
                parts += [piece[place - at : edit.start - at], edit.new]
            place = min(edit.end, end)
            if edit.end > end:
                break
            number += 1
        found.append(b"".join([*parts, piece[place - at :]]))
        at = end
    return found
