"""What happens in a process that is started under Reenact, before its program's first line and after its last.

Called by `_bootstrap/sitecustomize.py`. The program notices nothing: the environment is put back, its streams stay
what they were, and whatever goes wrong here while recording costs one line on standard error.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from reenact import adapters, api, family
from reenact.bootstrap import stdin
from reenact.bootstrap.block import Block
from reenact.bootstrap.forking import ForkedBlock, ForkedProgram
from reenact.bootstrap.output import compare
from reenact.bootstrap.process import Process, Watch, options, tell
from reenact.boundary.scope import _scope
from reenact.errors import DivergenceError, Halt, ProgramError, ReenactError
from reenact.family import Member
from reenact.model import codec
from reenact.model.divergence import Verdict, merged
from reenact.model.event import Tree
from reenact.model.recording import Recording
from reenact.plan import Plan, take
from reenact.redact import DEFAULT_RULES
from reenact.store.local import load
from reenact.store.writer import warn


def begin() -> None:
    """Take this process's plan, and follow it."""
    plan = take(os.environ)
    if plan is None:
        return
    try:
        _follow(plan)
    except ReenactError as error:
        _give_up(plan, str(error))
    except Exception as error:
        _give_up(plan, f"{type(error).__name__}: {error}")


def _follow(plan: Plan) -> None:
    if plan.process == "main" and not family._reserve(plan.report, "main"):
        # The command has started a Python before this one.
        plan = plan.child("main~1")
        if plan.mode == "fork":
            raise ProgramError("the command starts several Pythons, and only one can be forked")
    process: Process
    if plan.process != "main":
        process = _Joined(plan)
    elif plan.mode == "record":
        process = _Recorded(plan)
    elif plan.mode == "fork":
        process = ForkedBlock(plan) if _of_block(plan) else ForkedProgram(plan)
    elif _of_block(plan):
        process = Block(plan)
    else:
        process = _Replayed(plan)
    family.on_exit(process.end)
    sys.exit = process.exit  # type: ignore[assignment]


def _of_block(plan: Plan) -> bool:
    return load(Path(plan.folder)).header.get("entry") == "block"


def _give_up(plan: Plan, text: str) -> None:
    family.report(plan, failed=text)
    if plan.mode != "record":
        # Never let a program that should be answered from a recording go to the world.
        os._exit(2)
    warn(f"this process is not recorded: {text}")


class _Recorded(Process):
    """The first Python of a command that is recorded."""

    def __init__(self, plan: Plan) -> None:
        tty = {"stdin": stdin.is_terminal()}
        stdin.install(_silent)
        super().__init__(plan)
        self._session = api.RecordingInProgress(
            plan.name, tags=plan.tags, home=plan.home, rules=DEFAULT_RULES, entry="program", known_as=plan.id
        )
        self._session.plan = plan
        self._session.program = {"hash_seed": plan.hash_seed or os.environ.get("PYTHONHASHSEED"), "tty": tty}
        self._session.__enter__()
        family.report(plan, path=self._session.path)

    def end(self, code: int | None) -> None:
        status, error = self.status(code)
        _scope.set(None)
        self._session.ending = {
            **self.ending(status),
            "status": "error" if error is not None or status else "ok",
        }
        self._session._end(error)


class _Joined(Process):
    """A process that the program has started, or another Python of the command."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._member = Member(plan)
        adapters.install()
        run = self._member.record() if plan.mode == "record" else self._member.replay()
        stdin.install(self.output.write)
        _scope.set(run.root)
        if self._member.replayer is not None:
            Watch(self._member.replayer).install()
        family.report(self._member.plan)

    def end(self, code: int | None) -> None:
        status, error = self.status(code)
        ending = self.ending(status)
        if error is not None:
            ending["error"] = codec.encode_error(error, codec.Encoder())
        self._member.finish(status, ending=ending)


class _Replayed(Process):
    """The first Python of a command that is replayed."""

    def __init__(self, plan: Plan) -> None:
        self.recording = load(Path(plan.folder))
        super().__init__(plan)
        tty = (self.recording.header.get("program") or {}).get("tty") or {}
        stdin.install(self.output.write, tty=bool(tty.get("stdin")))
        self.session = _replay(self.recording, plan)
        self.session.__enter__()
        Watch(self.session.replayer).install()
        family.report(plan)

    def end(self, code: int | None) -> None:
        status, error = self.status(code)
        _scope.set(None)
        verdict = _ended(self.session, None if isinstance(error, Halt) else error)
        if not verdict.divergences and not self.plan.options.get("silent"):
            verdict = merged([verdict, self._compared()])
        tell(self.plan, verdict, exit=status)

    def _compared(self) -> Verdict:
        sealed = self.recording.logs[0].sealed or {}
        actual: dict[str, Tree] = {}
        actual.update(self.output.tree())
        self.session.replayer._clean(actual)
        found, rule = compare("main", sealed.get("stdout"), actual)
        return Verdict(
            self.recording.id, divergences=(found,) if found else (), rules=(rule,) if rule else ()
        )


def _silent(text: str) -> None:
    """While recording, the terminal itself shows what is typed."""


def _replay(recording: Recording, plan: Plan) -> api.Replay:
    session = api.Replay(recording, options(plan), plan.options.get("pace", "fast"))
    session.plan = replace(plan, options=options(plan))
    return session


def _ended(session: api.Replay, error: BaseException | None) -> Verdict:
    try:
        session._end(error)
    except DivergenceError:
        # It is in the verdict.
        pass
    return session.verdict
