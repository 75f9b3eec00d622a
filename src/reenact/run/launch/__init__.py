"""Start a program so that it is recorded or replayed, in any of the ways to start it.

The program's terminal, streams, exit status and signals stay its own. Its processes leave reports in a folder; one that
dies without a report is named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import orjson

from reenact.core import system
from reenact.core.extras import needing
from reenact.core.model.divergence import Verdict, merged, verdict_of
from reenact.core.model.header import by_proxy, program_of
from reenact.core.model.log import Log, is_exec
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.risky import risky_filter
from reenact.core.store.local import EVENTS, LocalStore, load, new_id
from reenact.core.store.writer import reseal
from reenact.errors import Departure, Divergence, Mismatch, ProgramError, RecordingError
from reenact.run.files.scratch import Scratch, discard
from reenact.run.launch.options import STDOUT, Options, Recorded, Replayed
from reenact.run.launch.process import Start, aside, ended_by, ending_of, executable_of, run, shown
from reenact.run.plan import ACTS, FILES, LIVE, MIX, Plan
from reenact.run.reports import ended
from reenact.team import ship
from reenact.team.open import Reaching

__all__ = [
    "LIBRARIES",
    "STDOUT",
    "Options",
    "Recorded",
    "Replayed",
    "Start",
    "correct",
    "ended_by",
    "failure_in",
    "folder",
    "judged",
    "record",
    "replay",
    "replaying",
    "reports_in",
]

LIBRARIES = (
    "aiohttp", "anthropic", "anyio", "google-genai", "httpx", "httpx2", "langchain-core", "langgraph", "mcp", "openai",
    "openai-agents", "pydantic", "pydantic-ai", "pydantic-ai-slim", "requests", "urllib3",
)  # fmt: skip
"""Packages whose version may matter to a replay, if the recording has no list of imports."""

# -- record --------------------------------------------------------------------------------------------------


def record(
    command: Sequence[str],
    *,
    name: str = "",
    tags: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    risky: str = "",
    every: int = 0,
    files: tuple[str, ...] | None = (),
) -> Recorded:
    """Run a command; record the first Python in it, and its child processes.

    `quiet` sends its output to standard error. `risky` and `every` (0: the default) decide when the tracked state is
    kept. `files` are folders whose files are recorded too; None: no files are. Raises UsageError if there is nothing to
    run, FilterError if `risky` does not parse.
    """
    risky_filter(risky)
    root, id = LocalStore(home).root, new_id()
    plan = Plan("record", id, str(LocalStore(root).folder(id)), str(root), "", name=name, tags=tuple(tags))
    with ship.sending(root, id):
        return _record(
            command, replace(plan, risky=risky, every=every, files=files), executable_of(command), quiet=quiet
        )


def _record(command: Sequence[str], plan: Plan, executable: str, *, quiet: bool) -> Recorded:
    with folder() as place:
        plan = replace(plan, report=str(place))
        seed = str(1 + int.from_bytes(system.random_bytes(8)) % (2**32 - 1))
        status, pid = run(
            command, executable, {**os.environ, **plan.environ(os.environ, seed=seed)}, stdout=aside(quiet)
        )
        reports = reports_in(place)
    failed = failure_in(reports)
    said = reports.get("main", {})
    if "path" not in said:
        text = (
            f"no Python that could be recorded was started by `{shown(command)}`; "
            f"programs in other languages: reenact record --proxy -- {shown(command)}"
        )
        return Recorded(status, failed=failed or text)
    path = Path(str(said["path"]))
    if not (path / EVENTS).exists():
        return Recorded(status, failed=f"{path} cannot be written")
    correct(path / EVENTS, status, mine=said.get("pid") == pid)
    try:
        return Recorded(status, load(path))
    except RecordingError as error:
        return Recorded(status, failed=str(error))


def correct(path: Path, status: int, *, mine: bool) -> None:
    """Correct the recorded exit status: the process itself does not see a `raise SystemExit(3)`."""
    if not mine or not path.is_file():
        return
    data = path.read_bytes()
    start = data.rfind(b"\n", 0, len(data) - 1) + 1
    try:
        line = orjson.loads(data[start:])
    except ValueError:
        return
    if line.get("event") != "sealed" or line.get("exit") == status:
        return
    # Imported here, as most programs do not need it, and it imports the boundary.
    own = import_module("reenact.core.record.own")
    identity = own.own_identity(path.parents[2])
    sign = None if identity is None else own.signing(identity)
    reseal(path, line | {"exit": status, "status": "error" if status else "ok"}, sign)


# -- replay --------------------------------------------------------------------------------------------------


def replay(
    ref: str,
    options: Options,
    *,
    command: Sequence[str] = (),
    cwd: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    run_foreign: bool = False,
) -> Replayed:
    """Run the recorded program again, or another command, answered from the recording.

    `quiet` sends its output to standard error; `run_foreign` lets the program of a foreign recording run. Raises
    ForeignRecording, RecordingError, ProgramError or UsageError if it cannot be run.
    """
    words = options.tree()
    recording = Reaching(home).load(ref)
    if by_proxy(recording.header):
        with needing("proxy", "the replay of this recording"):
            from reenact.run.launch import proxied  # noqa: PLC0415 - a server and a client that few commands need

        return proxied.replay(
            recording, options, command=command, cwd=cwd, home=home, quiet=quiet, run_foreign=run_foreign
        )
    with folder() as place:
        start = replaying(recording, words, place, command=command, home=home, run_foreign=run_foreign)
        start = replace(start, cwd=start.cwd if cwd is None else os.fspath(cwd))
        argv, executable = start.prepared()
        status, pid = run(argv, executable, start.environ, cwd=start.cwd, stdout=aside(quiet))
        return judged(recording, start, status, pid, place)


def replaying(
    recording: RecordedRun,
    words: dict[str, Any],
    place: Path,
    *,
    command: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    verb: str = "replay",
    run_foreign: bool = False,
    seed: str | None = None,
) -> Start:
    """Return the way to start a program so that it replays; reports go to `place`.

    `seed` is another PYTHONHASHSEED than the recorded one. Raises ForeignRecording, ProgramError or UsageError where it
    cannot be run.
    """
    if by_proxy(recording.header):
        raise ProgramError(
            f"{recording.id} was recorded by the proxy: `reenact replay`, `fork` and `verify` run its program, "
            "and `debug --read` reads it"
        )
    from reenact.run.launch.program import command_of  # noqa: PLC0415 - consent, which no recording needs

    argv, executable, cwd = command_of(recording, command, home=home, run_foreign=run_foreign, verb=verb)
    path = str(Path(recording.path).absolute())
    words = {**words, ACTS: {**(words.get(ACTS) or {}), "folder": str(place)}}
    root = LocalStore(home).root
    others = [Path(mix["other"])] if (mix := words.get(MIX)) else []
    disk = None
    if words.get(FILES) != LIVE and any(log.files for log in recording.logs):
        from reenact.run.files.disk import Disk  # noqa: PLC0415 - recordings with files alone have one

        disk = Disk(recording, (root, Path(path), *others, place))
        disk.attach(place)
        words = {**words, FILES: str(disk.folder)}
    plan = Plan("replay", recording.id, path, str(root), str(place), options=words)
    return Start(argv, executable, plan.environ_again(recording.header, seed), cwd, disk)


def judged(recording: RecordedRun, start: Start, status: int, pid: int, place: Path) -> Replayed:
    """Return the outcome of an ended replay, from its exit status and the reports in `place`."""
    reports = reports_in(place)
    failed = failure_in(reports)
    said = reports.get("main", {})
    if failed or "verdict" not in said:
        how = ending_of(status)
        text = f"the program ended without a verdict ({how})"
        if not reports:
            text = f"no Python that could replay was started by `{shown(start.argv)}` ({how})"
        return Replayed(recording, None, status, failed or text)
    others = [each for name, each in sorted(reports.items()) if name != "main" and "verdict" in each]
    verdict = merged([verdict_of(each["verdict"]) for each in (said, *others)])
    if not verdict.divergences:
        verdict = merged([verdict, _completeness(recording, reports, status, mine=said.get("pid") == pid)])
    several = len(recording.logs) > 1 and recording.header.get("entry") == "program"
    if not verdict.divergences and several and start.disk is not None:
        logs = {str(name) for each in reports.values() for name in each.get("logs", ())}
        from reenact.run.files import workspace  # noqa: PLC0415 - as above
        from reenact.run.files.disk import Laid  # noqa: PLC0415 - as above

        laid = Laid.read(start.disk.folder)
        last = workspace.compared_last(recording, laid, ended(place), logs, _cleaner(recording))
        verdict = merged([verdict, last])
    return Replayed(recording, verdict, status, warnings=tuple(_differing(recording, said)))


def _cleaner(recording: RecordedRun) -> Callable[[bytes], bytes]:
    """Return a function that puts tokens in place of the recording's secrets."""
    replayer = import_module("reenact.run.replayer")
    redactor = replayer.redactor_of(recording.header, replayer.rules_of(recording.header))
    return cast("Callable[[bytes], bytes]", redactor.raw)


