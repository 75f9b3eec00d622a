"""The order in which nodes that run in threads report to their graph.

The program sees the order in which nodes put items into the graph's stream, and in which their writes are applied: a
replay keeps both. In an event loop, the order of the outcomes that its tasks wait for is enough.
"""

from __future__ import annotations

import threading
from asyncio import _get_running_loop
from collections.abc import Callable
from typing import Any

from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope, current, entered

_within = threading.local()


def put(original: Any) -> Any:
    """`SyncQueue.put`: one more item of the graph's stream."""

    def hooked(self: Any, item: Any, *args: Any, **options: Any) -> None:
        if (scope := listening()) is None or _get_running_loop() is not None:
            original(self, item, *args, **options)
            return
        _in_turn(
            scope, f"streamed#{scope.count('%streamed')}", lambda: original(self, item, *args, **options)
        )

    return hooked


def tick(original: Any) -> Any:
    """`PregelRunner.tick` and `atick`: note the scope of the graph."""

    def hooked(self: Any, *args: Any, **options: Any) -> Any:
        self._reenact_scope = current()
        return original(self, *args, **options)

    return hooked


def commit(name: Callable[[Any], str]) -> Any:
    """Hook `PregelRunner.commit`, called at a node's end in a thread without a scope.

    Args:
        name: Returns the name of a node's task.
    """

    def wrapper(original: Any) -> Any:
        def hooked(self: Any, task: Any, error: BaseException | None) -> None:
            scope = getattr(self, "_reenact_scope", None)
            if scope is None or scope.hidden:
                original(self, task, error)
                return

            def take_up() -> None:
                with entered(scope):
                    original(self, task, error)

            if _get_running_loop() is not None:
                take_up()
                return
            label = f"ended {name(task)}"
            _in_turn(scope, f"{label}#{scope.count('%' + label)}", take_up)

        return hooked

    return wrapper


def submit(original: Any) -> Any:
    """`BackgroundExecutor.submit`: a job that only waits for the stream is not ordered."""

    def hooked(self: Any, fn: Any, *args: Any, **options: Any) -> Any:
        if getattr(fn, "__qualname__", "") != "SyncQueue.wait":
            return original(self, fn, *args, **options)
        with entered(None):
            return original(self, fn, *args, **options)

    return hooked


def _in_turn(scope: Scope, name: str, do: Callable[[], None]) -> None:
    run = scope.run
    if getattr(_within, "turn", False):
        # Inside of a part that has its turn already.
        do()
        return

    def write() -> None:
        run.handler.fire(scope, name)
        _within.turn = True
        try:
            do()
        finally:
            _within.turn = False

    run.turnstile.pass_sync(run.handler.due(scope, name), write)
