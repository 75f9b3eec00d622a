"""Find the recorded call for a question: one process's calls by address and by content.

The cursor also keeps the set of the calls that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reenact.core.model.event import Tree
from reenact.core.model.log import CallRecord, Log
from reenact.core.replay import match

_SIBLING = ".0123456789"


class Cursor:
    """The position of a replay in its recording.

    Args:
        log: The recorded process.
        rules: The parts that are not compared.
    """

    def __init__(self, log: Log, rules: match.Rules) -> None:
        self.log = log
        self.rules = rules
        self.asked: set[int] = set()
        self.by_address: dict[tuple[str, str, int], CallRecord] = {}
        self.by_scope: dict[str, list[CallRecord]] = {}
        self.inside: dict[int, list[CallRecord]] = {}
        self._fired_inside: dict[int, list[int]] = {}
        for call in log.calls.values():
            called = call.called
            scope, within = called["at"], called["in"]
            self.by_address[scope, call.label, called["n"]] = call
            self.by_scope.setdefault(scope, []).append(call)
            if within is not None:
                self.inside.setdefault(within, []).append(call)
        for within, place in log.fired_within:
            if within is not None:
                self._fired_inside.setdefault(within, []).append(place)
        self._front: dict[str, int] = {}
        self._parts: dict[tuple[str, int], int] = {}
        """The latest part of a command that each thread has asked for, by the command's scope."""
        several = ((path, calls) for path, calls in self.by_scope.items() if len(calls) > 1)
        self._unordered = {path for path, calls in several if _overlapping(calls)}

    def loosen(self, call: CallRecord) -> None:
        """Allow any order for the calls inside a call that is made again."""
        self._unordered |= {inner.scope for inner in self.inside.get(call.number, ())}

    def equal(self, call: CallRecord, label: str, args: Mapping[str, Tree]) -> bool:
        """Return True if a recorded call asked the same question, under the rules."""
        recorded = self.log.args(call)
        return match.same(recorded, args) or not match.mismatches(label, recorded, args, self.rules)

    def unasked(self, scope: str, label: str) -> Iterator[CallRecord]:
        """Yield the recorded calls of a label in a scope that have not been asked for yet, in order."""
        return (c for c in self.by_scope.get(scope, ()) if c.label == label and c.number not in self.asked)

    def next_in(self, scope: str) -> CallRecord | None:
        """Return the first recorded call of a scope that has not been asked for yet."""
        return next((c for c in self.by_scope.get(scope, ()) if c.number not in self.asked), None)

    def in_siblings(self, scope: str, label: str, args: Mapping[str, Tree]) -> CallRecord | None:
        """Return an equal unasked call in a sibling scope (another number), else anywhere."""
        stem = scope.rstrip(_SIBLING)
        near = [path for path in self.by_scope if path != scope and path.rstrip(_SIBLING) == stem]
        for path in (*near, *(other for other in self.by_scope if other not in near and other != scope)):
            for call in self.unasked(path, label):
                if self.equal(call, label, args):
                    return call
        return None

    def before(self, call: CallRecord) -> list[CallRecord]:
        """Return the calls recorded earlier in the same thread that have not been asked for.

        A thread (an event loop with all its tasks) runs alike from one outcome to the next, so these should have
        come.
        """
        return [c for c in self._open(call.scope) if c.number < call.number]

    def earlier(self, call: CallRecord) -> list[CallRecord]:
        """Return the unasked calls of all threads recorded before the outcome that `call` followed."""
        return [c for c in self.log.calls.values() if c.place < call.place and c.number not in self.asked]

    def passed_over(self) -> list[CallRecord]:
        """Return the unasked calls whose thread has asked for a later one."""
        latest: dict[str, int] = {}
        for number in self.asked:
            call = self.log.calls[number]
            latest[thread_of(call.scope)] = max(number, latest.get(thread_of(call.scope), 0))
        open_ = (c for c in self.log.calls.values() if c.number not in self.asked)
        return [c for c in open_ if c.number < latest.get(thread_of(c.scope), 0)]

    def due(self, scope: str | None, position: int) -> CallRecord | None:
        """Return the first unasked call recorded before the outcome at `position`.

        `scope` limits it to the thread of that scope; None means any thread.
        """
        calls = self._open(scope) if scope is not None else self.log.calls.values()
        return next((c for c in calls if c.place <= position and c.number not in self.asked), None)

    def _open(self, scope: str) -> Iterator[CallRecord]:
        thread = thread_of(scope)
        return (
            c for c in self.log.calls.values() if c.number not in self.asked and thread_of(c.scope) == thread
        )

    def take(self, call: CallRecord) -> list[CallRecord]:
        """Mark a call as asked for. Return the calls of its scope that it overtakes."""
        self.asked.add(call.number)
        scope = call.scope
        if scope in self._unordered:
            return []
        calls, front = self.by_scope[scope], self._front.get(scope, 0)
        if front < len(calls) and calls[front] is call:
            # It is nearly always the next one; only a departure looks further.
            self._front[scope] = front + 1
            return []
        place = calls.index(call)
        if place < front:
            return []
        self._front[scope] = place + 1
        return [c for c in calls[front:place] if c.number not in self.asked]

    def taken(self, call: CallRecord, thread: int) -> None:
        """Note which thread asks for a part of a command: its output, its errors, its input."""
        if _is_part(call):
            key = call.scope, thread
            self._parts[key] = max(call.number, self._parts.get(key, 0))

    def overtaken(self, call: CallRecord, thread: int) -> bool:
        """Return True if a thread that asks for an overtaken call has itself asked for a later one.

        Threads share the scope of a command whose parts they read or write. Nothing says which of them comes first.
        """
        return not _is_part(call) or self._parts.get((call.scope, thread), 0) > call.number

    def places_inside(self, call: CallRecord) -> Iterator[int]:
        """Yield the places in the order that lie inside a call; they will not be reached."""
        yield from self._fired_inside.get(call.number, ())
        for inner in self.inside.get(call.number, ()):
            self.asked.add(inner.number)
            if inner.order is not None:
                yield inner.order
            yield from (order for order, _, _ in inner.pieces)
            if inner.end_order is not None:
                yield inner.end_order
            yield from self.places_inside(inner)

    def calls_inside(self, call: int) -> Iterator[int]:
        """Yield the numbers of the calls inside a call, at any depth."""
        for inner in self.inside.get(call, ()):
            yield inner.number
            yield from self.calls_inside(inner.number)

    def missing(self) -> list[CallRecord]:
        """Return the unasked calls that do not lie inside another unasked one."""
        lost = [call for call in self.log.calls.values() if call.number not in self.asked]
        numbers = {call.number for call in lost}
        # The inside of a missing call is missing with it, and gets no line of its own.
        return [call for call in lost if call.within not in numbers]

    @property
    def last(self) -> CallRecord | None:
        """The last call of the recording."""
        return next(reversed(self.log.calls.values()), None)


def thread_of(scope: str) -> str:
    """Return the part of a scope's path that names its thread; empty for the main thread."""
    found = scope.rfind("/thread:")
    if found < 0:
        return ""
    end = scope.find("/", found + 1)
    return scope if end < 0 else scope[:end]


def _is_part(call: CallRecord) -> bool:
    """Return True for a part of what a command does: its scope is that of the command's start."""
    return call.kind == "process" and call.scope.rpartition("/")[2].startswith("process:")


def _overlapping(calls: list[CallRecord]) -> bool:
    """Return True if calls of one scope overlapped in time, so that their order means nothing.

    A call is written when its turn comes, and numbered when it is asked.
    """
    until, latest = -1.0, 0
    for call in calls:
        if call.number < latest or call.called["t"] < until:
            return True
        latest, outcome = call.number, call.outcome
        if call.ended is None and outcome is not None and not call.pieces and outcome["t"] > until:
            until = float(outcome["t"])
    return False
