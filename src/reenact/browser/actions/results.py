"""The results of a session's calls: plain data, the same from a browser and a recording."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny

from reenact.browser.actions.types import Action
from reenact.errors import ActionError


class ExecutionResult(BaseModel):
    """The result of an action.

    Attributes:
        action: The action; a secret value is masked.
        success: True if it was done.
        message: One sentence on the effect, or on the failure.
        data: Its result: of `evaluate_js`, a scraped text or model, a downloaded file's path.
        exception: The error of a failed action, or None.
        started_at: Its start (UTC); `ended_at` its end.
        url: The page's address afterwards; `title` its title, `tab` the number of its tab in the order of opening.
        actor: The actor: `script`, `agent` or `heal`.
        selectors: Durable selectors of the element, the best first.
        why: For a failed action, the facts found on the page: is the element there, visible, covered …
        consequence: Its consequence: `navigated` (a path, or None), `requests` (`POST /login`), `dom` (the elements
            added, removed and changed).
        delivered: For a failed action, True if it may have reached the page nevertheless; `unknown` for a press
            after which the page saw no click.
        step: The number of its step in the recording, the same as in `show`, the video and the console. None
            if nothing is recorded, or once the program has started another recorded process.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    action: SerializeAsAny[Action]
    success: bool
    message: str
    data: Any = None
    exception: Exception | None = Field(None, exclude=True, repr=False)
    started_at: datetime
    ended_at: datetime
    url: str = ""
    title: str = ""
    tab: int | None = None
    actor: str = "script"
    selectors: dict[str, Any] | None = Field(None, repr=False)
    why: dict[str, Any] | None = Field(None, repr=False)
    consequence: dict[str, Any] | None = Field(None, repr=False)
    delivered: bool | Literal["unknown"] = Field(False, repr=False)
    step: int | None = Field(None, exclude=True)


class Tab(BaseModel):
    """An open tab: its index among the open ones (as `switch_tab` takes it), address and title."""

    tab_id: int
    title: str
    url: str


class Viewport(BaseModel):
    """The size of the page's window and its scroll position, in CSS pixels."""

    viewport_width: int
    viewport_height: int
    scroll_x: int = 0
    scroll_y: int = 0
    total_width: int = 0
    total_height: int = 0


class Metadata(BaseModel):
    """The page of an observation."""

    title: str
    url: str
    viewport: Viewport
    tabs: list[Tab]
    timestamp: datetime


class ElementAction(BaseModel):
    """A possible action on an element of the page: `click` for B1, `fill` for I1."""

    type: str
    id: str
    role: str = ""
    name: str = ""
    value: str | None = None
    options: list[str] = []


class Space(BaseModel):
    """The possible actions on the page.

    Attributes:
        description: The page's accessibility tree as text, with the ids of its elements.
        interaction_actions: The possible actions on its elements.
        browser_actions: The types of action that need no element.
    """

    description: str
    interaction_actions: list[ElementAction]
    browser_actions: list[str]


class Observation(BaseModel):
    """A view of the page: `metadata`, `screenshot` (PNG or JPEG bytes), `space` of actions."""

    metadata: Metadata
    screenshot: bytes = Field(repr=False)
    space: Space

    def _repr_png_(self) -> bytes | None:
        return self.screenshot if self.screenshot[:4] == b"\x89PNG" else None

    def _repr_jpeg_(self) -> bytes | None:
        return self.screenshot if self.screenshot[:2] == b"\xff\xd8" else None


class SessionStatus(BaseModel):
    """A session's state: `active` or `closed`, the reason it was closed, and its actions so far."""

    session_id: str
    status: str
    reason: str = ""
    url: str = ""
    steps: int = 0
    recording: str | None = None


def result_of(action: Action, outcome: Mapping[str, Any], step: int | None = None) -> ExecutionResult:
    """Build the result of an action from its effect's outcome, with the number of its step."""
    error = outcome.get("error")
    result = ExecutionResult(
        action=action,
        exception=None,
        success=outcome["success"],
        message=outcome["message"],
        data=outcome.get("data"),
        started_at=datetime.fromisoformat(outcome["started_at"]),
        ended_at=datetime.fromisoformat(outcome["ended_at"]),
        url=outcome.get("url") or "",
        title=outcome.get("title") or "",
        tab=outcome.get("tab"),
        actor=outcome.get("actor") or "script",
        selectors=outcome.get("selectors"),
        why=outcome.get("why"),
        consequence=outcome.get("consequence"),
        delivered="unknown" if outcome.get("delivered") == "unknown" else bool(outcome.get("delivered")),
        step=step,
    )
    if error is not None:
        result.exception = ActionError(f"{action.type}: {result.message}", result)
    return result
