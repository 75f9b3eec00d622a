"""An element of an observed page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Element:
    """One element to act on.

    Attributes:
        id: B1, I1, L1 …
        role: Its role, or its tag if it has none.
        name: Its accessible name, or its text.
        value: The content of a field (`•••` if it is secret and filled), else None.
        box: `[x, y, width, height]` in CSS pixels of the main viewport.
        frames: CSS selectors of the frames around it, from the outermost.
        tag: Its tag.
        attributes: Its identifying attributes.
        states: `disabled`, `checked`, `selected`, `expanded`, `level` … as the snapshot has them.
        options: The options of a drop-down list.
        secret: True if its value must not be shown.
        actions: The types of action that fit, the usual one first.
        ref: Its reference in the snapshot, valid until the next one; None if `path` finds it.
        path: A selector by position.
    """

    id: str
    role: str
    name: str
    value: str | None
    box: tuple[float, float, float, float]
    frames: tuple[str, ...]
    tag: str
    attributes: Mapping[str, str]
    states: Mapping[str, str]
    options: tuple[str, ...]
    secret: bool
    actions: tuple[str, ...]
    ref: str | None = None
    path: str | None = None

    def __str__(self) -> str:
        return f"{self.role} {json.dumps(self.name, ensure_ascii=False)}" if self.name else self.role
