"""`session.page`: Playwright's page, whose calls are effects of the session.

A call that only describes an element (`locator`, `get_by_role`, `first`) extends an expression. A call that reads or
acts is one effect: done in the browser's thread, or answered from the recording. Returned objects (an element, a popup,
a response) stay with the browser; the program gets a number for each.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self

from playwright import async_api

from reenact.browser.actions.types import MASK
from reenact.browser.effects.calls import Steps, arun, run
from reenact.browser.effects.driver import BrowserDriver
from reenact.browser.effects.operations import DOUBT, Doubt, Hide, Operation, drawn
from reenact.browser.effects.playwright_api import (
    ACTS,
    DESCRIBES,
    DOING,
    LISTENS,
    WRITES,
    class_of,
    return_type,
)
from reenact.browser.page.live_browser import LiveBrowser
from reenact.errors import UsageError


class PageServices(Protocol):
    """The session's services for a page.

    Attributes:
        asynchronous: True in a program that awaits.
        driver: The session's browser.
    """

    asynchronous: bool
    driver: BrowserDriver

    def ask(self, step: Operation) -> Steps[Any]:
        """Run a step."""

    def page_failed(self, name: str, args: Mapping[str, Any], error: Exception) -> Steps[None]:
        """Handle a failed call."""

    def page_skipped(self, name: str, args: Callable[[], Mapping[str, Any]]) -> bool:
        """Return True if a call that acts must be skipped because of an earlier failure."""


@dataclass(frozen=True)
class Expression:
    """An expression for one of Playwright's objects in the browser.

    Attributes:
        services: The session's.
        kind: The object's type.
        path: The expression: a root, and the attributes and calls from there on.
        text: The same as text.
    """

    services: PageServices
    kind: str
    path: tuple[Any, ...]
    text: str

    def describe(self, name: str, kind: str, /, *args: Any, **options: Any) -> PlaywrightProxy:
        """Return the proxy of the object that a call describes."""
        shown = ", ".join([*map(_shown, args), *(f"{key}={_shown(value)}" for key, value in options.items())])
        path = (*self.path, ("call", name, args, options))
        return PlaywrightProxy(Expression(self.services, kind, path, f"{self.text}.{name}({shown})"))

    def perform(self, name: str, /, *args: Any, **options: Any) -> Any:
        """Return the result of a call; in a program that awaits, an awaitable of it."""
        call = self.called(_asking(self, name, args, options))
        return arun(call) if self.services.asynchronous else run(call)

    def called(self, step: Operation) -> Steps[Any]:
        """Run a step, unless it must be skipped."""
        name = step.name.removeprefix("page.")
        acts = name in DOING or name.startswith("expect_")
        if acts and self.services.page_skipped(step.name, lambda: step.args(_masked)):
            return None
        try:
            return (yield from self.services.ask(step))
        except async_api.Error as error:
            yield from self.services.page_failed(step.name, step.sent, error)
            raise


class PlaywrightProxy:
    """One of Playwright's objects in the browser: a page, a locator, an element, a response."""

    def __init__(self, expression: Expression) -> None:
        self._expression = expression

    def __repr__(self) -> str:
        return f"<{self._expression.kind} {self._expression.text}>"

    def __dir__(self) -> list[str]:
        return [name for name in dir(getattr(async_api, self._expression.kind)) if not name.startswith("_")]

    def __getattr__(self, name: str) -> Any:
        own = self._expression
        member = None if name.startswith("_") else inspect.getattr_static(class_of(own.kind), name, None)
        if member is None:
            raise AttributeError(f"{own.kind} has no {name!r}")
        if name in LISTENS:
            raise UsageError(
                f"session.page.{name}: functions of the program's are not called from the browser's "
                "thread; connect with Playwright to session.cdp_url() for that"
            )
        if isinstance(member, property):
            gives = return_type(member.fget)
            if gives in DESCRIBES or name == "main_frame":
                path = (*own.path, ("get", name))
                return PlaywrightProxy(Expression(own.services, gives, path, f"{own.text}.{name}"))
            return run(own.services.ask(_asking(own, name, None, {})))
        if name.startswith("expect_"):
            return functools.partial(_Expecting, own, name)
        if inspect.iscoroutinefunction(member) or return_type(member) not in DESCRIBES:
            return functools.partial(own.perform, name)
        return functools.partial(own.describe, name, return_type(member))


