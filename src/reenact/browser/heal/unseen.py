"""Scroll a list that draws only its visible records until it shows a wanted one."""

from __future__ import annotations

import asyncio

from playwright.async_api import Error

from reenact.browser.effects.calls import arun
from reenact.browser.effects.operations import Operation
from reenact.browser.heal.mend import FailedStep
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.session.session import Session

SCREENS = 40
"""Most positions to which a list is scrolled."""

LISTS = 3
"""Most lists of a page that are scrolled."""

FRAMES = 6
"""Most animation frames for a list to draw its records; at least two."""

PATIENCE = 60.0
"""Seconds after which the search on a page that does not answer ends.

Otherwise `SCREENS` and `LISTS` end it.
"""

_SCROLL = """async ([key, screens, lists, frames]) => {
  // A list draws in the browser's frames, of which a hidden page has none.
  const frame = () => new Promise((go) => document.hidden ? setTimeout(go, 50) : requestAnimationFrame(go));
  const drawn = async (one, before) => {
    for (let left = frames; left && (left > frames - 2 || one.textContent === before); left -= 1) await frame();
  };
  // "Crate 40" is no part of "Crate 401"; the texts of two elements stand together without a space.
  const plain = key.replace(/[^\\p{L}\\p{N}\\s]/gu, "\\\\$&").replace(/\\s+/g, "\\\\s+");
  const word = new RegExp("(?<!\\\\d)" + plain + "(?!\\\\d)");
  const shows = (one) => {
    if (word.test(one.textContent)) return true;
    const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) if (word.test(texts.currentNode.data)) return true;
    return false;
  };
  const long = (one) => one.scrollHeight > one.clientHeight * 1.3 && one.clientHeight > 40;
  const rolls = (one) =>
    one === document.scrollingElement || /^(auto|scroll|overlay)$/.test(getComputedStyle(one).overflowY);
  const found = [...document.querySelectorAll("*")].filter((one) => long(one) && rolls(one)).slice(0, lists);
  const at = async (one, top) => {
    const before = one.textContent;
    one.scrollTop = top;
    await drawn(one, before);
    return one.textContent;
  };
  // A record at the edge would be scrolled by the act itself, and the list drawn anew below it.
  const centred = async (one) => {
    const holder = [...one.querySelectorAll("*")].filter(shows).pop();
    holder?.scrollIntoView({ block: "center" });
    await drawn(one);
    return shows(one);
  };
  for (const one of found) {
    const first = one.scrollTop, step = Math.max(one.clientHeight * 0.8, 20), before = one.textContent;
    if (shows(one)) return false;
    // A list that has drawn all its records shows the same text wherever it is scrolled to.
    const away = await at(one, first ? 0 : step);
    if (away === before) {
      one.scrollTop = first;
      continue;
    }
    if (shows(one)) return centred(one);
    for (let top = 0, left = screens; left && top < one.scrollHeight; top += step, left -= 1)
      if (await at(one, top) && shows(one)) return centred(one);
    one.scrollTop = first;
  }
  return false;
}"""


async def scrolled(session: Session, failed: FailedStep, key: str) -> bool:
    """Scroll the page's lists until one shows a record's key; return False if none does.

    It is one effect. A list that has drawn all its records, or never shows the key, is scrolled back. Nothing is
    scrolled if a list has drawn the key already.
    """

    async def live(browser: LiveBrowser, call: int | None) -> bool:
        try:
            with browser.use():
                async with asyncio.timeout(PATIENCE):
                    return bool(await browser.page.evaluate(_SCROLL, [key, SCREENS, LISTS, FRAMES]))
        except (Error, TimeoutError):
            return False

    step = Operation("scrolled", live, lambda _: {"step": failed.key}, kind="heal")
    return bool(await arun(session.core.driver.run(step)))
