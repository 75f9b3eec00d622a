"""Press an element, and confirm that the page saw it; try again where that is safe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Error

from reenact.browser.actions import types as do
from reenact.browser.actions.aim import aim
from reenact.browser.actions.running import RunningAction
from reenact.browser.page import consequence
from reenact.browser.page.guard import SeenPress
from reenact.errors import ActionError

TRIES = 4
"""Most presses of an element that is replaced each time before the click."""


class UndeliveredPress(ActionError):
    """The page saw no click on the element.

    Attributes:
        facts: `reason`, and the events that the page saw.
    """

    def __init__(self, said: str, seen: SeenPress) -> None:
        super().__init__(said)
        self.facts: dict[str, Any] = {"reason": "undelivered", "events": seen._asdict()}


async def press(running: RunningAction, act: Callable[[], Awaitable[Any]], *, confirm: bool = True) -> None:
    """Do the press and confirm it; repeat it if the page saw nothing of it.

    Args:
        running: The action; its element was checked just before (`aim`).
        act: Presses `running.locator`.
        confirm: False if `act` itself confirms the press: then only stopped presses are repeated.

    Raises:
        UndeliveredPress: The page saw no click.
        DriftedTarget: Another element was there when the press came.
    """
    assert isinstance(running.action, do.Aimed)
    for left in reversed(range(TRIES)):
        seen = await _pressed(running, act, confirm=confirm)
        if seen is None or seen.delivered or (not confirm and not seen.stopped):
            return
        if not seen.stopped and not seen.pressed and await _moved(running):
            return  # an earlier listener of the page stopped the event
        if not left or not _repeatable(running, seen):
            if not seen.stopped or seen.pressed:
                running.sent = True
            raise UndeliveredPress(_message(seen), seen)
        await aim(running, running.action)


async def _pressed(
    running: RunningAction, act: Callable[[], Awaitable[Any]], *, confirm: bool
) -> SeenPress | None:
    """Press once; return the events that the page saw, or None if it does not answer.

    A click that the page saw is done, even if Playwright's call timed out.
    """
    guard = running.guard
    try:
        await act()
    except Error:
        seen = None if guard is None else await guard.read()
        if seen is None or (seen.clicked and not confirm) or not (seen.clicked or seen.stopped):
            raise
        return seen
    return None if guard is None else await guard.read()


def _repeatable(running: RunningAction, seen: SeenPress) -> bool:
    """Return True if the page saw at most presses that changed nothing."""
    if running.live.navigations != running.navigations:
        return False
    sent = running.live.requests.since(running.requests)
    if any(not one.startswith("GET ") for one in sent):
        return False
    return bool(seen.stopped or seen.pressed) and (seen.stopped > 0 or not seen.beside or seen.pressed > 0)


async def _moved(running: RunningAction) -> bool:
    """Return True if the page has changed since the element was found, or was left."""
    live = running.live
    if (
        live.navigations != running.navigations
        or live.requests.since(running.requests)
        or running.page.is_closed()
    ):
        return True
    after = await consequence.digest(running.page, live.mask(running.page))
    return (
        after is None
        or running.before is None
        or after.lines != running.before.lines
        or after.url != running.before.url
    )


def _message(seen: SeenPress) -> str:
    if seen.stopped and not seen.pressed:
        return "the element was replaced by another one each time, just before the click: nothing was clicked"
    if seen.pressed:
        return (
            "the page saw a press on the element, and no click: the element was replaced in between. It is unknown "
            "whether the page acted on it"
        )
    return "the page saw no click on the element: it moved, or another one took the click"
