"""The types of healing: the failed step, its history, and its mend."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from reenact.browser.actions import types as do
from reenact.browser.actions.results import ExecutionResult
from reenact.browser.page.consequence import tells
from reenact.browser.script.step_key import key_of, url_before

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

_REPEATABLE = {"goto", "wait", "scrape", "switch_tab"}
"""Actions that may be done twice: the page ends in the same state."""


@dataclass(frozen=True)
class ScriptPlace:
    """The place in the script that asked for a step: its file, line and function."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class FailedStep:
    """A step that failed, with all that a rung needs to know.

    Attributes:
        asked: The action with its real values, to do it again. They are never recorded or shown.
        action: The action as executed, with tokens for secrets.
        result: Its failed result.
        place: The caller's place, or None.
        key: The identity of this step in the script, the same in each run (`key_of`).
        delivered: True if it may have reached the page nevertheless: then it is never done again.
    """

    asked: do.Action = field(repr=False)
    action: dict[str, Any]
    result: ExecutionResult
    place: ScriptPlace | None
    key: str
    delivered: bool

    @classmethod
    def of(
        cls,
        session: Session,
        asked: do.Action,
        result: ExecutionResult,
        place: ScriptPlace | None = None,
        *,
        count: int | None = None,
    ) -> FailedStep:
        """Return the last of a session's steps, or of its first `count` steps, as failed."""
        outcomes = session.core.outcomes[:count]
        action = dict(outcomes[-1]["action"])
        key = key_of(action, url_before(outcomes), elements=session.core.driver.seen, before=outcomes[:-1])
        again = asked.type in _REPEATABLE or (isinstance(asked, do.Fill) and asked.clear_before_fill)
        return cls(asked, action, result, place, key, result.delivered and not again)

    @property
    def reason(self) -> str:
        """The reason of the failure, in one word; empty if the page was not asked."""
        return str((self.result.why or {}).get("reason") or "")


@dataclass(frozen=True)
class PastStep:
    """The same step in an earlier good recording.

    Attributes:
        recording: The newest recording's id; `count` the number of recordings with the same values.
        selectors: The selectors of its element.
        fingerprint: The fingerprint of its element, or None.
        consequence: The consequence of the step, or None.
        download: The name of the file that the site offered, or empty.
    """

    recording: str
    selectors: dict[str, str]
    fingerprint: dict[str, Any] | None
    consequence: dict[str, Any] | None
    count: int = 1
    download: str = ""


@dataclass(frozen=True)
class StepHistory:
    """The history of a step in earlier good recordings, newest first.

    Attributes:
        recordings: The number of recordings of the same script that were read.
        pasts: The step in them; equal ones are merged.
        heals: Verified mends of it: their `new` selectors, `rung`, `verified_by`.
        tells_stops: True if a stop is recorded, too; in a replay, False for a recording of an older version.
        scrolls: True if lists are scrolled to a record; in a replay, False for a recording of an older version.
    """

    recordings: int = 0
    pasts: tuple[PastStep, ...] = ()
    heals: tuple[dict[str, Any], ...] = ()
    tells_stops: bool = False
    scrolls: bool = False

    @property
    def verifiable(self) -> bool:
        """True if a mend can be compared with the consequences of good runs."""
        return bool(self.consequences) or any(one.download for one in self.pasts)

    @property
    def writes(self) -> list[dict[str, Any]]:
        """The requests of the past consequences that may change something."""
        return [dict(one) for past in self.consequences for one in past.get("writes") or ()]

    @property
    def consequences(self) -> list[dict[str, Any]]:
        """The past consequences of the step that contain evidence."""
        return [
            one.consequence for one in self.pasts if one.consequence is not None and tells(one.consequence)
        ]


class MendVerdict(Protocol):
    """The answer to an expectation: `state` is `met`, `unmet` or `unknown`, `by` a sentence."""

    @property
    def state(self) -> str:
        """`met`, `unmet` or `unknown`."""

    @property
    def by(self) -> str:
        """The deciding observation."""


@dataclass(frozen=True)
class RungRefusal:
    """A rung that did nothing: its name, the reason, and the refused candidate in words."""

    rung: str
    why: str
    candidate: str = ""


Judge = Callable[[], Awaitable[MendVerdict]]
"""A function that checks the user's expectation now."""


@dataclass
class MendOptions:
    """The tools and limits of one climb.

    Attributes:
        budget_ms: Milliseconds for all waiting.
        judge: Checks the user's expectation, or None.
        model: The model for one question, or None.
        refusals: The rungs that did nothing so far, with their reasons.
        seen: The result of the search for each past element, and the number of actions done before it.
    """

    budget_ms: int = 2000
    judge: Judge | None = None
    model: Any = None
    refusals: list[RungRefusal] = field(default_factory=list)
    seen: dict[int, tuple[int, Any]] = field(default_factory=dict)

    def pass_on(self, rung: str, why: str, candidate: str = "") -> Mend | None:
        """Note the reason that a rung does nothing, and return None."""
        self.refusals.append(RungRefusal(rung, why, candidate))
        return None


@dataclass(frozen=True)
class Mend:
    """The repair of a failed step.

    Attributes:
        result: Of the action that was done in its place.
        rung: `remembered`, `wait`, `dismiss`, `alternative` or `ask`.
        old: The selectors that failed; `new` those of the element that was found.
        score: The likeness of the element to the sought one, and `margin` its lead; None for the same element.
        evidence: The findings before and after, as plain data.
        cost: Cost of its model in US dollars; None where the price of an answer is unknown.
        verified_by: The check that verified the mend. Empty: the step counts as failed, and the page has changed.
        same_element: True if the script's own selector found the element after all.
    """

    result: ExecutionResult
    rung: str
    old: Any
    new: dict[str, Any] = field(default_factory=dict)
    score: float | None = None
    margin: float | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    cost: Decimal | None = Decimal(0)
    verified_by: str = ""
    same_element: bool = False

    @property
    def verified(self) -> bool:
        """True if the step is mended."""
        return bool(self.verified_by) and self.result.success


class Rung(Protocol):
    """One way to mend a step."""

    name: str

    async def mend(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> Mend | None:
        """Try to mend the step. None: this rung cannot help, and the step has not been done."""
