"""Do an action in the live browser, and describe its outcome."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal

from playwright.async_api import Error, Page

from reenact.browser.actions import types as do
from reenact.browser.actions.aim import aim, disarm
from reenact.browser.actions.drag import make_room
from reenact.browser.actions.handlers import DEEDS, LOADING
from reenact.browser.actions.press import UndeliveredPress
from reenact.browser.actions.running import RunningAction, TargetCheck
from reenact.browser.actions.why import why
from reenact.browser.isolation.addresses import typed
from reenact.browser.page import consequence, moments, selectors, snapshot
from reenact.browser.page.held import DroppedRequest, HeldRequests
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.page.pending import pending
from reenact.browser.page.target import DriftedTarget
from reenact.errors import ActionError, SessionError

_GRACE = 0.025
"""Seconds after an action in which the page may start to load another one."""


async def act(
    live: LiveBrowser,
    action: do.Action,
    *,
    actor: str,
    args: dict[str, Any],
    call: int | None,
    secret: bool = False,
    check: TargetCheck | None = None,
) -> dict[str, Any]:
    """Do an action and return its outcome. A failure on the page raises nothing.

    Args:
        live: The browser.
        action: The action.
        actor: The actor: `script`, `agent` or `heal`.
        args: The action's fields, without its secrets, to be recorded and shown.
        call: The number of its effect.
        secret: True if the written value is secret.
        check: The check of its element, or None.
    """
    if check is not None and isinstance(action, do.Aimed) and action.timeout < check.least:
        action = action.model_copy(update={"timeout": check.least})
    try:
        with live.use():
            # Moments are looked up by time, so the earlier page must be kept before the action begins.
            await live.kept()
            running = RunningAction(live, action, live.page, secret=secret, check=check)
            return await _act(running, actor=actor, args=args, call=call)
    except SessionError as error:
        return _failed_at_once(action, str(error), actor=actor, args=args)


async def _act(
    running: RunningAction, *, actor: str, args: dict[str, Any], call: int | None
) -> dict[str, Any]:
    live, camera = running.live, running.live.camera
    recorded = {"type": running.action.type, **args}
    filmed = False
    if camera is not None:
        camera.begin(running.page)
    try:
        await make_room(live, running.action)
        if isinstance(running.action, do.Aimed):
            await aim(running, running.action)
        elif running.action.type in _WITNESSED:
            running.before = await consequence.digest(running.page, live.mask(running.page))
        await _keep_moment(live, running.page, "before", call)
        if camera is not None:
            filmed = True
            await camera.before(call, running.page, actor, recorded, _target(running))
        running.navigations, running.requests = live.navigations, live.requests.count
        await _done(running)
        if running.obstacle:
            running.waited = round((datetime.now(UTC) - running.began).total_seconds(), 2)
        running.said += _remarks(running)
    except (Error, OSError, ValueError, LookupError, ActionError, SessionError) as error:
        running.error = error
        # Keep the moment before searching for the reason: the page may change meanwhile.
        live.keep(_keep_moment(live, live_page(live), "after", call))
        await live.kept()
        if camera is not None and not filmed:
            # No element was found, or the wrong one: film the search instead of the action.
            await camera.before(call, running.page, actor, recorded, _target(running), began=running.began)
        running.said, running.why = await _reason(running, error, recorded)
        running.said += live.watchdog.said()
    finally:
        await disarm(running)
    outcome = await _outcome(running, actor, recorded)
    if camera is not None and live.camera is not None:
        page, success, message = live_page(live) or running.page, outcome["success"], outcome["message"]
        await camera.after(call, page, success, message, running.why, running.selectors)
    if running.error is None:
        live.keep(_keep_moment(live, live_page(live), "after", call))
    return outcome


def _remarks(running: RunningAction) -> str:
    """Return the end of the sentence on a done action: side effects, and doubts."""
    aside = "" if running.live.camera is None else running.live.camera.aside()
    stopped = running.live.watchdog.said()
    if running.drifted is None:
        return aside + stopped
    why = str(running.drifted).partition(", and nothing was done: ")[2]
    return f"{aside}{stopped}. It may be the wrong element: {why}"


async def _keep_moment(live: LiveBrowser, page: Page | None, why: str, call: int | None) -> None:
    """Keep the page's content at this moment, beside its picture."""
    camera = live.camera
    if page is not None and camera is not None and camera.moments.due():
        taken = await moments.read(page, live.mask(page), tuple(camera.moments.known))
        camera.moment(page, taken, why, call)


