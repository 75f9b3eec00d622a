"""What an action led to: another page, requests, a change of what is shown. It is looked at, and nothing is touched.

Two digests of what the page shows, one before and one after the action, are enough to say what came and what went.
What is written in fields is in neither.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error, Frame, Page

from reenact.browser.page.world import of_page

MOST = 12
"""Lines of a kind that are kept of a change."""

PATIENCE = 2.0
"""Seconds that a page may take to say what it shows; one that is busier has no digest."""

_KEPT = {"document", "xhr", "fetch", "websocket", "eventsource"}
_NEVER = {"ping", "beacon", "csp_report", "preflight"}


class Requests:
    """The requests that the tabs of a session send, those that a page's own code or a form wants. Bounded.

    Attributes:
        count: How many were sent.
        under_way: Those that are not answered yet.
    """

    def __init__(self) -> None:
        self.count = 0
        self.under_way: set[Any] = set()
        self._latest: deque[tuple[int, str]] = deque(maxlen=200)

    def sent(self, request: Any) -> None:
        """The browser sends one."""
        kind = request.resource_type
        if kind in _NEVER or (kind not in _KEPT and request.method == "GET"):
            return
        self.count += 1
        self.under_way.add(request)
        with suppress(Error, ValueError):
            self._latest.append((self.count, f"{request.method} {where(request.url, _site(request))}"))

    def answered(self, request: Any) -> None:
        """One is through, or has failed."""
        self.under_way.discard(request)

    def since(self, count: int) -> list[str]:
        """What was sent after so many, each once, in order."""
        return list(dict.fromkeys(text for number, text in self._latest if number > count))[:MOST]


def _site(request: Any) -> str:
    """The site that a request comes from."""
    try:
        frame: Frame = request.frame
        return frame.url
    except Error:
        return ""


def where(url: str, site: str = "") -> str:
    """An address as it is kept: its path, and a route in its fragment; the host where it is another site's."""
    try:
        told, home = urlsplit(url), urlsplit(site)
    except ValueError:
        return ""
    if told.scheme not in {"http", "https", "ws", "wss", "file"}:
        return f"{told.scheme}:" if told.scheme else ""
    route = f"#{told.fragment.partition('?')[0]}" if told.fragment.startswith(("/", "!")) else ""
    host = "" if not home.netloc or told.netloc == home.netloc else f"//{told.netloc}"
    return f"{host}{told.path or '/'}{route}"


class Digest:
    """What a tab showed at a moment."""

    def __init__(self, page: Page, frames: Mapping[Frame, Mapping[str, Any]]) -> None:
        self.page = page
        self.url = page.url
        main = frames.get(page.main_frame) or {}
        self.title = str(main.get("title") or "")
        self.whole = all(told["whole"] for told in frames.values())
        self.lines = Counter(line for told in frames.values() for line in told["lines"].split("\n") if line)


async def digest(page: Page, secret: Sequence[str] = ()) -> Digest | None:
    """What a tab shows; None where it does not say so at once."""
    hidden = [one.removeprefix("css=") for one in secret]
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            return Digest(page, dict(await of_page(page, "digest", {"selectors": hidden})))
    return None


def consequence(
    before: Digest | None, after: Digest | None, requests: list[str], *, loaded: bool
) -> dict[str, Any]:
    """What lies between two moments.

    Args:
        before: Before the action.
        after: After it, of the tab that is then in front.
        requests: What was sent meanwhile.
        loaded: Whether a tab set off for a page meanwhile.

    Returns:
        `navigated` (the path of the page that it led to, or None), `requests` (`POST /login`), and `dom`: what is shown
        that was not (`added`), what no longer (`removed`), and what stands otherwise (`changed`), as lines
        `role "name"`; None where it is not known, or the page is another one.
    """
    told: dict[str, Any] = {"navigated": None, "requests": requests, "dom": None}
    if after is None:
        return told
    here = where(after.url)
    there = where(before.url) if before is not None else here
    if loaded or here != there:
        told["navigated"] = here
    elif before is not None:
        told["dom"] = _change(before, after)
    return told


def _change(before: Digest, after: Digest) -> dict[str, Any]:
    came, went = after.lines - before.lines, before.lines - after.lines
    changed = [*_stands(came, went), *_renamed(came, went)]
    change: dict[str, Any] = {}
    for name, lines in (("added", _lines(came)), ("removed", _lines(went)), ("changed", sorted(changed))):
        if lines:
            change[name] = lines[:MOST]
    if before.title != after.title:
        change["title"] = after.title[:80]
    if not (before.whole and after.whole):
        change["partly"] = True
    return change


