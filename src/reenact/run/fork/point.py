"""The point of a fork, and its changes from there on."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from reenact.core.dataclass import dataclass
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.core.replay.policy import ActionPolicy
from reenact.core.replay.watch import Edit
from reenact.errors import UsageError
from reenact.run.fork import started
from reenact.run.fork.edit import Change, edit_of


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """A step of a recording, and the changes from there on.

    Attributes:
        step: The step that is the first to be live, or edited.
        edit: Its new answer, or None to let it go live.
        model: The language model to ask from there on, in the place of the program's; or empty.
        live, ignore: The calls that run for real, and the parts that are not compared, before the step.
        policy: The rules for what may run for real from there on, `TARGET=MODE`.
        terminal: The path of the terminal to ask on; empty: none.
        command: The fork was asked for on the command line.
        providers: `host[:port]` of addresses that are model providers by the user's word (a proxy's).
    """

    step: Step
    edit: Edit | None = None
    model: str = ""
    live: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    terminal: str = ""
    command: bool = False
    providers: tuple[str, ...] = ()


def check_stored(path: Path) -> None:
    """Raise UsageError for an exported file, which names its import."""
    if path.is_file():
        raise UsageError(
            f"{path} is an exported file; bring it into the store first: `reenact import {shlex.quote(str(path))}`"
        )


def point(
    recording: RecordedRun,
    at: int,
    change: Change | None = None,
    *,
    model: str = "",
    live: Iterable[str] = (),
    ignore: Iterable[str] = (),
    policy: Iterable[str] = (),
    terminal: str = "",
    command: bool = False,
) -> ForkPoint:
    """Return the point of a fork. Raises UsageError if it cannot be forked there or so."""
    live = tuple(live)
    check_stored(Path(recording.path))
    step = recording.step(at)
    started.check(recording, step, live, command=command)
    if change is not None and step.call.status == "cancelled":
        raise UsageError(
            f"step {at} was cancelled by the program before an answer came: there is none to edit"
        )
    edit = None if change is None else edit_of(recording, step, change)
    words = ActionPolicy(policy).words
    return ForkPoint(step, edit, model, live, tuple(ignore), words, terminal, command)
