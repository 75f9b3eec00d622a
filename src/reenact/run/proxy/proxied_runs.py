"""The runs behind the proxy: the recording, replay or fork of a program in any language."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reenact.adapters.http.coding import Coding
from reenact.core.boundary import Answer, Call, RecordingTurnstile, Run, Scope, begin, entered
from reenact.core.model.divergence import Verdict
from reenact.core.model.event import Effect, Tree
from reenact.core.model.log import CallRecord, Log
from reenact.core.query.recorded_run import RecordedRun as Recorded
from reenact.core.record.own import own_identity
from reenact.core.record.places import Places
from reenact.core.record.recorded_files import FileRecorder
from reenact.core.record.recorder import Recorder
from reenact.core.redact import DEFAULT_RULES, Redactor
from reenact.core.replay.question import Question
from reenact.core.replay.replayer import Replayer
from reenact.core.store.local import LocalStore
from reenact.errors import Departure, Divergence, ForkStopped, Halt, UsageError
from reenact.run.api.recording import RecordingInProgress
from reenact.run.api.replaying import RecordedPace
from reenact.run.fork.child import Child
from reenact.run.fork.point import ForkPoint
from reenact.run.processes import replayer_of
from reenact.run.proxy.order import Forks, RequestMatcher, Turns
from reenact.team import ship

_SETTLING = 0.25
"""Seconds to wait for other requests before an unknown one is called a departure.

The departure then names the right request.
"""


_LED_AWAY = "{} redirects to {}, for which no variable is set: requests there do not pass the proxy"

SEEN = "look only at what comes by the proxy, and at what is written to standard output"
"""The limit of a replay through the proxy: the rest of the program runs for real."""


class RecordingProxy(RecordingInProgress):
    """Records the requests through the proxy, and the files that change between them.

    Args:
        files: Further folders whose files are recorded, besides the working folder; None: no files are.
    """

    def __init__(
        self,
        name: str,
        *,
        tags: Sequence[str],
        home: str | os.PathLike[str] | None,
        program: Mapping[str, Tree],
        files: Iterable[str] | None = (),
    ) -> None:
        super().__init__(name, tags=tags, home=home, rules=DEFAULT_RULES, entry="program")
        self.program = dict(program)
        self._asked = False
        self._folders = None if files is None else (str(Path.cwd()), *files)
        self._workspace: FileRecorder | None = None
        self._looking = asyncio.Lock()

    def start(self) -> None:
        """Open the recording. If that fails (the disk is full), the program runs unrecorded."""
        writer = self._open()
        if writer is None:
            return
        self._held = ship.begin(self._store.root, self.id)
        salt = secrets.token_bytes(16)
        redactor = Redactor(self._rules, salt=salt, environ=dict(os.environ))
        self._recorder = Recorder(writer, redactor, identity=own_identity(self._store.root))
        self._recorder.open(self._header(salt, redactor.header_rules()))
        self.active = Run(self._recorder, RecordingTurnstile(), replaying=False)
        if self._folders is not None:
            places = Places(self._folders, (str(self._store.root),))
            self._workspace = self._recorder.record_files(places, salt)
            self._workspace.walked()

    @property
    def started(self) -> bool:
        """True if there is anything to seal."""
        return self._recorder is not None

    async def begin(self, effect: Effect) -> Call | None:
        """Begin the effect of a request, in the order of arrival."""
        if self.active is None:
            return None
        self._asked = True
        if self._workspace is not None:
            # The program's changes of files since the last answer belong to that step.
            async with self._looking:
                await asyncio.to_thread(self._workspace.walked)
        with entered(self.active.root):
            return begin(effect, Coding())

    def given_up(self, call: Call) -> None: ...

    def led_away(self, place: str, target: str) -> None:
        if self._recorder is not None:
            self._recorder.note("unrecorded", _LED_AWAY.format(place, target))

    def seal(self, ending: Mapping[str, Tree]) -> None:
        """Seal the recording when the program has ended."""
        if self._recorder is not None:
            if not self._asked:
                self._recorder.note("unrecorded", "no request came through the proxy")
            if self._workspace is not None:
                self._workspace.walked()
            self._recorder.seal(dict(ending))
            self._sent()


class _Place(Scope):
    """A scope in which the next effect has the ordinal that is given."""

    __slots__ = ("_given",)

    def __init__(self, run: Run, ordinal: int) -> None:
        super().__init__(run.root.path, run)
        self._given = ordinal

    def count(self, label: str) -> int:
        return self._given


class _Answering:
    """The common base of replay and fork: each request gets the place of its recorded one."""

    def __init__(self, run: Run, log: Log, replayer: Replayer) -> None:
        self.run = run
        self.log = log
        self.replayer = replayer
        self._asked = RequestMatcher(log, replayer.cursor, replayer.rules)
        # `Turns` checks the order of requests, as it distinguishes concurrent ones.
        replayer.rules.order = True
        replayer.rules.applied[SEEN] = None

    async def begin(self, effect: Effect) -> Call | None:
        """Cross the boundary at the matching place. Raises Halt if there is none."""
        ordinal = await self._ordinal(effect)
        self._asked.use(effect.label, ordinal)
        with entered(_Place(self.run, ordinal)):
            return begin(effect, Coding())

    async def _ordinal(self, effect: Effect) -> int:
        if self.replayer.poison is not None:
            raise Halt(self.replayer.poison.divergence)
        if self.replayer.gone_live:
            return self._asked.next_ordinal(effect.label)
        question = Question(effect, self.run.root, 0, self.replayer.terms.args(effect), effect.label)
        self.replayer.terms.clean_args(question.args)
        call = self._asked.claim(question)
        if call is not None:
            await self._await_turn(call)
            return call.ordinal
        await asyncio.sleep(_SETTLING)
        nearest = self._asked.nearest(question, self.replayer.turnstile.position)
        return nearest.ordinal if nearest is not None else self._asked.next_ordinal(effect.label)

    async def _await_turn(self, call: CallRecord) -> None: ...

    def given_up(self, call: Call) -> None:
        """Give up the unread part of an answer, so that nothing waits for it."""
        answer = call.answer
        if isinstance(answer, Answer):
            orders = [answer.order, answer.end_order, *(piece.order for piece in answer.pieces)]
            self.run.turnstile.abandon(order for order in orders if order is not None)  # type: ignore[attr-defined]


class ReplayingProxy(_Answering):
    """Answers from a recording. Made in the server's event loop.

    Args:
        recording: The replayed recording.
        options: The options, as for `Replayer`.
        halted: Called when the replay has diverged.
        real_time: Take as long as recorded.
    """

    def __init__(
        self,
        recording: Recorded,
        options: Mapping[str, Any],
        halted: Callable[[], None],
        *,
        real_time: bool = False,
    ) -> None:
        log = recording.logs[0]
        self.turns = Turns(log)
        if real_time:
            self.turns.set_pace(RecordedPace(log.times))
        replayer = replayer_of(recording, log, options, self.turns)
        self.turns.cursor = replayer.cursor
        self.turns.on_hurry = replayer.remark
        for note in recording.notes:
            replayer.remark(f"the recording says: {note}")
        replayer.state.on_halt = halted
        self._recording = recording
        run = Run(replayer, self.turns, replaying=True)
        super().__init__(run, log, replayer)

    async def begin(self, effect: Effect) -> Call | None:
        self.turns.arrived()
        try:
            return await super().begin(effect)
        finally:
            self.turns.arrived()

    async def _await_turn(self, call: CallRecord) -> None:
        if await self.turns.reached(call):
            return
        waited = self.turns.unasked(len(self.log.times))
        other = f", {waited.address}" if waited is not None and waited is not call else ""
        step = next(step.number for step in self._recording if step.call is call)
        detail = f"it was requested before earlier recorded calls{other}"
        self.replayer.state.depart(Divergence(Departure.REORDERED, call.address, step, detail=detail))

    def led_away(self, place: str, target: str) -> None:
        text = _LED_AWAY.format(place, target)
        if text not in self._recording.notes:
            self.replayer.remark(text)

    def verdict(self, *, whole: bool) -> Verdict:
        """Return the verdict after the program's end, by itself (`whole`) or by force."""
        self.replayer.finish(whole=whole)
        return self.replayer.verdict(self._recording.id)


