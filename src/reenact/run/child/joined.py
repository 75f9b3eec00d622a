"""Processes that replay, fork or resume a recording, and those that a program has started."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact import adapters
from reenact.adapters.stdlib import seal
from reenact.core.boundary import current
from reenact.core.boundary.current import current_scope
from reenact.core.model import codec
from reenact.core.model.divergence import Verdict, merged, verdict_tree
from reenact.core.model.event import Tree
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record.program import packages
from reenact.core.store.local import load
from reenact.errors import Departure, Divergence, DivergenceError, ForkStopped, Halt, UsageError
from reenact.run import processes as family
from reenact.run.api.recording import substitute
from reenact.run.api.replaying import Replay
from reenact.run.child import stdin, terminals
from reenact.run.child.debug_run import DebuggedProgram
from reenact.run.child.given_input import GivenInput
from reenact.run.child.process import ProgramProcess
from reenact.run.child.watch import DivergenceWatch
from reenact.run.plan import FILES, GUARD, RESUME, Plan
from reenact.run.processes import Member
from reenact.run.reports import logs
from reenact.run.streams import compare_streams

if TYPE_CHECKING:
    from reenact.run.child.planned_fork import PlannedFork
    from reenact.run.child.resuming import Resuming

_TERMINAL = "/dev/tty"


def process_of(plan: Plan) -> ProgramProcess:
    """Start to follow a plan; return its process."""
    live = plan.mode in ("fork", RESUME)
    if live or GUARD in plan.options:
        from reenact.run.guarding import ON_REFUSAL  # noqa: PLC0415 - processes of forks alone

        ON_REFUSAL.append(DivergenceWatch(None).halted)
    if plan.process != "main":
        return JoinedProcess(plan)
    if load(Path(plan.folder)).header.get("entry") == "block":
        return ForkedBlock(plan) if live else ReplayedBlock(plan)
    return ForkedProgram(plan) if live else ReplayedProgram(plan)


class JoinedProcess(ProgramProcess):
    """A process that the program has started, or another Python of the command."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._member = Member(plan)
        adapters.install()
        run = self._member.record() if plan.mode == "record" else self._member.replay()
        stdin.install(self.output.write, compare=GivenInput.of(plan, self._member.replayer))
        current_scope.set(run.root)
        if self._member.replayer is not None:
            self._member.replayer.prints.write = self.output.print
            DivergenceWatch(self._member.replayer).install()
        family.report(self._member.plan)

    def end(self, code: int | None) -> None:
        status, error = self.status(code)
        ending = self.ending(status)
        if error is not None:
            ending["error"] = codec.encode_error(error, codec.Encoder())
        self._member.finish(status, ending=ending)


class ReplayedProgram(ProgramProcess):
    """The first Python of a command that is replayed."""

    def __init__(self, plan: Plan) -> None:
        self.recording = load(Path(plan.folder))
        super().__init__(plan)
        debugged = DebuggedProgram(plan, self.streams)
        told = terminals.recorded(self.recording.header)
        stdin.install(self.output.write, tty=told.get("stdin", False))
        terminals.pretend(told)
        self.session = _replay(self.recording, plan)
        self.session.__enter__()
        self.session.replayer.prints.write = self.output.print
        DivergenceWatch(self.session.replayer).install()
        self._ended = debugged.attach(self.session)
        family.report(plan)

    def end(self, code: int | None) -> None:
        status, error = self.status(code)
        current_scope.set(None)
        verdict = _ended(self.session, None if isinstance(error, Halt) else error)
        written = self._written()
        if not verdict.divergences:
            verdict = merged([verdict, self._compared(written)])
        _report(
            self.plan,
            verdict,
            exit=status,
            **_outcome(self.session),
            stdout=written["stdout"],
            logs=sorted(logs()),
        )
        self._ended(status, verdict)

    def _written(self) -> dict[str, Tree]:
        """Return the program's output in the recording's form, by stream."""
        return {name: self.session.replayer.terms.clean(tree) for name, tree in self.streams.tree().items()}

    def _compared(self, written: Mapping[str, Tree]) -> Verdict:
        sealed, replayer = self.recording.logs[0].sealed or {}, self.session.replayer
        found, rules, compared = compare_streams(sealed, written, replayer.rules, replayer.terms)
        return Verdict(
            self.recording.id,
            divergences=(found,) if found else (),
            rules=rules,
            compared=compared,
        )


