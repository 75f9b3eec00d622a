"""Keep a fleet's outcomes by recording, code and options.

After an interruption, `--resume` replays only the rest; engines may report a task twice if a worker is lost.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Self

import orjson

from reenact.core import git, private
from reenact.core.dataclass import dataclass
from reenact.verbs.verify.crew import CrewOptions, Report

_FILE = "verify.sqlite"
_TABLE = (
    "CREATE TABLE IF NOT EXISTS outcomes (recording TEXT, code TEXT, job TEXT, report BLOB, "
    "PRIMARY KEY (recording, code, job)) WITHOUT ROWID"
)
_CODE = (".py", ".toml", ".json", ".yaml", ".yml", ".txt", ".cfg", ".ini", ".md", ".jinja", ".j2")
"""The file suffixes that count as code without git: prompts and settings too."""
_MANY = 20_000
"""The maximum number of files examined without git: the folder may be no program."""
_SKIPPED = {"node_modules", "__pycache__", "site-packages", "build", "dist"}


@dataclass(frozen=True, slots=True)
class OutcomeKey:
    """The recording, the code and the options of a replay."""

    recording: str
    code: str
    job: str

    @classmethod
    def of(cls, path: Path, code: str, job: CrewOptions) -> OutcomeKey:
        """Return the key of a recording at a path; it changes with the recording's files."""
        files = sorted(path.glob("events*.jsonl")) if path.is_dir() else [path]
        signature = [(file.name, (stat := file.stat()).st_size, stat.st_mtime_ns) for file in files]
        return cls.named(f"{path.name} {_digest(orjson.dumps(signature))}", code, job)

    @classmethod
    def named(cls, recording: str, code: str, job: CrewOptions) -> OutcomeKey:
        """Return the key of a recording that has another name once it has changed."""
        options = orjson.dumps([job.entry, job.words, job.timeout], default=repr, option=orjson.OPT_SORT_KEYS)
        return cls(recording, code, _digest(options))


class KeptOutcomes:
    """The outcomes of a home, for a `with` statement. In memory if they cannot be written."""

    def __init__(self, home: Path) -> None:
        try:
            private.folder(home)
            # The reports hold recorded content.
            (home / _FILE).touch(0o600)
            self._database = self._opened(home / _FILE)
        except (OSError, sqlite3.Error):
            self._database = self._opened(":memory:")

    @staticmethod
    def _opened(place: Path | str) -> sqlite3.Connection:
        database = sqlite3.connect(place, timeout=20, check_same_thread=False, isolation_level=None)
        # Outcomes that a power cut destroys are found again by replays.
        database.execute("PRAGMA synchronous = OFF")
        database.execute(_TABLE)
        return database

    def get(self, key: OutcomeKey) -> Report | None:
        """Return the kept report, or None."""
        row = self._database.execute(
            "SELECT report FROM outcomes WHERE recording = ? AND code = ? AND job = ?",
            (key.recording, key.code, key.job),
        ).fetchone()
        found: Report | None = orjson.loads(row[0]) if row is not None else None
        return found

    def put(self, key: OutcomeKey, report: Report) -> None:
        """Keep a report; it replaces an earlier one."""
        self._database.execute(
            "INSERT INTO outcomes VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET report = excluded.report",
            (key.recording, key.code, key.job, orjson.dumps(report, default=repr)),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()


def code_version(folder: Path, home: Path | None = None) -> str:
    """Return a digest of a folder's present code, committed or not, without recordings."""
    digest = hashlib.sha256()
    leave = home.resolve() if home is not None else None
    for name in sorted(_files(folder)):
        path = folder / name
        if leave is not None and leave in path.resolve().parents:
            continue
        if path.is_file():
            digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _files(folder: Path) -> Iterator[str]:
    try:
        known = git.asked(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard", seconds=20)
    except (OSError, subprocess.SubprocessError):
        yield from islice(_walked(folder), _MANY)
        return
    yield from (name for name in known.decode("utf-8", "surrogateescape").split("\0") if name)


def _walked(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED]
        for name in files:
            if name.endswith(_CODE):
                yield str((Path(place) / name).relative_to(folder))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
