"""Secrets in HTML and XML tags: `<input name="password" value="...">`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reenact.core.patterns import lazy
from reenact.core.redact.names import Names, dense, is_placeholder
from reenact.core.redact.rules import word_set
from reenact.core.redact.text import FoundSecret, hit, level_of, plain
from reenact.core.redact.work import LOOKS_A_HIT, Work

_LONGEST_TAG = 8192  # bytes
_SPACE = rb"(?:\s|\\{1,15}[nrt])"
_OPEN = lazy(rb"<(?P<tag>[A-Za-z][\w:.\-]{0,60})(?=" + _SPACE + rb")")
_ATTRIBUTE = lazy(
    _SPACE
    + rb"*+(?P<name>[A-Za-z_@:*\[(][\w:.\-\])]{0,80})"
    + rb"(?:"
    + _SPACE
    + rb"*+="
    + _SPACE
    + rb"*+(?:(?P<slashes>\\{0,15})(?P<quote>[\"'])|(?P<bare>[^\s\"'<>\\=`]+(?<!/)))?)?"
)
_END = lazy(_SPACE + rb"*+>" + _SPACE + rb"*+(?:<!\[CDATA\[)?(?P<text>[^<>\s\"\\]{4,})")
_ELEMENT = lazy(
    rb"</[\w:.\-]{1,60}>"
    + _SPACE
    + rb"*+(?:<[\w:.\-]{1,60}>"
    + _SPACE
    + rb"*+){1,2}(?P<text>[^<>\s\"\\]{4,})\\*+</"
)
_SAYS = word_set(
    "name id key property itemprop field autocomplete formcontrolname ng-model v-model data-name data-key"
)
_HOLDS = word_set("value content data-value data-content defaultvalue data-secret")
_PROSE = word_set(
    "a abbr b button dd div dt em h1 h2 h3 h4 h5 h6 i label legend li option p section select span td th"
)


class Tags:
    """Finds the values of fields, settings and elements whose tags bear a secret name."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def look(self, data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
        """Yield the secrets of the tag in which a secret name ends here, once."""
        start = data.rfind(b"<", max(0, at - _LONGEST_TAG), at)
        if start < 0 or start == work.tag:
            return
        opened = _OPEN.match(data, start, start + 80)
        if opened is None:
            return
        work.tag = start
        yield from self._tag(data, opened, work)

    def element(self, data: bytes, at: int) -> Iterator[FoundSecret]:
        """Find the text of the element after one with a secret name (property lists, XML-RPC)."""
        found = _ELEMENT.match(data, at)
        if found and not is_placeholder(found["text"]):
            yield from hit(data, *found.span("text"), found["text"].decode("utf-8", "replace"))

    def _tag(self, data: bytes, opened: re.Match[bytes], work: Work) -> Iterator[FoundSecret]:
        kind = self._names.kind(opened["tag"].rpartition(b":")[2])
        values: list[tuple[int, int, int]] = []
        at, most = opened.end(), opened.start() + _LONGEST_TAG
        while found := _ATTRIBUTE.match(data, at, most):
            work.spend(1)
            name = found["name"].lower().decode()
            start, at = found.end(), found.end()
            level = 0
            if quote := found["quote"]:
                closing = found["slashes"] + quote
                stop = data.find(closing, start, most)
                if stop < 0:
                    break
                at, level = stop + len(closing), level_of(found["slashes"])
            elif found["bare"]:
                start, stop = found.span("bare")
            else:
                continue
            if name in _SAYS:
                kind = kind or self._kind(data[start:stop])
            elif name == "type" and data[start:stop].lower() == b"password":
                kind = kind or "strong"
            elif name in _HOLDS:
                values.append((start, stop, level))
        work.read(at - opened.start())
        if kind is None:
            return
        for start, stop, level in values:
            value = plain(data[start:stop], level)
            if (
                len(value.strip()) >= 4
                and (kind != "weak" or dense(value))
                and not is_placeholder(data[start:stop])
            ):
                work.spend(LOOKS_A_HIT)
                yield from hit(data, start, stop, value)
        text = _END.match(data, at)
        if text and opened["tag"].lower().decode() not in _PROSE and not is_placeholder(text["text"]):
            yield from hit(
                data, *text.span("text"), text["text"].decode("utf-8", "replace").removesuffix("]]")
            )

    def _kind(self, name: bytes) -> str | None:
        if name in {b"current-password", b"new-password", b"one-time-code"}:
            return "strong"
        return self._names.kind(name) if len(name) <= 80 and b" " not in name.strip() else None
