"""`doctor`: report the parts of an environment or a program that would not be replayed."""

from __future__ import annotations

import ast
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from reenact import adapters
from reenact.analysis.views.text import many
from reenact.core.dataclass import dataclass
from reenact.core.record.program import option_takes_value, packages
from reenact.core.store.local import home as default_home
from reenact.errors import ReenactError, UsageError
from reenact.run import launch
from reenact.team import ship
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import LOCAL, Command
from reenact.verbs.replay import JSON

Level = Literal["ok", "note", "bad"]

UNSEEN = {
    "asyncpg": "talks to Postgres below what is recorded: wrap your queries in reenact.effect or @reenact.tool",
    "curl_cffi": "has its own network stack in C: a replay refuses its requests; use httpx, or wrap them",
    "grpc": "has its own network stack in C: a replay refuses its calls; wrap them in reenact.effect",
    "motor": "talks to MongoDB below what is recorded: wrap your queries in reenact.effect",
    "pika": "talks to RabbitMQ below what is recorded: wrap its calls in reenact.effect",
    "psycopg": "talks to Postgres below what is recorded: wrap your queries in reenact.effect or @reenact.tool",
    "psycopg2": "talks to Postgres below what is recorded: wrap your queries in reenact.effect or @reenact.tool",
    "psutil": "reads the machine below what is recorded: a replay reads other values; wrap it in @reenact.tool",
    "pycurl": "has its own network stack in C: a replay refuses its requests; use httpx, or wrap them",
    "pymongo": "talks to MongoDB below what is recorded: wrap your queries in reenact.effect",
    "redis": "talks to Redis below what is recorded: wrap its calls in reenact.effect",
    "uuid_utils": "draws its random ids in native code: a replay gets others; use uuid",
    "trio": "schedules its tasks itself: nothing that they do is recorded, and a replay refuses them; use asyncio",
    "zmq": "has its own network stack in C: a replay refuses its messages; wrap them in reenact.effect",
}
"""Libraries with unrecorded input, by import name, with the consequence."""

_NAMES = {"grpc": "grpcio", "zmq": "pyzmq"}
_POOLS = "which process of a pool gets which job is decided anew in a replay: prefer one worker, or threads"
_COMMAND = "its output and exit status are recorded; the files that it changes are not"
_OTHER = "is another one in a replay: keep it out of questions, and of what the program prints"
_CALLS = {
    "ProcessPoolExecutor": _POOLS,
    "Pool": _POOLS,
    "os.getpid": f"the process's number {_OTHER}",
    "os.getppid": f"the number of the process's parent {_OTHER}",
    "get_ident": f"a thread's number {_OTHER}",
    "get_native_id": f"a thread's number {_OTHER}",
    "os.system": f"os.system starts a command: {_COMMAND}",
    "os.popen": f"os.popen starts a command: {_COMMAND}",
    **{
        f"subprocess.{name}": f"subprocess.{name} starts a command: {_COMMAND}"
        for name in ("run", "call", "check_call", "check_output", "Popen")
    },
}
_SQLITE = (3, 51, 3)
_MOST_FILES = 400


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the examination: `ok`, a `note` that a careful user should know, or `bad`."""

    level: Level
    topic: str
    text: str

    def tree(self) -> dict[str, str]:
        """Return the finding as JSON values."""
        return asdict(self)


class Options(interface.Options):
    """Check this environment, or a program, for parts that cannot be replayed."""

    common: ClassVar = (JSON, marks.HOME)

    command: Command = ()
    run: Annotated[
        bool,
        Field(description="Record the program and replay it at once, in a temporary folder."),
        LOCAL,
    ] = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The findings."""

    findings: Sequence[Finding]

    @property
    def status(self) -> int:
        """1 if a finding is bad, else 0."""
        return int(any(finding.level == "bad" for finding in self.findings))

    def tree(self) -> list[dict[str, str]]:
        """Return the findings as JSON values."""
        return [finding.tree() for finding in self.findings]


def run(options: Options, context: Context) -> Result:
    """Examine the environment or a command. Raises as `examine` does."""
    return Result(examine(options.command, run=options.run, home=context.home))


def examine(
    command: Sequence[str] = (), *, run: bool = False, home: str | os.PathLike[str] | None = None
) -> list[Finding]:
    """Examine the environment or a command; with `run`, record it and replay it at once."""
    found = list(_environment(home))
    if command:
        found += _program(command)
        if run:
            found += _tried(command)
    return found


# -- the environment -----------------------------------------------------------------------------------------


def _environment(home: str | os.PathLike[str] | None) -> Iterator[Finding]:
    yield Finding("ok", "python", f"{platform.python_version()} at {sys.executable}")
    known = packages()
    yield Finding("ok", "reenact", known.get("reenact", "not installed as a package"))
    yield _writable(default_home(home))
    yield from _server(default_home(home))
    for library, module in adapters.LIBRARIES.items():
        # Of a library with unrecorded input, the adapter names the calls or refuses them.
        if library == "http.client" or library.partition(".")[0] in UNSEEN or not _installed(library):
            continue
        version = known.get(library.replace("_", "-")) or known.get(f"{library.replace('_', '-')}-slim") or ""
        if _installed(module):
            yield Finding("ok", library, f"{version}: recorded and replayed".removeprefix(": "))
        else:
            yield Finding(
                "note", library, f"{version}: this Reenact has no adapter for it".removeprefix(": ")
            )
    for library, meaning in UNSEEN.items():
        if _installed(library):
            yield Finding("note", _NAMES.get(library, library), f"is installed, and {meaning}")
    if sqlite3.sqlite_version_info < _SQLITE:
        wanted = ".".join(map(str, _SQLITE))
        text = f"{sqlite3.sqlite_version}: before {wanted} two writers may damage a database in WAL mode"
        yield Finding(
            "note", "sqlite", f"{text}; the index of the recordings can be rebuilt from their files"
        )


