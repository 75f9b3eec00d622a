"""The identities of a script's elements, from its newest good recordings.

They are read once in a session, in a thread, and only for a live browser: a replay uses the recorded outcomes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reenact.browser.actions import types as do
from reenact.browser.page.selector_words import codes_of, texts_of
from reenact.browser.page.target import KnownTarget, TargetIdentity, written_parts
from reenact.browser.script.good_runs import answers, good_runs
from reenact.browser.script.step_key import base_of
from reenact.core.model.codec import view

NEWEST = 5
"""Number of good recordings of a step that are used."""

KEPT = 4
"""Number of different identities of a step that are kept, the newest first."""


@dataclass
class PastTarget:
    """A step's element in good runs: identities, newest first; longest wait; fingerprint."""

    identities: list[TargetIdentity] = field(default_factory=list)
    seconds: float = 0.0
    like: Mapping[str, Any] | None = None


class KnownTargets:
    """The identities of a script's elements by the keys of its steps (`step_key.key_of`)."""

    def __init__(self) -> None:
        self._read: asyncio.Task[dict[str, PastTarget]] | None = None

    def begin(self, folder: Path | None) -> None:
        """Begin to read the recordings beside that one, once. Call it in the browser's loop."""
        if self._read is None and folder is not None:
            self._read = asyncio.create_task(asyncio.to_thread(read, folder))

    async def of(self, key: str, action: do.Aimed) -> KnownTarget:
        """Return the known facts of a step's element."""
        found = {} if self._read is None else await self._read
        base = key.rpartition(" #")[0]
        past = found.get(key) or found.get(base) or PastTarget()
        return replace(known_of(action, past.identities), seconds=past.seconds, like=past.like)


def known_of(action: do.Aimed, pasts: Sequence[TargetIdentity] = ()) -> KnownTarget:
    """Return the facts of an action's element from its fields and its good runs."""
    written = None if action.expect_target is None else written_parts(action.expect_target)
    words, context = texts_of(action.selector)
    return KnownTarget(tuple(pasts), written, words, context, codes_of(action.selector))


_Step = tuple[Mapping[str, Any], float]
"""The fingerprint of a step's element, and the seconds until it was found."""


def read(folder: Path) -> dict[str, PastTarget]:
    """Read the identities of all steps. Damaged recordings are skipped.

    Returns:
        The identities by key; for a step that each recording has only once, also by its key without the ordinal.
    """
    known: dict[str, PastTarget] = {}
    counted: Counter[str] = Counter()
    for other in good_runs(folder):
        try:
            steps = _steps(other)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        for key, (fingerprint, seconds) in steps.items():
            if counted[key] == NEWEST:
                continue
            counted[key] += 1
            identity = TargetIdentity.of(fingerprint)
            past = known.setdefault(key, PastTarget(like=fingerprint))
            past.seconds = max(past.seconds, seconds)
            same = any(one.compared == identity.compared for one in past.identities)
            if not same and len(past.identities) < KEPT:
                past.identities.append(identity)
    return known


def _steps(folder: Path) -> dict[str, _Step]:
    """Return the steps of one recording with an element, by key."""
    found: dict[str, list[_Step | None]] = {}
    url, elements = "", list[dict[str, Any]]()
    last: tuple[str, int] | None = None
    for value in answers(folder):
        action = value.get("action")
        if isinstance(action, dict):
            if value.get("actor") == "script":
                own = found.setdefault(base_of(action, url, elements), [])
                own.append(_element(value))
                last = base_of(action, url, elements), len(own) - 1
        elif value.get("verified_by") and value.get("healed", True) and last is not None:
            fingerprint = (value.get("after") or {}).get("fingerprint")
            if fingerprint:
                found[last[0]][last[1]] = view(fingerprint), 0.0
        if "elements" in value:
            elements = value["elements"]
        url = value.get("url") or url
    steps = {
        f"{base} #{place}": one
        for base, own in found.items()
        for place, one in enumerate(own)
        if one is not None
    }
    return steps | {base: own[0] for base, own in found.items() if len(own) == 1 and own[0] is not None}


def _element(outcome: Mapping[str, Any]) -> _Step | None:
    fingerprint = view(outcome.get("fingerprint"))
    return (
        (fingerprint, float(outcome.get("waited") or 0.0)) if outcome.get("success") and fingerprint else None
    )