class ReplayedBlock(ProgramProcess):
    """A program with one `record()` block to replay; the rest runs, but reaches no network."""

    def __init__(self, plan: Plan) -> None:
        self.recording = load(Path(plan.folder))
        super().__init__(plan)
        self.session: Replay | None = None
        self._debugged = DebuggedProgram(plan, self.streams)
        self._outside: list[Divergence] = []
        family.report(plan)
        adapters.install()
        substitute(self._claimed)
        sys.addaudithook(self._hear)

    def _claimed(self, name: str, ordinal: int) -> Replay | None:
        header = self.recording.header
        if self.session is not None or (name, ordinal) != (
            self.recording.name,
            int(header.get("ordinal") or 0),
        ):
            return None
        self.session = _Claimed(self.recording, self.plan, self._debugged)
        self.session.scratch = self.plan.options.get(FILES, "")
        return self.session

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("socket.connect", "socket.getaddrinfo") or current() is not None or self._outside:
            return
        thread = threading.current_thread()
        if getattr(thread, "reenact_own", False) or "socket" in self.plan.options.get("live", ()):
            return
        place = seal.place_of(arguments[1] if event == "socket.connect" else arguments[0])
        detail = f"the program connected to {place} outside of the recorded block"
        hint = "allow it: live=['socket']"
        found = Divergence(Departure.EXTRA, f"outside/socket:{place}", None, (), detail, hint)
        self._outside.append(found)
        DivergenceWatch(None).halted()
        raise Halt(found)

    def end(self, code: int | None) -> None:
        status, _ = self.status(code)
        if self.session is None and not self._outside:
            id, name = self.recording.id, self.recording.name
            family.report(
                self.plan,
                failed=f"{id} is the block record({name!r}) of a program, and the program ended without coming to it; "
                f"replay it in Python around the same code: with reenact.replay('{id}'): ...",
            )
            return
        verdicts = [self.session.verdict] if self.session is not None else []
        verdicts.append(Verdict(self.recording.id, divergences=tuple(self._outside)))
        outcome = _outcome(self.session) if self.session is not None else {"halted": bool(self._outside)}
        _report(self.plan, merged(verdicts), exit=status, **outcome)
        self._debugged.ended(status, merged(verdicts))


class _Claimed(Replay):
    """The replay that replaces a block."""

    def __init__(self, recording: RecordedRun, plan: Plan, debugged: DebuggedProgram) -> None:
        super().__init__(recording, _options(plan), plan.options.get("pace", "fast"))
        self._debugged = debugged

    def begin_run(self) -> Any:
        run = super().begin_run()
        DivergenceWatch(self.replayer).install()
        self._debugged.attach(self)
        return run


class ForkedProgram(ProgramProcess):
    """The first Python of a command that is forked or resumed."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.session = _going_on(plan)
        told = terminals.recorded(self.session.parent.header)
        stdin.install(self.output.write, tty=told.get("stdin", False))
        terminals.pretend(told)
        self.session.__enter__()
        family.report(plan, path=self.session.path)

    def end(self, code: int | None) -> None:
        status, error = self.status(code)
        current_scope.set(None)
        how = "error" if error is not None or status else "ok"
        self.session.ending = {**self.ending(status), "status": how}
        with suppress(DivergenceError, ForkStopped):
            self.session.end_run(error)
        self.session.tell(status)


class ForkedBlock(ReplayedBlock):
    """A program with a `record()` block to fork or resume.

    The rest has no network until the block is live.
    """

    _fork: PlannedFork | Resuming | None = None

    def _claimed(self, name: str, ordinal: int) -> Any:
        header = self.recording.header
        known = self.recording.name, int(header.get("ordinal") or 0)
        if self._fork is not None or (name, ordinal) != known:
            return None
        self._fork = _going_on(self.plan)
        return self._fork

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._fork is None or not self._fork.live:
            super()._hear(event, arguments)

    def end(self, code: int | None) -> None:
        status, _ = self.status(code)
        found: Exception
        if self._outside:
            found = DivergenceError(self._outside[0])
        elif self._fork is None:
            found = UsageError(
                f"the program ended without coming to its block record({self.recording.name!r})"
            )
        else:
            self._fork.tell(status)
            return
        diverged = {"diverged": True} if isinstance(found, DivergenceError) else {}
        family.report(self.plan, how="failed", reason=str(found), exit=status, **diverged)


def _going_on(plan: Plan) -> PlannedFork | Resuming:
    """Return the fork, or the resumed recording, of a plan."""
    halted = DivergenceWatch(None).halted
    # Imported here, so that a plain replay starts faster.
    if plan.mode == RESUME:
        from reenact.run.child.resuming import Resuming  # noqa: PLC0415

        return Resuming(plan, halted)
    from reenact.run.child.planned_fork import PlannedFork  # noqa: PLC0415

    return PlannedFork(plan, halted)


def _options(plan: Plan) -> dict[str, Any]:
    return {name: plan.options[name] for name in family.OPTIONS if name in plan.options}


def _replay(recording: RecordedRun, plan: Plan) -> Replay:
    session = Replay(recording, _options(plan), plan.options.get("pace", "fast"))
    session.plan = replace(plan, options=_options(plan))
    session.scratch = plan.options.get(FILES, "")
    # What the program reads from its standard input is answered from the recording.
    session.terminal = _TERMINAL
    return session


def _ended(session: Replay, error: BaseException | None) -> Verdict:
    try:
        session.end_run(error)
    except DivergenceError:
        # The verdict has it.
        pass
    return session.verdict


def _outcome(session: Replay) -> dict[str, Any]:
    """Return the outcome of a replay, for comparison with others."""
    if not session.begun:
        return {"halted": True}
    found: dict[str, Any] = {"halted": session.replayer.poison is not None}
    if session.output is not family.UNSET:
        found["output"] = session.replayer.terms.tree(session.output)
    return found


def _report(plan: Plan, verdict: Verdict, **more: Any) -> None:
    python = ".".join(map(str, sys.version_info[:3]))
    family.report(plan, verdict=verdict_tree(verdict), python=python, packages=packages(), **more)
