"""What all processes under Reenact share: how the program ends, what it writes, and what is told of it."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from time import sleep
from types import TracebackType
from typing import Any

from reenact import family
from reenact.bootstrap.output import Output
from reenact.boundary import entered
from reenact.errors import DivergenceError, Halt
from reenact.model.divergence import Verdict, verdict_tree
from reenact.model.event import Tree
from reenact.plan import Plan
from reenact.record.program import packages
from reenact.replay.replayer import Replayer

_PROMPT = 3.0
"""Seconds that a program has to end by itself once its replay has diverged."""


class Process:
    """What all of them share: how the program ends, and what it writes."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.output = Output()
        self._exit: Any = sys.exit
        self._exited: Any = None
        self._left = False
        self.output.install()

    def exit(self, status: Any = None, /) -> None:
        """`sys.exit`: its argument is the only thing that tells what the exit status will be."""
        if threading.current_thread() is threading.main_thread():
            self._left, self._exited = True, status
        self._exit(status)

    def end(self, code: int | None) -> None:
        """The process ends, with that status where it is known."""
        raise NotImplementedError

    def status(self, code: int | None) -> tuple[int | None, BaseException | None]:
        """The exit status, as far as it is known here, and the error that the program ended with."""
        if code is not None:
            return code, None
        if self._left:
            given = self._exited
            return (given if isinstance(given, int) else 0 if given is None else 1), None
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if isinstance(error, BaseException):
            return (None if isinstance(error, KeyboardInterrupt) else 1), error
        return 0, None

    def ending(self, code: int | None) -> dict[str, Tree]:
        """What the seal says of the program's end."""
        return {"exit": code, "stdout": self.output.tree(), "packages": _imported()}


class Watch:
    """Ends a program whose replay has diverged: promptly, with one line, and no traceback."""

    def __init__(self, replayer: Replayer | None) -> None:
        self._replayer = replayer

    def install(self) -> None:
        """Be told of the divergence."""
        if self._replayer is not None:
            self._replayer.on_halt = self.halted

    def halted(self) -> None:
        """The replay is over."""
        self._excepthook, self._thread_hook = sys.excepthook, threading.excepthook
        # Now and not before: the program may have set its own since.
        sys.excepthook, threading.excepthook = self._uncaught, self._in_thread
        with entered(None):
            guard = threading.Thread(target=self._end, name="reenact-end", daemon=True)
            guard._reenact_own = True  # type: ignore[attr-defined]
            guard.start()

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not _of_halt(error):
            self._excepthook(kind, error, trace)

    def _in_thread(self, arguments: Any) -> None:
        if not _of_halt(arguments.exc_value):
            self._thread_hook(arguments)

    def _end(self) -> None:
        sleep(_PROMPT)
        family.end(1)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(1)


def _of_halt(error: BaseException | None) -> bool:
    """Whether an error is a divergence, or came of one."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, (Halt, DivergenceError)):
            return True
        if isinstance(error, BaseExceptionGroup) and any(_of_halt(inner) for inner in error.exceptions):
            return True
        error = error.__cause__ or error.__context__
    return False


def options(plan: Plan) -> dict[str, Any]:
    """What a plan says to the replayer."""
    return {name: plan.options[name] for name in family.OPTIONS if name in plan.options}


def tell(plan: Plan, verdict: Verdict, **more: Any) -> None:
    """Leave the verdict for the parent."""
    python = ".".join(map(str, sys.version_info[:3]))
    family.report(plan, verdict=verdict_tree(verdict), python=python, packages=packages(), **more)


def _imported() -> dict[str, str]:
    """The versions of the packages that the program has imported, as far as their names tell."""
    tops = {name.partition(".")[0].lower().replace("_", "-") for name in list(sys.modules)}
    return {
        name: version
        for name, version in packages().items()
        if name in tops or name.removesuffix("-slim") in tops or name.replace(".", "-") in tops
    }