def live_page(live: LiveBrowser) -> Page | None:
    """Return the tab in front, or None if the browser has ended."""
    if live.ended is not None:
        return None
    with suppress(SessionError):
        return live.page
    return None


# -- before ----------------------------------------------------------------------------------------------------


def _target(running: RunningAction) -> dict[str, Any] | None:
    if running.box is None:
        return None
    x, y, width, height = running.box
    fingerprint = running.fingerprint or {}
    return {
        "box": running.box,
        "point": [x + width / 2, y + height / 2],
        "selector": next(iter((running.selectors or {}).values()), None),
        "frame": list(fingerprint.get("frames", ())),
        "secret": running.secret or bool(fingerprint.get("secret")),
    }


# -- after -------------------------------------------------------------------------------------------------------

_SET_OFF = (
    "click",
    "press_key",
    "check",
    "select_dropdown_option",
    "evaluate_js",
    "form_fill",
    "download_file",
    "drag",
    "drop",
    "expand",
)


_WITNESSED = {
    "click", "fill", "fallback_fill", "check", "select_dropdown_option", "upload_file", "download_file", "press_key",
    "drag", "drop", "expand", "form_fill", "evaluate_js",
}  # fmt: skip
"""Actions whose effect on the page is found by comparing two digests."""

_DISPATCH = re.compile(r"performing \w+ action|\w+ action done|[Cc]licking the checkbox did not change")
_TAKEN_BACK = re.compile(r"intercepts pointer events|retrying \w+ action")


_Delivered = bool | Literal["unknown"]


def _delivered(running: RunningAction, error: Exception) -> _Delivered:
    """Return True if a failed action may have reached the page, so that it must not be repeated.

    `unknown`: the page was to see a click, and saw none.
    """
    if isinstance(error, UndeliveredPress):
        return "unknown" if running.sent else False
    if running.sent:
        return True
    log = error.message if isinstance(error, Error) else ""
    sent = max((one.start() for one in _DISPATCH.finditer(log)), default=-1)
    # A press that meets another element is stopped before the page gets it, and tried again.
    return sent > max((one.start() for one in _TAKEN_BACK.finditer(log)), default=-1)


async def _done(running: RunningAction) -> None:
    """Do the action, and wait for its page; hold its requests if good runs show what it sends."""
    known = running.known
    if known is None or not known.writes:
        await DEEDS[running.action.type](running)
        await _settle(running)
        return
    held = HeldRequests(running.live.context, known.writes, whole=known.whole)
    await held.begin()
    try:
        await DEEDS[running.action.type](running)
        running.sent = True
        await held.end()
        await _settle(running)
    finally:
        await held.release()


async def _settle(running: RunningAction) -> None:
    """Wait for the page that an action may have begun to load."""
    live = running.live
    if running.action.type not in _SET_OFF:
        return
    with suppress(Error, TimeoutError):
        # After this round trip the page's handlers have run, and a request for another page has begun.
        await asyncio.wait_for(running.page.evaluate("() => new Promise(done => setTimeout(done, 0))"), 1)
    await asyncio.sleep(_GRACE)
    if live.navigations != running.navigations:
        with suppress(Error):
            await live.arrived(LOADING / 1000)
            await live.page.wait_for_load_state("domcontentloaded", timeout=LOADING)
    running.page = live.page


