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


def _the(deed: RunningAction) -> str:
    """Describe the element: `button 'Sign in'`."""
    told = deed.fingerprint or {}
    role = told.get("role") or ""
    kind = told.get("tag") or "element" if role in ("", "generic") else role
    name = told.get("name") or told.get("label") or ""
    return f"{kind} {name[:60]!r}" if name else str(kind)


async def _goto(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.Goto)
    await _open(deed, deed.page, deed.action.url)


async def _goto_new_tab(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.GotoNewTab)
    page = await deed.live.context.new_page()
    deed.live.show(page)
    deed.page = page
    await _open(deed, page, deed.action.url)


async def _open(deed: RunningAction, page: Page, url: str) -> None:
    address = typed(url)
    deed.live.check(address)
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
    deed.said = f"opened {address}"
    if response is not None and response.status >= 400:
        deed.said += f", which answered with HTTP {response.status}"


async def _close_tab(deed: RunningAction) -> None:
    live, pages = deed.live, deed.live.context.pages
    place = pages.index(deed.page)
    if len(pages) == 1:
        # A browser ends with its last tab.
        await live.context.new_page()
    opener = await deed.page.opener()
    await deed.page.close()
    left = live.context.pages
    # Show the opener of the closed tab, or else its neighbour, as browsers do.
    live.show(opener if opener in left else left[max(place - 1, 0)])
    deed.page = live.page
    deed.said = f"closed tab {place}"


async def _go_back(deed: RunningAction) -> None:
    await _through_history(deed, deed.page.go_back, "back")


async def _go_forward(deed: RunningAction) -> None:
    await _through_history(deed, deed.page.go_forward, "forward")


async def _through_history(deed: RunningAction, go: Callable[..., Awaitable[Any]], way: str) -> None:
    deed.sent = True
    before = await deed.page.evaluate("() => performance.timeOrigin + location.href")
    await go(wait_until="domcontentloaded")
    if await deed.page.evaluate("() => performance.timeOrigin + location.href") == before:
        raise ActionError(f"there is no page to go {way} to in this tab's history")
    deed.said = f"went {way} to {deed.page.url}"


async def _reload(deed: RunningAction) -> None:
    await deed.page.reload(wait_until="domcontentloaded")
    deed.said = f"loaded {deed.page.url} again"


async def _switch_tab(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.SwitchTab)
    pages, index = deed.live.context.pages, deed.action.tab_index
    if not -len(pages) <= index < len(pages):
        raise ActionError(
            f"there is no tab {index}: {len(pages)} {'are' if len(pages) > 1 else 'is'} open, from 0"
        )
    page = pages[index]
    await page.bring_to_front()
    deed.live.show(page)
    deed.page = page
    deed.said = f"switched to tab {pages.index(page)}, {page.url}"


async def _wait(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.Wait)
    await asyncio.sleep(deed.action.time_ms / 1000)
    deed.said = f"waited for {deed.action.time_ms} ms"


async def _press_key(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.PressKey)
    deed.sent = True
    await deed.page.keyboard.press(deed.action.key)
    deed.said = f"pressed {deed.action.key}"


async def _scroll(deed: RunningAction) -> None:
    action = deed.action
    assert isinstance(action, (do.ScrollUp, do.ScrollDown))
    way = "up" if isinstance(action, do.ScrollUp) else "down"
    size = deed.page.viewport_size or await deed.page.evaluate(
        "() => ({width: innerWidth, height: innerHeight})"
    )
    amount = size["height"] if action.amount is None else action.amount
    if drag.dragged(deed.live) is None:
        # The wheel scrolls the element under the pointer, which may not be the window.
        await deed.page.mouse.move(size["width"] / 2, size["height"] / 2)
    await deed.page.mouse.wheel(0, -amount if way == "up" else amount)
    await _at_rest(deed.page)
    deed.said = f"scrolled {way} by {amount} pixels"


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


async def _click(deed: RunningAction) -> None:
    if (deed.fingerprint or {}).get("tag") == "area" and deed.box is not None:
        # An area of an image map has no box: the browser finds it under the pointer.
        x, y, width, height = deed.box
        await press(deed, lambda: deed.page.mouse.click(x + width / 2, y + height / 2))
    else:
        await press(deed, lambda: _element(deed).click(timeout=deed.timeout))
    deed.said = f"clicked {_the(deed)}"


async def _fill(deed: RunningAction) -> None:
    await filling.fill(deed, _element(deed), _the(deed))


async def _fallback_fill(deed: RunningAction) -> None:
    await filling.fill_by_keys(deed, _element(deed), _the(deed))


async def _check(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.Check)
    value = deed.action.value
    await press(deed, lambda: _element(deed).set_checked(value, timeout=deed.timeout), confirm=False)
    deed.said = f"{'ticked' if deed.action.value else 'unticked'} {_the(deed)}"


async def _select(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.SelectDropdownOption)
    element, value = _element(deed), deed.action.value
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
            await element.select_option(value=value, timeout=deed.timeout)
        else:
            await element.select_option(label=value.strip(), timeout=deed.timeout)
    else:
        # This is no `select` element, but the page's own list, which opens on a click.
        await element.click(timeout=deed.timeout)
        deed.sent = True
        option = deed.page.get_by_role("option", name=value, exact=True)
        await option.first.click(timeout=deed.timeout)
    deed.said = f"selected {value!r} in {_the(deed)}"