def _completeness(recording: RecordedRun, reports: dict[str, Any], status: int, *, mine: bool) -> Verdict:
    """Return the departures that only the parent sees: unstarted processes, another exit status."""
    found = [
        Divergence(Departure.MISSING, log.process, detail="the process was not started")
        for log in recording.logs
        if log.process not in reports
        and ("/" not in log.process or (is_exec(log.process) and log.sealed is not None))
    ]
    sealed = _last_program(recording).sealed or {}
    recorded = sealed.get("exit")
    if mine and recording.header.get("entry") == "program" and recorded is not None and recorded != status:
        differs = (Mismatch("exit", recorded, status),)
        detail = "the program ended with another exit status"
        found.append(Divergence(Departure.CHANGED, "main/exit", None, differs, detail))
    return Verdict(recording.id, divergences=tuple(found))


def _last_program(recording: RecordedRun) -> Log:
    """Return the log of the program that the first process ended with."""
    log = recording.logs[0]
    for each in recording.logs:
        if is_exec(each.process) and each.process.rpartition("/")[0] == log.process:
            log = each
    return log


def _differing(recording: RecordedRun, said: dict[str, Any]) -> Iterator[str]:
    program = program_of(recording.header)
    old, new = str(program.get("python") or ""), str(said.get("python") or "")
    if old and new and old.split(".")[:2] != new.split(".")[:2]:
        yield f"recorded on Python {old}, replayed on {new}"
    sealed = recording.logs[0].sealed or {}
    known = sealed.get("packages")
    if not isinstance(known, dict):
        known = {
            name: version for name, version in (program.get("packages") or {}).items() if name in LIBRARIES
        }
    installed = said.get("packages") or {}
    changed = [
        f"{name} {version} (now {installed.get(name) or 'not installed'})"
        for name, version in sorted(known.items())
        if name != "reenact" and installed.get(name) != version
    ]
    if changed:
        yield f"recorded with other versions: {', '.join(changed)}"


# -- reports of processes ------------------------------------------------------------------------------------


@contextmanager
def folder() -> Iterator[Path]:
    """Make a folder for the processes' reports during the body; `prune` finds one that was left."""
    reports = Scratch()
    try:
        yield reports.folder
    finally:
        discard(reports.folder)
        reports.close()


def failure_in(reports: dict[str, Any]) -> str:
    """Return the first failure that a process has reported; empty without one."""
    return next((str(said["failed"]) for said in reports.values() if "failed" in said), "")


def reports_in(place: Path) -> dict[str, Any]:
    """Return the processes' reports in a folder, by their scope paths."""
    found: dict[str, Any] = {}
    for path in sorted(place.glob("*.json")):
        try:
            tree = orjson.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        found[str(tree.get("process") or path.stem)] = tree
    return {name: tree for name, tree in found.items() if "/" not in name or is_exec(name)}