def _stands(came: Counter[str], went: Counter[str]) -> Iterator[str]:
    """What stands otherwise, of all that is still called the same; it is taken from both."""
    for line in list(came):
        role, name, standing = line.split("\t")
        was = next((old for old in went if standing and old.startswith(f"{role}\t{name}\t")), None)
        if was is not None:
            yield f"{_line(line)} {was.rpartition(chr(9))[2]} -> {standing}"
            del came[line], went[was]


def _renamed(came: Counter[str], went: Counter[str]) -> Iterator[str]:
    """The same of the only one of its role: it is called otherwise now, and is no other one for that."""
    for line in list(came):
        role, _, standing = line.split("\t")
        here, there = ([one for one in counted if one.startswith(f"{role}\t")] for counted in (came, went))
        stood = there[0].rpartition("\t")[2] if len(here) == len(there) == 1 else ""
        if standing and stood and stood != standing:
            yield f"{_line(line)} {stood} -> {standing}"
            del came[line], went[there[0]]


def _lines(counted: Counter[str]) -> list[str]:
    return sorted({_line(line) for line in counted})


def _line(line: str) -> str:
    role, name, _ = line.split("\t")
    return f'{role} "{name}"' if name else role


# -- whether two are of a kind -----------------------------------------------------------------------------------


def plain(text: str) -> str:
    """A path or a line without what differs from one run to the next: numbers and ids in it."""
    text = re.sub(r"(?<=/)[0-9a-fA-F-]{8,}(?=/|$)", "#", text)
    return re.sub(r"\d+", "#", text)


def tells(one: Mapping[str, Any] | None) -> bool:
    """Whether a consequence says anything by which another can be known."""
    if not one:
        return False
    dom = one.get("dom") or {}
    return bool(one.get("navigated") or one.get("requests") or any(_of(dom, part) for part in _PARTS))


_PARTS = ("added", "changed", "removed")


def leads(one: Mapping[str, Any]) -> bool:
    """Whether a consequence says more than how something stands: to fill in any field leaves a field that is filled."""
    dom = one.get("dom") or {}
    return bool(one.get("navigated") or one.get("requests") or _of(dom, "added") or _of(dom, "removed"))


def same(
    now: Mapping[str, Any] | None, then: Mapping[str, Any] | None, *, by_name: bool = False
) -> bool | None:
    """Whether an action led to what another one had led to; None where that cannot be told.

    Args:
        now: What it led to.
        then: What the other one had led to.
        by_name: Whether what stands otherwise must be called as it was then: where the element itself is in doubt, that
            some field is filled now tells nothing.
    """
    if now is None or then is None or not tells(then):
        return None
    went, had = now.get("navigated"), then.get("navigated")
    if went or had:
        return bool(went and had and plain(went) == plain(had))
    sent = {plain(one) for one in now.get("requests") or ()}
    had_sent = {plain(one) for one in then.get("requests") or ()}
    if had_sent:
        return bool(sent & had_sent)
    if any(not one.startswith("GET ") for one in sent):
        return False  # it changes something elsewhere, which that one did not
    return _same_change(now.get("dom"), then.get("dom") or {}, by_name=by_name)


def _same_change(now: Mapping[str, Any] | None, then: Mapping[str, Any], *, by_name: bool) -> bool | None:
    """By what came, where both have that; else by what stands otherwise, else by what went."""
    if now is None:
        return None
    for part in _PARTS:
        mine, its = _of(now, part), _of(then, part)
        if mine and its:
            if (
                part == "changed"
                and not mine & its
                and {_kind(one) for one in mine} & {_kind(one) for one in its}
            ):
                return None if by_name else True
            return bool(mine & its)
    return False if any(_of(now, part) for part in _PARTS) else None


_CLOCK = re.compile(r"\d ?(s|secs?|seconds?|min|minutes?|h|hours?)\b|\d{1,2}:\d{2}|\bago\b", re.IGNORECASE)


def _of(dom: Mapping[str, Any], part: str) -> set[str]:
    """What of a change says something: a clock that goes on would have done so anyhow."""
    return {plain(one) for one in dom.get(part) or () if not _CLOCK.search(one)}


def _kind(line: str) -> str:
    """A field that changed, whatever it is called now: `textbox empty -> filled`."""
    return re.sub(r' ".*"', "", line)