def _server(folder: Path) -> Iterator[Finding]:
    """Check that the server accepts recordings, and count those that wait."""
    try:
        to = ship.Destination.of(os.environ)
    except UsageError as error:
        yield Finding("bad", "server", str(error))
        return
    if to is None:
        return
    from reenact.team.ship import sender  # noqa: PLC0415 - an HTTP client, which only this needs

    count = sum(mark.server == to.server for mark in ship.Queue(folder).marks())
    waits = f"{count} recording{'' if count == 1 else 's'} to be sent (`reenact ship --status`)"
    try:
        with sender.Sender(to) as asked:
            project = asked.greet()
    except (sender.Away, sender.Refused) as error:
        yield Finding("bad", "server", f"{error}; {waits}")
    else:
        yield Finding("ok", "server", f"{to.server}, project {project}; {waits}")


def _writable(folder: Path) -> Finding:
    existing = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return Finding("bad", "home", f"{folder} cannot be written: set REENACT_HOME, or --home")
    free = shutil.disk_usage(existing).free // (1 << 20)
    if free < 100:
        return Finding("bad", "home", f"{folder} has {free} MB left")
    return Finding("ok", "home", f"{folder}" + ("" if folder.exists() else " (not there yet)"))


def _installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


# -- a program -----------------------------------------------------------------------------------------------


def _program(command: Sequence[str]) -> Iterator[Finding]:
    if shutil.which(command[0]) is None:
        yield Finding("bad", "program", f"no such program: {command[0]}")
        return
    file = script(command)
    if file is None:
        yield Finding("note", "program", "its source is not checked (no script is named); --run runs it")
        return
    if not file.is_file():
        yield Finding("bad", "program", f"no such file: {file}")
        return
    imported, calls, broken = scan(file)
    for path in broken:
        yield Finding("note", "program", f"{path} is no Python that this one can read")
    seen = {name for name in imported if name in adapters.LIBRARIES}
    yield Finding(
        "ok", "program", f"{file}" + (f" imports {', '.join(sorted(seen))}, recorded" if seen else "")
    )
    for name in sorted(imported & UNSEEN.keys()):
        yield Finding("bad", _NAMES.get(name, name), UNSEEN[name])
    for name, place in sorted(calls.items()):
        yield Finding("note", place, _CALLS[name])


def script(command: Sequence[str]) -> Path | None:
    """Return the source file that a command runs, or None if its words do not name one."""
    rest = iter(command[1:])
    words = list(command)
    if words and words[0].endswith(".py"):
        return Path(words[0])
    for word in rest:
        if word == "-m":
            return _module(next(rest, ""))
        if word in ("-c", "-"):
            return None
        if option_takes_value(word):
            next(rest, None)
        elif word.endswith(".py"):
            return Path(word)
    return None


def _module(name: str) -> Path | None:
    base = Path(*name.split(".")) if name else Path()
    for path in (base / "__main__.py", base.with_suffix(".py") if name else base):
        if path.is_file():
            return path
    return None


def scan(file: Path) -> tuple[set[str], dict[str, str], list[Path]]:
    """Return a script's imports (with its neighbour modules), notable calls, and bad files.

    Imports are top-level names; calls have their places. Nothing is run.
    """
    imported: set[str] = set()
    calls: dict[str, str] = {}
    broken: list[Path] = []
    todo, seen = [file], {file}
    while todo and len(seen) <= _MOST_FILES:
        path = todo.pop()
        try:
            tree = ast.parse(path.read_bytes(), str(path))
        except (OSError, SyntaxError, ValueError):
            broken.append(path)
            continue
        for name in _imports(tree):
            imported.add(name.partition(".")[0])
            for beside in _beside(file.parent, name):
                if beside not in seen:
                    seen.add(beside)
                    todo.append(beside)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (name := _called(node.func)) in _CALLS:
                calls.setdefault(name, f"{path.name}:{node.lineno}")
    return imported, calls, broken


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _beside(folder: Path, name: str) -> Iterator[Path]:
    base = folder.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            yield path


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        owner = function.value.id if isinstance(function.value, ast.Name) else ""
        return f"{owner}.{function.attr}" if owner in ("os", "subprocess") else function.attr
    return function.id if isinstance(function, ast.Name) else ""


# -- trying it -----------------------------------------------------------------------------------------------


def _tried(command: Sequence[str]) -> Iterator[Finding]:
    home = tempfile.mkdtemp(prefix="reenact-doctor-")
    ship.keep_here(Path(home))
    try:
        done = launch.record(command, home=home, quiet=True)
        recording = done.recording
        if recording is None:
            yield Finding("bad", "record", done.failed)
            return
        yield Finding("ok", "record", f"{many(len(recording.steps), 'step')}, {recording.status}")
        for note in recording.notes:
            yield Finding("bad", "unrecorded", note)
        for source in recording.sources:
            yield Finding("note", "unrecorded", source)
        again = launch.replay(recording.id, launch.Options(), home=home, quiet=True)
        for warning in again.warnings:
            yield Finding("note", "replay", warning)
        if again.verdict is None:
            yield Finding("bad", "replay", again.failed)
        else:
            yield Finding("ok" if again.verdict.faithful else "bad", "replay", str(again.verdict))
    except ReenactError as error:
        yield Finding("bad", "run", str(error))
    finally:
        shutil.rmtree(home, ignore_errors=True)
