"""The user's policy, as the processes of a fork or a replay have it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from reenact.core import system
from reenact.core.boundary import entered
from reenact.core.dataclass import dataclass
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record.given_folders import script_folders
from reenact.core.replay.evidence import RecordedFacts
from reenact.core.replay.policy import ActionPolicy
from reenact.core.replay.rulings import ActionGuard, command_option, python_option
from reenact.run.simulation import ask_model

_REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class GuardPlan:
    """The policy of a fork or a replay, as its processes have it.

    Attributes:
        parent: The folder of the recording.
        words: The rules, `TARGET=MODE`.
        terminal: The path of the terminal to ask on; empty: none.
        folder: The folder in which the processes leave answers and refusals for each other; empty: none.
        command: Messages name the option of the command line, and not the argument in Python.
        providers: `host[:port]` of model providers by the user's word.
    """

    parent: str
    words: tuple[str, ...] = ()
    terminal: str = ""
    folder: str = ""
    command: bool = False
    providers: tuple[str, ...] = ()

    def tree(self) -> dict[str, Any]:
        """Return the policy as a part of a process's plan."""
        names = ("parent", "terminal", "folder", "command")
        lists = {"words": list(self.words), "providers": list(self.providers)}
        return {**lists, **{name: getattr(self, name) for name in names}}

    @classmethod
    def of(cls, tree: Mapping[str, Any]) -> GuardPlan:
        """Return the policy of a process's plan."""
        return cls(**{**tree, "words": tuple(tree["words"]), "providers": tuple(tree["providers"])})

    def check_functions(self) -> None:
        """Raise UsageError if a function that simulates answers is not there.

        It is called in the process that runs the program. Nothing of the program has been run or imported then.
        """
        if any("simulated:" in word for word in self.words):
            with entered(None):
                ActionPolicy(self.words).check_functions((*script_folders(), str(Path.cwd())))

    def guard(self, parent: RecordedRun) -> ActionGuard:
        """Return the guard of one process. Raises UsageError if a word is no rule."""
        return ActionGuard(
            ActionPolicy(self.words),
            RecordedFacts(parent.logs, self.providers),
            ask=self.ask if self.terminal else None,
            option=command_option if self.command else python_option,
            ask_model=ask_model,
        )

    # -- the user --------------------------------------------------------------------------------------------

    def ask(self, target: str, question: str) -> bool | None:
        """Ask on the terminal, once for a target in all processes; None without a terminal."""
        known = self._answer(target)
        if known is not None:
            return known
        with entered(None):
            said = _asked(self.terminal, f"reenact: may this run for real? {question} [y/N] ")
            if said is not None and self.folder:
                with suppress(OSError):
                    self._path(target).write_text("yes" if said else "no", encoding="utf-8")
        return said

    def _answer(self, target: str) -> bool | None:
        if not self.folder:
            return None
        try:
            with entered(None):
                return self._path(target).read_text(encoding="utf-8") == "yes"
        except OSError:
            return None

    def _path(self, target: str) -> Path:
        return Path(self.folder, f"answer-{sha256(target.encode()).hexdigest()[:16]}")

    # -- refusals in other processes -------------------------------------------------------------------------

    def refuse(self, reason: str) -> None:
        """Leave a refusal for the fork's first process."""
        with entered(None), suppress(OSError):
            if self.folder:
                Path(self.folder, _REFUSED).write_bytes(orjson.dumps(reason))

    @property
    def refused(self) -> str:
        """Return the refusal that another process has left; empty if there is none."""
        if not self.folder:
            return ""
        try:
            with entered(None):
                return str(orjson.loads(Path(self.folder, _REFUSED).read_bytes()))
        except (OSError, ValueError):
            return ""


def _asked(terminal: str, question: str) -> bool | None:
    """Ask on a terminal; None if it cannot be opened."""
    try:
        descriptor = os.open(terminal, os.O_RDWR | system.NOCTTY)
    except OSError:
        return None
    try:
        os.write(descriptor, "".join(sign if sign.isprintable() else "?" for sign in question).encode())
        said = b""
        while not said.endswith(b"\n") and (more := os.read(descriptor, 1024)):
            said += more
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return said.strip().lower() in (b"y", b"yes")
