"""Check an expectation: an address, a text, an element, or a function.

Each check is an effect of kind `heal`, so that a replay has the answer without a page.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, cast

from playwright.async_api import Error, Page

from reenact.browser.effects.calls import AwaitedValue, Steps, arun
from reenact.browser.effects.operations import Operation, ServerSession
from reenact.browser.page import selectors
from reenact.browser.page.live_browser import LiveBrowser
from reenact.core.boundary import aperform, perform
from reenact.core.model.event import Effect
from reenact.core.web_address import split_address
from reenact.errors import SessionError, UsageError

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

PATIENCE = 5.0
"""Seconds for the page to meet the expectation."""

_POLL = 0.1
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://|(about|data|blob|file):")
_SELECTOR = re.compile(
    r"~|//|\(//|page\.|locator\(|frame_locator\(|get_by_\w+\(|#[\w-]+$|\.[A-Za-z_][\w-]*$|\[[A-Za-z][\w-]*[~|^$*]?="
    r"|(css|xpath|text|role|id|data-test(id|-id)?|internal:[\w-]+)="
)


@dataclass(frozen=True)
class ExpectationVerdict:
    """The answer to an expectation. Only `met` is success: an unknown answer is a failure.

    Attributes:
        state: `met`, `unmet` or `unknown`.
        by: The deciding observation, in one sentence.
    """

    state: Literal["met", "unmet", "unknown"]
    by: str

    @property
    def met(self) -> bool:
        """True if the expectation is met."""
        return self.state == "met"


@dataclass(frozen=True)
class Expectation:
    """A parsed expectation: its kind (`url`, `text`, `selector`, `function`) and its value."""

    kind: str
    value: Any

    @property
    def own(self) -> bool:
        """True if the program itself must check it.

        It must check functions, and patterns, because a hostile pattern could occupy a server all day.
        """
        return self.kind == "function" or isinstance(self.value, re.Pattern)

    @property
    def data(self) -> dict[str, Any]:
        """The expectation as plain data, for the recording."""
        if isinstance(self.value, re.Pattern):
            return {self.kind: {"pattern": self.value.pattern}}
        if self.kind == "function":
            return {self.kind: _name(self.value)}
        return {self.kind: dict(self.value) if isinstance(self.value, Mapping) else self.value}


def expected(given: Any) -> Expectation:
    """Parse an expectation.

    Args:
        given: An address (with its scheme, `/a/path`, a glob such as `**/thanks*`, or a compiled pattern), a selector
            (a dict of several, or one with a prefix: `css=`, `role=`, `#id` …), a function of the session, or any other
            text for the page to show.

    Raises:
        UsageError: It is none of these.
    """
    if isinstance(given, re.Pattern):
        return Expectation("url", given)
    if isinstance(given, str) and given.strip():
        if _SCHEME.match(given) or (given.startswith(("/", "*")) and not given.startswith("//")):
            return Expectation("url", given)
        if not _SELECTOR.match(given):
            return Expectation("text", given)
    elif callable(given):
        return Expectation("function", given)
    elif not (isinstance(given, Mapping) and given):
        raise UsageError(
            f"expect={given!r}: it is an address, a text that the page shows, a selector, or a function of the session"
        )
    try:
        selectors.parse(given)
    except selectors.SelectorError as error:
        raise UsageError(f"expect={given!r}: {error}") from None
    return Expectation("selector", given)


def sent(body: Mapping[str, Any]) -> Expectation:
    """Parse an expectation sent over the network.

    Raises UsageError for an invalid one, and for one that the program itself must check.
    """
    kind = next((name for name in ("url", "text", "selector") if name in body), None)
    given = None if kind is None else body[kind]
    if not isinstance(given, str | dict) or (isinstance(given, dict) and "pattern" in given):
        raise UsageError(
            "expect: give url, text or selector; a pattern and a function are for the program itself"
        )
    return expected(given)


def judged(session: Session, what: Expectation, *, now: bool = False) -> Steps[ExpectationVerdict]:
    """Check an expectation: for up to `PATIENCE` seconds, or just once with `now`."""
    if what.kind != "function":
        return _verdict((yield from session.core.driver.run(looking(what, 0 if now else PATIENCE))))

    with session.core.recording.inside():
        answer = yield AwaitedValue(
            lambda: perform(_effect_of(what), lambda: _call(what.value, session)),
            lambda: aperform(_effect_of(what), lambda: _acall(what.value, session)),
        )
        return _verdict(answer)


async def ajudged(session: Session, what: Expectation, *, now: bool = False) -> ExpectationVerdict:
    """`judged`, awaited."""
    return await arun(judged(session, what, now=now))


# -- functions ---------------------------------------------------------------------------------------------------


def _effect_of(what: Expectation) -> Effect:
    return Effect("heal", "verdict", {"expect": what.data})


def _call(function: Callable[[Any], Any], session: Session) -> dict[str, str]:
    try:
        answer = function(session)
        if inspect.isawaitable(answer):
            answer = asyncio.run(_awaited(answer))
    except Exception as error:
        return _raised(function, error)
    return _answered(function, answer)


async def _acall(function: Callable[[Any], Any], session: Session) -> dict[str, str]:
    try:
        answer = function(session)
        if inspect.isawaitable(answer):
            answer = await answer
    except Exception as error:
        return _raised(function, error)
    return _answered(function, answer)


async def _awaited(answer: Any) -> Any:
    return await answer


def _answered(function: Any, answer: Any) -> dict[str, str]:
    name = _name(function)
    if answer is None:
        return {"state": "unknown", "by": f"{name} gave None: it is to give True or False"}
    return {"state": "met" if answer else "unmet", "by": f"{name} gave {bool(answer)}"}


def _raised(function: Any, error: Exception) -> dict[str, str]:
    text = " ".join(str(error).split())
    state = "unmet" if isinstance(error, AssertionError) else "unknown"
    return {"state": state, "by": f"{_name(function)} raised {type(error).__name__}{': ' * bool(text)}{text}"}


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", None) or type(function).__name__)


def _verdict(answer: Mapping[str, str]) -> ExpectationVerdict:
    return ExpectationVerdict(cast("Any", answer["state"]), answer["by"])


# -- pages -------------------------------------------------------------------------------------------------------


def looking(what: Expectation, patience: float = PATIENCE) -> Operation:
    """Return the step that checks the page, for at most `patience` seconds."""

    async def live(browser: LiveBrowser, call: int | None) -> dict[str, str]:
        try:
            with browser.use():
                return await _looked(lambda: browser.page, what, patience)
        except (Error, SessionError) as error:
            words = " ".join(str(error).split())
            return {"state": "unknown", "by": f"the page could not be looked at: {words}"}

    async def wire(link: ServerSession) -> dict[str, str]:
        if what.own:
            return await _looked(_RemotePage(link).page, what, patience)
        answer = await link.ask("POST", "page/expect", {**what.data, "now": not patience})
        return {"state": answer["state"], "by": answer["by"]}

    asked = {"expect": what.data, **({} if patience else {"now": True})}
    return Operation("verdict", live, lambda _: asked, kind="heal", wire=wire)


class _RemotePage:
    """The address of a page on a server.

    Args:
        link: The server.
    """

    def __init__(self, link: ServerSession) -> None:
        self._link = link
        self.url = ""

    async def page(self) -> _RemotePage:
        """Return this page with its current address."""
        self.url = (await self._link.ask("GET", "page/address"))["url"]
        return self

    def is_closed(self) -> bool:
        """Return False: a closed page on the server gives no answer at all."""
        return False


async def _looked(front: Callable[[], Any], what: Expectation, patience: float) -> dict[str, str]:
    end = monotonic() + patience
    while True:
        page = front()
        if inspect.isawaitable(page):
            page = await page
        try:
            found = await _LOOKS[what.kind](page, what.value)
        except Error:
            # The page may be loading another one.
            if page.is_closed() or monotonic() >= end:
                raise
            found = ""
        if found:
            return {"state": "met", "by": found}
        if monotonic() >= end:
            return {"state": "unmet", "by": f"{_missing(what, page)} after {patience:g} s"}
        await asyncio.sleep(_POLL)


def _missing(what: Expectation, page: Page | _RemotePage) -> str:
    if what.kind == "url":
        value = what.value.pattern if isinstance(what.value, re.Pattern) else what.value
        return f"the page is at {page.url}, not at {value},"
    thing = "shows no text" if what.kind == "text" else "shows no element"
    return f"{page.url} {thing} {what.value!r}"


async def _at(page: Page | _RemotePage, value: str | re.Pattern[str]) -> str:
    return f"the page is at {page.url}" if matches(page.url, value) else ""


async def _says(page: Page, value: str) -> str:
    wanted = re.compile(r"\s+".join(map(re.escape, value.split())))
    for frame in page.frames:
        if await frame.get_by_text(wanted).filter(visible=True).count():
            return f"{page.url} shows the text {value!r}"
    return ""


async def _has(page: Page, value: str | Mapping[str, Any]) -> str:
    try:
        seen = await (await selectors.resolve(page, value, 0)).is_visible()
    except selectors.AmbiguousElement:
        # Several matches are as good as one: the expectation acts on none.
        seen = True
    except selectors.ElementNotFound:
        seen = False
    return f"{page.url} shows the element {value!r}" if seen else ""


_LOOKS: dict[str, Any] = {"url": _at, "text": _says, "selector": _has}


def matches(url: str, value: str | re.Pattern[str]) -> bool:
    """Return True if an address matches.

    A query or a fragment counts if the expectation has one.
    """
    if isinstance(value, re.Pattern):
        return value.search(url) is not None
    here = split_address(url)
    bare = url.partition("#")[0] if "#" not in value else url
    bare = bare.partition("?")[0] if "?" not in value else bare
    if value.startswith("/"):
        bare = bare.removeprefix(f"{here.scheme}://{here.netloc}")
    if "*" in value:
        return re.fullmatch(_glob(value), bare) is not None
    return bare.rstrip("/") == value.rstrip("/")


def _glob(value: str) -> str:
    parts = re.split(r"(\*\*|\*)", value)
    return "".join({"**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)
