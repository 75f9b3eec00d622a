"""Clean each member of an object once: most headers repeat from request to request."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import orjson

_MOST = 1024  # members that are kept
_SHORT = 1024  # characters of one that is kept


class JsonMember(NamedTuple):
    """A member without its secrets: as it is written (`"name":"text"`), and its two halves."""

    data: bytes
    name: str
    text: str


class Members:
    """Cleans members with text values, and caches the short ones. Safe for threads.

    Looking at each member by itself finds what looking at the whole object would find, unless a text is a flag, or a
    name is `value`: `{"name": "x-api-key", "value": "…"}` is a secret that only both together tell.
    """

    def __init__(self, clean: Callable[[bytes], bytes]) -> None:
        self._clean = clean
        self._known: dict[tuple[str, str], JsonMember] = {}

    def get(self, name: str, text: str) -> JsonMember | None:
        """Return the clean member; None if it is a flag or not valid JSON (lone surrogates)."""
        known = self._known
        return known.get((name, text)) or self._make(known, name, text)

    def object(self, texts: dict[str, str]) -> list[JsonMember] | None:
        """Return an object's members, clean; None if not all are texts or it must be seen whole."""
        known, members = self._known, []
        for name, text in texts.items():
            member = known.get((name, text)) if type(text) is str and type(name) is str else None
            if member is None:
                if type(text) is not str or type(name) is not str or name[:1] == "$" or is_value(name):
                    return None
                member = self._make(known, name, text)
                if member is None:
                    return None
            members.append(member)
        return members

    def forget(self) -> None:
        """Forget all members, as more secrets are known. A thread in `_make` fills the old dict."""
        self._known = {}

    def _make(self, known: dict[tuple[str, str], JsonMember], name: str, text: str) -> JsonMember | None:
        if text[:2] == "--":
            return None  # a flag: its secret is the text that follows
        try:
            data = orjson.dumps({name: text})
        except TypeError:
            return None
        clean = self._clean(data)
        if clean is data:
            member = JsonMember(data[1:-1], name, text)
        else:
            ((name_, text_),) = orjson.loads(clean).items()
            member = JsonMember(clean[1:-1], name_, text_)
        if len(text) < _SHORT:
            if len(known) >= _MOST:
                known.clear()
            known[name, text] = member
        return member


def is_value(name: str) -> bool:
    """Return True if the meaning of a member with this name depends on the member before it."""
    return len(name) <= 5 and name.lower() in {"value", "val", "text"}
