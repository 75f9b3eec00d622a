"""The steps of a session: their arguments, their live execution, and their answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import TypeAdapter

from reenact.adapters.stdlib import callers
from reenact.browser.actions import aim
from reenact.browser.actions import perform as doing
from reenact.browser.actions import types as do
from reenact.browser.actions.results import (
    ExecutionResult,
    result_of,
)
from reenact.browser.actions.running import TargetCheck
from reenact.browser.page.live_browser import LiveBrowser
from reenact.core.boundary import Call, draw
from reenact.core.redact import says_secret
from reenact.errors import UsageError

Doubt = Literal["doubt"]
DOUBT: Doubt = "doubt"
"""Stands for True if the field of a value was not found.

Then the value is hidden only in the arguments of the fill.
"""


class Hide(Protocol):
    """A function that returns the token of a secret in the recording."""

    def __call__(self, value: str, *, typed: bool = False) -> str:
        """Return the token. A `typed` value was written into a secret field."""


class ServerSession(Protocol):
    """A session on a server, for its steps; a path is relative to the session: `page/execute`."""

    def hide(self, value: str) -> str:
        """Return the token of a secret in the recording here."""

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the server's answer. Raises the server's SessionError or UsageError."""

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a path relative to the server: `agents/start`."""


@dataclass
class Operation:
    """One effect of a session.

    Attributes:
        name: Its name.
        live: Does it; called with the browser and the number of the call.
        args: Its arguments, called where they are recorded.
        ask: Finds the page's facts that the arguments need.
        asked: The answer of `ask`; None without a browser.
        sent: The arguments, without their secrets.
        done: Converts the recorded answer for the caller.
        wire: Does it on a server; None for a step that needs the browser in this process.
        wire_ask: `ask`, sent to the server.
        kind: The effect's kind: `heal` for a step that only finds out how a block can continue.
        number: The number of its step in the recording; if none is made here, in the server's recording.
        line: The program's file and line that called it.
    """

    name: str
    live: Callable[[LiveBrowser, int | None], Coroutine[Any, Any, Any]]
    args: Callable[[Hide], dict[str, Any]] = lambda _: {}
    ask: Callable[[LiveBrowser], Coroutine[Any, Any, Any]] | None = None
    asked: Any = None
    sent: dict[str, Any] = field(default_factory=dict)
    done: Callable[[Any], Any] = field(default=lambda outcome: outcome)
    kind: str = "browser"
    wire: Callable[[ServerSession], Coroutine[Any, Any, Any]] | None = None
    wire_ask: Callable[[ServerSession], Coroutine[Any, Any, Any]] | None = None
    number: int | None = None
    recorded: bool = False
    line: str = field(default_factory=lambda: callers.line_of(sys._getframe()))

    def began(self, call: Call) -> None:
        """Note the number of its step."""
        self.number, self.recorded = call.step, True


Checks = Callable[[Mapping[str, Any]], TargetCheck | None]
"""A function from the recorded form of an action to the check of its element."""


def acting(
    action: do.Action, actor: str, hear: Callable[[dict[str, Any]], None], checks: Checks = lambda _: None
) -> Operation:
    """Return the step of an action. `hear` is called with its outcome."""
    secret: bool | Doubt = False
    fills = isinstance(action, (do.Fill, do.FallbackFill))

    async def ask(live: LiveBrowser) -> bool | Doubt:
        assert isinstance(action, do.Aimed)
        return await _is_secret(live, action, checks({"type": action.type, **action.args}))

    def args(hide: Hide) -> dict[str, Any]:
        nonlocal secret
        if fills:
            secret = drawn(step.asked)
        return _hidden(action, hide, secret=secret)

    async def live(browser: LiveBrowser, call: int | None) -> Any:
        check = checks({"type": action.type, **step.sent})
        return await doing.act(
            browser, action, actor=actor, args=step.sent, call=call, secret=bool(secret), check=check
        )

    def done(outcome: dict[str, Any]) -> ExecutionResult:
        hear(outcome)
        return result_of(_masked(action, secret=bool(secret)), outcome, step.number)

    async def wire(link: ServerSession) -> Any:
        asked = {"type": action.type, **asked_of(action)}
        told = await link.ask("POST", "page/execute", {**asked, "actor": actor})
        if not step.recorded:
            step.number = told.get("step")
        return told["outcome"]

    async def wire_ask(link: ServerSession) -> bool:
        asked = {"type": action.type, **asked_of(action)}
        return bool((await link.ask("POST", "page/secret", asked))["secret"])

    step = Operation(action.type, live, args, ask if fills else None, done=done, wire=wire, wire_ask=wire_ask)
    return step


def asked_of(action: do.Action) -> dict[str, Any]:
    """Return an action's fields for a server; a response form is sent as its JSON schema."""
    asked = action.model_dump(
        exclude={"type", "response_format"}, exclude_defaults=True, exclude_none=True, mode="json"
    )
    form = getattr(action, "response_format", None)
    if form is not None:
        asked["response_format"] = form if isinstance(form, Mapping) else TypeAdapter(form).json_schema()
    return asked


async def secret_of(live: LiveBrowser, action: do.Action) -> bool:
    """Return True if the value that an action writes is secret, or in doubt."""
    return not isinstance(action, (do.Fill, do.FallbackFill)) or bool(await _is_secret(live, action))


def drawn(asked: bool | Doubt | None) -> bool | Doubt:
    """Record, as a drawn value, if the value to write is secret.

    A replay has no page to ask.
    """
    given: bool | Doubt = draw("browser:secret", lambda: DOUBT if asked is None else asked)
    return given


async def _is_secret(live: LiveBrowser, action: do.Aimed, check: TargetCheck | None = None) -> bool | Doubt:
    """Return True if the value to write into that element is secret."""
    if action.selector is not None and says_secret(json.dumps(action.selector)):
        return True
    try:
        with live.use():
            return await aim.looks_secret(live, action, check)
    except Exception:  # the action itself will report the error
        return DOUBT


def _hidden(action: do.Action, hide: Hide, *, secret: bool | Doubt) -> dict[str, Any]:
    args = action.args
    if secret and "value" in args:
        args["value"] = hide(args["value"], typed=secret is True)
    if isinstance(action, do.FormFill):
        args["value"] = {
            name: hide(value, typed=True) if name in do.SECRET_FORM_FIELDS else value
            for name, value in action.value.items()
        }
    return args


def _masked(action: do.Action, *, secret: bool) -> do.Action:
    """Return the action with secrets masked."""
    if secret:
        return action.model_copy(update={"value": do.MASK})
    if isinstance(action, do.FormFill):
        shown = {
            name: do.MASK if name in do.SECRET_FORM_FIELDS else text for name, text in action.value.items()
        }
        return action.model_copy(update={"value": shown})
    return action


_CLOSED = "this browser cannot be connected to: Session(cdp=True) lets other programs in, on Linux and macOS"


def telling_cdp() -> Operation:
    """Return the step that reads the address for other clients."""

    async def live(browser: LiveBrowser, call: int | None) -> str:
        with browser.use():
            if (found := await browser.address()) is None:
                raise UsageError(_CLOSED)
            return found

    async def wire(link: ServerSession) -> str:
        found = str((await link.ask("GET", "debug"))["ws"]["cdp"])
        if not found:
            raise UsageError(_CLOSED)
        return found

    return Operation("cdp_url", live, wire=wire)
