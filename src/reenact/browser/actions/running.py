"""The state of a running action."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from playwright.async_api import Locator, Page

from reenact.browser.actions import types as do
from reenact.browser.page import consequence
from reenact.browser.page.guard import PressGuard
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.page.target import DriftedTarget, KnownTarget
from reenact.browser.page.written import PageWording


@dataclass(frozen=True)
class TargetCheck:
    """The check of an action's element.

    Attributes:
        known: Returns the known facts of the element; called in the browser's loop.
        stops: True if another element stops the step even if no good run is known.
        waits: The end of the wait for a known element: its `time-out`; a `quiet` page; or a `finished` one, which is
            quiet and shows no sign that it will change (`pending`).
        least: Least milliseconds for the action, whatever its time-out, so that a busy machine does not stop it.
    """

    known: Callable[[], Awaitable[KnownTarget]]
    stops: bool = False
    waits: Literal["time-out", "quiet", "finished"] = "time-out"
    least: int = 0


@dataclass
class RunningAction:
    """One running action: its findings and results."""

    live: LiveBrowser
    action: do.Action
    page: Page
    data: Any = None
    said: str = ""
    locator: Locator | None = None
    selectors: dict[str, Any] | None = None
    fingerprint: dict[str, Any] | None = None
    box: list[float] | None = None
    why: dict[str, Any] | None = None
    error: Exception | None = None
    navigations: int = 0
    secret: bool = False
    requests: int = 0
    before: consequence.Digest | None = None
    check: TargetCheck | None = None
    guard: PressGuard | None = None
    known: KnownTarget | None = None
    wording: PageWording | None = None
    """The page's answer to the words of a selector, if nothing else is known."""
    drifted: DriftedTarget | None = None
    """The reason that the element may be the wrong one, if that does not stop the step."""
    filled: bool | None = None
    """True if the field holds the written text; None if nothing was written."""
    waited: float = 0.0
    """Seconds until the element was found and nothing was in the way of the act."""
    obstacle: str = ""
    """The obstacle to the act: the element is `hidden`, `disabled` or `covered`."""
    patience: int | None = None
    """Milliseconds that the act may take on a quiet page; None for the action's time-out."""
    sent: bool = False
    """True once an effect that must not be repeated has reached the page."""
    began: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def timeout(self) -> int:
        """Milliseconds that the act may take."""
        assert isinstance(self.action, do.Aimed)
        return self.action.timeout if self.patience is None else min(self.patience, self.action.timeout)
