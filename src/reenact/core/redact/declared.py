"""Secrets that their document declares to be secret.

Examples are `"sensitive": true`, `kind: Secret` and `WIFI:...;P:...;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reenact.core.patterns import compiled, lazy
from reenact.core.redact.marks import CASELESS, MarkPattern
from reenact.core.redact.name_forms import END_OF_LINE, GAP
from reenact.core.redact.names import is_placeholder
from reenact.core.redact.siblings import object_around
from reenact.core.redact.text import FoundSecret, Look, close, hit, level_of, plain
from reenact.core.redact.work import LOOKS_A_HIT, Work

_REACH = 8192  # bytes on each side that are searched for the declared secret
_CLOSE = rb"\\{0,15}\""
_OPEN = rb"(?P<slashes>\\{0,15})(?P<open>\")"
_TRUE = lazy(_CLOSE + GAP + rb":" + GAP + rb"true")
_VALUE = lazy(rb"\"value" + _CLOSE + GAP + rb":" + GAP + _OPEN)
_INNER_VALUE = lazy(rb"\"value" + _CLOSE + GAP + rb":" + GAP + rb"\Z")
_MEMBER = lazy(rb"[:\[,]" + GAP + _OPEN)
_PATHS = lazy(_CLOSE + GAP + rb":" + GAP + rb"\[[^\]{}]{0,100}+\{")
_PATH = lazy(rb"\"value" + _CLOSE + GAP + rb":" + GAP + rb"\\{0,15}\"([\w\-]{1,80})\\{0,15}\"")
_KIND_BEHIND = lazy(rb"(?:[\"']\\*+)?\s*+:(?:\s*+[\"']\\*+)?dnik")
_KIND_ENDS = lazy(rb"[\"'\s\\,}]|\Z")
_DATA = lazy(rb"\"(?:data|stringData)" + _CLOSE + GAP + rb":" + GAP + rb"\Z")
_DATA_LINES = lazy(
    (
        rb"(?:\A|(?<=[\n\"])|(?<=\\n))(?P<outer>[ ]{0,20})(?:data|stringData):[ \t]*+"
        rb"(?P<lines>(?:EOL(?P=outer)[ ]{1,20}[^\r\n\\\"]{1,4000}+(?:\\*+\"[^\r\n\\\"]{0,4000}+\\*+\"(?=EOL|\Z))?)++)"
    ).replace(b"EOL", END_OF_LINE)
)
_LINE = lazy(
    rb"[\w.\-]{1,253}:[ \t]{1,4}(?:\\*+[\"'])?(?P<secret>[^\s\"'\\|>{&*!][^\s\"'\\]{3,})(?:\\*+[\"'])?"
)
_BLOCK_LINE = lazy(
    rb"[\w.\-]{1,253}:[ \t]{1,4}[|>][+\-0-9]{0,2}"
    + END_OF_LINE
    + rb"(?P<indent>[ ]{2,40})(?P<secret>[^\r\n\\\"]++(?:EOL(?P=indent)[^\r\n\\\"]++)*+)".replace(
        b"EOL", END_OF_LINE
    )
)
_WIFI = lazy(
    rb"(?:(?!P:)[A-Za-z0-9]{1,4}:(?:[^;\\\r\n]++|\\{1,15}[^\\])*+;){0,8}+P:(?:\\*+\")?"
    rb"(?P<secret>(?:[^;\\\r\n\"]++|\\{1,15}[^\\\"])++)"
)


def declared_marks() -> Iterator[tuple[MarkPattern, Look]]:
    """Yield the marks of such declarations, each with its look."""
    for quote in ('"', "\\"):
        yield MarkPattern(f'"sensitive{quote}', back=1), _sensitive
        yield MarkPattern(f'"sensitive_attributes{quote}', back=1), _attributes
    for before in (": ", ' "', ':"', ": '", '\\"'):
        yield MarkPattern(f"{before}Secret", back=6), _kubernetes
    yield MarkPattern("WIFI:", CASELESS), _wifi


def _texts(data: bytes, start: int, end: int, work: Work) -> Iterator[FoundSecret]:
    """Yield all texts of a small list or object, except the names of its members."""
    for found in _MEMBER.finditer(data, start, end):
        work.spend(1)
        last = close(data, found.end(), 0x22, level_of(found["slashes"]), work)
        if last is None or compiled(_CLOSE + GAP + rb":").match(data, last):
            continue
        yield from _text(data, found.end(), last, level_of(found["slashes"]), work)


def _text(data: bytes, start: int, end: int, level: int, work: Work) -> Iterator[FoundSecret]:
    if end - start >= 4 and not is_placeholder(data[start:end]):
        work.spend(LOOKS_A_HIT)
        work.read((end - start) * 2)
        yield from hit(data, start, end, plain(data[start:end], level))


def _sensitive(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
    """`{"value": "...", "type": "string", "sensitive": true}`, an output of Terraform."""
    if not _TRUE.match(data, at):
        return
    for start, stop in object_around(data, at, work, _REACH):
        for found in _VALUE.finditer(data, start, stop):
            level = level_of(found["slashes"])
            end = close(data, found.end(), 0x22, level, work)
            if end is not None:
                yield from _text(data, found.end(), end, level, work)
        if _INNER_VALUE.search(data, max(start, stop - 80), stop):
            end = data.find(b"}", stop, stop + _REACH)
            yield from _texts(data, stop, end if end >= 0 else stop, work)


def _attributes(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
    """Find the secrets of a Terraform state: its `sensitive_attributes` name them.

    `"attributes": {"result": "..."}, "sensitive_attributes": [[{"value": "result"}]]`
    """
    if not _PATHS.match(data, at) or at < work.read_to.get("attributes", 0):
        return
    begin = max(0, at - 2 * _REACH, work.read_to.get("attributes", 0))
    stop = compiled(rb"\]\s*+,?\s*+\\*+(?:[\"}]|n)").search(data, at, at + _REACH)
    end = stop.end() if stop else min(len(data), at + _REACH)
    work.read_to["attributes"] = end
    work.read(end - begin)
    for name in {found[1] for found in _PATH.finditer(data, at, end)}:
        work.spend(LOOKS_A_HIT)
        work.read(at - begin)
        member = compiled(rb"\"" + re.escape(name) + _CLOSE + GAP + rb":" + GAP + _OPEN)
        for found in member.finditer(data, begin, at):
            level = level_of(found["slashes"])
            last = close(data, found.end(), 0x22, level, work)
            if last is not None:
                yield from _text(data, found.end(), last, level, work)


def _kubernetes(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
    """Yield the values of a Secret of Kubernetes, in YAML and JSON; the look begins at its kind."""
    behind = _KIND_BEHIND.match(data[max(0, at - 40) : at][::-1])
    if behind is None or not _KIND_ENDS.match(data, at + 6):
        return
    if b'"' in behind[0]:
        for _, stop in object_around(data, at, work, _REACH):
            if _DATA.search(data, max(0, stop - 80), stop):
                end = data.find(b"}", stop, stop + 2 * _REACH)
                yield from _texts(data, stop, end if end >= 0 else stop, work)
        return
    begin = max(data.rfind(rule, max(0, at - _REACH), at) for rule in (b"\n---", b"\\n---"))
    begin = max(begin, at - _REACH, work.read_to.get("kubernetes", 0), 0)
    ends = [end for rule in (b"\n---", b"\\n---") if (end := data.find(rule, at, at + _REACH)) >= 0]
    end = min([*ends, at + _REACH, len(data)])
    if begin >= end:
        return
    work.read_to["kubernetes"] = end
    work.read((end - begin) * 2)
    for lines in _DATA_LINES.finditer(data, begin, end):
        for one in (_LINE, _BLOCK_LINE):
            for found in one.finditer(data, *lines.span("lines")):
                yield from _text(data, *found.span("secret"), 0, work)


def _wifi(data: bytes, at: int, work: Work) -> Iterator[FoundSecret]:
    """`WIFI:T:WPA;S:net;P:...;;`, the text of a QR code."""
    found = _WIFI.match(data, at, at + 512)
    if found:
        yield from _text(data, *found.span("secret"), 0, work)