async def _reason(
    running: RunningAction, error: Exception, recorded: dict[str, Any]
) -> tuple[str, dict[str, Any] | None]:
    """Return the reason of a failed action: a sentence, and the facts found on the page."""
    if running.live.ended is not None:
        return running.live.ended, None
    action = running.action
    if isinstance(action, (do.Goto, do.GotoNewTab)) and isinstance(error, Error):
        url = typed(action.url)
        if said := running.live.unreached(url, error.message):
            return f"{url} was not opened: {said}", None
        return unreachable(url, error.message), None
    if isinstance(action, do.EvaluateJs) and isinstance(error, Error):
        hint = "; write it as a function, () => { … }" if "Illegal return" in error.message else ""
        return f"the script failed: {_first(error.message)}{hint}", None
    if isinstance(error, DriftedTarget):
        return f"{error}. {error.accepted}", {**error.facts, **await _awaits(running)}
    if isinstance(error, (UndeliveredPress, DroppedRequest)):
        return str(error), dict(error.facts)
    if isinstance(error, (ActionError, snapshot.StaleElement, selectors.SelectorError, OSError)):
        return str(error), None
    under_way = len(running.live.requests.under_way)
    aim = action if isinstance(action, do.Aimed) else None
    target = running.locator or (aim and aim.selector) or None
    awaits, found = await asyncio.gather(
        _awaits(running),
        why(
            running.page,
            recorded,
            target,
            error,
            called=(aim.id or selectors.written(aim.selector)) if aim else None,
            secret=running.live.mask(running.page),
            like=running.fingerprint or (running.known.like if running.known is not None else None),
        ),
    )
    facts = {**found.facts, "under_way": under_way, **awaits}
    if running.patience is not None or (isinstance(error, selectors.ElementNotFound) and error.quiet):
        facts["quiet"] = True
    return found.sentence, facts


async def _awaits(running: RunningAction) -> dict[str, Any]:
    """Return the signs that the page may still become ready for the action within its time-out."""
    if not isinstance(running.action, do.Aimed) or running.sent:
        return {}
    passed = (datetime.now(UTC) - running.began).total_seconds()
    left = running.action.timeout / 1000 - passed
    signs = await pending(running.page, running.live.requests.awaited(), left) if left > 0 else []
    return {"awaits": signs} if signs else {}


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
    """Return the reason that an address could not be opened."""
    for code, words in _NETWORK.items():
        if code in text:
            return f"{url} was not opened: {words}"
    if "invalid URL" in text:
        return f"{url} was not opened: that is no address"
    if "Timeout" in text:
        return f"{url} was not opened: no page came within 30 s"
    return f"{url} was not opened: {_first(text)}"


def _first(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["it failed without a word"]
    return re.sub(r"^(\w+\.)+\w+: ", "", lines[0])


async def _outcome(running: RunningAction, actor: str, recorded: dict[str, Any]) -> dict[str, Any]:
    page, action = live_page(running.live), running.action
    title = ""
    after = None
    if page is not None and running.error is None and action.type in _WITNESSED:
        after = await consequence.digest(page, running.live.mask(running.page))
    if after is not None:
        title = after.title
    elif page is not None:
        with suppress(Error, asyncio.TimeoutError):
            title = await asyncio.wait_for(page.title(), 2)
    success = running.error is None and not (isinstance(action, do.Completion) and not action.success)
    return {
        "success": success,
        "message": running.said,
        "data": running.data,
        "error": None
        if running.error is None
        else {"type": type(running.error).__name__, "text": running.said},
        "action": recorded,
        "actor": actor,
        "url": page.url if page is not None else "",
        "title": title,
        "tab": running.live.number(page) if page is not None else None,
        "started_at": running.began.isoformat(timespec="milliseconds"),
        "ended_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "selectors": running.selectors,
        "fingerprint": running.fingerprint,
        "box": running.box,
        "why": running.why,
        **({"waited": running.waited} if running.waited else {}),
        **_became(running, after),
    }


def _became(running: RunningAction, after: consequence.Digest | None) -> dict[str, Any]:
    """Return the consequence; for a failed action, if it may have reached the page."""
    if running.error is not None:
        return {"delivered": _delivered(running, running.error)}
    loaded = running.live.navigations != running.navigations
    requests = running.live.requests.since(running.requests)
    found = consequence.consequence(running.before, after, requests, loaded=loaded)
    if after is None and loaded and (page := live_page(running.live)) is not None:
        found["navigated"] = consequence.where(page.url)
    if writes := running.live.requests.writes(running.requests):
        found["writes"] = writes
    if running.filled is not None:
        found["filled"] = running.filled
    return {"consequence": found}


def _failed_at_once(action: do.Action, text: str, *, actor: str, args: dict[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return {
        "success": False, "message": text, "data": None, "error": {"type": "SessionError", "text": text},
        "action": {"type": action.type, **args}, "actor": actor, "url": "", "title": "", "tab": None,
        "started_at": now, "ended_at": now, "selectors": None, "fingerprint": None, "box": None, "why": None,
        "delivered": False,
    }  # fmt: skip
