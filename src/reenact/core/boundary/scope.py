"""Scopes: the chain of tasks, threads, spans and enclosing effects around an effect.

A child is named when its parent starts it, in the parent's program order, so its name does not depend on the
scheduler. Ordinals count per kind and name: one more log line that reads the clock shifts no model call.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from time import time_ns
from typing import Any

from reenact.core.boundary.answer import Answer, Sidecar, Ticket
from reenact.core.boundary.entry import TrackedState
from reenact.core.boundary.family import RunProcesses
from reenact.core.boundary.file_sensor import FileSensor, RedirectedView
from reenact.core.boundary.given_times import GivenTimes
from reenact.core.boundary.inside import ToolInside
from reenact.core.boundary.lock_order import NO_ORDER, LockOrder
from reenact.core.boundary.turnstile import Turnstile
from reenact.core.boundary.unreceived import Unreceived
from reenact.core.model.event import RULES, Effect, Outcome, Tree
from reenact.errors import Departure, Divergence, Halt


class Handler:
    """Decides the answer of each effect at the boundary.

    This base class lets everything run for real and keeps nothing. A subclass overrides what it does differently. Its
    decisions are pure: it never waits, and touches nothing in the world but its recording.
    """

    # -- effects ---------------------------------------------------------------------------------------------

    def enter(self, effect: Effect, scope: Scope, ordinal: int) -> Answer | Ticket:
        """Return the recorded answer of an effect, or a ticket to run it for real.

        Raises `Halt` where a replay departs from its recording.
        """
        return Ticket(None)

    def leave(self, ticket: Ticket, outcome: Outcome) -> None:
        """Take the outcome of a live call, before the program sees it."""

    def step(self, decision: Answer | Ticket) -> int | None:
        """Return the number of the step that a call is in its recording, as all interfaces show it.

        None where nothing is recorded, and where another process writes to the same recording: its steps may come
        before this one.
        """
        return decision.step if isinstance(decision, Ticket) else None

    def ran_again(self, ticket: Ticket, outcome: Outcome) -> Answer | None:
        """Compare the outcome of a tool that ran again with the recorded one.

        Return the recorded answer if the program is to have that one. Raises `Halt` where they differ and the replay
        is strict.
        """
        return None

    def chunk_again(self, ticket: Ticket, number: int, value: Any) -> int | None:
        """Compare a chunk of a tool that runs again with the recorded one; return its place.

        Raises `Halt` where they differ and the replay is strict.
        """
        return ticket.order

    def ended_again(self, ticket: Ticket, count: int, how: str | BaseException) -> int | None:
        """Compare the end of a tool's chunks with the recorded one; return its place.

        Raises `Halt` where they differ, the replay is strict, and the program did not stop reading.
        """
        return ticket.order

    def chunk(self, ticket: Ticket, value: Any) -> None:
        """Take one more chunk of a live stream, before the program sees it."""

    def end(self, ticket: Ticket, how: str | BaseException) -> None:
        """Take the end of a live stream: `ended`, `closed`, `cancelled`, or its error."""

    def printed(self, scope: Scope, text: str) -> None:
        """Take text that code inside an effect has printed."""

    def passed(self, answer: Answer, piece: int | None) -> None:
        """Note that a recorded outcome (None), chunk (its number) or end reaches the program."""

    def read_on(self, answer: Answer) -> BaseException:
        """Return the divergence of a program that reads past the recorded end of a stream."""
        return self.refuse(f"call {answer.call}", "the recording has no more of this stream")

    def stuck(self, answer: Answer) -> BaseException:
        """Return the divergence of a program that waits forever for a recorded cancellation."""
        return self.refuse(
            f"call {answer.call}", "recorded, this call was cancelled; now its answer is awaited"
        )

    def stands_still(self, address: str, waits: str) -> BaseException:
        """Return the divergence of a program that stands still in `waits`, named with their lines."""
        return self.refuse(address, f"the program stands still: {waits}")

    # -- reads and timers ------------------------------------------------------------------------------------

    def draw(self, scope: Scope, source: str, live: Callable[[], Any]) -> Any:
        """Return a scalar input (a clock, entropy, an environment variable); `live` reads it."""
        return live()

    def fire(self, scope: Scope, name: str) -> None:
        """Note that a timer, a sleep or a job of the program's came due."""

    def due(self, scope: Scope, name: str) -> int | None:
        """Return the recorded place of that firing, or None."""
        return None

    # -- locks -----------------------------------------------------------------------------------------------

    def locked(self, scope: Scope, lock: str, count: int | None) -> None:
        """Note that a thread or job takes a lock, as its `count`th holder; None: count the time."""

    @property
    def locks(self) -> LockOrder:
        """The recorded order in which threads take locks."""
        return NO_ORDER

    # -- what may run for real -------------------------------------------------------------------------------

    @property
    def gone_live(self) -> bool:
        """True if the program has left its recording and is now answered live."""
        return False

    @property
    def poison(self) -> Halt | None:
        """The divergence that ended the run, if one did."""
        return None

    @property
    def offline(self) -> bool:
        """True if nothing at all may run for real."""
        return False

    def lets_live(self, kind: str, label: str) -> bool:
        """Return True if effects of that kind or label run for real by the user's wish."""
        return True

    def act(self, effect: Effect, scope: Scope) -> None:
        """Note an act that crosses no boundary, before it happens.

        Raises `Halt` if it may not happen.
        """

    def refuse(self, address: str, detail: str, hint: str = "") -> Halt:
        """Return the divergence, to be raised, of input that crossed no boundary (a raw socket)."""
        return Halt(Divergence(Departure.EXTRA, address, detail=detail, hint=hint))

    # -- remarks, secrets, state -----------------------------------------------------------------------------

    def note(self, what: str, text: str, **more: Tree) -> None:
        """Record a fact that a reader of the recording must know. A replay ignores it."""

    def remark(self, text: str) -> None:
        """Add a remark to the verdict of a replay. A recorder ignores it."""

    def secret(self, value: str, *, typed: bool = False) -> str:
        """Return the token for a value known to be secret; hide the value in all of the recording.

        A `typed` value was written into a secret field; it is hidden elsewhere though it is short, and where it was
        recorded earlier.
        """
        return "[secret]"

    def snapshot(self, scope: Scope, label: str) -> None:
        """Take a snapshot of the tracked state, as the program asks. A replay ignores it."""

    def sidecar(self, name: str) -> Sidecar | None:
        """Create a further file of the recording; None if nothing is recorded. Raises OSError."""
        return None


