"""Find the consequence of an action: another page, requests, changes of the visible content.

Digests of the page before and after the action are compared line by line. They do not contain the content of fields.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error, Frame, Page

from reenact.browser.page.isolated_world import of_page

MOST = 12
"""Most lines of each kind that are kept of a change."""

PATIENCE = 2.0
"""Most seconds for a digest; a page that takes longer has none."""

_KEPT = {"document", "xhr", "fetch", "websocket", "eventsource"}
_LASTING = {"websocket", "eventsource"}
_NEVER = {"ping", "beacon", "csp_report", "preflight"}


FILLING = frozenset({"fill", "fallback_fill"})
"""Actions whose consequence says if the field holds the written text (`filled`)."""


class SentRequests:
    """The requests that code and forms of a session's pages send, up to a limit.

    Args:
        print_of: Returns the print of a request that may change something (`writes.written`).

    Attributes:
        count: The number sent.
        under_way: Requests without an answer yet, also for scripts, with the time at which they were sent.
    """

    def __init__(self, print_of: Callable[[Any], Mapping[str, Any]]) -> None:
        self._print_of = print_of
        self._writes: deque[tuple[int, Mapping[str, Any]]] = deque(maxlen=50)
        self.count = 0
        self.under_way: dict[Any, float] = {}
        self._latest: deque[tuple[int, str]] = deque(maxlen=200)

    def sent(self, request: Any) -> None:
        """Note a request that the browser sends."""
        kind = request.resource_type
        if kind == "script":
            self.under_way[request] = monotonic()
        if kind in _NEVER or (kind not in _KEPT and request.method == "GET"):
            return
        self.count += 1
        self.under_way[request] = monotonic()
        with suppress(Error, ValueError):
            self._latest.append((self.count, f"{request.method} {where(request.url, _site(request))}"))
            if request.method != "GET":
                self._writes.append((self.count, self._print_of(request)))

    def answered(self, request: Any) -> None:
        """Note that a request has ended or failed."""
        self.under_way.pop(request, None)

    def awaited(self, seconds: float | None = None) -> int:
        """Return the number of unanswered requests, except those that stay open.

        With `seconds`, count only those sent at most that long ago: older ones may be subscriptions.
        """
        since = -math.inf if seconds is None else monotonic() - seconds
        return sum(at >= since for one, at in self.under_way.items() if one.resource_type not in _LASTING)

    def since(self, count: int) -> list[str]:
        """Return the requests sent after the first `count`, each once, in order."""
        return list(dict.fromkeys(text for number, text in self._latest if number > count))[:MOST]

    def writes(self, count: int) -> list[Mapping[str, Any]]:
        """Return the prints of later requests than the first `count` that may change something."""
        return [one for number, one in self._writes if number > count][:MOST]


def _site(request: Any) -> str:
    """Return the address of the page that sent a request."""
    try:
        frame: Frame = request.frame
        return frame.url
    except Error:
        return ""


def where(url: str, site: str = "") -> str:
    """Shorten an address to its path and route, with the host only for another site."""
    try:
        parts, home = urlsplit(url), urlsplit(site)
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https", "ws", "wss", "file"}:
        return f"{parts.scheme}:" if parts.scheme else ""
    route = f"#{parts.fragment.partition('?')[0]}" if parts.fragment.startswith(("/", "!")) else ""
    host = "" if not home.netloc or parts.netloc == home.netloc else f"//{parts.netloc}"
    return f"{host}{parts.path or '/'}{route}"


class Digest:
    """The visible content of a tab at a moment."""

    def __init__(self, page: Page, frames: Mapping[Frame, Mapping[str, Any]]) -> None:
        self.page = page
        self.url = page.url
        main = frames.get(page.main_frame) or {}
        self.title = str(main.get("title") or "")
        self.whole = all(answer["whole"] for answer in frames.values())
        self.lines = Counter(
            line for answer in frames.values() for line in answer["lines"].split("\n") if line
        )


async def digest(page: Page, secret: Sequence[str] = ()) -> Digest | None:
    """Return the visible content of a tab; None if it does not answer in time."""
    hidden = [one.removeprefix("css=") for one in secret]
    with suppress(Error, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            return Digest(page, dict(await of_page(page, "digest", {"selectors": hidden})))
    return None


def consequence(
    before: Digest | None, after: Digest | None, requests: list[str], *, loaded: bool
) -> dict[str, Any]:
    """Return the consequence between two moments.

    Args:
        before: The digest before the action.
        after: The digest after it, of the tab that is then in front.
        requests: The requests sent meanwhile.
        loaded: True if a tab started loading a page meanwhile.

    Returns:
        `navigated` (the path of the new page, or None), `requests` (`POST /login`), and `dom`: the lines `role "name"`
        that are new (`added`), gone (`removed`), or in another state (`changed`). `dom` is None if unknown, or on
        another page.
    """
    found: dict[str, Any] = {"navigated": None, "requests": requests, "dom": None}
    if after is None:
        return found
    here = where(after.url)
    there = where(before.url) if before is not None else here
    if loaded or here != there:
        found["navigated"] = here
    elif before is not None:
        found["dom"] = _change(before, after)
    return found


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
    """Yield elements of the same name in another state; remove them from both counters."""
    olds: dict[str, deque[str]] = defaultdict(deque)
    for old in went:
        olds[old.rpartition("\t")[0]].append(old)
    for line in list(came):
        element, _, standing = line.rpartition("\t")
        if standing and olds.get(element):
            was = olds[element].popleft()
            yield f"{_line(line)} {was.rpartition(chr(9))[2]} -> {standing}"
            del came[line], went[was]


def _renamed(came: Counter[str], went: Counter[str]) -> Iterator[str]:
    """Yield state changes of the only element of its role, whose name has changed, too.

    It is the same element, because there is no other of its role.
    """
    here, there = _by_role(came), _by_role(went)
    for role, lines in here.items():
        olds = there.get(role, [])
        if len(lines) == len(olds) == 1:
            standing, stood = (one[0].rpartition("\t")[2] for one in (lines, olds))
            if standing and stood and stood != standing:
                yield f"{_line(lines[0])} {stood} -> {standing}"
                del came[lines[0]], went[olds[0]]


def _by_role(counted: Counter[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for line in counted:
        found[line.partition("\t")[0]].append(line)
    return found


def _lines(counted: Counter[str]) -> list[str]:
    return sorted({_line(line) for line in counted})


def _line(line: str) -> str:
    role, name, _ = line.split("\t")
    return f'{role} "{name}"' if name else role


# -- comparing two consequences ------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Return a path or a line without numbers and ids, which differ from run to run."""
    text = re.sub(r"(?<=/)[0-9a-fA-F-]{8,}(?=/|$)", "#", text)
    return re.sub(r"\d+", "#", text)


