"""The handlers of all action types: each acts on the page and reports it in one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from playwright.async_api import Error, Locator, Page
from playwright.async_api import TimeoutError as TooLate

from reenact.browser.actions import drag, filling, forms
from reenact.browser.actions import types as do
from reenact.browser.actions.press import press
from reenact.browser.actions.running import RunningAction
from reenact.browser.isolation.addresses import typed
from reenact.browser.page import scrape, selectors
from reenact.errors import ActionError

LOADING = 10_000
"""Milliseconds for the content of a page that an action loads."""


def _the(running: RunningAction) -> str:
    """Describe the element: `button 'Sign in'`."""
    fingerprint = running.fingerprint or {}
    role = fingerprint.get("role") or ""
    kind = fingerprint.get("tag") or "element" if role in ("", "generic") else role
    name = fingerprint.get("name") or fingerprint.get("label") or ""
    return f"{kind} {name[:60]!r}" if name else str(kind)


async def _goto(running: RunningAction) -> None:
    assert isinstance(running.action, do.Goto)
    await _open(running, running.page, running.action.url)


async def _goto_new_tab(running: RunningAction) -> None:
    assert isinstance(running.action, do.GotoNewTab)
    page = await running.live.context.new_page()
    running.live.show(page)
    running.page = page
    await _open(running, page, running.action.url)


async def _open(running: RunningAction, page: Page, url: str) -> None:
    address = typed(url)
    running.live.check(address)
    try:
        response = await page.goto(address, wait_until="domcontentloaded")
    except Error as error:
        if "net::" in error.message:
            # The browser shows its error page late, which would interrupt the next load.
            with suppress(Error):
                await page.wait_for_url("chrome-error:**", wait_until="commit", timeout=1000)
        raise
    with suppress(TooLate):
        await page.wait_for_load_state("load", timeout=LOADING)
    running.said = f"opened {address}"
    if response is not None and response.status >= 400:
        running.said += f", which answered with HTTP {response.status}"


async def _close_tab(running: RunningAction) -> None:
    live, pages = running.live, running.live.context.pages
    place = pages.index(running.page)
    if len(pages) == 1:
        # A browser ends with its last tab.
        await live.context.new_page()
    opener = await running.page.opener()
    await running.page.close()
    left = live.context.pages
    # Show the opener of the closed tab, or else its neighbour, as browsers do.
    live.show(opener if opener in left else left[max(place - 1, 0)])
    running.page = live.page
    running.said = f"closed tab {place}"


async def _go_back(running: RunningAction) -> None:
    await _through_history(running, running.page.go_back, "back")


async def _go_forward(running: RunningAction) -> None:
    await _through_history(running, running.page.go_forward, "forward")


async def _through_history(running: RunningAction, go: Callable[..., Awaitable[Any]], way: str) -> None:
    running.sent = True
    before = await running.page.evaluate("() => performance.timeOrigin + location.href")
    await go(wait_until="domcontentloaded")
    if await running.page.evaluate("() => performance.timeOrigin + location.href") == before:
        raise ActionError(f"there is no page to go {way} to in this tab's history")
    running.said = f"went {way} to {running.page.url}"


async def _reload(running: RunningAction) -> None:
    await running.page.reload(wait_until="domcontentloaded")
    running.said = f"loaded {running.page.url} again"


async def _switch_tab(running: RunningAction) -> None:
    assert isinstance(running.action, do.SwitchTab)
    pages, index = running.live.context.pages, running.action.tab_index
    if not -len(pages) <= index < len(pages):
        raise ActionError(
            f"there is no tab {index}: {len(pages)} {'are' if len(pages) > 1 else 'is'} open, from 0"
        )
    page = pages[index]
    await page.bring_to_front()
    running.live.show(page)
    running.page = page
    running.said = f"switched to tab {pages.index(page)}, {page.url}"


async def _wait(running: RunningAction) -> None:
    assert isinstance(running.action, do.Wait)
    await asyncio.sleep(running.action.time_ms / 1000)
    running.said = f"waited for {running.action.time_ms} ms"


async def _press_key(running: RunningAction) -> None:
    assert isinstance(running.action, do.PressKey)
    running.sent = True
    await running.page.keyboard.press(running.action.key)
    running.said = f"pressed {running.action.key}"


async def _scroll(running: RunningAction) -> None:
    action = running.action
    assert isinstance(action, (do.ScrollUp, do.ScrollDown))
    way = "up" if isinstance(action, do.ScrollUp) else "down"
    size = running.page.viewport_size or await running.page.evaluate(
        "() => ({width: innerWidth, height: innerHeight})"
    )
    amount = size["height"] if action.amount is None else action.amount
    if drag.dragged(running.live) is None:
        # The wheel scrolls the element under the pointer, which may not be the window.
        await running.page.mouse.move(size["width"] / 2, size["height"] / 2)
    await running.page.mouse.wheel(0, -amount if way == "up" else amount)
    await _at_rest(running.page)
    running.said = f"scrolled {way} by {amount} pixels"


async def _at_rest(page: Page) -> None:
    """Wait until scrolling has ended."""
    seen = None
    for _ in range(20):
        now = await page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() =>"
            " requestAnimationFrame(() => done([scrollX, scrollY]))))"
        )
        if now == seen:
            return
        seen = now


async def _click(running: RunningAction) -> None:
    if (running.fingerprint or {}).get("tag") == "area" and running.box is not None:
        # An area of an image map has no box: the browser finds it under the pointer.
        x, y, width, height = running.box
        await press(running, lambda: running.page.mouse.click(x + width / 2, y + height / 2))
    else:
        await press(running, lambda: _element(running).click(timeout=running.timeout))
    running.said = f"clicked {_the(running)}"


async def _fill(running: RunningAction) -> None:
    await filling.fill(running, _element(running), _the(running))


async def _fallback_fill(running: RunningAction) -> None:
    await filling.fill_by_keys(running, _element(running), _the(running))


async def _check(running: RunningAction) -> None:
    assert isinstance(running.action, do.Check)
    value = running.action.value
    await press(running, lambda: _element(running).set_checked(value, timeout=running.timeout), confirm=False)
    running.said = f"{'ticked' if running.action.value else 'unticked'} {_the(running)}"


async def _select(running: RunningAction) -> None:
    assert isinstance(running.action, do.SelectDropdownOption)
    element, value = _element(running), running.action.value
    if await element.evaluate("e => e.tagName === 'SELECT'"):
        options = await element.evaluate(
            "e => [...e.options].map(o => [o.value, o.label.trim() || o.text.trim()])"
        )
        if not any(value.strip() in option for option in options):
            shown = ", ".join(repr(label) for _, label in options[:10])
            raise ActionError(
                f"there is no option {value!r}; there are {shown}{' and more' * (len(options) > 10)}"
            )
        if any(option[0] == value for option in options):
            await element.select_option(value=value, timeout=running.timeout)
        else:
            await element.select_option(label=value.strip(), timeout=running.timeout)
    else:
        # This is no `select` element, but the page's own list, which opens on a click.
        await element.click(timeout=running.timeout)
        running.sent = True
        option = running.page.get_by_role("option", name=value, exact=True)
        await option.first.click(timeout=running.timeout)
    running.said = f"selected {value!r} in {_the(running)}"


async def _upload_file(running: RunningAction) -> None:
    assert isinstance(running.action, do.UploadFile)
    path = running.live.given(running.action.file_path)
    element = _element(running)
    if await element.evaluate("e => e.tagName === 'INPUT' && e.type === 'file'"):
        await element.set_input_files(path, timeout=running.timeout)
    else:
        async with running.page.expect_file_chooser(timeout=running.timeout) as chooser:
            await element.click(timeout=running.timeout)
            running.sent = True
        await (await chooser.value).set_files(path)
    running.said = f"uploaded {path.name}"


async def _download_file(running: RunningAction) -> None:
    assert isinstance(running.action, do.DownloadFile)
    try:
        async with running.page.expect_download(timeout=running.timeout) as started:
            await press(running, lambda: _element(running).click(timeout=running.timeout))
            running.sent = True
    except TooLate as error:
        if "download" in error.message:
            raise ActionError(f"the click started no download within {running.timeout / 1000:g} s") from None
        raise
    download = await started.value
    if failure := await download.failure():
        raise ActionError(f"the download of {download.suggested_filename} failed: {failure}")
    room = running.live.room
    asked = running.action.file_path if room is None else None
    path = Path(asked) if asked else running.live.downloads() / Path(download.suggested_filename).name
    if room is None:
        await download.save_as(path)
        size = path.stat().st_size
    else:
        size = await asyncio.to_thread(room.fetch, Path(await download.path()), path)
    running.data = str(path)
    running.said = f"downloaded {download.suggested_filename} ({size} bytes) to {path}"


async def _drag(running: RunningAction) -> None:
    await drag.pick_up(running, _element(running), _the(running))


async def _drop(running: RunningAction) -> None:
    assert isinstance(running.action, do.Drop)
    drop = drag.drop_file if running.action.file_path else drag.put_down
    await drop(running, _element(running), _the(running))


_IS_OPEN = """e => {
  if (e.localName === "summary") return e.parentElement?.open ?? null;
  if (e.localName === "details") return e.open;
  const said = e.getAttribute("aria-expanded");
  return said === null ? null : said === "true";
}"""


async def _expand(running: RunningAction) -> None:
    assert isinstance(running.action, do.Expand)
    element, value = _element(running), running.action.value
    done = "opened" if value else "closed"
    is_open = await element.evaluate(_IS_OPEN, timeout=running.timeout)
    if is_open is None:
        raise ActionError(f"{_the(running)} does not say whether it is open: use click")
    if is_open is value:
        running.said = f"{_the(running)} is {'open' if value else 'closed'} already"
        return
    await press(running, lambda: element.click(timeout=running.timeout))
    if await element.evaluate(_IS_OPEN, timeout=running.timeout) is not value:
        raise ActionError(f"{_the(running)} was clicked, and is not {done}")
    running.said = f"{done} {_the(running)}"


async def _form_fill(running: RunningAction) -> None:
    assert isinstance(running.action, do.FormFill)
    filled = await forms.fill(
        running.page, running.action.value, hide=partial(running.live.hide, running.page)
    )
    missing = [name for name in running.action.value if name not in filled]
    if missing:
        rest = f"; filled {', '.join(filled)}" if filled else ""
        raise ActionError(f"no field was found for {', '.join(missing)}{rest}")
    running.said = f"filled {', '.join(filled)}"


async def _evaluate_js(running: RunningAction) -> None:
    assert isinstance(running.action, do.EvaluateJs)
    running.sent = True
    running.data = await running.page.evaluate(running.action.code)
    running.said = "ran the script"


async def _scrape(running: RunningAction) -> None:
    assert isinstance(running.action, do.Scrape)
    action, mask = running.action, running.live.mask(running.page)
    target = None if action.selector is None else await selectors.resolve(running.page, action.selector)
    if action.only_images:
        running.data = await scrape.images(running.page, target)
        running.said = f"read {len(running.data)} pictures of {running.page.url}"
        return
    running.data = await scrape.markdown(
        running.page,
        target,
        only_main_content=action.only_main_content,
        links=action.scrape_links,
        secret=mask,
    )
    running.said = f"read {len(running.data)} characters of {running.page.url}"


async def _help(running: RunningAction) -> None:
    assert isinstance(running.action, do.Help)
    running.said = f"help is needed: {running.action.reason}"


async def _completion(running: RunningAction) -> None:
    assert isinstance(running.action, do.Completion)
    running.data = running.action.answer
    running.said = running.action.answer


DEEDS: dict[str, Callable[[RunningAction], Awaitable[None]]] = {
    "goto": _goto, "goto_new_tab": _goto_new_tab, "close_tab": _close_tab, "go_back": _go_back,
    "go_forward": _go_forward, "reload": _reload, "switch_tab": _switch_tab, "wait": _wait, "press_key": _press_key,
    "scroll_up": _scroll, "scroll_down": _scroll, "click": _click, "fill": _fill, "fallback_fill": _fallback_fill,
    "check": _check, "select_dropdown_option": _select, "upload_file": _upload_file, "download_file": _download_file,
    "drag": _drag, "drop": _drop, "expand": _expand,
    "form_fill": _form_fill, "evaluate_js": _evaluate_js, "scrape": _scrape, "help": _help, "completion": _completion,
}  # fmt: skip


def _element(running: RunningAction) -> Locator:
    assert running.locator is not None
    return running.locator
