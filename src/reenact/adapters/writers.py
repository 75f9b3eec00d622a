"""Libraries that write without being recorded: drivers of databases and queues.

A tool may get a connection of such a library as an argument: its own code then does not name the library.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

from reenact.adapters.stdlib import callers

DRIVERS = {
    "MySQLdb", "aiomysql", "aiopg", "aiosqlite", "asyncpg", "chromadb", "confluent_kafka", "curl_cffi", "cx_Oracle",
    "duckdb", "grpc", "kuzu", "lancedb", "lmdb", "mysql", "oracledb", "pika", "primp", "psycopg", "psycopg2", "pycurl",
    "pymongo", "pymssql", "pynng", "pyodbc", "redis", "rocksdb", "serial", "tls_client", "valkey", "zmq",
}  # fmt: skip
"""Unrecorded packages that write to machines, devices or databases, by import name."""

WRITERS = {*DRIVERS, "sqlite3"}
"""The drivers, and `sqlite3`, whose databases are recorded."""

_MOST = 2000


def writers_near(function: types.FunctionType) -> str:
    """Return a writing library that the modules around a tool use; empty if they use none."""
    pending = [function.__module__, "__main__"]
    seen: set[str] = set()
    while pending and len(seen) < _MOST:
        name = pending.pop()
        module = sys.modules.get(name)
        if name in seen or module is None:
            continue
        seen.add(name)
        names = callers.namespace(module)
        if callers.module_kind(names) != callers.OWN:
            continue
        for used in _modules(names):
            if used.partition(".")[0] in WRITERS:
                return used.partition(".")[0]
            pending.append(used)
    return ""


def _modules(names: Mapping[str, Any]) -> dict[str, None]:
    """Return the names of the modules that a module's globals are, or are defined in."""
    found: dict[str, None] = {}
    values = list(names.values())
    kinds = list(map(type, values))
    # By id: a type may refuse to be hashed.
    for kind in dict(zip(map(id, kinds), kinds, strict=True)).values():
        if issubclass(kind, types.ModuleType):
            each = (callers.namespace(value).get("__name__", "") for value in values if type(value) is kind)
        elif issubclass(kind, (types.FunctionType, types.BuiltinFunctionType, type)):
            each = (value.__module__ or "" for value in values if type(value) is kind)
        else:
            found[str(kind.__module__)] = None
            continue
        found.update(dict.fromkeys(map(str, each)))
    return found
