"""Keep a page's content at a moment: its nodes, style sheets and small pictures.

A moment is a blob of compressed JSON; `docs/format.md` has its members. A stored moment is not trusted: `load` checks
all of it, in linear time and within limits, before it is used.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import orjson

from reenact.browser.camera.footage import Footage, FootageEntry
from reenact.browser.camera.writer import FootageWriter
from reenact.core.model.schema import is_address
from reenact.errors import CorruptRecording, RecordingError

LARGEST = 8_000_000
"""Most bytes of an unpacked moment, or of all the parts of one."""

NODES, DEEPEST, MEMBERS = 60_000, 2_000, 120
"""Most nodes of a moment, levels of nesting, and attributes of a node."""

PARTS = 400
"""Most style sheets and pictures of a moment."""

CREDIT, SHARE = 1.0, 1 / 60
"""Seconds of work for moments at once, and for each second of the session."""

BYTES, RATE = 2_000_000, 1_000_000 / 60
"""Bytes of moments at once, and for each second of the session."""

HIDDEN = "•••"
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"),
    (b"<", "image/svg+xml"),
)  # fmt: skip


class TakenPage(Protocol):
    """A page as it was read (`page/moments.py`)."""

    tree: dict[str, Any]
    sheets: dict[str, str]
    pictures: dict[str, bytes]
    said: tuple[str, ...]
    took: float


# -- writing -------------------------------------------------------------------------------------------------


class MomentWriter:
    """Writes moments of a session's tabs; equal pages, style sheets and pictures only once.

    Args:
        log: The session's file.
    """

    def __init__(self, log: FootageWriter) -> None:
        self._log = log
        self._parts: list[str] = []
        self._began = log.now()
        self._addresses: dict[str, str] = {}
        self._blobs: dict[bytes, str] = {}
        self._last: dict[int, str] = {}
        self._named: set[str] = set()
        self._spent = 0.0
        self._bytes = 0

    @property
    def known(self) -> Iterable[str]:
        """The keys of style sheets that are stored already."""
        return self._addresses.keys()

    def due(self) -> bool:
        """Return True unless the session's moments have used up their time or bytes."""
        age = self._log.now() - self._began
        if self._spent < CREDIT + age * SHARE and self._bytes < BYTES + age * RATE:
            return True
        self._log.left_out(
            "dom", "some moments of the page are left out: it is too large to be kept each time"
        )
        return False

    def write(self, page: TakenPage, tab: int, why: str, call: int | None) -> None:
        """Write the line of a moment, unless the tab's page has not changed since its last one."""
        began = time.thread_time()
        blob = self._kept(page)
        if blob != self._last.get(tab):
            self._last[tab] = blob
            parts = [] if blob in self._named else [one for one in self._parts if one not in self._named]
            self._named |= {blob, *parts}
            self._log.write("dom", tab=tab, call=call, why=why, blob=blob, parts=list(parts))
        self._spent += time.thread_time() - began + page.took

    def _kept(self, page: TakenPage) -> str:
        self._keep_parts(page)
        tree, self._parts = _tree(page, self._addresses)
        data = orjson.dumps(tree)
        mark = hashlib.sha256(data).digest()
        if mark not in self._blobs:
            packed = gzip.compress(self._log.redacted(data), 6, mtime=0)
            self._bytes += len(packed)
            if len(self._blobs) > 1000:
                self._blobs.clear()
            self._blobs[mark] = self._log.blob(packed)
        return self._blobs[mark]

    def _keep_parts(self, page: TakenPage) -> None:
        for key, text in page.sheets.items():
            if key not in self._addresses:
                self._bytes += len(text) // 4
                self._addresses[key] = self._log.blob(
                    gzip.compress(self._log.redacted(text.encode("utf-8", "replace")), 6, mtime=0)
                )
        for key, data in page.pictures.items():
            if key not in self._addresses:
                self._bytes += len(data)
                self._addresses[key] = self._log.body(data)


