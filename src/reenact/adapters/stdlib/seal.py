"""Input that crosses no boundary: seen when recording, refused in a replay.

An audit hook hears of every connection, child process, database and file that Python code opens. What happens inside
an effect that answers as a whole (`hidden`) is that effect's business. The rest would come from the world in a
replay, too: while recording it is named once, on standard error and in the recording; in a replay a connection is a
divergence. Native code is not heard; `native_network` tells of the libraries that it knows.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import PurePath
from types import FrameType
from typing import Any

from reenact.adapters.stdlib import callers, file_uses, unseen, witness
from reenact.adapters.stdlib.file_reads import OpenedFiles
from reenact.core.boundary import Run, Scope, current
from reenact.core.frames import current_frames
from reenact.core.model.event import Effect
from reenact.core.model.log import SOURCE
from reenact.core.store.writer import warn
from reenact.core.web_address import local_port

TELEMETRY = {
    "agentops", "agents.tracing", "amplitude", "bugsnag", "datadog", "ddtrace", "elasticapm", "langfuse", "langsmith",
    "logfire", "logging", "mixpanel", "newrelic", "openinference", "opentelemetry", "phoenix", "posthog", "rollbar",
    "segment", "sentry_sdk", "statsd", "traceloop",
}  # fmt: skip
"""Libraries that only report. A replay blocks their network without a divergence."""

_TOOLS = {
    "_pydev_bundle", "_pydevd_bundle", "bdb", "coverage", "ctypes", "debugpy", "execnet", "multiprocessing", "platform",
    "pydevd", "sysconfig", "uuid", "xdist",
}  # fmt: skip
"""Debuggers, test runners and machine checks: never refused, never named."""

_PORTS = "reenact.adapters.stdlib.ports"
"""Our module whose functions stand between a socket and its caller."""

_LOOKUPS = {"", "localhost", "localhost.localdomain", "ip6-localhost"}

_watches: dict[Run, _Watch] = {}
_installed = False
_getframe = sys._getframe


def install() -> None:
    """Add the audit hook, once. It stays for good; without a run it costs one dict look-up."""
    global _installed
    if not _installed:
        _installed = True
        witness.install()
        sys.addaudithook(_hear)


def begin(run: Run) -> None:
    """Watch over a run."""
    _watches[run] = _Watch(run)


def end(run: Run) -> None:
    """That run is over."""
    _watches.pop(run, None)


class _Watch:
    """The facts about one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.files = OpenedFiles(run)
        self._named: set[str] = set()
        self._threads = set(threading.enumerate())
        self._idents = set(current_frames())

    def older(self, ident: int) -> bool:
        """Return True if a thread ran before this run began."""
        thread = threading._active.get(ident)  # type: ignore[attr-defined]
        return ident in self._idents if thread is None else thread in self._threads

    def unrecorded(self, what: str, consequence: str, kind: str = "unrecorded") -> None:
        """Name a thing once: in the recording and on standard error, or in the verdict of a replay.

        A replay may be faithful if the `kind` of the note is `SOURCE`.
        """
        if what in self._named:
            return
        self._named.add(what)
        if self.run.replaying:
            self.run.handler.remark(f"{what}: not answered from the recording")
        else:
            self.run.handler.note(kind, f"{what}: {consequence}")
            warn(f"{what}, which is not recorded: {consequence}")


class _Event:
    """One audit event: where it happened, and by whose code."""

    def __init__(self, watch: _Watch, scope: Scope | None, frame: FrameType) -> None:
        self.watch = watch
        self.scope = scope or watch.run.root
        self.modules, self.program = _chain(frame)

    def by(self, names: set[str]) -> str | None:
        """The first of these libraries that the event came through."""
        for module in self.modules:
            for name in (module, module.partition(".")[0], ".".join(module.split(".")[:2])):
                if name in names:
                    return name
        return None

    @property
    def who(self) -> str:
        """The library that the program called, or the program."""
        return self.program or "the program"


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    # Most events (of `id`, of attributes) are of no kind that is looked at, and there are dozens in one request.
    # When the interpreter ends, the other names are gone before the last event.
    if not _watches or event not in _LOOKED_AT:
        return
    hear(event, arguments, _getframe(0).f_back)


