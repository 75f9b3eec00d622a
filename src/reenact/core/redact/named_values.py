"""Tell a secret value from words, code and prose after the name of a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reenact.core.patterns import compiled
from reenact.core.redact import name_forms as forms
from reenact.core.redact.names import dense, is_placeholder
from reenact.core.redact.text import FoundSecret, hit, is_json, plain
from reenact.core.redact.work import LOOKS_A_HIT, Work

_IS_CODE = compiled(r"[\w.:$!?&*@]+")
"""The text before a bracket in code: `os.getenv(`, `Token::from(`."""


def likely(value: str, kind: str) -> bool:
    """Return True for a value that is long and dense enough for a name of that kind."""
    return len(value) >= 4 and (kind != "weak" or dense(value))


def is_secret_text(value: bytes) -> bool:
    """Return True for text that looks like a secret, not like a word or a program's name."""
    text = value.decode("utf-8", "replace")
    return (
        dense(text) and not forms.IDENTIFIER.fullmatch(text.replace("-", "_")) and not is_placeholder(value)
    )


def opens_value(data: bytes, after: re.Match[bytes]) -> bool:
    """Return True if the quote after the name opens its value, False if it ends the name."""
    if after["kquote"]:
        return after["open"] != b'"' or after["kslashes"] == after["slashes"]
    if after["triple"] or after["three"]:
        return True
    if after["open"] == b'"' and not after["slashes"] and is_json(data):
        return False  # in JSON no bare word stands before a string
    return forms.NO_VALUE.match(data, after.end()) is None  # `input("Password: ")`


def is_bare_secret(data: bytes, found: re.Match[bytes], sep: bytes, *, gap: bool, strong: bool) -> bool:
    """Return True for a value, False for code (`key=os.getenv()`) or prose (`key: see below`)."""
    text, after = found[0].decode("utf-8", "replace"), data[found.end() : found.end() + 1]
    calls = after in {b"(", b"[", b"{"} and (_IS_CODE.fullmatch(text) is not None or not dense(text))
    if is_placeholder(found[0]) or calls:
        return False
    identifier = forms.IDENTIFIER.fullmatch(text) is not None
    if after in {b",", b")"} and identifier:
        return False
    if not gap:  # not `secret:label`, `auth:basic`, a slice
        return sep == b"=" or (strong and not identifier and dense(text) and not text.isdigit())
    lone = forms.LINE_ENDS.match(data, found.end()) is not None
    return lone and (sep == b":" or (dense(text) and not identifier))


def cookies(data: bytes, start: int, stop: int, level: int, work: Work) -> Iterator[FoundSecret]:
    """Yield the values of cookies; their names and attributes stay."""
    found = False
    work.read((stop - start) * 2)
    at = start
    while at < stop:
        end = forms.COOKIE_ENDS.search(data, at, stop)
        last = end.start() if end else stop
        cookie = forms.COOKIE.search(data, at, last)
        if cookie:
            found = True
            work.spend(LOOKS_A_HIT)
            if cookie[1].lower() not in forms.COOKIE_WORDS:
                value = data[cookie.end() : last].rstrip()
                yield from hit(data, cookie.end(), cookie.end() + len(value), plain(value, level))
        at = last + 1
    if not found and stop - start >= 4:
        yield from hit(data, start, stop, plain(data[start:stop], level))
