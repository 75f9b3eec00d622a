"""Keep the whole lines of a damaged recording, and note a hole for each range left out.

A line is whole if its sum proves that it follows the line before it. In format 1, whose lines have no sums, a line is
kept if it is a valid event. Lines that depend on a missing line (the answer to a lost question, an argument written
against it, a later change of a snapshot) are left out, too.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from reenact.core import private
from reenact.core.model import patch, schema, session_schema
from reenact.core.model.event import FORMAT
from reenact.core.model.references import References
from reenact.core.model.schema import is_address
from reenact.core.store import chain, shared
from reenact.core.store.labels import LARGEST, PATTERN
from reenact.core.store.lines import event_of
from reenact.core.store.local import EVENTS
from reenact.core.store.reading import Blobs
from reenact.core.store.shared import process_files
from reenact.errors import CorruptRecording, NotARecording, RecordingError


def salvage(source: Path, target: Path) -> list[str]:
    """Write the whole lines of a recording into a fresh folder; return a sentence for each loss.

    Args:
        source: The recording's folder.
        target: An empty folder.

    Raises NotARecording if not even a header can be read.
    """
    if not source.is_dir():
        raise NotARecording(
            f"{source} is no folder: `unzip {shlex.quote(str(source))} -d unpacked`, then "
            "`reenact export unpacked --salvage` keeps what is whole"
        )
    losses: list[str] = []
    blobs = Blobs(source)
    names = sorted(path.name for path in source.iterdir())
    sessions = [name for name in names if name.startswith("session.") and name.endswith(".jsonl")]
    for name in (*process_files(names), *sessions):
        data = shared.read(source / name)
        if name == EVENTS:
            data = _expanded(data, source)
        kept = _Kept(name, losses)
        lines = kept.lines(data.split(b"\n"))
        if not lines:
            if name == EVENTS:
                raise NotARecording(
                    f"{source / name} has no header that can be read; nothing can be salvaged"
                )
            continue
        private.write(target / name, chain.chained(orjson.dumps(line) for line in lines))
        for address in dict.fromkeys(_addresses(lines)):
            _copy(blobs, address, target, losses)
    for name in filter(PATTERN.fullmatch, names):
        with contextlib.suppress(OSError, CorruptRecording):
            private.write(target / name, shared.read(source / name)[: LARGEST + 1])
    return losses


class _Kept:
    """The whole lines of one file.

    Args:
        name: The file's name.
        losses: Gets a sentence for each range of lines that is left out.
    """

    def __init__(self, name: str, losses: list[str]) -> None:
        self._name = name
        self._losses = losses
        self._session = name.startswith("session.")
        self._references = References()
        self._states: dict[str, int] = {}

    def lines(self, raw: list[bytes]) -> list[dict[str, Any]]:
        """Return the whole lines, with a hole noted for each lost range; empty without a header."""
        if raw and not raw[-1]:
            raw = raw[:-1]
        if not raw:
            return []
        header = event_of(raw[0])
        chained = chain.stated(raw[0]) is not None or (header or {}).get("format") != 1
        found: list[dict[str, Any]] = []
        lost: list[int] = []
        before: bytes | None = chain.FIRST
        for number, line in enumerate(raw, 1):
            stated = chain.stated(line)
            proven = not chained or (
                before is not None and stated == chain.sum_of(before, chain.content(line))
            )
            before = stated
            data = event_of(line) if proven or number == 1 else None
            if number == 1 and (data is None or not self._fits(data)):
                return []
            if data is None or (number > 1 and not self._fits(data)):
                lost.append(number)
                continue
            if not proven:
                lost.append(number)
            data.pop("sum", None)
            if number == 1:
                data["format"] = FORMAT
                found.append(data)
                continue
            found += self._hole(lost)
            data.pop("signed", None)
            found.append(data)
        return found + self._hole(lost)

    def _fits(self, data: dict[str, Any]) -> bool:
        """Return True if a line is valid, and all lines that it depends on are there."""
        try:
            if schema.too_deep(orjson.dumps(data), data):
                return False
            if self._session:
                session_schema.check(data)
                return True
            schema.check(data)
            self._references.check(data)
        except (schema.Unfit, TypeError):
            return False
        if data["event"] == "snapshot":
            if data["n"] != self._states.get(data["name"], 0):
                return False
            if data["n"] == 0 and not patch.readable(data["value"]):
                return False
            self._states[data["name"]] = data["n"] + 1
        return bool(data["event"] != "same")

    def _hole(self, lost: list[int]) -> list[dict[str, Any]]:
        """Return the note for the lines lost up to here, if any."""
        if not lost:
            return []
        where = f"line {lost[0]}" if len(lost) == 1 else f"{len(lost)} of lines {lost[0]} to {lost[-1]}"
        if lost == [1]:
            text = f"{self._name}, line 1 was changed; its content is not to be trusted"
        else:
            text = f"{self._name}, {where}: damaged, or without a line that it needs, and left out"
        lost.clear()
        self._losses.append(text)
        return [{"event": "noted", "what": "hole", "text": text}]


def _expanded(data: bytes, folder: Path) -> bytes:
    """Return a fork's lines with its parent's put in, unless the parent is missing."""
    try:
        return shared.whole(data, folder)
    except RecordingError:
        return data


def _addresses(tree: Any) -> Iterator[str]:
    """Yield the addresses of blobs that a tree names."""
    todo = [tree]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            todo += item.values()
        elif isinstance(item, list):
            todo += item
        elif is_address(item):
            yield item


def _copy(blobs: Blobs, address: str, target: Path, losses: list[str]) -> None:
    try:
        data = blobs(address)
    except CorruptRecording as error:
        losses.append(f"{error}; it is left out")
        return
    digest = address.removeprefix("sha256:")
    place = target / "blobs" / digest[:2] / digest
    private.folder(place.parent)
    private.write(place, data)