class PageProxy(PlaywrightProxy):
    """The page of one tab: the tab that was active when `session.page` was read."""

    def __init__(self, services: PageServices, tab: int) -> None:
        super().__init__(Expression(services, "Page", (("tab", tab),), "page"))


class _Expecting:
    """`with page.expect_popup() as popup: …`: the result is `popup.value` after the body."""

    def __init__(self, of: Expression, name: str, /, *args: Any, **options: Any) -> None:
        self._of = of
        self._begin = _asking(of, name, args, options, expects=True)
        self._waiting: PlaywrightProxy | None = None
        self._value: Any = None

    @property
    def value(self) -> Any:
        """The awaited result."""
        return self._value

    def _enter(self) -> Steps[Self]:
        self._waiting = yield from self._of.called(self._begin)
        return self

    def _exit(self, error: BaseException | None) -> Steps[None]:
        if error is None and self._waiting is not None:
            step = _asking(_expression(self._waiting), "value", None, {}, expects=True)
            step.name = f"{self._begin.name}.value"
            self._value = yield from self._of.called(step)

    def __enter__(self) -> Self:
        return run(self._enter())

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        run(self._exit(error))

    async def __aenter__(self) -> Self:
        return await arun(self._enter())

    async def __aexit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        await arun(self._exit(error))


def _expression(proxy: PlaywrightProxy) -> Expression:
    """Return a proxy's expression, which is private: all public attributes are Playwright's."""
    return vars(proxy)["_expression"]  # type: ignore[no-any-return]


# -- one call ----------------------------------------------------------------------------------------------------


def _asking(
    of: Expression,
    name: str,
    args: tuple[Any, ...] | None,
    options: dict[str, Any],
    *,
    expects: bool = False,
) -> Operation:
    """Return the step of one call of an object; with `args` None it reads an attribute."""
    writes = name in WRITES and bool(args)
    hidden = False

    async def live(browser: LiveBrowser, call: int | None) -> dict[str, Any]:
        with browser.use():
            if name not in ACTS or browser.camera is None:
                return await _done(browser, of, name, args, options, expects=expects)
            return await _filmed(browser, of, name, args, options, step=step, call=call, hidden=hidden)

    async def ask(browser: LiveBrowser) -> bool | Doubt:
        return await _secret(browser, of, args or ())

    def question(hide: Hide) -> dict[str, Any]:
        nonlocal hidden
        given = [_plain(value) for value in args or ()]
        if writes:
            secret = drawn(step.asked)
            hidden = bool(secret)
            if hidden:
                given[-1] = hide(str(given[-1]), typed=secret is True)
        asked: dict[str, Any] = {} if of.text == "page" else {"on": of.text}
        return {
            **asked,
            **({"args": given} if given else {}),
            **{key: _plain(v) for key, v in options.items()},
        }

    def answer(outcome: dict[str, Any]) -> Any:
        of.services.driver.heard(outcome)
        return _taken(of.services, outcome["value"])

    step = Operation(f"page.{name}", live, question, ask if writes else None, done=answer)
    return step


async def _done(
    live: LiveBrowser,
    of: Expression,
    name: str,
    args: tuple[Any, ...] | None,
    options: dict[str, Any],
    *,
    expects: bool,
) -> dict[str, Any]:
    target = await _target(live, of)
    if expects and args is None:
        manager, info = target
        await manager.__aexit__(None, None, None)
        value = await info.value
    else:
        value = getattr(target, name)
        if args is not None:
            given = [await _real(live, one) for one in args]
            named = {key: await _real(live, one) for key, one in options.items()}
            value = value(*given, **named)
        if expects:
            value = (value, await value.__aenter__())
        elif inspect.isawaitable(value):
            value = await value
    page = live.page
    return {"value": _kept(live, value), "url": page.url, "tab": live.number(page)}


