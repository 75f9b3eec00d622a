"""Scopes: the chain of tasks, threads, spans and enclosing effects around an effect.

A child is named when its parent starts it, in the parent's program order, so its name does not depend on the
scheduler. Ordinals count per kind and name: one more log line that reads the clock shifts no model call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from reenact.core.boundary.handler import Answer, Handler
    from reenact.core.boundary.tracked import Tracked
    from reenact.core.boundary.turnstile import Turnstile

_scope: ContextVar[Scope | None] = ContextVar("reenact_scope", default=None)

current = _scope.get
"""Return the scope of the running code, or None outside a run.

It is as cheap as possible: adapters call it on every call of the user's.
"""


class Family(Protocol):
    """Makes the processes that a run starts belong to it."""

    def spawning(self, scope: Scope, name: str, command: Sequence[str]) -> str | None:
        """Return the path of a new process's scope, or None if the process runs outside.

        Raises `Halt` if a replay starts a process that the recording does not have.
        """

    def handover(self, path: str, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables with which that process joins the run."""

    def running(self, path: str | None, pid: int | None) -> None:
        """That process runs now; without a `pid` it could not be started."""

    def forked(self, path: str) -> Scope:
        """This process is a fork of the program's: from here on it is that scope."""


class Run:
    """One recording, replay or fork in progress: its handler and its turnstile.

    Attributes:
        replaying: A recording answers; a fork sets it to false where it goes live.
        forked: This is a fork: everything read from its parent holds, live or not.
        came: Called with each recorded outcome, chunk and end that passes, in its turn, if the handler asks for
            that (a fork writes them down).
        halt: Raised behind the next live outcome, if the handler wants the program to end there.
        model: The language model to call in place of the program's, in live calls, or None.
    """

    __slots__ = (
        "__weakref__", "came", "family", "forked", "halt", "handler", "lock", "model", "replaying", "root", "tracked",
        "turnstile",
    )  # fmt: skip

    def __init__(
        self, handler: Handler, turnstile: Turnstile, *, replaying: bool, root: str = "main"
    ) -> None:
        self.handler = handler
        self.turnstile = turnstile
        self.replaying = replaying
        self.forked = False
        self.came: Callable[[Answer, int | None], None] | None = getattr(handler, "came", None)
        self.halt: BaseException | None = None
        self.model: str | None = None
        self.lock = threading.RLock()
        self.root = Scope(root, self)
        self.family: Family | None = None
        self.tracked: Tracked | None = None


class Scope:
    """One link of the scope chain.

    Attributes:
        path: The names from the root to here, joined by `/`.
        run: The run that this scope belongs to.
        anchor: The nearest scope with a name of its own (root, span, effect). Things that a framework identifies by
            itself are named below it, so that the framework's internal tasks cannot rename them.
        call: The number of the enclosing recorded call, if any.
        hidden: Nothing in here is recorded (the inside of a leaf).
    """

    __slots__ = ("_ordinals", "_standing", "anchor", "call", "hidden", "path", "run")

    def __init__(
        self,
        path: str,
        run: Run,
        *,
        anchor: Scope | None = None,
        call: int | None = None,
        hidden: bool = False,
    ) -> None:
        self.path = path
        self.run = run
        self.anchor = anchor or self
        self.call = call
        self.hidden = hidden
        self._ordinals: dict[str, int] = {}
        self._standing: dict[str, Scope] | None = None

    def count(self, label: str) -> int:
        """The next ordinal of that label in this scope, from 0."""
        with self.run.lock:
            ordinal = self._ordinals.get(label, 0)
            self._ordinals[label] = ordinal + 1
        return ordinal

    def peek(self, label: str) -> int:
        """Return the number that `count` would give, without counting."""
        return self._ordinals.get(label, 0)

    def child(self, name: str) -> Scope:
        """The scope of a task, thread or job that is started here."""
        path = f"{self.path}/{name}.{self.count('+' + name)}"
        return Scope(path, self.run, anchor=self.anchor, call=self.call, hidden=self.hidden)

    def span(self, name: str, *, anchored: bool = False) -> Scope:
        """A named stretch of the program: an agent's run, a tool call with an identity of its own."""
        base = self.anchor if anchored else self
        ordinal = base.count("@" + name)
        path = f"{base.path}/{name}" + (f"~{ordinal}" if ordinal else "")
        return Scope(path, self.run, call=self.call, hidden=self.hidden)

    def standing(self, name: str) -> Scope:
        """Return the scope of that name in here, the same one each time.

        It separates the questions to several partners (servers of the same protocol), each with its own ordinals.
        """
        with self.run.lock:
            if self._standing is None:
                # Each effect is a scope, and hardly any has such.
                self._standing = {}
            found = self._standing.get(name)
            if found is None:
                found = self._standing[name] = Scope(
                    f"{self.path}/{name}", self.run, anchor=self.anchor, call=self.call, hidden=self.hidden
                )
        return found

    def inside(self, address: str, *, call: int | None, hidden: bool) -> Scope:
        """Return the scope inside an effect.

        If the effect is answered from the recording, the scope does not occur, and no sibling is renumbered.
        """
        return Scope(address, self.run, call=call, hidden=hidden or self.hidden)


class _Entered:
    # Around every model request and chunk: a generator would cost three times as much.
    __slots__ = ("_scope", "_token")

    def __init__(self, scope: Scope | None) -> None:
        self._scope = scope

    def __enter__(self) -> None:
        self._token = _scope.set(self._scope)

    def __exit__(self, *_: object) -> None:
        _scope.reset(self._token)


def entered(scope: Scope | None) -> AbstractContextManager[None, None]:
    """Run the body in that scope."""
    return _Entered(scope)


@contextmanager
def span(name: str, *, anchored: bool = False) -> Iterator[None]:
    """Name a part of the program; its effects keep their addresses when other code changes."""
    scope = _scope.get()
    if scope is None or scope.hidden:
        yield
        return
    with entered(scope.span(name, anchored=anchored)):
        yield
