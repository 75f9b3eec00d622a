"""Signs that a page may still change by itself: timers, open requests, words of loading.

A page without changes may only pause: its script waits for a timer, or it says that it is loading. `pending.js` notes
the timers of each document from its start. A page that lies here makes a step wait, at most until its time-out.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

from playwright.async_api import BrowserContext, Error, Frame, Page

from reenact.browser.page.isolated_world import of_page

EVENT = "reenact-timers"
"""The event that asks a document for its timers."""

PATIENCE = 0.5
"""Seconds for the page's answer; a page that gives none is busy, which shows otherwise."""

_ASK = f"""() => {{
  const told = [];
  document.dispatchEvent(new CustomEvent({EVENT!r}, {{ detail: told }}));
  return told;
}}"""


@cache
def _script() -> str:
    source = files("reenact.browser.page").joinpath("pending.js").read_text(encoding="utf-8")
    return f"({source[source.index('(asking)') :].strip()})({EVENT!r})"


async def watch_timers(context: BrowserContext) -> None:
    """Note the timers of all documents of a context from now on, in open ones too."""
    await context.add_init_script(_script())
    for page in context.pages:
        for frame in page.frames:
            with suppress(Error):  # the frame is gone, or has no document
                await frame.evaluate(_script())


async def pending(page: Page, awaited: int, within: float) -> list[str]:
    """Return the signs that a page may change within some seconds, in words.

    There are none if it has come to rest.

    Args:
        page: The page.
        awaited: The number of its requests without an answer.
        within: Seconds; a timer that fires later is no sign.
    """
    timer, saying = await asyncio.gather(_timer(page, within), _saying(page))
    answers = f"{awaited} requests without an answer" if awaited > 1 else "a request without an answer"
    return [
        *([answers] if awaited else []),
        *([f"a timer of the page, in {timer:.1f} s"] if timer else []),
        *([saying] if saying else []),
    ]


async def _timer(page: Page, within: float) -> float:
    """Return the seconds until the last timer that fires in time; 0 where there is none."""
    told = await asyncio.gather(*(_timers(frame) for frame in page.frames))
    return max((one for timers in told for one in timers if one <= within), default=0.0)


async def _timers(frame: Frame) -> list[float]:
    told: Any = None
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            told = await frame.evaluate(_ASK)
    if not isinstance(told, list):
        return []
    return [one / 1000 for one in told if isinstance(one, int | float) and math.isfinite(one)]


async def _saying(page: Page) -> str:
    """Return the words of a page that says that it is loading, or empty."""
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            for _, said in await of_page(page, "busy"):
                if said:
                    return f"the page says {said}"
    return ""
