"""A program that is forked: answered from its recording up to a step, and live from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reenact import api, family
from reenact.bootstrap import stdin
from reenact.bootstrap.block import Block
from reenact.bootstrap.process import Process, Watch
from reenact.boundary import Run
from reenact.boundary.scope import _scope
from reenact.errors import DivergenceError, ForkStopped, UsageError
from reenact.fork.edit import parse
from reenact.fork.point import point
from reenact.plan import Plan
from reenact.redact import DEFAULT_RULES
from reenact.store.local import LocalStore, load


class Forking(api.Fork):
    """The fork that a plan asks for. The program is ended promptly where the fork cannot go on."""

    def __init__(self, plan: Plan) -> None:
        parent, options = load(Path(plan.folder)), plan.options
        where = point(
            parent,
            options["at"],
            parse(options["set"]) or None,
            model=options["model"],
            live=options["live"],
            ignore=options["ignore"],
        )
        super().__init__(parent, where, LocalStore(plan.home), secrets=DEFAULT_RULES)
        self.id, self.plan = plan.id, plan

    def _begin(self) -> Run:
        run = super()._begin()
        watch = Watch(self.child.forker.replayer)
        watch.install()
        self.child.forker.on_stop = watch.halted
        return run


class ForkedProgram(Process):
    """The first Python of a command that is forked."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.session = Forking(plan)
        tty = (self.session.parent.header.get("program") or {}).get("tty") or {}
        stdin.install(self.output.write, tty=bool(tty.get("stdin")))
        self.session.__enter__()
        family.report(plan, path=self.session.path)

    def end(self, code: int | None) -> None:
        status, error = self.status(code)
        _scope.set(None)
        self.session.ending = {
            **self.ending(status),
            "status": "error" if error is not None or status else "ok",
        }
        try:
            self.session._end(error)
        except (DivergenceError, ForkStopped, UsageError) as found:
            _tell(self.plan, self.session, found, exit=status)
        else:
            _tell(self.plan, self.session, None, exit=status)


class ForkedBlock(Block):
    """A program of which one `record()` block is forked; before that is live, the rest reaches no network."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._ended: Exception | None = None

    def claim(self) -> api.Fork:
        return _Block(self.plan, self)

    @property
    def free(self) -> bool:
        return self.session is not None and self.session.live

    def ended(self, found: Exception) -> None:
        """The block has ended otherwise than by running to its end."""
        self._ended = found

    def end(self, code: int | None) -> None:
        status, _ = self.status(code)
        if self.session is None:
            name = self.recording.name
            lost = UsageError(f"the program ended without coming to its block record({name!r})")
            _tell(self.plan, None, self._ended or lost, exit=status)
            return
        _tell(self.plan, self.session, self._ended, exit=status)


class _Block(Forking):
    """The fork in the place of a block."""

    def __init__(self, plan: Plan, owner: ForkedBlock) -> None:
        super().__init__(plan)
        self._owner = owner

    def _end(self, error: BaseException | None) -> None:
        try:
            super()._end(error)
        except (DivergenceError, ForkStopped) as found:
            self._owner.ended(found)
            raise
        except UsageError as found:
            self._owner.ended(found)


def _tell(plan: Plan, session: api.Fork | None, found: Exception | None, **more: Any) -> None:
    how = "ran" if found is None else "stopped" if isinstance(found, ForkStopped) else "failed"
    said: dict[str, Any] = {"how": how, "reason": "" if found is None else str(found), **more}
    if isinstance(found, ForkStopped) and session is not None:
        said["reason"] = session.reason
    if session is not None and how != "failed":
        said["path"] = session.path
    if isinstance(found, DivergenceError):
        said["diverged"] = True
    family.report(plan, **said)


__all__ = ["ForkedBlock", "ForkedProgram", "Forking"]