def hear(event: str, arguments: tuple[Any, ...], frame: FrameType | None) -> None:
    """Look at an audit event of a frame: Python's own, or that of a redirected function."""
    if event in file_uses.EVENTS:
        file_uses.heard(event, arguments, frame)
    handle = _HANDLERS.get(event)
    if handle is None and event not in witness.EVENTS:
        return
    scope = current()
    tool = None if scope is None or scope.hidden or frame is None else scope.tool
    if scope is not None and frame is not None and tool is not None and event in witness.EVENTS:
        witness.heard(event, arguments, tool, scope, frame)
    if handle is None:
        return
    if scope is None:
        watch = _stray()
        if watch is None or event not in _NETWORK:
            return
    else:
        known = None if scope.hidden else _watches.get(scope.run)
        if known is None:
            return
        watch = known
    if frame is None:
        # The interpreter itself opens the script that it is about to run.
        return
    if event == "open":
        if scope is not None:
            watch.files.opened(arguments, frame)
        return
    heard = _Event(watch, scope, frame)
    if heard.by(_TOOLS) is None:
        handle(heard, arguments)


def _stray() -> _Watch | None:
    """Return the replay of a thread without a scope that is none of the program's threads."""
    ident = threading.get_ident()
    for watch in reversed(list(_watches.values())):
        if watch.run.replaying and not watch.older(ident):
            thread = threading._active.get(ident)  # type: ignore[attr-defined]
            return None if getattr(thread, "reenact_own", False) else watch
    return None


def _chain(frame: FrameType | None) -> tuple[list[str], str]:
    """Return the modules from an event out to the program's code, and the library it called."""
    modules: list[str] = []
    library = ""
    while frame is not None and (kind := callers.kind_of(frame)) != callers.OWN:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and name != _PORTS:
            modules.append(name)
            if not frame.f_code.co_filename.startswith(callers.STANDARD) and kind == callers.LIBRARY:
                library = name.partition(".")[0]
        frame = frame.f_back
    return modules, "" if library == "reenact" else library


# -- the network ---------------------------------------------------------------------------------------------


def _connect(heard: _Event, arguments: tuple[Any, ...]) -> None:
    address = arguments[1]
    if "socket" in heard.modules[:1] and not isinstance(address, str) and _paired():
        return
    try:
        _reach(heard, f"connected to {place_of(address)}", f"socket:{place_of(address)}")
    except BaseException:
        # No library closes a socket for an exception that is not the network's.
        arguments[0].close()
        raise


def native(library: str) -> None:
    """Native code of a library is about to reach the network. Raises `Halt` in a replay.

    Args:
        library: Its import name.
    """
    scope = current()
    watch = None if scope is None or scope.hidden else _watches.get(scope.run)
    if scope is None or watch is None:
        return
    if scope.tool is not None:
        witness.reaches("socket.connect", scope.tool)
    heard = _Event(watch, scope, _getframe(1))
    heard.program = heard.program or library
    if heard.by(_TOOLS) is None:
        _reach(heard, "connected in native code", f"socket:{library}")


def _paired() -> bool:
    # Where there are no socket pairs (Windows), an event loop's own pipe is a connection to itself.
    frame: FrameType | None = _getframe(2)
    while frame is not None:
        if "socketpair" in frame.f_code.co_name:
            return True
        frame = frame.f_back
    return False


def _resolve(heard: _Event, arguments: tuple[Any, ...]) -> None:
    host = arguments[0]
    name = os.fsdecode(host) if isinstance(host, (str, bytes)) else ""
    if name in _LOOKUPS or _numeric(name) or name in unseen.machine_names or name == _machine():
        return
    _reach(heard, f"looked up {name}", f"lookup:{name}")


def _reach(heard: _Event, did: str, label: str) -> None:
    watch, run, handler = heard.watch, heard.watch.run, heard.watch.run.handler
    reporter = heard.by(TELEMETRY)
    if not run.replaying:
        if reporter is None:
            if did.startswith("connected"):
                handler.act(Effect("socket", label.partition(":")[2]), heard.scope)
            if "#" not in heard.scope.path:
                # An effect around it is answered whole, and a tool does not run again.
                family = run.family
                served = (
                    family is not None and family.several and local_port(label.partition(":")[2]) is not None
                )
                if served:
                    refused = "a replay will refuse it unless a process of this run listens there"
                    watch.unrecorded(f"{heard.who} {did}", refused, SOURCE)
                else:
                    watch.unrecorded(f"{heard.who} {did}", "a replay will refuse it")
            if heard.scope.tool is None and did.startswith("connected"):
                witness.opened_other(run, f"{heard.who} {did} outside of it")
        return
    if handler.gone_live:
        if reporter is None and did.startswith("connected") and not _runs_for_real(heard.scope):
            handler.act(Effect("socket", label.partition(":")[2]), heard.scope)
        return
    if _runs_for_real(heard.scope) or handler.lets_live("socket", label):
        # Inside an effect that runs for real, which is what the user asked for.
        watch.unrecorded(f"{heard.who} {did}", "")
        return
    if reporter is not None:
        raise ConnectionRefusedError(errno.ECONNREFUSED, f"nothing is sent during a replay ({reporter})")
    raise handler.refuse(
        f"{heard.scope.path}/{label}",
        f"{heard.who} {did} in a replay: this is not in the recording",
        "record it as an effect (reenact.effect), or allow it: live=['socket']",
    )


