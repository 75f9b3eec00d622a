"""Read a step's history from earlier good recordings: element, consequence and heals.

The store is read only after a failure: the newest good recordings of the same script, and of each only the browser's
answers. The result is an effect of its own, so that a replay needs no store.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from reenact.browser.heal.mend import PastStep, StepHistory, base_of
from reenact.browser.page.consequence import plain
from reenact.browser.script.script_name import script_of
from reenact.core.boundary import aperform
from reenact.core.model.codec import view
from reenact.core.model.event import Effect
from reenact.core.store.local import EVENTS, LocalStore

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

NEWEST = 20
"""Number of good recordings that are read."""

LOOKED = 300
"""Number of recordings whose header is read to find those."""

KEPT = 4
"""Number of different past behaviours of a step that are kept, the newest first."""

_TAIL = 2048
_UNNAMED = {"", "browser session"}


async def known(session: Session, key: str) -> StepHistory:
    """Return the history of the step with that key (`mend.key_of`), as an effect."""

    async def live() -> dict[str, Any]:
        folder = session.recording
        return {} if folder is None else read(Path(folder), key)

    with session.core.recording.inside():
        return told(await aperform(Effect("heal", "memory", {"step": key}, leaf=True), live))


def told(found: Mapping[str, Any]) -> StepHistory:
    """Build a `StepHistory` from the effect's value."""
    pasts = tuple(PastStep(**one) for one in found.get("steps") or ())
    return StepHistory(int(found.get("recordings") or 0), pasts, tuple(found.get("heals") or ()))


def read(folder: Path, key: str) -> dict[str, Any]:
    """Read a step's history from the recordings in the same store. Skip damaged ones."""
    own = header_of(folder)
    if own is None:
        return {}
    pasts: dict[bytes, dict[str, Any]] = {}
    heals: dict[bytes, dict[str, Any]] = {}
    count = 0
    for other in _good(folder, own):
        count += 1
        past, mended = _of(other, key)
        for one in past:
            # Differences in numbers alone do not count.
            mark = plain(orjson.dumps([one["selectors"], one["consequence"]]).decode()).encode()
            if mark in pasts:
                pasts[mark]["count"] += 1
            elif len(pasts) < KEPT:
                pasts[mark] = one
        for heal in mended:
            heals.setdefault(orjson.dumps(heal.get("new")), heal)
    return {"recordings": count, "steps": list(pasts.values()), "heals": list(heals.values())[:KEPT]}


# -- the recordings -------------------------------------------------------------------------------------------


def _good(folder: Path, own: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the newest recordings of the same script that succeeded."""
    store = LocalStore(folder.parent.parent)
    found = 0
    for id in store.ids()[:LOOKED]:
        other = store.folder(id)
        if id == folder.name or not _ended_well(other):
            continue
        header = header_of(other)
        if header is not None and same_script(own, header):
            found += 1
            yield other
        if found == NEWEST:
            return


def header_of(folder: Path) -> dict[str, Any] | None:
    """Return the header of a recording, or None where it cannot be read."""
    try:
        with folder.joinpath(EVENTS).open("rb") as file:
            header = orjson.loads(file.readline())
    except (OSError, ValueError):
        return None
    return header if isinstance(header, dict) else None


def _ended_well(folder: Path) -> bool:
    try:
        with folder.joinpath(EVENTS).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _TAIL, 0))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return False
    return last.startswith(b'{"event":"sealed","status":"ok"')


def same_script(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if two recordings, given by their headers, are of the same script."""
    script = script_of(one)
    if script is not None and script == script_of(other):
        return True
    name = str(one.get("name") or "")
    return name not in _UNNAMED and name == other.get("name")


# -- the values of one recording -----------------------------------------------------------------------------


def _of(folder: Path, key: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the step in one recording, and its verified mends there."""
    base, _, ordinal = key.rpartition(" #")
    equals: list[dict[str, Any] | None] = []
    heals = []
    url = ""
    elements: list[dict[str, Any]] = []
    mended: dict[str, Any] | None = None
    for value in _answers(folder):
        if "verified_by" in value:
            if value["verified_by"] and value.get("healed", True) and value.get("key") == key:
                heals.append(view(value))
                if mended is not None and equals:
                    equals[-1] = _past(folder.name, mended)
            mended = None
        action = value.get("action")
        if isinstance(action, dict):
            actor, good = value.get("actor"), bool(value.get("success"))
            if actor == "script" and base_of(action, url, elements) == base:
                equals.append(_past(folder.name, value) if good else None)
            elif actor == "heal" and good:
                mended = value
        if "elements" in value:
            elements = value["elements"]
        url = value.get("url") or url
    # A single match counts whatever its ordinal; of several, the one with the same ordinal.
    place = 0 if len(equals) == 1 else int(ordinal or 0)
    past = equals[place] if place < len(equals) else None
    return ([past] if past is not None else []), heals


def _answers(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the answers of a recording's browser and of its mends, as trees."""
    try:
        data = folder.joinpath(EVENTS).read_bytes()
    except OSError:
        return
    for line in data.split(b"\n"):
        if not line.startswith(b'{"event":"returned"') or (
            b'"tab":' not in line and b'"verified_by"' not in line
        ):
            continue
        try:
            value = orjson.loads(line).get("value")
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _past(recording: str, outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "recording": recording,
        "selectors": view(outcome.get("selectors") or {}),
        "fingerprint": view(outcome.get("fingerprint")),
        "consequence": view(outcome.get("consequence")),
        "count": 1,
    }
