"""Signs that a page may still change by itself: timers, unanswered requests, loading texts.

A page without changes may only pause: its script waits for a timer, or it says that it is loading. `pending.js` notes
the timers of each document from its start. A hostile page can at most make a step wait until its time-out.
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
"""Seconds for the page's answer; without one it counts as busy."""

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
    """Note the timers of all documents of a context from now on, also in open ones."""
    await context.add_init_script(_script())
    for page in context.pages:
        for frame in page.frames:
            with suppress(Error):  # the frame was removed, or has no document
                await frame.evaluate(_script())


async def pending(page: Page, awaited: int, within: float) -> list[str]:
    """Return the signs that a page may change within some seconds, in words.

    The list is empty for a page at rest.

    Args:
        page: The page.
        awaited: The number of its unanswered requests.
        within: Seconds; a timer that fires later does not count.
    """
    timers, saying = await asyncio.gather(_timers_of(page), _saying(page))
    if timers is None:
        return ["the page does not answer"]
    timer = max((one for one in timers if one <= within), default=0.0)
    answers = f"{awaited} requests without an answer" if awaited > 1 else "a request without an answer"
    return [
        *([answers] if awaited else []),
        *([f"a timer of the page, in {timer:.1f} s"] if timer else []),
        *([saying] if saying else []),
    ]


async def _timers_of(page: Page) -> list[float] | None:
    """Return the seconds until each timer of a page fires; None if it does not answer.

    An inner frame that does not answer (it may have no document yet) counts as one without timers.
    """
    main, *others = await asyncio.gather(*(_timers(frame) for frame in (page.main_frame, *_parts(page))))
    return None if main is None else [*main, *(one for timers in others for one in timers or ())]


def _parts(page: Page) -> list[Frame]:
    return [frame for frame in page.frames if frame is not page.main_frame]


async def _timers(frame: Frame) -> list[float] | None:
    answer: Any = None
    try:
        async with asyncio.timeout(PATIENCE):
            answer = await frame.evaluate(_ASK)
    except TimeoutError:
        return None
    except Error:  # it has another document by now
        return []
    if not isinstance(answer, list):
        return []
    return [one / 1000 for one in answer if isinstance(one, int | float) and math.isfinite(one)]


async def _saying(page: Page) -> str:
    """Return the text in which a page says that it is loading, or ""."""
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            for _, said in await of_page(page, "busy"):
                if said:
                    return f"the page says {said}"
    return ""
