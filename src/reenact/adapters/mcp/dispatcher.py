"""The wrapper of a session's dispatcher: its requests cross the boundary on any transport."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio

from reenact.adapters.mcp.inbox import Inbox, McpVersion
from reenact.adapters.mcp.server_request import GREETINGS, KIND, effect_of, hints_of, server_name
from reenact.adapters.mcp.transport import asked_in, within
from reenact.core.boundary import Scope, aperform, entered

_INITIALIZED = "notifications/initialized"


class RecordedDispatcher:
    """Wraps a session's dispatcher (`mcp.shared.dispatcher.Dispatcher`).

    Args:
        inner: The real one. In a replay it runs as well, over unconnected streams.
        library: The version of MCP's package.
        leaf: Nothing inside a request can be recorded: the server is another process, or acts as one.
    """

    def __init__(self, inner: Any, library: McpVersion, *, leaf: bool) -> None:
        self._inner = inner
        self._library = library
        self._inbox: Inbox | None = None
        self._server = ""
        self._leaf = leaf
        self._lock = anyio.Lock()
        self._greeting: Mapping[str, Any] | None = None
        """The parameters of an `initialize` that a recording has answered, and no server has got."""
        self._greeted: tuple[Any, ...] = ()
        self._hints: dict[str, bool] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def run(
        self,
        on_request: Any,
        on_notify: Any,
        on_notify_intercept: Any = None,
        *,
        task_status: Any = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Drive the session until its connection is closed."""
        scope = asked_in()
        if scope is None:
            await self._inner.run(on_request, on_notify, on_notify_intercept, task_status=task_status)
            return
        inbox = self._inbox = Inbox(scope, on_request, on_notify, on_notify_intercept, library=self._library)
        with entered(within(scope)):
            async with anyio.create_task_group() as inbox.tasks:
                try:
                    await self._inner.run(inbox.asked, inbox.told, task_status=task_status)
                    await inbox.over()
                finally:
                    inbox.close()
                    inbox.tasks.cancel_scope.cancel()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: dict[str, Any] | None = None, **more: Any
    ) -> dict[str, Any]:
        """Ask the server: an effect."""
        scope = asked_in()
        if scope is None:
            return await self._inner.send_raw_request(method, params, opts, **more)  # type: ignore[no-any-return]
        effect = effect_of(method, params, leaf=self._leaf, hints=self._hints)
        at = self._at(scope)
        of = f"{at.path}/{effect.label}#{at.peek(effect.label)}"
        options = opts or {}
        callback, answered = options.get("on_progress"), True

        async def live() -> dict[str, Any]:
            nonlocal answered
            answered = False
            if callback is not None and self._inbox is not None:
                self._inbox.unhear(of)
                options["on_progress"] = partial(self._inbox.progressed, of, callback)
            await self._greet(method)
            return await self._inner.send_raw_request(method, params, options, **more)  # type: ignore[no-any-return]

        if callback is not None and self._inbox is not None:
            self._inbox.hear(of, callback)
        try:
            with entered(at):
                raw = await aperform(effect, live)
        finally:
            if self._inbox is not None:
                self._inbox.unhear(of)
        if method == "tools/list":
            self._hints |= hints_of(raw)
        if method in GREETINGS:
            if answered and method == "initialize":
                self._greeting = dict(params or {})
            await self._met(scope, raw)
        return raw

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: dict[str, Any] | None = None, **more: Any
    ) -> None:
        """Notify the server: an effect without an answer, except the one of the greeting."""
        scope = asked_in()
        if scope is None:
            await self._inner.notify(method, params, opts, **more)
        elif method == _INITIALIZED:
            if self._greeting is None:
                with entered(within(scope)):
                    await self._inner.notify(method, params, opts, **more)
            else:
                self._greeted = (params, opts)
        else:
            effect = effect_of(method, params, leaf=True)
            with entered(self._at(scope)):
                await aperform(effect, partial(self._tell, method, params, opts, **more))

    # -- within ----------------------------------------------------------------------------------------------

    def _at(self, scope: Scope) -> Scope:
        """Return the scope of the server's requests, which counts those to each server by itself."""
        return scope.standing(self._server) if self._server else scope

    async def _met(self, scope: Scope, raw: Mapping[str, Any]) -> None:
        name = server_name(raw)
        self._server = f"{KIND}:{name}" if name else self._server
        if self._inbox is not None:
            await self._inbox.open(self._at(scope))

    async def _tell(self, method: str, *args: Any, **more: Any) -> None:
        await self._greet(method)
        await self._inner.notify(method, *args, **more)

    async def _greet(self, method: str) -> None:
        """Greet a new server before the first live request: a recording answered the greeting."""
        if self._greeting is None or method in GREETINGS:
            return
        async with self._lock:
            greeting, greeted = self._greeting, self._greeted
            if greeting is not None:
                await self._inner.send_raw_request("initialize", greeting)
                self._greeting = None
                if greeted:
                    await self._inner.notify(_INITIALIZED, *greeted)
