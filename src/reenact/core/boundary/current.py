"""The scope of the running code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from reenact.core.boundary.scope import Scope

current_scope: ContextVar[Scope | None] = ContextVar("reenact_scope", default=None)

current = current_scope.get
"""Return the scope of the running code, or None outside a run.

It must be cheap: adapters use it in every call of the program.
"""


class _Entered:
    # Around every model request and chunk: a generator would cost three times as much.
    __slots__ = ("_scope", "_token")

    def __init__(self, scope: Scope | None) -> None:
        self._scope = scope

    def __enter__(self) -> None:
        self._token = current_scope.set(self._scope)

    def __exit__(self, *_: object) -> None:
        current_scope.reset(self._token)


def entered(scope: Scope | None) -> AbstractContextManager[None, None]:
    """Run the body in that scope."""
    return _Entered(scope)


@contextmanager
def span(name: str, *, anchored: bool = False) -> Iterator[None]:
    """Name a part of the program; its effects keep their addresses when other code changes."""
    scope = current_scope.get()
    if scope is None or scope.hidden:
        yield
        return
    with entered(scope.span(name, anchored=anchored)):
        yield
