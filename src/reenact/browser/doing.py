"""Doing an action in the living browser, and what is to be said about it afterwards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from playwright.async_api import Error, Locator, Page
from playwright.async_api import TimeoutError as TooLate

from reenact.browser import actions as do
from reenact.browser import consequence, forms, scrape, selectors, sight
from reenact.browser.live import Live
from reenact.browser.why import why
from reenact.errors import ActionError, SessionError

_GRACE = 0.025
"""Seconds after an action in which the page may set off for another one."""

_LOADING = 10_000
"""Milliseconds that a page which an action leads to may take until its content is there."""


@dataclass
class Deed:
    """One action under way: what it found and gave."""

    live: Live
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
    requests: int = 0
    before: consequence.Digest | None = None
    sent: bool = False
    """Whether something of it has reached the page that is not to be done twice."""
    began: datetime = field(default_factory=lambda: datetime.now(UTC))


async def act(
    live: Live, action: do.Action, *, actor: str, args: dict[str, Any], call: int | None
) -> dict[str, Any]:
    """Do an action. Never raises for what goes wrong on the page: the outcome says it.

    Args:
        live: The browser.
        action: What to do.
        actor: Who does it: `script`, `agent` or `heal`.
        args: The action's fields, without its secrets, for whoever is told about it.
        call: The number of its effect.
    """
    try:
        with live.use():
            deed = Deed(live, action, live.page)
            return await _act(deed, actor=actor, args=args, call=call)
    except SessionError as error:
        return _failed_at_once(action, str(error), actor=actor, args=args)


async def _act(deed: Deed, *, actor: str, args: dict[str, Any], call: int | None) -> dict[str, Any]:
    live, camera = deed.live, deed.live.camera
    told = {"type": deed.action.type, **args}
    try:
        if isinstance(deed.action, do.Aimed):
            await _aim(deed, deed.action)
        elif deed.action.type in _WITNESSED:
            deed.before = await consequence.digest(deed.page, live.settings.mask)
        if camera is not None:
            await camera.before(call, deed.page, actor, told, _target(deed))
        deed.navigations, deed.requests = live.navigations, live.requests.count
        await _DEEDS[deed.action.type](deed)
        await _settle(deed)
    except (Error, OSError, ValueError, LookupError, ActionError, SessionError) as error:
        deed.error = error
        deed.said, deed.why = await _reason(deed, error, told)
    outcome = await _outcome(deed, actor, told)
    if camera is not None and live.camera is not None:
        await camera.after(
            call,
            live_page(live) or deed.page,
            outcome["success"],
            outcome["message"],
            deed.why,
            deed.selectors,
        )
    return outcome


def live_page(live: Live) -> Page | None:
    """The tab in front, if the browser is still there."""
    if live.ended is not None:
        return None
    with suppress(SessionError):
        return live.page
    return None


# -- before ----------------------------------------------------------------------------------------------------


async def _aim(deed: Deed, action: do.Aimed) -> None:
    """Find the element, and what tells it from all others, before the page changes."""
    deed.locator = locator = await found(deed.live, action)
    mask = deed.live.settings.mask
    told = await asyncio.gather(
        selectors.durable(locator),
        selectors.fingerprint(locator, secret=mask),
        consequence.digest(deed.page, mask),
        return_exceptions=True,
    )
    durable, fingerprint, before = (None if isinstance(one, BaseException) else one for one in told)
    deed.before = cast("consequence.Digest | None", before)
    deed.selectors = cast("dict[str, Any] | None", durable)
    deed.fingerprint = cast("dict[str, Any] | None", fingerprint)
    if deed.fingerprint is not None:
        deed.box = deed.fingerprint["box"] and list(deed.fingerprint["box"])


async def found(live: Live, action: do.Aimed) -> Locator:
    """The element that an action is aimed at."""
    if action.id is not None:
        seen = live.sight.get(live.page)
        if seen is None:
            raise sight.StaleElement(f"{action.id} is of no observation of this page: observe it first")
        return await sight.locate(live.page, seen, action.id)
    assert action.selector is not None
    return await selectors.resolve(live.page, action.selector, action.timeout)


def _target(deed: Deed) -> dict[str, Any] | None:
    if deed.box is None:
        return None
    x, y, width, height = deed.box
    told = deed.fingerprint or {}
    return {
        "box": deed.box,
        "point": [x + width / 2, y + height / 2],
        "selector": next(iter((deed.selectors or {}).values()), None),
        "frame": list(told.get("frames", ())),
        "secret": bool(told.get("secret")),
    }


def _the(deed: Deed) -> str:
    """The element, in words: `button 'Sign in'`."""
    told = deed.fingerprint or {}
    role = told.get("role") or ""
    kind = told.get("tag") or "element" if role in ("", "generic") else role
    name = told.get("name") or told.get("label") or ""
    return f"{kind} {name[:60]!r}" if name else str(kind)


# -- the deeds ---------------------------------------------------------------------------------------------------


async def _goto(deed: Deed) -> None:
    assert isinstance(deed.action, do.Goto)
    await _open(deed, deed.page, deed.action.url)


async def _goto_new_tab(deed: Deed) -> None:
    assert isinstance(deed.action, do.GotoNewTab)
    page = await deed.live.context.new_page()
    deed.live.show(page)
    deed.page = page
    await _open(deed, page, deed.action.url)


async def _open(deed: Deed, page: Page, url: str) -> None:
    address = full(url)
    try:
        response = await page.goto(address, wait_until="domcontentloaded")
    except Error as error:
        if "net::" in error.message:
            # The browser's own page about that comes late: it would interrupt whatever is opened next.
            with suppress(Error):
                await page.wait_for_url("chrome-error:**", wait_until="commit", timeout=1000)
        raise
    with suppress(TooLate):
        await page.wait_for_load_state("load", timeout=_LOADING)
    deed.said = f"opened {address}"
    if response is not None and response.status >= 400:
        deed.said += f", which answered with HTTP {response.status}"


async def _close_tab(deed: Deed) -> None:
    live, pages = deed.live, deed.live.context.pages
    place = pages.index(deed.page)
    if len(pages) == 1:
        # A browser without tabs ends.
        await live.context.new_page()
    await deed.page.close()
    left = live.context.pages
    live.show(left[max(place - 1, 0)])
    deed.page = live.page
    deed.said = f"closed tab {place}"


async def _go_back(deed: Deed) -> None:
    await _through_history(deed, deed.page.go_back, "back")


async def _go_forward(deed: Deed) -> None:
    await _through_history(deed, deed.page.go_forward, "forward")


async def _through_history(deed: Deed, go: Callable[..., Awaitable[Any]], way: str) -> None:
    deed.sent = True
    before = await deed.page.evaluate("() => performance.timeOrigin + location.href")
    await go(wait_until="domcontentloaded")
    if await deed.page.evaluate("() => performance.timeOrigin + location.href") == before:
        raise ActionError(f"there is no page to go {way} to in this tab's history")
    deed.said = f"went {way} to {deed.page.url}"


async def _reload(deed: Deed) -> None:
    await deed.page.reload(wait_until="domcontentloaded")
    deed.said = f"loaded {deed.page.url} again"


async def _switch_tab(deed: Deed) -> None:
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


async def _wait(deed: Deed) -> None:
    assert isinstance(deed.action, do.Wait)
    await asyncio.sleep(deed.action.time_ms / 1000)
    deed.said = f"waited for {deed.action.time_ms} ms"


async def _press_key(deed: Deed) -> None:
    assert isinstance(deed.action, do.PressKey)
    deed.sent = True
    await deed.page.keyboard.press(deed.action.key)
    deed.said = f"pressed {deed.action.key}"


async def _scroll(deed: Deed) -> None:
    action = deed.action
    assert isinstance(action, (do.ScrollUp, do.ScrollDown))
    way = "up" if isinstance(action, do.ScrollUp) else "down"
    size = deed.page.viewport_size or await deed.page.evaluate(
        "() => ({width: innerWidth, height: innerHeight})"
    )
    amount = size["height"] if action.amount is None else action.amount
    # The wheel scrolls what lies under the pointer, also where that is not the window.
    await deed.page.mouse.move(size["width"] / 2, size["height"] / 2)
    await deed.page.mouse.wheel(0, -amount if way == "up" else amount)
    await _at_rest(deed.page)
    deed.said = f"scrolled {way} by {amount} pixels"


async def _at_rest(page: Page) -> None:
    """Wait until scrolling has come to its end."""
    seen = None
    for _ in range(20):
        now = await page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() =>"
            " requestAnimationFrame(() => done([scrollX, scrollY]))))"
        )
        if now == seen:
            return
        seen = now


async def _click(deed: Deed) -> None:
    await _element(deed).click(timeout=_timeout(deed))
    deed.said = f"clicked {_the(deed)}"


async def _fill(deed: Deed) -> None:
    assert isinstance(deed.action, do.Fill)
    element = _element(deed)
    if deed.action.clear_before_fill:
        await element.fill(deed.action.value, timeout=_timeout(deed))
    else:
        await _type(deed, deed.action.value)
    deed.said = f"filled {_the(deed)}"


async def _fallback_fill(deed: Deed) -> None:
    assert isinstance(deed.action, do.FallbackFill)
    element = _element(deed)
    if deed.action.clear_before_fill:
        await element.click(timeout=_timeout(deed))
        deed.sent = True
        await deed.page.keyboard.press("ControlOrMeta+A")
        await deed.page.keyboard.press("Delete")
    await _type(deed, deed.action.value)
    deed.said = f"filled {_the(deed)} key by key"


async def _type(deed: Deed, text: str) -> None:
    element = _element(deed)
    await element.focus(timeout=_timeout(deed))
    deed.sent = True
    await deed.page.keyboard.press("End")
    await element.press_sequentially(text, timeout=_timeout(deed))


async def _check(deed: Deed) -> None:
    assert isinstance(deed.action, do.Check)
    await _element(deed).set_checked(deed.action.value, timeout=_timeout(deed))
    deed.said = f"{'ticked' if deed.action.value else 'unticked'} {_the(deed)}"


async def _select(deed: Deed) -> None:
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
            await element.select_option(value=value, timeout=_timeout(deed))
        else:
            await element.select_option(label=value.strip(), timeout=_timeout(deed))
    else:
        # A list that a page built by itself: it opens on a click.
        await element.click(timeout=_timeout(deed))
        deed.sent = True
        option = deed.page.get_by_role("option", name=value, exact=True)
        await option.first.click(timeout=_timeout(deed))
    deed.said = f"selected {value!r} in {_the(deed)}"


async def _upload_file(deed: Deed) -> None:
    assert isinstance(deed.action, do.UploadFile)
    path = Path(deed.action.file_path)
    if not path.is_file():  # noqa: ASYNC240 - one look at the disk
        raise ActionError(f"there is no file {deed.action.file_path}")
    element = _element(deed)
    if await element.evaluate("e => e.tagName === 'INPUT' && e.type === 'file'"):
        await element.set_input_files(path, timeout=_timeout(deed))
    else:
        async with deed.page.expect_file_chooser(timeout=_timeout(deed)) as chooser:
            await element.click(timeout=_timeout(deed))
            deed.sent = True
        await (await chooser.value).set_files(path)
    deed.said = f"uploaded {path.name}"


async def _download_file(deed: Deed) -> None:
    assert isinstance(deed.action, do.DownloadFile)
    try:
        async with deed.page.expect_download(timeout=_timeout(deed)) as started:
            await _element(deed).click(timeout=_timeout(deed))
            deed.sent = True
    except TooLate as error:
        if "download" in error.message:
            raise ActionError(f"the click started no download within {_timeout(deed) / 1000:g} s") from None
        raise
    download = await started.value
    if failure := await download.failure():
        raise ActionError(f"the download of {download.suggested_filename} failed: {failure}")
    asked = deed.action.file_path
    path = Path(asked) if asked else deed.live.downloads() / Path(download.suggested_filename).name
    await download.save_as(path)
    deed.data = str(path)
    size = path.stat().st_size
    deed.data = str(path)
    deed.said = f"downloaded {download.suggested_filename} ({size} bytes) to {path}"


async def _form_fill(deed: Deed) -> None:
    assert isinstance(deed.action, do.FormFill)
    filled = await forms.fill(deed.page, deed.action.value)
    missing = [name for name in deed.action.value if name not in filled]
    if missing:
        rest = f"; filled {', '.join(filled)}" if filled else ""
        raise ActionError(f"no field was found for {', '.join(missing)}{rest}")
    deed.said = f"filled {', '.join(filled)}"


async def _evaluate_js(deed: Deed) -> None:
    assert isinstance(deed.action, do.EvaluateJs)
    deed.sent = True
    deed.data = await deed.page.evaluate(deed.action.code)
    deed.said = "ran the script"


async def _scrape(deed: Deed) -> None:
    assert isinstance(deed.action, do.Scrape)
    action, mask = deed.action, deed.live.settings.mask
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


async def _help(deed: Deed) -> None:
    assert isinstance(deed.action, do.Help)
    deed.said = f"help is needed: {deed.action.reason}"


async def _completion(deed: Deed) -> None:
    assert isinstance(deed.action, do.Completion)
    deed.data = deed.action.answer
    deed.said = deed.action.answer


_DEEDS: dict[str, Callable[[Deed], Awaitable[None]]] = {
    "goto": _goto, "goto_new_tab": _goto_new_tab, "close_tab": _close_tab, "go_back": _go_back,
    "go_forward": _go_forward, "reload": _reload, "switch_tab": _switch_tab, "wait": _wait, "press_key": _press_key,
    "scroll_up": _scroll, "scroll_down": _scroll, "click": _click, "fill": _fill, "fallback_fill": _fallback_fill,
    "check": _check, "select_dropdown_option": _select, "upload_file": _upload_file, "download_file": _download_file,
    "form_fill": _form_fill, "evaluate_js": _evaluate_js, "scrape": _scrape, "help": _help, "completion": _completion,
}  # fmt: skip


def _element(deed: Deed) -> Locator:
    assert deed.locator is not None
    return deed.locator


def _timeout(deed: Deed) -> int:
    assert isinstance(deed.action, do.Aimed)
    return deed.action.timeout


# -- after -------------------------------------------------------------------------------------------------------

_SET_OFF = (
    "click",
    "press_key",
    "check",
    "select_dropdown_option",
    "evaluate_js",
    "form_fill",
    "download_file",
)


_WITNESSED = {
    "click", "fill", "fallback_fill", "check", "select_dropdown_option", "upload_file", "download_file", "press_key",
    "form_fill", "evaluate_js",
}  # fmt: skip
"""What changes pages in ways that only a look at them tells."""

_DISPATCH = re.compile(r"performing \w+ action|\w+ action done|[Cc]licking the checkbox did not change")
_TAKEN_BACK = re.compile(r"intercepts pointer events|retrying \w+ action")


def _delivered(deed: Deed, error: Exception) -> bool:
    """Whether a failed action may have reached the page all the same, so that it must not be done once more."""
    if deed.sent:
        return True
    log = error.message if isinstance(error, Error) else ""
    sent = max((one.start() for one in _DISPATCH.finditer(log)), default=-1)
    # A press that another element caught is stopped before the page hears of it, and the next try begins.
    return sent > max((one.start() for one in _TAKEN_BACK.finditer(log)), default=-1)


async def _settle(deed: Deed) -> None:
    """Where an action leads to another page, wait until that is there."""
    live = deed.live
    if deed.action.type not in _SET_OFF:
        return
    with suppress(Error, TimeoutError):
        # What the action set off in the page has run then, and its request for another page is on its way.
        await asyncio.wait_for(deed.page.evaluate("() => new Promise(done => setTimeout(done, 0))"), 1)
    await asyncio.sleep(_GRACE)
    if live.navigations != deed.navigations:
        with suppress(Error):
            await live.arrived(_LOADING / 1000)
            await live.page.wait_for_load_state("domcontentloaded", timeout=_LOADING)
    deed.page = live.page


async def _reason(deed: Deed, error: Exception, told: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """Why an action failed: a sentence, and what was found on the page."""
    if deed.live.ended is not None:
        return deed.live.ended, None
    action = deed.action
    if isinstance(action, (do.Goto, do.GotoNewTab)) and isinstance(error, Error):
        return unreachable(full(action.url), error.message), None
    if isinstance(action, do.EvaluateJs) and isinstance(error, Error):
        return f"the script failed: {_first(error.message)}", None
    if isinstance(error, (ActionError, sight.StaleElement, selectors.SelectorError, OSError)):
        return str(error), None
    aim = action if isinstance(action, do.Aimed) else None
    target = deed.locator or (aim and aim.selector) or None
    found = await why(
        deed.page,
        told,
        target,
        error,
        called=aim.id if aim else None,
        secret=deed.live.settings.mask,
        like=deed.fingerprint,
    )
    return found.sentence, found.facts


_NETWORK = {
    "ERR_NAME_NOT_RESOLVED": "there is no such host",
    "ERR_CONNECTION_REFUSED": "nothing listens there (connection refused)",
    "ERR_CONNECTION_RESET": "the connection was reset",
    "ERR_CONNECTION_CLOSED": "the connection was closed",
    "ERR_CONNECTION_TIMED_OUT": "the connection timed out",
    "ERR_ADDRESS_UNREACHABLE": "the address cannot be reached",
    "ERR_INTERNET_DISCONNECTED": "there is no network",
    "ERR_EMPTY_RESPONSE": "the server sent nothing",
    "ERR_INVALID_URL": "that is no address",
    "ERR_FILE_NOT_FOUND": "there is no such file",
    "ERR_ABORTED": "the load was aborted (a download, or another navigation)",
    "ERR_UNSAFE_PORT": "browsers open no page at that port",
    "ERR_CERT": "its certificate is not valid",
    "ERR_UNKNOWN_URL_SCHEME": "the browser does not know that kind of address",
}


def unreachable(url: str, text: str) -> str:
    """Why an address could not be opened."""
    for code, words in _NETWORK.items():
        if code in text:
            return f"{url} was not opened: {words}"
    if "invalid URL" in text:
        return f"{url} was not opened: that is no address"
    if "Timeout" in text:
        return f"{url} was not opened: no page came within 30 s"
    return f"{url} was not opened: {_first(text)}"


def full(url: str) -> str:
    """An address as the browser wants it: `example.com` means `https://example.com`."""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://|(about|data|blob|javascript|view-source|file|mailto):", url):
        return url
    local = re.match(r"(localhost|127\.|\[::1\])", url)
    return f"{'http' if local else 'https'}://{url}"


def _first(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["it failed without a word"]
    return re.sub(r"^(\w+\.)+\w+: ", "", lines[0])


async def _outcome(deed: Deed, actor: str, told: dict[str, Any]) -> dict[str, Any]:
    page, action = live_page(deed.live), deed.action
    title = ""
    after = None
    if page is not None and deed.error is None and action.type in _WITNESSED:
        after = await consequence.digest(page, deed.live.settings.mask)
    if after is not None:
        title = after.title
    elif page is not None:
        with suppress(Error, asyncio.TimeoutError):
            title = await asyncio.wait_for(page.title(), 2)
    success = deed.error is None and not (isinstance(action, do.Completion) and not action.success)
    return {
        "success": success,
        "message": deed.said,
        "data": deed.data,
        "error": None if deed.error is None else {"type": type(deed.error).__name__, "text": deed.said},
        "action": told,
        "actor": actor,
        "url": page.url if page is not None else "",
        "title": title,
        "tab": deed.live.number(page) if page is not None else None,
        "started_at": deed.began.isoformat(timespec="milliseconds"),
        "ended_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "selectors": deed.selectors,
        "fingerprint": deed.fingerprint,
        "box": deed.box,
        "why": deed.why,
        **_became(deed, after),
    }


def _became(deed: Deed, after: consequence.Digest | None) -> dict[str, Any]:
    """What it led to; of a failed one, whether it may have reached the page."""
    if deed.error is not None:
        return {"delivered": _delivered(deed, deed.error)}
    loaded = deed.live.navigations != deed.navigations
    requests = deed.live.requests.since(deed.requests)
    told = consequence.consequence(deed.before, after, requests, loaded=loaded)
    if after is None and loaded and (page := live_page(deed.live)) is not None:
        told["navigated"] = consequence.where(page.url)
    return {"consequence": told}


def _failed_at_once(action: do.Action, text: str, *, actor: str, args: dict[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return {
        "success": False, "message": text, "data": None, "error": {"type": "SessionError", "text": text},
        "action": {"type": action.type, **args}, "actor": actor, "url": "", "title": "", "tab": None,
        "started_at": now, "ended_at": now, "selectors": None, "fingerprint": None, "box": None, "why": None,
        "delivered": False,
    }  # fmt: skip