def _tree(page: TakenPage, addresses: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the tree with numbers of parts instead of keys, and without secrets."""
    parts: dict[str, int] = {}

    def number(key: str) -> int | None:
        address = addresses.get(key)
        return None if address is None else parts.setdefault(address, len(parts))

    for node in page.tree["nodes"]:
        facts = node[3] if len(node) > 3 else {}
        if "sheets" in facts:
            numbered = [[number(one[0]), *one[1:]] for one in facts["sheets"]]
            facts["sheets"] = [one for one in numbered if one[0] is not None]
        if "image" in facts:
            facts["image"] = number(facts["image"])
    tree = {**page.tree, "parts": list(parts)}
    if page.said:
        _silence(tree, sorted(page.said, key=len, reverse=True))
    return tree, list(parts)


def _silence(tree: dict[str, Any], said: Sequence[str]) -> None:
    """Remove the content of secret fields from all other texts of the page."""

    def clean(text: str) -> str:
        for one in said:
            if one in text:
                text = text.replace(one, HIDDEN)
        return text

    tree["url"], tree["title"] = clean(tree["url"]), clean(tree["title"])
    for node in tree["nodes"]:
        if len(node) > 2:
            node[2] = (
                clean(node[2])
                if node[1] == "#text"
                else {name: clean(value) for name, value in node[2].items()}
            )


# -- reading -------------------------------------------------------------------------------------------------


def moments_of(entries: Iterable[FootageEntry]) -> tuple[list[tuple[float, int, int]], list[str]]:
    """Return time, tab and page of each moment, and the addresses of the pages, each once."""
    places: dict[str, int] = {}
    found = [
        (entry.t, entry["tab"], places.setdefault(entry["blob"], len(places)))
        for entry in entries
        if entry.event == "dom"
    ]
    return found, list(places)


def load(footage: Footage, address: str) -> dict[str, Any]:
    """Return a moment, checked.

    Raises RecordingError if it is missing, CorruptRecording if it is damaged.
    """
    tree = _parsed(_unpacked(footage.blob(address), LARGEST))
    try:
        _check(tree)
    except (_Unfit, TypeError, KeyError, ValueError, IndexError) as error:
        raise _corrupt(str(error) or type(error).__name__) from None
    return tree


def part(footage: Footage, address: str) -> str:
    """Return a style sheet's text, or a picture as a `data:` address; empty for anything else."""
    try:
        data = footage.blob(address)
        if data[:2] == b"\x1f\x8b":
            return _unpacked(data, LARGEST // 4).decode("utf-8", "replace")
    except RecordingError:
        return ""
    kind = next((kind for mark, kind in _MAGIC if data.startswith(mark)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "image/webp"
    return f"data:{kind};base64,{base64.b64encode(data).decode()}" if kind and len(data) <= 100_000 else ""


def whole(footage: Footage, address: str) -> dict[str, Any]:
    """Return a moment with its parts instead of their addresses."""
    tree = load(footage, address)
    left = LARGEST
    parts = []
    for one in tree["parts"]:
        text = part(footage, one)
        left -= len(text)
        parts.append(text if left > 0 else "")
    return {**tree, "parts": parts}


class _Unfit(Exception):
    """A moment that does not fit the format."""


def _corrupt(why: str) -> CorruptRecording:
    return CorruptRecording(f"a moment of the page is damaged: {why}"[:300])


def _unpacked(data: bytes, most: int) -> bytes:
    unpacking = zlib.decompressobj(31)
    try:
        found = unpacking.decompress(data, most + 1)
    except zlib.error as error:
        raise _corrupt(str(error)) from None
    if len(found) > most:
        raise _corrupt(f"it has more than {most:,} bytes")
    if not unpacking.eof:
        raise _corrupt("it is cut off")
    return found


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        tree = orjson.loads(data)
    except ValueError as error:
        raise _corrupt(str(error)) from None
    if type(tree) is not dict:
        raise _corrupt("it is no object")
    return tree


def _check(tree: dict[str, Any]) -> None:
    for name in ("url", "title"):
        _must(type(tree[name]) is str, f"`{name}` is no text")
    _must(type(tree["whole"]) is bool, "`whole` is neither true nor false")
    _must(_lengths(tree["viewport"], 2), "`viewport` is no size")
    parts, nodes = tree["parts"], tree["nodes"]
    _must(
        type(parts) is list and len(parts) <= PARTS and all(map(is_address, parts)),
        "`parts` are no addresses",
    )
    _must(type(nodes) is list and 0 < len(nodes) <= NODES, f"it has no nodes, or more than {NODES:,}")
    depths: list[int] = []
    for place, node in enumerate(nodes):
        _must(type(node) is list and 2 <= len(node) <= 4, f"node {place} is no node")
        parent, tag = node[0], node[1]
        _must(
            type(parent) is int and -1 <= parent < place and (parent >= 0) == (place > 0),
            f"node {place} has no parent before it",
        )
        _must(type(tag) is str and len(tag) <= 100, f"node {place} has no tag")
        above = nodes[parent][1] if place else "iframe"
        _must(above != "#text", f"node {place} stands in a text")
        depths.append(depths[parent] + 1 if place else 0)
        _must(depths[place] <= DEEPEST, f"it is nested more than {DEEPEST:,} levels deep")
        if tag == "#text":
            _must(len(node) == 3 and type(node[2]) is str, f"node {place} is no text")
            continue
        _must(place > 0 or tag == "#document", "it does not begin with a document")
        if tag == "#document":
            _must(above in {"iframe", "frame"}, f"node {place} is a document outside of a frame")
        elif tag == "#shadow":
            _must(not above.startswith("#"), f"node {place} is a shadow root of no element")
        _attributes(node[2] if len(node) > 2 else {}, place)
        _facts(node[3] if len(node) > 3 else {}, place, len(parts))


def _must(true: bool, why: str) -> None:
    if not true:
        raise _Unfit(why)


def _attributes(given: Any, place: int) -> None:
    _must(type(given) is dict and len(given) <= MEMBERS, f"node {place} has no attributes, or too many")
    _must(all(type(value) is str for value in given.values()), f"an attribute of node {place} is no text")


_FLAGS = {"hidden", "on", "filled", "modal", "popover", "svg", "other", "quirks"}


def _facts(given: Any, place: int, parts: int) -> None:
    _must(type(given) is dict, f"node {place} has no facts")
    for name, value in given.items():
        if name in _FLAGS:
            fits = value == 1
        elif name in {"box", "natural", "scroll"}:
            fits = _lengths(value, 2)
        elif name == "at":
            fits = _lengths(value, len(value)) and len(value) <= 200
        elif name == "image":
            fits = type(value) is int and 0 <= value < parts
        elif name == "sheets":
            fits = type(value) is list and len(value) <= PARTS and all(_sheet(one, parts) for one in value)
        else:
            fits = False
        _must(fits, f"`{str(name)[:40]}` of node {place} does not fit")


def _sheet(given: Any, parts: int) -> bool:
    return (
        type(given) is list and len(given) in {1, 2} and type(given[0]) is int and 0 <= given[0] < parts
        and (len(given) == 1 or type(given[1]) is str)
    )  # fmt: skip


def _lengths(given: Any, many: int) -> bool:
    return (
        type(given) is list
        and len(given) == many
        and all(type(one) in {int, float} and abs(one) < 1e7 for one in given)
    )