class Family(RunProcesses):
    """Makes the processes that a program starts part of its run."""

    def knows(self, scope: Scope, name: str) -> bool:
        """Return True if the process about to be started was recorded. Counts nothing."""
        return True

    @abstractmethod
    def spawning(self, scope: Scope, name: str, command: Sequence[str]) -> str | None:
        """Return the path of a new process's scope, or None if the process runs outside.

        Raises `Halt` if a replay starts a process that the recording does not have.
        """

    @abstractmethod
    def forked(self, path: str) -> Scope:
        """Return the scope of this process, which is a fork of the program's, from here on."""


class Run:
    """One recording, replay or fork in progress: its handler and its turnstile.

    Attributes:
        replaying: A recording answers; a fork sets it to false where it goes live.
        forked: This is a fork: everything read from its parent holds, live or not.
        halt: Raised after the next live outcome, if the handler wants the program to end there.
        model: The language model to call in place of the program's, in live calls, or None.
        rules: The number of the matching rules: the recording's, in a replay.
        files: Notes the files that the program uses, or None: they are not recorded.
        asked: Called with each recorded question: its line, label and number. None: nothing looks at them.
        commands: Called with the number of a recorded command before it is answered. None: nothing compares its files.
        waits: Called when the program sleeps once more than recorded. None: nothing is due then.
        serves: Returns True for the name of an HTTP request to a server of this process. None: there is none.
        scratch: Returns True for a path on a disk of this run's own, which may be written to. None: there is none.
        view: Shows the files, if the program's functions are redirected to scratch.
        held: What the program has opened outside of tools, for the adapter that watches them. None: nothing.
        killed: In a replay: the recorded process was killed, so the last of its calls have no end.
        python: The version of the Python that made the replayed recording; None: this one, or unknown.
        times: The sleeps of the program's own code, and the times that it gives to sleeps and waits.
        threaded: The program has started a thread, or given a pool of threads a job.
        unreceived: The messages that may never be received.
        began: The time at which it began, in nanoseconds since 1970.
        working: The paths of the threads and jobs that have been started and have not ended.
    """

    __slots__ = (
        "__weakref__", "asked", "began", "commands", "family", "files", "forked", "halt", "handler", "held", "killed",
        "lock", "model", "python", "replaying", "root", "rules", "scratch", "serves", "threaded", "times", "tracked",
        "turnstile", "unreceived", "view", "waits", "working",
    )  # fmt: skip

    def __init__(
        self, handler: Handler, turnstile: Turnstile, *, replaying: bool, root: str = "main"
    ) -> None:
        self.handler = handler
        self.turnstile = turnstile
        self.replaying = replaying
        self.forked = self.killed = self.threaded = False
        self.began = time_ns()
        self.halt: BaseException | None = None
        self.held: Any = None
        self.model: str | None = None
        self.python: tuple[int, int] | None = None
        self.rules = RULES
        self.asked: Callable[[bytes, str, int], None] | None = None
        self.scratch: Callable[[str], bool] | None = None
        self.view: RedirectedView | None = None
        self.serves: Callable[[str], bool] | None = None
        self.commands: Callable[[int], None] | None = None
        self.waits: Callable[[], None] | None = None
        self.times = GivenTimes()
        self.unreceived = Unreceived()
        self.working: set[str] = set()
        self.files: FileSensor | None = None
        self.lock = threading.RLock()
        self.root = Scope(root, self)
        self.family: Family | None = None
        self.tracked: TrackedState | None = None

    def further(self, order: int | None) -> bool:
        """Return True for a sleep that a replay adds while a process of the program runs."""
        answered = order is None and self.replaying and not self.handler.gone_live
        return answered and self.family is not None and self.family.busy()


