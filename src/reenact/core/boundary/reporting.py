"""Report the exception of an adapter's real call as the call's outcome."""

from __future__ import annotations

from types import TracebackType

from reenact.core.boundary.call import Call
from reenact.core.boundary.current import current_scope
from reenact.core.boundary.running_loop import cancellations
from reenact.errors import Halt

# Classes, as one is entered for every exchange: a generator would cost three times as much.


class reporting:  # noqa: N801 - read as a word: `with reporting(call):`
    """Run the body inside a live call, and report its exception. The adapter reports its value."""

    __slots__ = ("_call", "_token")

    def __init__(self, call: Call) -> None:
        self._call = call

    def __enter__(self) -> None:
        self._token = current_scope.set(self._call.inner)

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        current_scope.reset(self._token)
        if error is not None and not isinstance(error, Halt):
            self._call.raised(error)


class areporting:  # noqa: N801 - as `reporting`
    """`reporting` for a body that awaits: report a cancellation, too."""

    __slots__ = ("_call", "_token")

    def __init__(self, call: Call) -> None:
        self._call = call

    async def __aenter__(self) -> None:
        self._token = current_scope.set(self._call.inner)

    async def __aexit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        current_scope.reset(self._token)
        if isinstance(error, cancellations(GeneratorExit)):
            self._call.cancelled()
        elif error is not None and not isinstance(error, Halt):
            await self._call.araised(error)
