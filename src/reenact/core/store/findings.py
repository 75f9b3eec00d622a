"""Cache the findings of rules, by the state of the examined files, in one SQLite file.

It is made from the recordings, and made again if it is missing or damaged.
"""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

import orjson

VERSION = 2

Found = tuple[tuple[str, int | None], ...]
"""Findings: the rule of each, and the step, or None for the whole run."""


class Findings:
    """The findings of one store's recordings. May be used from any thread.

    Args:
        root: The store's folder.
    """

    def __init__(self, root: Path) -> None:
        self._file = root / "findings.sqlite"
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, Found]] | None = None
        self._settings = ""

    def under(self, settings: str) -> None:
        """Set the rules and their settings: findings under other settings do not count."""
        with self._lock:
            if settings != self._settings:
                self._settings = settings
                self._known = None

    def of(self, folder: str, signature: str) -> Found | None:
        """Return the findings of a recording in that file state, or None if it was not examined."""
        with self._lock:
            known = self._all().get(folder)
        return known[1] if known is not None and known[0] == signature else None

    def told(self, folder: str, signature: str) -> dict[str, Any] | None:
        """Return the findings in words, as given to `keep`."""
        if self.of(folder, signature) is None:
            return None
        with (
            self._lock,
            contextlib.suppress(sqlite3.Error, OSError),
            contextlib.closing(self._open()) as database,
        ):
            row = database.execute("SELECT told FROM findings WHERE folder = ?", [folder]).fetchone()
            return dict(orjson.loads(row[0])) if row is not None else None
        return None

    def keep(self, folder: str, signature: str, found: Found, told: dict[str, Any]) -> None:
        """Keep the findings and their words. If that cannot be written, they last for this process."""
        with self._lock:
            self._all()[folder] = signature, found
            row = [
                folder,
                signature,
                self._settings,
                orjson.dumps(found).decode(),
                orjson.dumps(told).decode(),
            ]
            with (
                contextlib.suppress(sqlite3.Error, OSError),
                contextlib.closing(self._open()) as database,
                database,
            ):
                database.execute("INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?, ?)", row)

    def _all(self) -> dict[str, tuple[str, Found]]:
        if self._known is None:
            try:
                self._known = self._stored()
            except (sqlite3.Error, OSError, ValueError):
                self._known = {}
                with contextlib.suppress(OSError):
                    self._file.unlink(missing_ok=True)
        return self._known

    def _stored(self) -> dict[str, tuple[str, Found]]:
        if not self._file.exists():
            return {}
        with contextlib.closing(self._open()) as database:
            rows = database.execute(
                "SELECT folder, signature, found FROM findings WHERE settings = ?", [self._settings]
            ).fetchall()
        return {
            folder: (
                signature,
                tuple((sys.intern(str(rule)), step) for rule, step in orjson.loads(found))
                if found != "[]"
                else (),
            )
            for folder, signature, found in rows
        }

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._file, timeout=20)
        if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            database.executescript(
                f"""
                DROP TABLE IF EXISTS findings;
                CREATE TABLE findings (folder TEXT PRIMARY KEY, signature TEXT, settings TEXT, found TEXT, told TEXT);
                PRAGMA user_version = {VERSION};
                """
            )
            self._file.chmod(0o600)
        return database