def _runs_for_real(scope: Scope) -> bool:
    """Return True inside an effect that runs for real: not in a tool that runs again."""
    return "#" in scope.path and not (scope.tool is not None and scope.tool.again)


def place_of(address: Any) -> str:
    if isinstance(address, tuple) and len(address) >= 2:
        host = f"[{address[0]}]" if ":" in str(address[0]) else address[0]
        return f"{host}:{address[1]}"
    return os.fsdecode(address) if isinstance(address, (str, bytes)) else str(address)


def _machine() -> str:
    import socket

    return socket.gethostname()


def _numeric(host: str) -> bool:
    import socket

    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host.partition("%")[0])
        except OSError:
            continue
        return True
    return False


# -- children and databases ----------------------------------------------------------------------------------


def _start(heard: _Event, arguments: tuple[Any, ...]) -> None:
    executable, argv, *rest = arguments
    environment = rest[-1] if rest else None
    given = [
        os.fsdecode(word) for word in ([argv] if isinstance(argv, (str, bytes, os.PathLike)) else argv or ())
    ]
    program = PurePath(os.fsdecode(executable) if executable else given[0] if given else "?").name
    if program.startswith(("python", "pypy")) and "REENACT_JOIN" in (environment or os.environ):
        return
    if program in ("sh", "bash") and given[1:2] == ["-c"]:
        program = repr(given[2])
    if (
        shutil.which(given[0] if given else "") is None
        and shutil.which(os.fsdecode(executable or "")) is None
    ):
        # It cannot be started, and the program will hear so.
        return
    if heard.by(TELEMETRY) is None:
        _child(heard, program, given or [program])


def _system(heard: _Event, arguments: tuple[Any, ...]) -> None:
    command = os.fsdecode(arguments[0])
    _child(heard, repr(command), [command])


def _child(heard: _Event, program: str, command: list[str]) -> None:
    """Refuse an unrecorded child process: its actions must not happen again."""
    from reenact.core.replay.acts import act_of

    run, handler = heard.watch.run, heard.watch.run.handler
    act = Effect("process", " ".join(command)[:200], {"command": command})
    target = act_of(act).target
    inside = run.replaying and _runs_for_real(heard.scope)
    if not inside and (
        not run.replaying or handler.gone_live or handler.lets_live("process", f"process:{target}")
    ):
        handler.act(act, heard.scope)
    elif not inside:
        raise handler.refuse(
            f"{heard.scope.path}/process:{program}",
            f"{heard.who} ran {program} in a replay, and its effects are not recorded",
            f"let it run: live=['process:{target}']",
        )
    heard.watch.unrecorded(f"{heard.who} ran {program}", f"a replay needs --live process:{target}")


def _database(heard: _Event, arguments: tuple[Any, ...]) -> None:
    name = (
        os.fsdecode(arguments[0])
        if isinstance(arguments[0], (str, bytes, os.PathLike))
        else str(arguments[0])
    )
    run, path = heard.watch.run, name.removeprefix("file:").partition("?")[0]
    if (run.scratch is not None and run.scratch(path)) or (run.files is not None and run.files.keeps(path)):
        return
    if name and ":memory:" not in name and "mode=memory" not in name:
        heard.watch.unrecorded(
            f"{heard.who} opened the database {name}", "a replay will see its content at that time"
        )


def _temporary(heard: _Event, arguments: tuple[Any, ...]) -> None:
    # Where files are recorded, a replay does not see what the recorded run has left there, and draws the same name.
    if heard.watch.run.files is None:
        unseen.temporary(heard.watch.run, os.fsdecode(arguments[0]))


def _opened(heard: _Event, arguments: tuple[Any, ...]) -> None:
    raise AssertionError("files are watched by `OpenedFiles`")


_HANDLERS: dict[str, Callable[[_Event, tuple[Any, ...]], None]] = {
    "socket.connect": _connect,
    "socket.sendto": _connect,
    "socket.getaddrinfo": _resolve,
    "socket.gethostbyname": _resolve,
    "subprocess.Popen": _start,
    "os.posix_spawn": _start,
    "os.exec": _start,
    "os.system": _system,
    "sqlite3.connect": _database,
    "open": _opened,
    "tempfile.mkdtemp": _temporary,
    "tempfile.mkstemp": _temporary,
}
_LOOKED_AT = file_uses.EVENTS | witness.EVENTS | _HANDLERS.keys()
_NETWORK = frozenset(event for event in _HANDLERS if event.startswith("socket."))
