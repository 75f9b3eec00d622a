"""Start a program in any language behind the proxy, to record, replay or fork it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from time import sleep
from urllib.parse import urlsplit

from reenact.core import system
from reenact.core.dataclass import dataclass
from reenact.core.model.divergence import Verdict, merged
from reenact.core.model.event import Tree
from reenact.core.model.header import program_of
from reenact.core.query import recorded_run as model
from reenact.core.replay.rulings import named
from reenact.core.store.local import LocalStore, new_id
from reenact.core.store.writer import warn
from reenact.core.trust import consent
from reenact.errors import Departure, Divergence, ForkStopped, Mismatch, RecordingError, UsageError
from reenact.run import proxy
from reenact.run.api.forking import Recording, load
from reenact.run.files import workspace
from reenact.run.files.disk import Disk, Laid, disk_of
from reenact.run.fork.point import ForkPoint
from reenact.run.launch.options import Forked, Options, Recorded, Replayed
from reenact.run.launch.process import Start, executable_of, run, shown
from reenact.run.launch.program import command_of
from reenact.run.launch.reports import listening, out
from reenact.run.output import Output, compare
from reenact.run.plan import FILES, LIVE
from reenact.run.processes import OPTIONS
from reenact.run.proxy import Route, Serving

_PROMPT = 3.0
"""Seconds for a program to end once its replay has diverged, and again after a signal."""


_REFUSED = "from here on the program is answered with status 400"


@dataclass(slots=True)
class _Program:
    """A running program, which can be ended."""

    ended: bool = False
    process: subprocess.Popen[bytes] | None = None
    _halted: threading.Event = field(default_factory=threading.Event)

    def started(self, process: subprocess.Popen[bytes]) -> None:
        """Note the process of the program."""
        self.process = process
        if self._halted.is_set():
            self._end_soon()

    def halt(self) -> None:
        """End the program after its replay has diverged; it has a moment to end by itself."""
        self._halted.set()
        if self.process is not None:
            self._end_soon()

    def _end_soon(self) -> None:
        threading.Thread(target=self._end, name="reenact-end", daemon=True).start()

    def _end(self) -> None:
        process = self.process
        assert process is not None
        for number in system.signals("SIGTERM", "SIGKILL"):
            sleep(_PROMPT)
            if process.poll() is not None:
                return
            self.ended = True
            process.send_signal(number)


def _run(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    quiet: bool,
    program: _Program | None = None,
    disk: Disk | None = None,
) -> tuple[int, Output]:
    """Run a command to its end; return its exit status and its output."""
    executable = executable_of(command)
    started = program.started if program is not None else None
    where = None if cwd is None else os.fspath(cwd)
    argv, executable = Start(list(command), executable, dict(environ), where, disk).prepared()
    with listening(out(quiet)) as (stdout, heard):
        status, _ = run(argv, executable, dict(environ), cwd=where, stdout=stdout, started=started)
    return status, heard


def _ending(status: int, heard: Output) -> dict[str, Tree]:
    return {
        "status": "error" if status else "ok",
        "exit": status,
        "stdout": heard.tree(),
        "packages": {},
    }


# -- record --------------------------------------------------------------------------------------------------


def record(
    command: Sequence[str],
    *,
    name: str = "",
    tags: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    files: Sequence[str] | None = (),
) -> Recorded:
    """Run a command whose SDKs are pointed at the proxy, and record its requests.

    Raises UsageError if there is nothing to run.
    """
    executable_of(command)
    with _recording(command, name=name, tags=tags, home=home, files=files) as (serving, session, found):
        environ = {**os.environ, **proxy.environ(found, serving.port, os.environ)}
        status, heard = _run(command, environ, quiet=quiet)
    session.seal(_ending(status, heard))
    return _recorded(session, status)


def beside(
    ready: Callable[[Mapping[str, str]], None],
    *,
    name: str = "",
    tags: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    files: Sequence[str] | None = (),
) -> Recorded:
    """Record all clients of the proxy, until ctrl-C or SIGTERM.

    `ready` is called with the variables to set, once the proxy listens.
    """
    over = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: over.set()) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with _recording((), name=name, tags=tags, home=home, files=files) as (serving, session, found):
            ready(proxy.environ(found, serving.port, os.environ))
            over.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    session.seal({"status": "ok", "packages": {}})
    return _recorded(session, 0)


@contextmanager
def _recording(
    command: Sequence[str],
    *,
    name: str,
    tags: Sequence[str],
    home: str | os.PathLike[str] | None,
    files: Sequence[str] | None,
) -> Iterator[tuple[Serving, proxy.RecordingProxy, tuple[Route, ...]]]:
    """Run the recording proxy while the body runs."""
    routes, at = proxy.routes(os.environ), proxy.free()
    said: dict[str, Tree] = {
        "port": at.getsockname()[1],
        "upstreams": {route.variable: route.upstream for route in routes},
        "keys": proxy.wanted(os.environ),
    }
    program: dict[str, Tree] = {"argv": list(command), "packages": {}, "proxy": said}
    session = proxy.RecordingProxy(name or shown(command), tags=tags, home=home, program=program, files=files)

    def begin() -> proxy.RecordingProxy:
        session.start()
        return session

    with Serving(at, routes, begin) as serving:
        yield serving, session, routes


def _recorded(session: proxy.RecordingProxy, status: int) -> Recorded:
    if not session.started:
        return Recorded(status, failed=f"{session.path} cannot be written")
    try:
        return Recorded(status, load(session.path))
    except RecordingError as error:
        return Recorded(status, failed=str(error))


# -- replay, fork --------------------------------------------------------------------------------------------


def _again(
    recording: model.RecordedRun, *, trusted: bool
) -> tuple[socket.socket, tuple[Route, ...], dict[str, str]]:
    """Return the socket, the routes and the environment to run a recording's program again.

    Without `trusted`, requests that run for real go to the addresses in this environment: a foreign header could send
    them, with the user's keys, to another address.
    """
    said = program_of(recording.header).get("proxy") or {}
    if not trusted:
        said = {"port": said.get("port")}
    routes = tuple(Route(str(name), str(url)) for name, url in (said.get("upstreams") or {}).items())
    routes = routes if trusted else proxy.routes(os.environ)
    # At the recorded port, if it is free, so that addresses which the program shows or sends are the same.
    listening = proxy.free(int(said.get("port") or 0))
    port = listening.getsockname()[1]
    environ = {**os.environ, **proxy.environ(routes, port, os.environ)}
    return listening, routes, environ | proxy.placeholders(said.get("keys") or (), os.environ)


def _command(
    recording: model.RecordedRun,
    command: Sequence[str],
    verb: str,
    *,
    home: str | os.PathLike[str] | None,
    run_foreign: bool,
) -> tuple[list[str], str | None, bool]:
    """Return the command, its folder, and True if the other settings of the header may be used."""
    argv, _, cwd = command_of(recording, command, home=home, run_foreign=run_foreign, verb=verb)
    return argv, cwd, not command or run_foreign or consent.allowed(recording, LocalStore(home).root)


def replay(
    recording: model.RecordedRun,
    options: Options,
    *,
    command: Sequence[str] = (),
    cwd: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    run_foreign: bool = False,
) -> Replayed:
    """Run the recorded program again, or another command, answered by the proxy.

    Raises ForeignRecording, ProgramError or UsageError if it cannot be run.
    """
    words = options.tree()
    argv, where, trusted = _command(recording, command, "replay", home=home, run_foreign=run_foreign)
    listening_at, routes, environ = _again(recording, trusted=trusted)
    program = _Program()
    known = {name: words[name] for name in OPTIONS if name in words}

    def begin() -> proxy.ReplayingProxy:
        def halted() -> None:
            # Before the program prints its own error for the refused request.
            if not quiet and replaying.replayer.divergences:
                said = str(replaying.replayer.divergences[0]).partition(",")[0]
                warn(f"{said}: {_REFUSED}")
            program.halt()

        replaying = proxy.ReplayingProxy(recording, known, halted, real_time=words["pace"] == "real")
        return replaying

    place = where if cwd is None else cwd
    live = words.get(FILES) == LIVE
    with (
        _laid(recording, LocalStore(home), live=live) as disk,
        Serving(listening_at, routes, begin) as serving,
    ):
        status, heard = _run(argv, environ, cwd=place, quiet=quiet, program=program, disk=disk)
        session = serving.session
        assert isinstance(session, proxy.ReplayingProxy)
        verdict = session.verdict(whole=not program.ended and (not status or recording.status == "error"))
        if not verdict.divergences:
            verdict = merged([verdict, _compared(recording, session, status, heard)])
        if not verdict.divergences and disk is not None:
            verdict = merged([verdict, workspace.compared(recording, Laid.read(disk.folder))])
    return Replayed(recording, verdict, status)


@contextmanager
def _laid(recording: model.RecordedRun, store: LocalStore, *, live: bool = False) -> Iterator[Disk | None]:
    """Yield the disk that a recorded program runs on; None for a recording without files."""
    disk = None if live else disk_of(recording, (store.root, Path(recording.path).absolute()))
    try:
        yield disk
    finally:
        if disk is not None:
            disk.close()


def _compared(
    recording: model.RecordedRun, session: proxy.ReplayingProxy, status: int, heard: Output
) -> Verdict:
    """Compare the program's output and exit status with the recorded ones."""
    sealed = recording.logs[0].sealed or {}
    found: list[Divergence] = []
    rules: tuple[str, ...] = ()
    if "stdout" in sealed:
        written = session.replayer.terms.clean(heard.tree())
        differs, rule = compare(
            "main", sealed["stdout"], written, silent="stdout" in session.replayer.rules.silent
        )
        found += [differs] if differs is not None else []
        rules = (rule,) if rule else ()
    recorded = sealed.get("exit")
    if not found and recorded is not None and recorded != status:
        detail = "the program ended with another exit status"
        mismatch = (Mismatch("exit", recorded, status),)
        found.append(Divergence(Departure.CHANGED, "main/exit", None, mismatch, detail))
    return Verdict(recording.id, divergences=tuple(found), rules=rules)


