"""Heals: the steps of browser scripts that needed help, and the patches made from them."""

from __future__ import annotations

from typing import Literal

from reenact.analysis.views.base import Json, View


class LastHealView(View):
    """The last heal of a step: its recording, its number there, and its time."""

    recording: str
    step: int
    started: str


class HealedStepView(View):
    """One step of a script over all runs.

    `ran` is the number of runs that had it, `helped` of those in which it needed help, `rungs` the number of heals by
    each rung.
    """

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
    last: LastHealView


class HealsView(View):
    """The steps of scripts that needed help, the last one first."""

    items: tuple[HealedStepView, ...]


class HealView(View):
    """One heal, and its place in a recording."""

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


class HealRunsView(View):
    """The single repairs, the newest first."""

    items: tuple[HealView, ...]


class PatchView(View):
    """The suggested changes of one script, as a unified diff; `readable`: the script is here.

    `mark` names this patch where it is to be applied; `refusal` is the reason why it cannot be applied from here.
    """

    file: str
    patch: str
    readable: bool
    mark: str
    refusal: str | None


class AppliedView(View):
    """A changed script: the number of its changed selectors, and the place of its old text."""

    file: str
    changed: int
    kept: str
