"""The words of mending: what failed, what is known of it from earlier, and what was done about it."""

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
"""What may be done once more though it may have been done: the page is then as after one time."""


@dataclass(frozen=True)
class Place:
    """Where the script asked for a step: its file, line and function."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Failed:
    """A step that failed: all that a rung may look at.

    Attributes:
        asked: The action with its real values, to do it again. It is never recorded or shown.
        action: The action as executed, secrets as tokens.
        result: Its failed result.
        place: The caller's place, or None.
        key: What tells this step of the script from its others, the same in each run (`key_of`).
        delivered: Whether it may have reached the page all the same: then it is never done again.
    """

    asked: do.Action = field(repr=False)
    action: dict[str, Any]
    result: ExecutionResult
    place: Place | None
    key: str
    delivered: bool

    @classmethod
    def of(
        cls,
        session: Session,
        asked: do.Action,
        result: ExecutionResult,
        place: Place | None = None,
        *,
        count: int | None = None,
    ) -> Failed:
        """The last step of a session, which failed; or the last of the first `count`."""
        outcomes = session._outcomes[:count]
        told = dict(outcomes[-1]["action"])
        key = key_of(told, _url_before(outcomes), elements=session._driver.seen, before=outcomes[:-1])
        again = asked.type in _REPEATABLE or (isinstance(asked, do.Fill) and asked.clear_before_fill)
        return cls(asked, told, result, place, key, result.delivered and not again)

    @property
    def reason(self) -> str:
        """Why it failed, in one word; nothing where the page was not asked."""
        return str((self.result.why or {}).get("reason") or "")


@dataclass(frozen=True)
class Past:
    """The same step in an earlier good recording.

    Attributes:
        recording: The newest recording's id; `count` how many had the same to tell.
        selectors: Those of its element.
        fingerprint: Of its element, or None.
        consequence: What it led to, or None.
    """

    recording: str
    selectors: dict[str, str]
    fingerprint: dict[str, Any] | None
    consequence: dict[str, Any] | None
    count: int = 1


@dataclass(frozen=True)
class Known:
    """What earlier good recordings know of a step; the newest first.

    Attributes:
        recordings: How many of the same script were read.
        pasts: The step in them; those that say the same are one.
        heals: Verified mends of it: their `new` selectors, `rung`, `verified_by`.
    """

    recordings: int = 0
    pasts: tuple[Past, ...] = ()
    heals: tuple[dict[str, Any], ...] = ()

    @property
    def consequences(self) -> list[dict[str, Any]]:
        """What the step led to, as far as that says anything."""
        return [
            one.consequence for one in self.pasts if one.consequence is not None and tells(one.consequence)
        ]


class Verdict(Protocol):
    """Whether what was expected is so: `state` is `met`, `unmet` or `unknown`, `by` a sentence."""

    @property
    def state(self) -> str:
        """`met`, `unmet` or `unknown`."""

    @property
    def by(self) -> str:
        """What decided."""


Judge = Callable[[], Awaitable[Verdict]]
"""Asks whether what the user expects is so now."""


@dataclass
class Means:
    """What a climb may use, and how long.

    Attributes:
        budget_ms: Milliseconds that waiting may take in all.
        judge: Asks what the user expects, or None.
        model: The model for one question, or None.
        seen: What a look for each of the past elements gave, and after how many actions.
    """

    budget_ms: int = 2000
    judge: Judge | None = None
    model: Any = None
    seen: dict[int, tuple[int, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Mend:
    """What was done about a failed step.

    Attributes:
        result: Of the action that was done in its place.
        rung: `remembered`, `wait`, `dismiss`, `alternative` or `ask`.
        old: The selectors that failed; `new` those of the element that was found.
        score: How alike the element is to the sought one, and by which margin the most; None where it is the same.
        evidence: What was found before and after, as plain data.
        cost: What its model cost, in US dollars; None where the price of an answer is not known.
        verified_by: What showed that it did the same. Empty: nothing did, the step counts as failed, and the page is no
            longer as it was.
        same_element: Whether the script's own selector found the element after all.
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
        """Whether the step is mended."""
        return bool(self.verified_by) and self.result.success


class Rung(Protocol):
    """One means of mending a step."""

    name: str

    async def mend(self, session: Session, failed: Failed, known: Known, means: Means) -> Mend | None:
        """Try it. None: it steps aside, and the step has not been done."""


# -- which step of the script ------------------------------------------------------------------------------------


def key_of(
    action: Mapping[str, Any],
    url: str,
    *,
    elements: Sequence[Mapping[str, Any]] = (),
    before: Sequence[Mapping[str, Any]] = (),
) -> str:
    """What tells a step of a script from its others: type, what it is aimed at, the page's path, the how-manieth.

    Args:
        action: The action, secrets as tokens.
        url: The page's address when it was asked.
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
    """The address at which the last of those steps began."""
    return next((str(one["url"]) for one in reversed(outcomes[:-1]) if one.get("url")), "")