class ForkingProxy(_Answering):
    """Answers from a recording up to a step, and from the provider after it.

    Args:
        parent: The forked recording.
        point: The point of the fork.
        store: The child's store.
        id: The child's id.
        program: The program's description for the child's header.
        halted: Called if it cannot go on.
    """

    def __init__(
        self, parent: Recorded, point: ForkPoint, store: LocalStore, id: str, *, halted: Callable[[], None]
    ) -> None:
        self._step = point.step.number
        turnstile = Forks(parent.logs[0])
        self.child = Child(parent, point, store, id, secrets=DEFAULT_RULES, turnstile=turnstile)
        self.forker = self.child.forker
        self.forker.on_stop = self.forker.replayer.state.on_halt = halted
        super().__init__(self.child.run, parent.logs[0], self.forker.replayer)

    def led_away(self, place: str, target: str) -> None:
        self.child.recorder.note("unrecorded", _LED_AWAY.format(place, target))

    @property
    def path(self) -> str:
        """The child's folder."""
        return str(self.child.folder)

    def seal(self, ending: Mapping[str, Tree]) -> None:
        """End the program.

        Raises UsageError if it never came to the step (nothing is kept), and ForkStopped if it could not go on from
        there (the recording so far is kept).
        """
        forker, child = self.forker, self.child
        if not forker.reached:
            if self.replayer.poison is None:
                self.replayer.finish()
            child.drop()
            if forker.stop is not None:
                raise UsageError(forker.stop.reason)
            found = next(iter(self.replayer.divergences), None)
            why = f"the program is not the recorded one, or no longer: {found}" if found else ""
            raise UsageError(why or f"the program ended before step {self._step}: nothing was forked")
        reason = forker.stop.reason if forker.stop is not None else ""
        if not reason and forker.poison is not None:
            reason = str(forker.poison.divergence)
        child.seal({**ending, **({"status": "stopped", "reason": reason} if reason else {})})
        if reason:
            raise ForkStopped(reason)