class Scope:
    """One link of the scope chain.

    Attributes:
        path: The names from the root to here, joined by `/`.
        run: The run that this scope belongs to.
        call: The number of the enclosing recorded call, if any.
        hidden: Nothing in here is recorded (the inside of a leaf).
        tool: The inside of the innermost tool around, unless another effect answers in between.
    """

    __slots__ = ("_anchor", "_ordinals", "_standing", "call", "hidden", "path", "run", "tool")

    def __init__(
        self,
        path: str,
        run: Run,
        *,
        anchor: Scope | None = None,
        call: int | None = None,
        hidden: bool = False,
        tool: ToolInside | None = None,
    ) -> None:
        self.path = path
        self.run = run
        self._anchor = anchor  # not itself: no cycle for the garbage collector
        self.call = call
        self.hidden = hidden
        self.tool = tool
        self._ordinals: dict[str, int] = {}
        self._standing: dict[str, Scope] | None = None

    @property
    def anchor(self) -> Scope:
        """The root, span or effect around: a framework's own tasks rename nothing below it."""
        return self if self._anchor is None else self._anchor

    def count(self, label: str) -> int:
        """Count an occurrence of a label in this scope; return its ordinal, from 0."""
        with self.run.lock:
            ordinal = self._ordinals.get(label, 0)
            self._ordinals[label] = ordinal + 1
        return ordinal

    def peek(self, label: str) -> int:
        """Return the number that `count` would give, without counting."""
        return self._ordinals.get(label, 0)

    def child(self, name: str) -> Scope:
        """Return the scope of a task, thread or job that is started here."""
        path = f"{self.path}/{name}.{self.count('+' + name)}"
        return Scope(path, self.run, anchor=self.anchor, call=self.call, hidden=self.hidden, tool=self.tool)

    def span(self, name: str, *, anchored: bool = False) -> Scope:
        """Return the scope of a named part of the program: an agent's run, a tool call with an id."""
        base = self.anchor if anchored else self
        ordinal = base.count("@" + name)
        path = f"{base.path}/{name}" + (f"~{ordinal}" if ordinal else "")
        return Scope(path, self.run, call=self.call, hidden=self.hidden, tool=self.tool)

    def standing(self, name: str) -> Scope:
        """Return the scope of that name in here, the same one each time.

        It separates the questions to several partners (servers of the same protocol), each with its own ordinals.
        """
        with self.run.lock:
            if self._standing is None:
                # Made on first use: each effect is a scope, and few have standing ones.
                self._standing = {}
            found = self._standing.get(name)
            if found is None:
                path = f"{self.path}/{name}"
                found = Scope(
                    path, self.run, anchor=self.anchor, call=self.call, hidden=self.hidden, tool=self.tool
                )
                self._standing[name] = found
        return found

    def inside(
        self, address: str, *, call: int | None, hidden: bool, tool: ToolInside | None = None
    ) -> Scope:
        """Return the scope inside an effect.

        If the effect is answered from the recording, the scope does not occur, and no sibling is renumbered.
        """
        return Scope(address, self.run, call=call, hidden=hidden or self.hidden, tool=tool)