async def _upload_file(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.UploadFile)
    path = deed.live.given(deed.action.file_path)
    element = _element(deed)
    if await element.evaluate("e => e.tagName === 'INPUT' && e.type === 'file'"):
        await element.set_input_files(path, timeout=deed.timeout)
    else:
        async with deed.page.expect_file_chooser(timeout=deed.timeout) as chooser:
            await element.click(timeout=deed.timeout)
            deed.sent = True
        await (await chooser.value).set_files(path)
    deed.said = f"uploaded {path.name}"


async def _download_file(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.DownloadFile)
    try:
        async with deed.page.expect_download(timeout=deed.timeout) as started:
            await press(deed, lambda: _element(deed).click(timeout=deed.timeout))
            deed.sent = True
    except TooLate as error:
        if "download" in error.message:
            raise ActionError(f"the click started no download within {deed.timeout / 1000:g} s") from None
        raise
    download = await started.value
    if failure := await download.failure():
        raise ActionError(f"the download of {download.suggested_filename} failed: {failure}")
    room = deed.live.room
    asked = deed.action.file_path if room is None else None
    path = Path(asked) if asked else deed.live.downloads() / Path(download.suggested_filename).name
    if room is None:
        await download.save_as(path)
        size = path.stat().st_size
    else:
        size = await asyncio.to_thread(room.fetch, Path(await download.path()), path)
    deed.data = str(path)
    deed.said = f"downloaded {download.suggested_filename} ({size} bytes) to {path}"


async def _drag(deed: RunningAction) -> None:
    await drag.pick_up(deed, _element(deed), _the(deed))


async def _drop(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.Drop)
    drop = drag.drop_file if deed.action.file_path else drag.put_down
    await drop(deed, _element(deed), _the(deed))


_IS_OPEN = """e => {
  if (e.localName === "summary") return e.parentElement?.open ?? null;
  if (e.localName === "details") return e.open;
  const said = e.getAttribute("aria-expanded");
  return said === null ? null : said === "true";
}"""


async def _expand(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.Expand)
    element, value = _element(deed), deed.action.value
    done = "opened" if value else "closed"
    is_open = await element.evaluate(_IS_OPEN, timeout=deed.timeout)
    if is_open is None:
        raise ActionError(f"{_the(deed)} does not say whether it is open: use click")
    if is_open is value:
        deed.said = f"{_the(deed)} is {'open' if value else 'closed'} already"
        return
    await press(deed, lambda: element.click(timeout=deed.timeout))
    if await element.evaluate(_IS_OPEN, timeout=deed.timeout) is not value:
        raise ActionError(f"{_the(deed)} was clicked, and is not {done}")
    deed.said = f"{done} {_the(deed)}"


async def _form_fill(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.FormFill)
    filled = await forms.fill(deed.page, deed.action.value, hide=partial(deed.live.hide, deed.page))
    missing = [name for name in deed.action.value if name not in filled]
    if missing:
        rest = f"; filled {', '.join(filled)}" if filled else ""
        raise ActionError(f"no field was found for {', '.join(missing)}{rest}")
    deed.said = f"filled {', '.join(filled)}"


async def _evaluate_js(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.EvaluateJs)
    deed.sent = True
    deed.data = await deed.page.evaluate(deed.action.code)
    deed.said = "ran the script"


async def _scrape(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.Scrape)
    action, mask = deed.action, deed.live.mask(deed.page)
    target = None if action.selector is None else await selectors.resolve(deed.page, action.selector)
    if action.only_images:
        deed.data = await scrape.images(deed.page, target)
        deed.said = f"read {len(deed.data)} pictures of {deed.page.url}"
        return
    deed.data = await scrape.markdown(
        deed.page,
        target,
        only_main_content=action.only_main_content,
        links=action.scrape_links,
        secret=mask,
    )
    deed.said = f"read {len(deed.data)} characters of {deed.page.url}"


async def _help(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.Help)
    deed.said = f"help is needed: {deed.action.reason}"


async def _completion(deed: RunningAction) -> None:
    assert isinstance(deed.action, do.Completion)
    deed.data = deed.action.answer
    deed.said = deed.action.answer


DEEDS: dict[str, Callable[[RunningAction], Awaitable[None]]] = {
    "goto": _goto, "goto_new_tab": _goto_new_tab, "close_tab": _close_tab, "go_back": _go_back,
    "go_forward": _go_forward, "reload": _reload, "switch_tab": _switch_tab, "wait": _wait, "press_key": _press_key,
    "scroll_up": _scroll, "scroll_down": _scroll, "click": _click, "fill": _fill, "fallback_fill": _fallback_fill,
    "check": _check, "select_dropdown_option": _select, "upload_file": _upload_file, "download_file": _download_file,
    "drag": _drag, "drop": _drop, "expand": _expand,
    "form_fill": _form_fill, "evaluate_js": _evaluate_js, "scrape": _scrape, "help": _help, "completion": _completion,
}  # fmt: skip


def _element(deed: RunningAction) -> Locator:
    assert deed.locator is not None
    return deed.locator