def tells(one: Mapping[str, Any] | None) -> bool:
    """Return True if a consequence contains evidence with which another one can be compared."""
    if not one:
        return False
    dom = one.get("dom") or {}
    return bool(one.get("navigated") or one.get("requests") or any(_of(dom, part) for part in _PARTS))


_PARTS = ("added", "changed", "removed")


def leads(one: Mapping[str, Any]) -> bool:
    """Return True if a consequence is more than a changed state.

    Filling any field leaves a filled field, so such a change alone proves little.
    """
    dom = one.get("dom") or {}
    return bool(one.get("navigated") or one.get("requests") or _of(dom, "added") or _of(dom, "removed"))


def same(
    now: Mapping[str, Any] | None, then: Mapping[str, Any] | None, *, by_name: bool = False
) -> bool | None:
    """Return True if an action had the same consequence as another one; None if unknown.

    Args:
        now: The consequence of the action.
        then: The consequence of the other one.
        by_name: True if changed elements must have their earlier names. A filled field proves nothing if it may be the
            wrong one.
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
        return False  # only this action sent a request that may change something
    return _same_change(now.get("dom"), then.get("dom") or {}, by_name=by_name)


def _same_change(now: Mapping[str, Any] | None, then: Mapping[str, Any], *, by_name: bool) -> bool | None:
    """Compare the added lines if both have them; else the changed ones, else the removed ones.

    If other lines were added, exactly equal changed lines are evidence, too.
    """
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
            stands = _of(now, "changed")
            return bool(mine & its) or (part == "added" and bool(stands) and stands == _of(then, "changed"))
    return False if any(_of(now, part) for part in _PARTS) else None


_CLOCK = re.compile(r"\d ?(s|secs?|seconds?|min|minutes?|h|hours?)\b|\d{1,2}:\d{2}|\bago\b", re.IGNORECASE)


def _of(dom: Mapping[str, Any], part: str) -> set[str]:
    """Return the distinctive lines of a change, without those of a running clock."""
    return {plain(one) for one in dom.get(part) or () if not _CLOCK.search(one)}


_SORTS = {
    "searchbox": "textbox", "spinbutton": "textbox", "combobox": "textbox", "switch": "checkbox",
}  # fmt: skip
"""Roles between which the same field may change."""


def _kind(line: str) -> str:
    """Return the change of a field without its name: `textbox empty -> filled`."""
    role, _, stands = re.sub(r' ".*"', "", line).partition(" ")
    return f"{_SORTS.get(role, role)} {stands}"
