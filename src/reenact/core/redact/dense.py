"""Redact JSON with too many secrets to replace one by one, part by part."""

from __future__ import annotations

import re
from collections import deque

from reenact.core.patterns import lazy

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_STRINGS = lazy(_STRING, re.DOTALL)
# A small array or object that holds no other.
_SMALL = rb'[\[{](?:[^"\[\]{}]{1,60}+|"[^"\\]{0,60}+"|"(?:[^"\\]|\\.){0,60}+"){0,8}+[\]}]'
# Everything up to the next bracket outside of strings and small parts, and that bracket.
_BRACKET = lazy(
    rb'(?:[^"\[\]{}]++|STRING|SMALL)*+([\[\]{}])'.replace(b"STRING", _STRING).replace(b"SMALL", _SMALL),
    re.DOTALL,
)
# A key of some plain words, which is kept; or else a text or a number of four digits, which is hidden.
_HIDDEN = lazy(
    rb'("\$?[A-Za-z]{1,15}+(?:[_\-. ][A-Za-z]{1,15}+){0,4}"\s*+:)|STRING|[0-9][0-9.eE+\-]{3,}+'.replace(
        b"STRING", _STRING
    ),
    re.DOTALL,
)
_LONG = 512  # bytes of an array or object that is a part by itself
_KEY = lazy(_STRING + rb"\s*+:\s*+", re.DOTALL)
# A member with more quotes, or with escapes besides, is hidden as a whole.
_BYTES_A_QUOTE = 6.2
_BYTES_AN_ESCAPE = 2
_SYNTAX = b" \t\r\n[]{},:0123456789.eE+-"
_CONSTANTS = (b"true", b"false", b"null", b"NaN", b"Infinity")
_BYTES_A_BRACKET = 64  # a text with more brackets is not divided


def parts(data: bytes) -> list[tuple[int, int, bool]] | None:
    """Return the long members of the outermost arrays and objects, and the text between them.

    Returns:
        (start, end, whether it is such a member), in order; None where the brackets are not those of JSON, or too many.
    """
    found: list[tuple[int, int, bool]] = []
    at = 0
    members = _members(data)
    if members is None:
        return None
    for opens, end in members:
        start = _key(data, at, opens)
        found += ((at, start, False), (start, end, True))
        at = end
    return [*found, (at, len(data), False)]


def _members(data: bytes) -> list[tuple[int, int]] | None:
    spans = []
    at, depth, begun = 0, 0, 0
    left = 64 + len(data) // _BYTES_A_BRACKET
    while bracket := _BRACKET.match(data, at):
        at = bracket.end()
        left -= 1
        if left < 0:
            return None
        if bracket[1] in b"[{":
            depth += 1
            begun = bracket.start(1) if depth == 2 else begun
        else:
            depth -= 1
            if depth < 0:
                return None
            if depth == 1 and bracket.end() - begun >= _LONG:
                spans.append((begun, bracket.end()))
    return None if depth else spans


def _key(data: bytes, at: int, start: int) -> int:
    """Return the start of a value's key, or of the value itself if it has no key."""
    last = deque(_STRINGS.finditer(data, at, start), maxlen=1)
    if last and data[last[0].end() : start].strip() == b":":
        return last[0].start()
    return start


def hidden(data: bytes, token: bytes, *, member: bool) -> bytes:
    """Replace each text and long number of JSON by the token; keys that are plain words stay.

    A member with more texts than its length pays for gets one token for its whole value.
    """
    paid = data.count(b'"') * _BYTES_A_QUOTE + data.count(b"\\u00") * _BYTES_AN_ESCAPE
    if member and paid > len(data):
        key = _KEY.match(data)
        return (key[0] if key else b"") + b'"' + token + b'"'
    text = b'"' + token + b'"'
    pieces = _HIDDEN.split(data)  # the text between, and each key; None for a hidden text
    if not _is_syntax(pieces[0::2]):
        return text
    pieces[1::2] = [text if key is None else key for key in pieces[1::2]]
    return b"".join(pieces)


def _is_syntax(between: list[bytes]) -> bool:
    """Return True if the text between strings is that of JSON.

    In other text a secret may stand there.
    """
    rest = b"".join(between)
    for word in _CONSTANTS:
        rest = rest.replace(word, b"")
    return not rest.translate(None, _SYNTAX)
