"""Read the recorded pages before a script's step, each with the element that it acted on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.browser.camera import moments
from reenact.browser.camera.footage import FootageEntry, sessions
from reenact.browser.script.good_runs import good_runs, outcomes
from reenact.browser.script.step_key import base_of
from reenact.core.model.codec import view
from reenact.errors import RecordingError

PAGES = 4
"""Number of different pages of a step that are read, the newest first."""


@dataclass(frozen=True)
class StepPage:
    """A page as it was recorded before a step.

    Attributes:
        recording: The recording's id.
        tree: The page (`camera.moments.whole`).
        element: The selectors of the step's element on it.
        mended: True if the step was mended there.
    """

    recording: str
    tree: dict[str, Any]
    element: dict[str, str]
    mended: bool


def step_pages(folder: Path, key: str) -> list[StepPage]:
    """Return the recorded pages of a step, newest first.

    They come from a recording and the good runs beside it. Pages that are damaged or were not kept are missing.
    """
    found: dict[str, StepPage] = {}
    for one in (folder, *good_runs(folder)):
        with suppress(RecordingError, OSError, ValueError, TypeError, KeyError, AttributeError):
            if (page := _of(one, key, found)) is not None:
                found[page[0]] = page[1]
        if len(found) >= PAGES:
            break
    return list(found.values())[:PAGES]


@dataclass(frozen=True)
class _Act:
    """An act of the step: its call, its element, and the page's address and tab before it."""

    call: int
    element: dict[str, str]
    url: str
    tab: int | None
    mended: bool


def _of(folder: Path, key: str, known: Mapping[str, StepPage]) -> tuple[str, StepPage] | None:
    """Return the address and the page before the step in one recording."""
    act = _act(folder, key)
    if act is None:
        return None
    for footage in sessions(folder):
        address = _before(footage.entries("dom"), act)
        if address is not None and address not in known:
            tree = moments.whole(footage, address)
            if tree["whole"] and _bare(tree["url"]) == _bare(act.url):
                return address, StepPage(folder.name, tree, act.element, act.mended)
    return None


def _bare(url: str) -> str:
    return url.partition("#")[0]


def _act(folder: Path, key: str) -> _Act | None:
    """Return the act of the step in one recording: the script's own, or its verified mend."""
    base, _, ordinal = key.rpartition(" #")
    own: list[_Act | None] = []
    mend: _Act | None = None
    url, tab, elements = "", None, list[dict[str, Any]]()
    for call, value in outcomes(folder):
        action = value.get("action")
        if "verified_by" in value:
            if value["verified_by"] and value.get("healed", True) and value.get("key") == key and own:
                own[-1] = mend
            mend = None
        elif isinstance(action, dict):
            healing = value.get("actor") == "heal"
            good = value.get("success") and value.get("selectors")
            act = _Act(call, view(value["selectors"]), url, tab, healing) if good else None
            if value.get("actor") == "script" and base_of(action, url, elements) == base:
                own.append(act)
            elif healing:
                mend = act
        elements = value.get("elements") or elements
        url, tab = value.get("url") or url, value.get("tab", tab)
    # A single match counts at any ordinal; of several, the one with the same ordinal counts.
    place = 0 if len(own) == 1 else int(ordinal or 0)
    return own[place] if place < len(own) else None


def _before(entries: Iterable[FootageEntry], act: _Act) -> str | None:
    """Return the address of the page before an act. A page is written only when it changes."""
    address: str | None = None
    for entry in entries:
        number = entry["call"]
        if isinstance(number, int) and (
            number > act.call or (number == act.call and entry["why"] != "before")
        ):
            break
        if entry["tab"] == act.tab:
            address = str(entry["blob"])
    return address
