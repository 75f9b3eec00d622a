"""Where an effect happens: the chain of tasks, threads, spans and enclosing effects, each named by its birth.

A child is named when its parent starts it, in the parent's program order, so that its name does not depend on who is
scheduled first. Ordinals count per kind and name: one more log line that reads the clock shifts no model call.
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
"""The scope of the running code, or None where nothing is recorded or replayed. As cheap as can be: adapters ask it
on every call of the user's."""


class Family(Protocol):
    """How the processes that a run starts come to belong to it."""

    def spawning(self, scope: Scope, name: str, command: Sequence[str]) -> str | None:
        """The program starts a process: the path of its scope, or None where it runs outside. Raises `Halt` where a
        replay starts one that the recording does not know.
        """

    def handover(self, path: str, environ: Mapping[str, str]) -> dict[str, str]:
        """What to add to the environment of that process, so that it joins."""

    def running(self, path: str | None, pid: int | None) -> None:
        """That process runs now; without a `pid` it could not be started."""

    def forked(self, path: str) -> Scope:
        """This process is a fork of the program's: from here on it is that scope."""


class Run:
    """One recording, replay or fork under way: who answers, and in which order outcomes reach the program.

    Attributes:
        replaying: Whether a recording answers; a fork sets it to false where it goes live.
        forked: Whether this is a fork: what it has read from its parent holds, live or not.
        came: Told of each recorded outcome, chunk and end that is let through, in its turn, where the handler asks
            for that (a fork writes them down).
        halt: Raised behind the next live outcome, where the handler wants the program to end there.
        model: The language model to ask in the place of the program's, in live calls, or None.
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
    """One link of the chain.

    Attributes:
        path: The names from the root to here, joined by `/`.
        run: The run that this scope belongs to.
        anchor: The nearest scope with a name of its own (root, span, effect); what a framework identifies by itself
            is named below it, so that the framework's internal tasks cannot rename it.
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
        """What `count` would give."""
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
        """The scope of that name in here, the same one each time: what is asked of one of several partners (servers of
        the same protocol) is told apart by it, and counted for each of them.
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
        """The inside of an effect, which is a scope too: answered from the recording it vanishes, and shifts nobody."""
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
    """Name a stretch of the program, so that what happens in it keeps its identity when code around it changes."""
    scope = _scope.get()
    if scope is None or scope.hidden:
        yield
        return
    with entered(scope.span(name, anchored=anchored)):
        yield
