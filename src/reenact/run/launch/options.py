"""The options and results of a launch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reenact.core.dataclass import dataclass
from reenact.errors import UsageError
from reenact.run.plan import ACTS, FILES, LIVE, RECORDED, check_files

if TYPE_CHECKING:
    from reenact.core.model.divergence import Verdict
    from reenact.core.query.recorded_run import RecordedRun
    from reenact.run.api.forking import Recording

STDOUT = "stdout"
"""The rule that allows other output than recorded."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The result of recording a program.

    Attributes:
        status: Its exit status as the shell sees it; of a program ended by a signal, minus the signal's number.
        recording: Its recording, or None.
        failed: The reason that nothing was recorded, in one sentence.
    """

    status: int
    recording: RecordedRun | None = None
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of replaying a program.

    Attributes:
        recording: The replayed recording.
        verdict: The verdict, or None if the program died without one.
        status: The program's exit status.
        failed: The reason that there is no verdict, in one sentence.
        warnings: The differences from the recorded environment, one sentence each.
    """

    recording: RecordedRun
    verdict: Verdict | None
    status: int
    failed: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Forked:
    """The result of a fork of a program.

    Attributes:
        parent: The forked recording.
        status: The program's exit status as the shell sees it; ended by a signal, minus its number.
        recording: The child, or None if there is none.
        how: `ran` to its end, `stopped` for lack of a model or by the policy, or `failed`.
        reason: The reason that it stopped or failed, in one sentence.
        ran: The calls that ran for real, each with its number and the reason.
    """

    parent: Recording
    status: int
    recording: Recording | None = None
    how: str = "ran"
    reason: str = ""
    ran: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a replay, named as in `reenact.replay()`; `terminal` is a path."""

    live: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    on_divergence: str = "raise"
    inserted: str = "refuse"
    pace: str = "fast"
    tools: tuple[str, ...] = ()
    files: str = RECORDED
    policy: tuple[str, ...] = ()
    terminal: str = ""

    def _check(self) -> None:
        """Raise UsageError for rules that are not valid. Few replays have any."""
        if self.ignore:
            import_module("reenact.core.replay.match").Rules(self.ignore)
        if self.tools:
            import_module("reenact.core.replay.reruns").Modes(self.tools)
        if self.policy:
            import_module("reenact.core.replay.policy").ActionPolicy(self.policy)

    def tree(self) -> dict[str, Any]:
        """Return the options for the plan of a process. Raises UsageError for invalid ones."""
        for name, value, known in (
            ("on-divergence", self.on_divergence, ("raise", "realign", "live")),
            ("inserted", self.inserted, ("refuse", "live")),
            ("pace", self.pace, ("fast", "real")),
        ):
            if value not in known:
                raise UsageError(f"--{name} {value}: it is one of {', '.join(known)}")
        check_files(self.files)
        self._check()
        return {
            "live": list(self.live),
            "ignore": list(self.ignore),
            "policy": self.on_divergence,
            "inserted": self.inserted,
            "pace": self.pace,
            "tools": list(self.tools),
            **({FILES: LIVE} if self.files == LIVE else {}),
            ACTS: {"words": list(self.policy), "terminal": self.terminal, "command": True},
        }
