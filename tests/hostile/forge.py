"""Make well-chained files of lines that no recorder would write: what an attacker can make."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from reenact.core.store.chain import chained

Line = Mapping[str, Any] | bytes


def forge(lines: Iterable[Line]) -> bytes:
    """The bytes of an events or session file with these lines, in order, each with a right sum."""
    return chained(line if isinstance(line, bytes) else dumped(line) for line in lines)


def dumped(line: Mapping[str, Any]) -> bytes:
    """A line as JSON; also with numbers and characters that our own writer refuses."""
    try:
        return orjson.dumps(dict(line))
    except TypeError:
        return json.dumps(dict(line), separators=(",", ":")).encode()


def forge_folder(folder: Path, lines: Iterable[Line], name: str = "events.jsonl") -> Path:
    """The same as a recording's folder; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(forge(lines))
    return folder


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a file as objects without their sums, to be changed and forged again."""
    found = []
    for line in path.read_bytes().splitlines():
        data: dict[str, Any] = orjson.loads(line)
        data.pop("sum", None)
        found.append(data)
    return found