def fork(
    parent: Recording,
    point: ForkPoint,
    store: LocalStore,
    *,
    command: Sequence[str] = (),
    quiet: bool = False,
    run_foreign: bool = False,
    live_files: bool = False,
    keep: Path | None = None,
) -> Forked:
    """Run the recorded program, from the recording up to a step, and live from there.

    On the recorded files, unless `live_files`; those at the end are copied into the folder `keep`. Raises
    ForeignRecording, ProgramError or UsageError if it cannot be run.
    """
    verb = f"fork --at {point.step.number}"
    argv, where, trusted = _command(parent, command, verb, home=store.root, run_foreign=run_foreign)
    listening_at, routes, environ = _again(parent, trusted=trusted)
    program, known_as = _Program(), new_id()
    # The user has declared these addresses to be models'.
    point = replace(point, providers=tuple(urlsplit(route.upstream).netloc for route in routes))

    def begin() -> proxy.ForkingProxy:
        def halted() -> None:
            if not quiet:
                warn(f"the fork stops: {_REFUSED}")
            program.halt()

        return proxy.ForkingProxy(parent, point, store, known_as, halted=halted)

    with _laid(parent, store, live=live_files) as disk, Serving(listening_at, routes, begin) as serving:
        status, heard = _run(argv, environ, cwd=where, quiet=quiet, program=program, disk=disk)
        if disk is not None and keep is not None:
            disk.keep(keep)
    session = serving.session
    assert isinstance(session, proxy.ForkingProxy)
    how, reason, ran = "ran", "", tuple(named(session.forker.gate.guard.ran))
    try:
        session.seal(_ending(status, heard))
    except ForkStopped as stopped:
        how, reason = "stopped", str(stopped)
    except UsageError as error:
        return Forked(parent, status, None, "failed", str(error))
    return Forked(parent, status, load(session.path), how, reason, ran)
