"""Record SQLite's random numbers and clock; note a tool that uses an earlier database.

No audit event tells of a statement. A database in memory is state of the program, like any other object.
"""

from __future__ import annotations

import os
import re
import sys
import time
import weakref
from _thread import allocate_lock
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from reenact.adapters.stdlib import file_uses, witness
from reenact.core.boundary import Run, current, draw
from reenact.core.patterns import lazy

_opened: dict[int, tuple[weakref.ref[Run], bool] | None] = {}
"""The run in which a connection was opened, by `id`; True if its database is on disk."""


def install(module: ModuleType) -> None:
    """Trace the connections that the program opens from here on."""
    original = module.connect

    def connect(*args: Any, **options: Any) -> Any:
        connection = original(*args, **options)
        name = args[0] if args else options.get("database", "")
        scope = current()
        _opened[id(connection)] = None if scope is None else (weakref.ref(scope.run), witness.on_disk(name))
        ours = _module(sys._getframe(1)).startswith("reenact.")
        if scope is not None and not ours:
            with suppress(Exception):
                connection.create_function("random", 0, _random)
                connection.create_function("randomblob", 1, _randomblob)
                _give_clock(connection, original)
        if not ours:
            with suppress(Exception):
                if witness.on_disk(name):
                    connection.set_trace_callback(_Statement(witness.name_of(name)))
                elif scope is not None:
                    # It is asked when a statement is compiled: a trace of each one would cost twice as much.
                    connection.set_authorizer(_authorize)
        return connection

    connect.__doc__, connect.__name__, connect.__qualname__ = original.__doc__, "connect", "connect"
    connect.__module__ = "sqlite3"
    names: list[Any] = [module, module.dbapi2]
    for each in names:
        if each.connect is original:
            each.connect = connect


def _module(frame: FrameType | None) -> str:
    """Return the name of the module that connects, past the redirection of files."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name != "reenact.run.files.redirect":
            return name
        frame = frame.f_back
    return ""


def is_followed(thing: Any, run: Run) -> bool:
    """Return True for a connection, or a cursor of one, that needs no further record.

    It was opened in that run: a database in memory is state of the program, and the use of one on disk is noted at each
    statement. A fork asks before a tool changes one on disk.
    """
    known = _opened.get(id(getattr(thing, "connection", thing)))
    return known is not None and known[0]() is run and not (known[1] and run.forked)


def _random() -> int:
    number: int = draw("entropy:sqlite", _number)
    return number


def _number() -> int:
    return int.from_bytes(os.urandom(8), "big", signed=True)


def _randomblob(size: int) -> bytes:
    data: bytes = draw("entropy:sqlite.blob", lambda: os.urandom(max(size, 1)))
    return data


# -- the clock -----------------------------------------------------------------------------------------------

_MOMENTS = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
_KEYWORDS = {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}


def _give_clock(connection: Any, connect: Callable[..., Any]) -> None:
    """Replace SQLite's functions of time: now is recorded, SQLite computes the rest."""
    compute = _Calculator(connect)

    def at(name: str, *arguments: Any) -> Any:
        place = 1 if name == "strftime" else 0
        given = arguments[place : place + 1]
        if not given:
            arguments = (*arguments, _now()) if len(arguments) == place else arguments
        elif isinstance(given[0], str) and given[0].strip().lower() == "now":
            arguments = (*arguments[:place], _now(), *arguments[place + 1 :])
        return compute(name, arguments)

    for name in _MOMENTS:
        with suppress(Exception):
            # An older SQLite lacks some of them.
            compute(name, ("%s", "2000-01-01") if name == "strftime" else ("2000-01-01",))
            connection.create_function(name, -1, partial(at, name), deterministic=True)
    for keyword, name in _KEYWORDS.items():
        connection.create_function(keyword, 0, partial(at, name), deterministic=True)


class _Calculator:
    """Has SQLite itself compute its functions of time, in a database in memory."""

    def __init__(self, connect: Callable[..., Any]) -> None:
        self._database = connect(":memory:", check_same_thread=False)
        self._guard = allocate_lock()

    def __call__(self, name: str, arguments: tuple[Any, ...]) -> Any:
        with self._guard:
            marks = ",".join("?" * len(arguments))
            return self._database.execute(f"select {name}({marks})", arguments).fetchone()[0]

    def __del__(self) -> None:
        # Python 3.13 warns of connections that are not closed; this one is no fault of the program.
        self._database.close()


def _now() -> str:
    moment = draw("clock:sqlite", time.time_ns)
    seconds, rest = divmod(moment, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{rest // 10**6:03d}"


_ATTACH = 24
"""SQLite's number of that act."""

_FILES = lazy(r"\s*(?:attach\s+(?:database\s+)?|vacuum\s+(?:\w+\s+)?into\s+)'((?:[^']|'')+)'", re.IGNORECASE)
"""A statement that opens a further database, with its name."""


class _Statement:
    """Notes that a tool uses a database, and tells of further ones that a statement opens.

    Args:
        name: The path of the connection's own database.
    """

    def __init__(self, name: str) -> None:
        self._path = name

    def __call__(self, statement: str) -> None:
        if statement[:1] in "aAvV \n\t" and (found := _FILES.match(statement)) is not None:
            _opens(found[1].replace("''", "'"), sys._getframe(1))
        _uses(self._path)


def _authorize(act: int, first: str | None, *_: Any) -> int:
    """Allow all that a statement does; note each further database."""
    if act == _ATTACH and first:
        _opens(first, sys._getframe(1))
    return 0


def _opens(name: str, frame: FrameType) -> None:
    if witness.on_disk(name):
        file_uses.opens_database(witness.name_of(name), frame)
        _uses(witness.name_of(name))


def _uses(path: str) -> None:
    scope = current()
    if scope is not None and scope.tool is not None:
        files = scope.run.files
        kept = files is not None and not files.busy and files.keeps(path)
        scope.tool.saw(f"uses the database {Path(path).name}", kept=kept)