async def _filmed(
    live: LiveBrowser,
    of: Expression,
    name: str,
    args: tuple[Any, ...] | None,
    options: dict[str, Any],
    *,
    step: Operation,
    call: int | None,
    hidden: bool,
) -> dict[str, Any]:
    """Make a call, with marks in the footage before and after it.

    `hidden` is True if the value that it writes is secret.
    """
    assert live.camera is not None
    sent = step.sent
    page, box = live.page, None
    with suppress(Exception):  # the call itself will report the error
        target = await _target(live, of)
        if isinstance(target, async_api.Page) and args and name not in ("goto", "reload"):
            target = target.locator(args[0])
        if isinstance(target, async_api.Locator):
            box = await target.bounding_box(timeout=200)
    aim = None
    if box is not None:
        point = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        aim = {"box": [*box.values()], "point": point, "selector": sent.get("on"), "frame": []}
        aim["secret"] = hidden
    await live.camera.before(call, page, "script", {"type": f"page.{name}", **sent}, aim)
    try:
        outcome = await _done(live, of, name, args, options, expects=False)
    except Exception as error:
        if live.camera is not None:
            await live.camera.after(call, page, False, str(error).partition("\n")[0])
        raise
    if live.camera is not None:
        await live.camera.after(call, live.page, True, f"page.{name}")
    return outcome


async def _target(live: LiveBrowser, of: Expression) -> Any:
    """Return the live object of an expression."""
    root, *rest = of.path
    target: Any = live.handle(root[1]) if root[0] == "handle" else live.tab(root[1])
    for step in rest:
        target = getattr(target, step[1])
        if step[0] == "call":
            given = [await _real(live, one) for one in step[2]]
            target = target(*given, **{key: await _real(live, one) for key, one in step[3].items()})
    return target


async def _real(live: LiveBrowser, value: Any) -> Any:
    return await _target(live, _expression(value)) if isinstance(value, PlaywrightProxy) else value


async def _secret(live: LiveBrowser, of: Expression, args: tuple[Any, ...]) -> bool | Doubt:
    """Return True if the value to write there is secret."""
    try:
        target = await _target(live, of)
        if isinstance(target, async_api.Keyboard):
            target = live.page.locator(":focus")
        elif isinstance(target, (async_api.Page, async_api.Frame)):
            target = target.locator(args[0])
        return await live.is_secret(target)
    except Exception:  # the call itself will report the error
        return DOUBT


# -- values ------------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """Return an argument in the form that is recorded."""
    if isinstance(value, PlaywrightProxy):
        return {"element": _expression(value).text}
    if isinstance(value, re.Pattern):
        return {"pattern": value.pattern, "flags": value.flags & ~re.UNICODE}
    if callable(value):
        raise UsageError(
            "session.page: a function cannot be given to the browser's thread; see session.cdp_url()"
        )
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _kept(live: LiveBrowser, value: Any) -> Any:
    """Return a result in the form that is recorded: plain data, or the number of an object."""
    if isinstance(value, list):
        return [_kept(live, item) for item in value]
    if isinstance(value, tuple) or type(value).__module__.startswith("playwright."):
        live.handles.append(value)
        kind = "Expecting" if isinstance(value, tuple) else type(value).__name__
        return {"handle": len(live.handles) - 1, "kind": kind}
    return value


def _taken(services: PageServices, value: Any) -> Any:
    if isinstance(value, list):
        return [_taken(services, item) for item in value]
    if isinstance(value, dict) and value.keys() == {"handle", "kind"}:
        number, kind = value["handle"], value["kind"]
        return PlaywrightProxy(Expression(services, kind, (("handle", number),), f"{kind.lower()}{number}"))
    return value


def _masked(value: str, *, typed: bool = False) -> str:
    return MASK


def _shown(value: Any) -> str:
    return _expression(value).text if isinstance(value, PlaywrightProxy) else repr(value)
