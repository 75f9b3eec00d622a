"""The types of answers about heals."""

from __future__ import annotations

from typing import Literal

from reenact.server.shapes.base import Json, Shape


class LastHeal(Shape):
    """Where a step of a script was helped last."""

    recording: str
    step: int
    started: str


class Story(Shape):
    """One step of a script over all runs: in how many it ran, in how many it needed help, who helped how often."""

    key: str
    file: str | None
    line: int | None
    function: str | None
    action: str
    selector: Json
    ran: int | None
    helped: int
    rungs: dict[str, int]
    state: Literal["mended", "verified", "unverified", "failed"]
    verified: bool
    runs_since: int
    last: LastHeal


class Heals(Shape):
    """The steps of scripts that needed help, the last one first."""

    items: list[Story]


class Heal(Shape):
    """One heal, and where it is recorded."""

    recording: str
    step: int
    started: str
    verified: bool
    key: str
    action: str
    rung: str
    file: str
    line: int
    function: str
    source: str
    old: Json
    new: Json
    error: str
    healed: bool
    verified_by: str
    score: float | None
    margin: float | None
    before: dict[str, Json]
    after: dict[str, Json]
    cost: str | None
    tokens: int
    seconds: float


class HealRuns(Shape):
    """Each heal by itself, the newest first."""

    items: list[Heal]


class Patch(Shape):
    """What was learned about one script, as a unified diff; `readable` is false where the script is not here.

    `mark` names this patch where it is to be applied; `refusal` says why it cannot be applied from here, if that is so.
    """

    file: str
    patch: str
    readable: bool
    mark: str
    refusal: str | None


class Applied(Shape):
    """A script that was changed: how many of its selectors, and how its old text is kept."""

    file: str
    changed: int
    kept: str
