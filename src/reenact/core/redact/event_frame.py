"""Keep the members of an event whose texts are replaced.

Without them a reader refuses the whole recording.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson

from reenact.core.model import schema, session_schema
from reenact.core.model.codec.written import dumps
from reenact.core.patterns import lazy

_PLAIN = lazy(r"\$?[A-Za-z]{1,15}(?:[_\-. ][A-Za-z]{1,15}){0,4}", re.ASCII)
_FEW = 8
_LONG = 512  # bytes of a member of a larger object that is looked at by itself
_LEVELS = 3  # of objects within an event whose members stay
_MOST = 256  # parts of one event that are looked at by themselves
_FREE = ("value", "output")
"""The members of events whose values are the program's."""

_KINDS = ("file", "folder", "link", "none")
_HOLE = b'{"event":"noted","what":"hole","text":"an event with too many secrets is not recorded"}'


def keeps_frame(data: bytes, made: bytes) -> bool:
    """Return True if redacted JSON has as many members as the original.

    An event must also have the members of its kind.
    """
    old, new = _members(data), _members(made)
    if old is None:
        return True
    if new is None or len(old) != len(new):
        return False
    if type(old.get("event")) is not str:
        return True
    if any(_kind(old[name]) is not _kind(new.get(name)) for name in old if name not in _FREE):
        return False
    if any(old[name] != new[name] for name in old if name == "event" or type(old[name]) in {int, float}):
        return False
    return _fits(new) or not _fits(old)


def _kind(value: Any) -> type:
    """Return the type of a value; a text with lone surrogates is a text."""
    return str if type(value) is dict and len(value) == 1 and "$surrogates" in value else type(value)


def _fits(line: dict[str, Any]) -> bool:
    try:
        schema.check(line)
        if line["event"] != "noted":
            session_schema.check(line)
    except schema.Unfit:
        return False
    states = line.get("states") if line["event"] == "files" else None
    return not states or all(type(one) is dict and one.get("kind") in _KINDS for one in states.values())


def _members(data: bytes) -> dict[str, Any] | None:
    """Return an object, or the members of one without its braces; None for other JSON."""
    try:
        tree = orjson.loads(data if data.lstrip()[:1] == b"{" else b"{%b}" % data)
    except ValueError:
        return None
    return tree if type(tree) is dict else None


class FrameRedactor:
    """Redacts the members of an event one by one; one with too many secrets keeps its frame.

    Args:
        clean: Redacts JSON; None if it has too many secrets.
        token: The token for a text.
    """

    def __init__(self, clean: Callable[[bytes], bytes | None], token: Callable[[str], str]) -> None:
        self._clean, self._token = clean, token
        self._left = _MOST

    def line(self, data: bytes) -> bytes:
        """Return an object, or members without braces, without their secrets.

        An event that would not remain an event becomes a hole.
        """
        tree = _members(data)
        if tree is None:
            return dumps(self._token(data.decode("utf-8", "replace")))
        if len(tree) > _MOST:
            made = {token: token for token in [self._token(data.decode("utf-8", "replace"))]}
            return dumps(made) if data.lstrip()[:1] == b"{" else dumps(made)[1:-1]
        event = type(tree.get("event")) is str
        parts = [
            self._member(name, value, _LEVELS, text=event and name != "value") for name, value in tree.items()
        ]
        clean = dumps(dict(parts))
        if event and not keeps_frame(data, clean):
            return _HOLE
        return clean if data.lstrip()[:1] == b"{" else clean[1:-1]

    def _member(self, name: str, value: Any, levels: int, *, text: bool) -> tuple[str, Any]:
        """Return a member without its secrets.

        A `text` is one of the format; another text may be a secret by what stands beside it.
        """
        self._left -= 1
        if self._left >= 0 and (text or type(value) is not str):
            clean = self._clean(dumps({name: value}))
            found = None if clean is None else _members(clean)
            if found is not None and len(found) == 1:
                return next(iter(found.items()))
        key = name if _PLAIN.fullmatch(name) else self._token(name)
        return key, self._hidden(value, levels)

    def _hidden(self, value: Any, levels: int) -> Any:
        if type(value) not in {str, dict, list} or not value:
            return value
        data = dumps(value)
        token = self._token(data.decode("utf-8", "replace"))
        if type(value) is list:
            return [token]
        if type(value) is str or (len(value) == 1 and next(iter(value)).startswith("$")):
            return token
        if levels and self._left > 0 and (len(value) <= _FEW or len(data) >= _LONG * len(value)):
            return dict(self._member(name, inner, levels - 1, text=False) for name, inner in value.items())
        return {token: token}
