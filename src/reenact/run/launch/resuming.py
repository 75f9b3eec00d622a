"""Start a program so that its recording, which was cut off, goes on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.files.trees import has_files
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.policy import ActionPolicy
from reenact.core.store.local import EVENTS, LocalStore, load
from reenact.errors import UsageError
from reenact.run.files.set_back import COPIES, free_place, keep_unknown, undo
from reenact.run.fork.resumption import check
from reenact.run.launch import correct, failure_in, folder, reports_in
from reenact.run.launch.process import aside, ending_of, run, shown, terminal_here
from reenact.run.launch.program import command_of
from reenact.run.plan import LIVE, RECORDED, RESUME, Plan, check_files
from reenact.team import ship
from reenact.team.open import Reaching


@dataclass(frozen=True, slots=True)
class Resumed:
    """The result of resuming a program.

    Attributes:
        recording: The recording, as far as it is written.
        before: The number of its steps before.
        status: The program's exit status as the shell sees it; ended by a signal, minus its number.
        how: `ran` to its end, `stopped` by the policy, or `failed`.
        reason: The reason that it stopped or failed, in one sentence.
        ran: The calls that ran by the policy, each with its number and the reason.
        answered: The tools that were answered without running, with the reason.
        changed: The files that were set back although something else had changed them after the run.
        copies: The folder with copies of these; empty without any.
    """

    recording: RecordedRun
    before: int
    status: int
    how: str = "ran"
    reason: str = ""
    ran: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    copies: str = ""

    def tree(self) -> dict[str, Any]:
        """Return the output of `resume --json`."""
        return {
            "recording": self.recording.id,
            "before": self.before,
            "steps": len(self.recording.steps),
            "how": self.how,
            "reason": self.reason or None,
            "exit": self.status,
            "ran": list(self.ran),
            "answered": list(self.answered),
            "changed": list(self.changed),
            "copies": self.copies or None,
        }


def resume(
    ref: str,
    policy: tuple[str, ...] = (),
    *,
    command: Sequence[str] = (),
    files: str = RECORDED,
    home: str | os.PathLike[str] | None = None,
    quiet: bool = False,
) -> Resumed:
    """Run the program again, first from the recording, then live, in the same recording.

    `files` are set back first to what they were before the run (`recorded`), or left (`live`); where the run cannot go
    on, they are put back. `quiet` sends its output to standard error. Raises RecordingError, ProgramError or UsageError
    if it cannot be resumed.
    """
    check_files(files)
    words, store = ActionPolicy(policy).words, LocalStore(home)
    recording = Reaching(home).load(ref)
    check(recording, store.root)
    argv, executable, cwd = command_of(recording, command, home=home, verb="resume")
    path = Path(recording.path).absolute()
    with folder() as place, ship.sending(store.root, recording.id):
        copies = free_place(path)
        options = {"policy": list(words), "terminal": terminal_here(), COPIES: str(copies)}
        if files == LIVE or not has_files(recording):
            del options[COPIES]
        size = (path / EVENTS).stat().st_size
        plan = Plan(RESUME, recording.id, str(path), str(store.root), str(place), options=options)
        environ = plan.environ_again(recording.header)
        status, pid = run(argv, executable, environ, cwd=cwd, stdout=aside(quiet))
        reports = reports_in(place)
    went_on = (path / EVENTS).stat().st_size > size
    said = reports.get("main", {})
    failed = failure_in(reports)
    before, how, reason = len(recording.steps), str(said.get("how", "failed")), str(said.get("reason", ""))
    if failed or "how" not in said:
        none = f"no Python that could be resumed was started by `{shown(argv)}`"
        died = f"the program was cut off again ({ending_of(status)})" if reports else none
        how, reason = "failed", failed or died
    changed = _after(copies, went_on=went_on or how == "ran")
    if how == "ran" and recording.header.get("entry") == "program":
        correct(path / EVENTS, status, mine=said.get("pid") == pid)
    return Resumed(
        load(path),
        before,
        status,
        how,
        reason,
        tuple(said.get("ran", ())),
        tuple(said.get("answered", ())),
        changed,
        str(copies) if changed else "",
    )


def _after(copies: Path, *, went_on: bool) -> tuple[str, ...]:
    """Restore the files that were set back, if the run did not go on.

    Return those whose copies are kept. Raises UsageError.
    """
    try:
        if went_on:
            return tuple(keep_unknown(copies))
        undo(copies)
    except OSError as error:
        raise UsageError(
            f"files that were set back are not all as before: {error}; copies are in {copies}"
        ) from None
    return ()
