"""Start a program so that it is forked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.extras import needing
from reenact.core.model.header import by_proxy
from reenact.core.store.local import EVENTS, LocalStore, new_id
from reenact.errors import RecordingError, UsageError
from reenact.run.api.forking import Recording, load
from reenact.run.files.disk import disk_of, keeping
from reenact.run.fork.edit import parse
from reenact.run.fork.point import ForkPoint, point
from reenact.run.launch import correct, failure_in, folder, reports_in
from reenact.run.launch.options import Forked
from reenact.run.launch.process import Start, aside, ending_of, run, shown, terminal_here
from reenact.run.launch.program import command_of
from reenact.run.plan import FILES, LIVE, RECORDED, Plan, check_files


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a fork, named as in `reenact.fork()`."""

    at: int
    set: tuple[str, ...] = ()
    model: str = ""
    live: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    files: str = RECORDED
    keep_files: str = ""

    def tree(self) -> dict[str, Any]:
        """Return the options for the plan of a process."""
        names = ("set", "live", "ignore", "policy")
        return {"at": self.at, "model": self.model, **{name: list(getattr(self, name)) for name in names}}


def fork(
    ref: str,
    options: Options,
    *,
    command: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    run_foreign: bool = False,
) -> Forked:
    """Run the recorded program, from the recording up to a step, and live from there.

    `quiet` sends its output to standard error; `run_foreign` lets the program of a foreign recording run. Raises
    ForeignRecording, RecordingError, ProgramError or UsageError if it cannot be run.
    """
    check_files(options.files)
    store = LocalStore(home)
    parent = load(ref, home=home)
    edit = parse(options.set) or None
    kept = keeping(options.keep_files, parent, options.files)
    terminal = terminal_here()
    where = _point(parent, options, edit, terminal)
    if by_proxy(parent.header):
        with needing("proxy", "a fork of this recording"):
            from reenact.run.launch import proxied  # noqa: PLC0415 - a server and a client that few commands need

        return proxied.fork(
            parent,
            where,
            store,
            command=command,
            quiet=quiet,
            run_foreign=run_foreign,
            live_files=options.files == LIVE,
            keep=kept,
        )
    verb = f"fork --at {options.at}"
    argv, executable, cwd = command_of(parent, command, home=home, run_foreign=run_foreign, verb=verb)
    known_as, path = new_id(), str(Path(parent.path).absolute())
    with folder() as place:
        disk = disk_of(parent, (store.root, Path(path), place)) if options.files == RECORDED else None
        words = {**options.tree(), "terminal": terminal, FILES: "" if disk is None else str(disk.folder)}
        if disk is not None:
            disk.attach(place)
        plan = Plan("fork", known_as, path, str(store.root), str(place), options=words)
        start = Start(argv, executable, plan.environ_again(parent.header), cwd, disk)
        command, executable = start.prepared()
        status, pid = run(command, executable, start.environ, cwd=cwd, stdout=aside(quiet))
        reports = reports_in(place)
        if disk is not None and kept is not None:
            disk.keep(kept)
    said = reports.get("main", {})
    if failure_in(reports) or "how" not in said:
        return _unfinished(parent, argv, status, reports, store.folder(known_as))
    return _judged(parent, status, said, mine=said.get("pid") == pid)


def _point(parent: Recording, options: Options, edit: dict[str, Any] | None, terminal: str) -> ForkPoint:
    return point(
        parent,
        options.at,
        edit,
        model=options.model,
        live=options.live,
        ignore=options.ignore,
        policy=options.policy,
        terminal=terminal,
        command=True,
    )


def _unfinished(
    parent: Recording, argv: Sequence[str], status: int, reports: dict[str, Any], path: Path
) -> Forked:
    """Return the result of a program without a report (killed, for example), with its events."""
    failed = failure_in(reports)
    how = ending_of(status)
    if not failed and (path / EVENTS).is_file():
        return Forked(parent, status, load(path), "ran", f"unsealed: {how}")
    if not failed and not reports:
        failed = f"no Python that could be forked was started by `{shown(argv)}`"
    return Forked(parent, status, None, "failed", failed or f"the program sent no report ({how})")


def _judged(parent: Recording, status: int, said: dict[str, Any], *, mine: bool) -> Forked:
    how, reason = str(said["how"]), str(said.get("reason", ""))
    if said.get("diverged"):
        reason = f"the program is not the recorded one, or no longer: {reason}"
    if "path" not in said:
        return Forked(parent, status, None, how, reason)
    path = Path(str(said["path"]))
    if not (path / EVENTS).exists():
        return Forked(parent, status, None, "failed", f"{path} cannot be written")
    if how == "ran" and parent.header.get("entry") == "program":
        correct(path / EVENTS, status, mine=mine)
    try:
        return Forked(parent, status, load(path), how, reason, tuple(said.get("ran", ())))
    except (RecordingError, UsageError) as error:
        return Forked(parent, status, None, "failed", str(error))
