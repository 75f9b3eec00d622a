"""Read a step's history from earlier good recordings: element, consequence and heals.

The store is read only after a failure: the newest good recordings of the same script, and of each only the outcomes of
the browser's effects. The result is an effect, so that a replay needs no store.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from reenact.browser.heal.mend import PastStep, StepHistory
from reenact.browser.page.consequence import plain
from reenact.browser.page.target import TargetIdentity
from reenact.browser.script.good_runs import answers, good_runs
from reenact.browser.script.step_key import base_of
from reenact.core.boundary import aperform
from reenact.core.model.codec import view
from reenact.core.model.event import Effect

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

NEWEST = 20
"""Number of good recordings with the step that are read."""

KEPT = 4
"""Number of different past behaviours of a step that are kept, the newest first."""


async def known(session: Session, key: str) -> StepHistory:
    """Return the history of the step with that key (`mend.key_of`), as an effect."""

    async def live() -> dict[str, Any]:
        folder = session.recording
        return {"stops": True, "scrolls": True, **({} if folder is None else read(Path(folder), key))}

    with session.core.recording.inside():
        return history_of(await aperform(Effect("heal", "memory", {"step": key}, leaf=True), live))


def history_of(found: Mapping[str, Any]) -> StepHistory:
    """Build a `StepHistory` from the effect's value."""
    pasts = tuple(PastStep(**one) for one in found.get("steps") or ())
    heals = tuple(found.get("heals") or ())
    stops, scrolls = bool(found.get("stops")), bool(found.get("scrolls"))
    return StepHistory(int(found.get("recordings") or 0), pasts, heals, stops, scrolls)


def read(folder: Path, key: str) -> dict[str, Any]:
    """Read a step's history from the recordings in the same store. Skip damaged ones."""
    pasts: dict[bytes, dict[str, Any]] = {}
    heals: dict[bytes, dict[str, Any]] = {}
    count = knowing = 0
    for other in good_runs(folder):
        past, mended = _of(other, key)
        count += 1
        knowing += bool(past or mended)
        for one in past:
            # Other numbers do not make another behaviour, except in the element's name and record.
            mark = plain(orjson.dumps([one["selectors"], one["consequence"]]).decode()).encode()
            mark += orjson.dumps(TargetIdentity.of(one["fingerprint"] or {}).compared)
            if mark in pasts:
                pasts[mark]["count"] += 1
            elif len(pasts) < KEPT:
                pasts[mark] = one
        for heal in mended:
            heals.setdefault(orjson.dumps(heal.get("new")), heal)
        if knowing == NEWEST:
            break
    return {"recordings": count, "steps": list(pasts.values()), "heals": list(heals.values())[:KEPT]}


# -- the values of one recording -----------------------------------------------------------------------------


def _of(folder: Path, key: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the step in one recording, and its verified mends there."""
    base, _, ordinal = key.rpartition(" #")
    equals: list[dict[str, Any] | None] = []
    heals = []
    url = ""
    elements: list[dict[str, Any]] = []
    mended: dict[str, Any] | None = None
    for value in answers(folder):
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
    # A single match counts at any ordinal; of several, the one with the same ordinal counts.
    place = 0 if len(equals) == 1 else int(ordinal or 0)
    past = equals[place] if place < len(equals) else None
    return ([past] if past is not None else []), heals


def _past(recording: str, outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "recording": recording,
        "selectors": view(outcome.get("selectors") or {}),
        "fingerprint": view(outcome.get("fingerprint")),
        "consequence": view(outcome.get("consequence")),
        "count": 1,
        "download": download_of(str(outcome.get("message") or "")),
    }


_DOWNLOADED = re.compile(r"^downloaded (.+) \(\d+ bytes\)")


def download_of(message: str) -> str:
    """Return the name of the file that an action downloaded, from its message; or ""."""
    found = _DOWNLOADED.match(message)
    return "" if found is None else found[1]
