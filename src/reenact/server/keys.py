"""API keys, which give access to a server. Only hashes are stored.

A key is 256 random bits, so a plain SHA-256 reveals nothing, and the slow hashes of passwords are not needed. Each
request looks its key up, so a revoked key fails from the next request on.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import sqlite3
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from reenact.core.trust.identity import Identity, keys_folder
from reenact.errors import UsageError

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = ("read", "write", "admin")
"""The roles in ascending order: each includes the rights of those before it."""

DEFAULT = "default"
"""The project whose recordings are in the home itself."""

FILE = "keys.sqlite"
"""The file of the keys, in the server's home."""

_PROJECT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_MARK = "rnt"
_NOTED = 60.0
"""Seconds between two updates of a key's last use."""

_Row = tuple[str, str, Role, str, str, str | None]
_FIELDS = "id, project, role, name, created, used"


@dataclass(frozen=True, slots=True)
class StoredKey:
    """The stored data of a key, without its secret.

    Attributes:
        id: Its public part, near its beginning: `rnt_ID_…`.
        project: Its project.
        role: Its rights in that project.
        name: Its owner or purpose.
        created: The moment of its creation: ISO 8601, UTC.
        used: The moment of its last use, to the minute; None for never.
    """

    id: str
    project: str
    role: Role
    name: str
    created: str
    used: str | None

    @property
    def prefix(self) -> str:
        """The beginning of the key: it identifies the key and gives no access."""
        return f"{_MARK}_{self.id}"


def project_name(text: str) -> str:
    """Check a project's name, which becomes a folder's. Raises UsageError if invalid."""
    if not _PROJECT.fullmatch(text):
        raise UsageError(
            f"{text!r} is not a valid project name: use small letters, digits, - and _, at most 63 characters"
        )
    return text


class Keys:
    """The keys of a server. May be used by several threads and processes at once.

    Args:
        home: The server's home. Nothing is written to it until a key is made.
    """

    def __init__(self, home: Path) -> None:
        self.file = home / FILE
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._noted: dict[str, float] = {}

    def make(self, *, role: Role, project: str = DEFAULT, name: str = "") -> tuple[StoredKey, str]:
        """Make a key. Returns its stored data, and the key itself, which is not stored."""
        id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        key = StoredKey(id, project_name(project), role, name, _now(), None)
        text = f"{_MARK}_{id}_{secret}"
        self._ask(
            "INSERT INTO keys (id, project, role, name, created, hash) VALUES (?, ?, ?, ?, ?, ?)",
            id, project, role, name, key.created, _hashed(text), make=True,
        )  # fmt: skip
        return key, text

    def all(self, project: str | None = None) -> list[StoredKey]:
        """Return the keys of a project, or of all projects, the oldest first."""
        where, given = ("WHERE project = ? ", (project,)) if project is not None else ("", ())
        rows = self._ask(f"SELECT {_FIELDS} FROM keys {where}ORDER BY created, rowid", *given)  # noqa: S608
        return [StoredKey(*row) for row in rows]

    def remove(self, id: str, project: str | None = None) -> bool:
        """Revoke a key. Returns True if it existed, in that project."""
        where, given = (" AND project = ?", (project,)) if project is not None else ("", ())
        found = self._ask(f"DELETE FROM keys WHERE id = ?{where} RETURNING id", id, *given)  # noqa: S608
        return bool(found)

    def find(self, text: str) -> StoredKey | None:
        """Return the data of a key; None if it is invalid or revoked."""
        rows = self._ask(f"SELECT {_FIELDS} FROM keys WHERE hash = ?", _hashed(text))  # noqa: S608
        return self._used(rows)

    def known(self, id: str) -> StoredKey | None:
        """Return the key of an id in a checked cookie; None if it was revoked."""
        return self._used(self._ask(f"SELECT {_FIELDS} FROM keys WHERE id = ?", id))  # noqa: S608

    def close(self) -> None:
        """Close the file. May be called again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _used(self, rows: list[_Row]) -> StoredKey | None:
        if not rows:
            return None
        key, now = StoredKey(*rows[0]), time.monotonic()
        if now - self._noted.get(key.id, -_NOTED) >= _NOTED:
            self._noted[key.id] = now
            # A valid key must work on a full or read-only disk.
            with contextlib.suppress(UsageError):
                self._ask("UPDATE keys SET used = ? WHERE id = ?", _now(), key.id)
        return key

    def _ask(self, statement: str, *given: object, make: bool = False) -> list[_Row]:
        with self._lock:
            try:
                if self._database is None:
                    if not make and not self.file.exists():
                        return []
                    self._database = self._open()
                return self._database.execute(statement, given).fetchall()
            except (sqlite3.Error, OSError) as error:
                raise UsageError(f"{self.file}: {getattr(error, 'strerror', None) or error}") from None

    def _open(self) -> sqlite3.Connection:
        home = self.file.parent
        if self.file.exists():
            identity = Identity.of(home)
        else:
            identity = Identity.made(home)
            # Write under another name, so that a starting server finds a complete file or none.
            part = self.file.with_name(f".{FILE}.{secrets.token_hex(4)}.part")
            os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            with contextlib.closing(sqlite3.connect(part)) as database:
                database.execute(f"PRAGMA application_id = {identity.stamp(FILE)}")
            with contextlib.suppress(FileExistsError):
                os.link(part, self.file)
            part.unlink()
        database = sqlite3.connect(self.file, timeout=5, isolation_level=None, check_same_thread=False)
        (stamp,) = database.execute("PRAGMA application_id").fetchone()
        if identity is None or stamp != identity.stamp(FILE):
            database.close()
            raise UsageError(
                f"{self.file} was made by another user or on another machine, and its keys open nothing here: bring "
                f"that user's {keys_folder()} too, or delete the file and make new keys"
            )
        database.execute(
            "CREATE TABLE IF NOT EXISTS keys (id TEXT PRIMARY KEY, project TEXT NOT NULL, role TEXT NOT NULL, "
            "name TEXT NOT NULL, created TEXT NOT NULL, used TEXT, hash TEXT NOT NULL UNIQUE)"
        )
        return database


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
