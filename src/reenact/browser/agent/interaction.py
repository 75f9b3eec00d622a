"""The agent's view of a session: the page for the model, and the outcome of an action."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reenact.browser.actions.types import Aimed, action_of
from reenact.browser.agent.status import call
from reenact.browser.effects.calls import arun
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.browser.actions.results import Metadata, Observation, Tab
    from reenact.browser.effects.open_session import OpenSession

PATIENCE = 5_000
"""Milliseconds that an agent's action waits for its element, which it has just observed."""

_ADDRESS = 200
"""Most characters of an address that are shown, because some contain whole pages."""

_REFERENCE = re.compile(r" ?\[(?:ref|box|cursor)=[^\]]*\]")
_ID = re.compile(r"\[id=(\w+)\]")


@dataclass(frozen=True)
class ShownPage:
    """A page as it was shown.

    Attributes:
        url: Its address.
        text: Its title, tabs and outline.
        ids: The ids of its elements.
        picture: Its picture, or empty bytes; `picture_type` is its media type.
    """

    url: str
    text: str
    ids: frozenset[str]
    picture: bytes
    picture_type: str

    def complaint(self, action: Mapping[str, Any]) -> str:
        """Return the reason that an action is impossible on this page, in one line, or ""."""
        try:
            action_of(action)
        except UsageError as error:
            return str(error)
        id = action.get("id")
        if id is None or id in self.ids:
            return ""
        if not self.ids:
            return f"{action['type']}: there is no {id!r}: the page shows no element that can be acted on"
        return f"{action['type']}: there is no {id!r} on the page as it is now; it has {_some(self.ids)}"


async def looked(session: OpenSession) -> ShownPage:
    """Observe the current page for a model."""
    return seen(await session.aobserve())


def seen(observation: Observation) -> ShownPage:
    """Convert an observation for a model."""
    about, space = observation.metadata, observation.space
    head = [_named(about)]
    if len(about.tabs) > 1:
        head += [f"tab {place}: {_named(tab)}" for place, tab in enumerate(about.tabs)]
    view = about.viewport
    below = view.total_height - view.scroll_y - view.viewport_height
    if view.scroll_y or below > 0:
        head.append(f"scrolled down by {view.scroll_y} pixels; {max(below, 0)} more below")
    outline = _ID.sub(r"[\1]", _REFERENCE.sub("", space.description)).strip() or "(an empty page)"
    shot = observation.screenshot
    return ShownPage(
        url=about.url,
        text="\n".join([*head, "", outline]),
        ids=frozenset(found.id for found in space.interaction_actions),
        picture=shot,
        picture_type="image/png" if shot[:4] == b"\x89PNG" else "image/jpeg",
    )


async def executed(
    session: OpenSession, action: Mapping[str, Any], filled: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Do an action; return it with secrets masked, and its outcome.

    The outcome holds `success`, `message`, `data`, `url`, times, `selectors` and `why`.

    Args:
        session: The session.
        action: The action as the model wrote it.
        filled: The same with the values of its placeholders.
    """
    filled = action if filled is None else filled
    asked = action_of(filled)
    if isinstance(asked, Aimed):
        asked = asked.model_copy(update={"timeout": PATIENCE})
    result = await arun(session.core.perform(asked, "agent"))
    shown = dict(action)
    if "value" in shown and (said := getattr(result.action, "value", None)) != filled["value"]:
        # The session found that the field is secret.
        shown["value"] = said
    kept = result.model_dump(mode="json", exclude={"action", "actor"})
    return shown, {name: value for name, value in kept.items() if value is not None}


def _named(page: Metadata | Tab) -> str:
    url = page.url if len(page.url) <= _ADDRESS else page.url[:_ADDRESS] + "…"
    return f"{page.title or '(no title)'} at {url}"


def _some(ids: frozenset[str]) -> str:
    def order(id: str) -> tuple[str, int]:
        digits = id.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        return id[: len(id) - len(digits)], int(digits) if digits.isdigit() else 0

    shown = sorted(ids, key=order)
    return ", ".join(shown[:40]) + (f" and {len(shown) - 40} more" if len(shown) > 40 else "")


def told_before(session: OpenSession, offset: int | None) -> str:
    """Describe the session's actions from step `offset` on, for an agent that takes over."""
    if offset is None:
        return ""
    first = max(offset, 0)
    lines = []
    for number, outcome in enumerate(session.core.outcomes[first:], first + 1):
        became = "done" if outcome["success"] else f"failed: {outcome['message']}"
        lines.append(f"{number}. {call(outcome['action'])} -> {became}")
    return "\n".join(lines)
