"""The types of healing: the failed step, its history, and its mend."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from reenact.browser.actions import types as do
from reenact.browser.actions.results import ExecutionResult
from reenact.browser.page.consequence import plain, tells, where

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
    """A step that failed, with all that a rung may look at.

    Attributes:
        asked: The action with its real values, to do it again. It is never recorded or shown.
        action: The action as executed, secrets as tokens.
        result: Its failed result.
        place: The caller's place, or None.
        key: The identity of this step in the script, the same in each run (`key_of`).
        delivered: True if it may have reached the page all the same: then it is never done again.
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
        """Return the last step of a session, which failed; or the last of the first `count`."""
        outcomes = session.core.outcomes[:count]
        told = dict(outcomes[-1]["action"])
        key = key_of(told, _url_before(outcomes), elements=session.core.driver.seen, before=outcomes[:-1])
        again = asked.type in _REPEATABLE or (isinstance(asked, do.Fill) and asked.clear_before_fill)
        return cls(asked, told, result, place, key, result.delivered and not again)

    @property
    def reason(self) -> str:
        """The reason of the failure, in one word; empty where the page was not asked."""
        return str((self.result.why or {}).get("reason") or "")


@dataclass(frozen=True)
class PastStep:
    """The same step in an earlier good recording.

    Attributes:
        recording: The newest recording's id; `count` the number of recordings with the same values.
        selectors: The selectors of its element.
        fingerprint: The fingerprint of its element, or None.
        consequence: The consequence of the step, or None.
    """

    recording: str
    selectors: dict[str, str]
    fingerprint: dict[str, Any] | None
    consequence: dict[str, Any] | None
    count: int = 1


@dataclass(frozen=True)
class StepHistory:
    """The history of a step in earlier good recordings, newest first.

    Attributes:
        recordings: The number of recordings of the same script that were read.
        pasts: The step in them; equal ones are merged.
        heals: Verified mends of it: their `new` selectors, `rung`, `verified_by`.
    """

    recordings: int = 0
    pasts: tuple[PastStep, ...] = ()
    heals: tuple[dict[str, Any], ...] = ()

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


Judge = Callable[[], Awaitable[MendVerdict]]
"""A function that checks the user's expectation now."""


@dataclass
class MendOptions:
    """The means and limits of one climb.

    Attributes:
        budget_ms: Milliseconds that waiting may take in all.
        judge: Checks the user's expectation, or None.
        model: The model for one question, or None.
        seen: The result of the search for each past element, and the number of actions done before it.
    """

    budget_ms: int = 2000
    judge: Judge | None = None
    model: Any = None
    seen: dict[int, tuple[int, Any]] = field(default_factory=dict)


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
    """One means of mending a step."""

    name: str

    async def mend(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> Mend | None:
        """Try to mend the step. None: this rung cannot help, and the step has not been done."""


# -- the identity of a step -----------------------------------------------------------------------------------


def key_of(
    action: Mapping[str, Any],
    url: str,
    *,
    elements: Sequence[Mapping[str, Any]] = (),
    before: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the identity of a script's step: type, aim, the page's path and an ordinal.

    Args:
        action: The action, secrets as tokens.
        url: The page's address before the action.
        elements: The last observation's, for an action that names an id of it.
        before: The session's outcomes before it: its ordinal is counted among those of the script with the same key.
    """
    base = base_of(action, url, elements)
    count, here = 0, ""
    for outcome in before:
        same = (
            outcome.get("actor", "script") == "script" and base_of(outcome["action"], here, elements) == base
        )
        count += same
        here = outcome.get("url") or here
    return f"{base} #{count}"


def base_of(action: Mapping[str, Any], url: str, elements: Sequence[Mapping[str, Any]] = ()) -> str:
    """`key_of` without its ordinal."""
    path = plain(where(url))
    return f"{action.get('type')} {_aim(action, elements)} @{path}"


def _aim(action: Mapping[str, Any], elements: Sequence[Mapping[str, Any]]) -> str:
    selector, id = action.get("selector"), action.get("id")
    if isinstance(selector, Mapping):
        return " | ".join(f"{kind}={value}" for kind, value in selector.items() if value)
    if selector is not None:
        return " ".join(str(selector).split())
    if id is not None:
        one = next((one for one in elements if one["id"] == id), None)
        return f"id:{one['role']} {one['name']!r}" if one is not None else f"id:{id}"
    for field_name in ("url", "key", "tab_index"):
        if field_name in action:
            return str(action[field_name])
    value = action.get("value")
    return " ".join(sorted(value)) if isinstance(value, Mapping) else ""


def _url_before(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """Return the address at which the last of those steps began."""
    return next((str(one["url"]) for one in reversed(outcomes[:-1]) if one.get("url")), "")
