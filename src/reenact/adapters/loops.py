"""Event loops of other libraries: uvloop is replaced in a run, and trio is refused.

Only asyncio's own event loop lets the order of tasks be recorded and replayed, not a loop in C or another scheduler.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from reenact.core.boundary import Run, current, entered
from reenact.core.boundary.running_loop import running_loop
from reenact.core.store.writer import warn
from reenact.errors import UsageError

if TYPE_CHECKING:
    import asyncio

_TRIO = "trio's tasks are not recorded: nothing that they do is in the recording"


def install(module: ModuleType) -> None:
    """Hook uvloop or trio."""
    if module.__name__ == "uvloop":
        _install_uvloop(module)
    else:
        _install_trio(module)


def check(recorded: Run | None) -> None:
    """Check the event loop that runs where a recording or replay begins.

    Args:
        recorded: The run that is recorded; None for a replay.

    Raises:
        UsageError: A replay begins in a loop that is not asyncio's own.
    """
    loop = running_loop()
    if loop is None:
        return
    from asyncio import BaseEventLoop

    if isinstance(loop, BaseEventLoop):
        return
    name = f"{type(loop).__module__}.{type(loop).__qualname__}"
    if recorded is None:
        raise UsageError(
            f"a replay needs the event loop of asyncio, and here runs {name}: use asyncio.run(...)"
        )
    text = f"the event loop is {name}: the order of concurrent tasks and timers on it is not recorded"
    recorded.handler.note("unrecorded", text)
    warn(f"{text}; use asyncio.run(...)")


def _install_uvloop(module: ModuleType) -> None:
    import asyncio

    original, original_run = module.new_event_loop, module.run

    def new_event_loop() -> asyncio.AbstractEventLoop:
        """Return a new event loop: that of asyncio itself in a recording or replay."""
        scope = current()
        if scope is None or scope.hidden:
            loop: asyncio.AbstractEventLoop = original()
            return loop
        _replaced(scope.run)
        return asyncio.SelectorEventLoop()

    def run(main: Any, *, loop_factory: Any = None, debug: bool | None = None, **options: Any) -> Any:
        """Run a coroutine: on the event loop of asyncio itself in a recording or replay."""
        scope = current()
        if scope is None or scope.hidden:
            return original_run(main, loop_factory=loop_factory or original, debug=debug, **options)
        _replaced(scope.run)
        with asyncio.Runner(debug=debug, loop_factory=asyncio.SelectorEventLoop) as runner:
            return runner.run(main)

    module.new_event_loop, module.run = new_event_loop, run  # type: ignore[attr-defined]


def _replaced(run: Run) -> None:
    if not run.replaying:
        run.handler.note(
            "source", "uvloop was replaced by the event loop of asyncio, whose order can be replayed"
        )


def _install_trio(module: ModuleType) -> None:
    for owner, name in ((module, "run"), (module.lowlevel, "start_guest_run")):
        setattr(owner, name, _refused(getattr(owner, name)))


def _refused(original: Any) -> Any:
    def run(*args: Any, **options: Any) -> Any:
        scope = current()
        if scope is None or scope.hidden:
            return original(*args, **options)
        handler = scope.run.handler
        if scope.run.replaying and not handler.gone_live:
            raise handler.refuse(f"{scope.path}/trio", "trio's tasks are not recorded, and are not replayed")
        handler.note("unrecorded", _TRIO)
        warn(f"{_TRIO}; use asyncio")
        with entered(None):
            return original(*args, **options)

    return run
