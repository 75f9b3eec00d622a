"""Keep the tabs of a hosted browser on pages of the web, where its own policies do not."""

from __future__ import annotations

from contextlib import suppress

from playwright.async_api import Error, Frame, Route

from reenact.browser.isolation.addresses import is_shown


async def empty_strayed_tab(frame: Frame) -> None:
    """Empty a tab that shows something else than a page of the web."""
    if frame.parent_frame is None and not is_shown(frame.url):
        with suppress(Error):
            await frame.page.goto("about:blank")


async def refuse(route: Route) -> None:
    """Answer a request for a refused address."""
    await route.abort("blockedbyclient")
