"""Record SQLite's random numbers, and note a tool that uses a database opened before it.

No audit event tells of a statement. A database in memory is state of the program, like any other object.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from reenact.adapters.stdlib import witness
from reenact.core.boundary import current, draw


def install(module: ModuleType) -> None:
    """Trace the connections that the program opens from here on."""
    original = module.connect

    def connect(*args: Any, **options: Any) -> Any:
        connection = original(*args, **options)
        name = args[0] if args else options.get("database", "")
        ours = str(sys._getframe(1).f_globals.get("__name__", "")).startswith("reenact.")
        if current() is not None and not ours:
            with suppress(Exception):
                connection.create_function("random", 0, _random)
                connection.create_function("randomblob", 1, _randomblob)
        if witness.on_disk(name) and not ours:
            with suppress(Exception):
                connection.set_trace_callback(_Statement(witness.name_of(name)))
        return connection

    connect.__doc__, connect.__name__, connect.__qualname__ = original.__doc__, "connect", "connect"
    names: list[Any] = [module, module.dbapi2]
    for each in names:
        if each.connect is original:
            each.connect = connect


def _random() -> int:
    number: int = draw("entropy:sqlite", _number)
    return number


def _number() -> int:
    return int.from_bytes(os.urandom(8), "big", signed=True)


def _randomblob(size: int) -> bytes:
    data: bytes = draw("entropy:sqlite.blob", lambda: os.urandom(max(size, 1)))
    return data


class _Statement:
    """Notes that a tool uses a database."""

    def __init__(self, name: str) -> None:
        self._name = Path(name).name

    def __call__(self, statement: str) -> None:
        scope = current()
        if scope is not None and scope.tool is not None:
            scope.tool.saw(f"uses the database {self._name}")
