"""What a Reenact that knows the first version of the tables asks of them, word for word, and no newer one does.

Servers of that version run on while somebody else upgrades: these are what they go on asking.
"""

from __future__ import annotations

import time

LINE = [
    "id",
    "bytes",
    "written",
    "moment",
    "broken",
    "name",
    "status",
    "started",
    "entry",
    "duration",
    "steps",
    "failed",
    "models",
    "input_tokens",
    "output_tokens",
    "cost",
    "tags",
    "problem",
]
STEP = [
    "number",
    "kind",
    "label",
    "ended",
    "scope",
    "duration",
    "model",
    "calls",
    "input_tokens",
    "output_tokens",
    "cost",
    "error",
]
SOME = 200


class Client:
    """One connection of it.

    Args:
        connection: A connection of psycopg's.
        project: The project's key.
    """

    def __init__(self, connection, project):
        self._ask = connection.execute
        self._project = project

    def list(self):
        """The newest on their lines, by the versions of all."""
        found = self._ask(
            "SELECT id, version FROM reenact.recordings WHERE project = %s AND version > 0", [self._project]
        ).fetchall()
        newest = [id for id, _ in sorted(found, key=lambda row: -row[1])[:SOME]]
        lines = self._ask(
            f"SELECT key, {', '.join(LINE)} FROM reenact.recordings WHERE project = %s AND id = ANY(%s) AND known = version",
            [self._project, newest],
        ).fetchall()
        assert lines
        return len(found)

    def search(self):
        """What an index fetches of recordings that are new to it."""
        (last,) = self._ask("SELECT max(key) FROM reenact.recordings").fetchone()
        keys = list(range(last - SOME, last))
        steps = self._ask(
            f"SELECT recording, {', '.join(STEP)} FROM reenact.steps WHERE recording = ANY(%s) ORDER BY recording, number",
            [keys],
        ).fetchall()
        packed = self._ask(
            "SELECT recording, data FROM reenact.details WHERE recording = ANY(%s) ORDER BY recording, part",
            [keys],
        ).fetchall()
        assert steps
        assert packed
        return len(steps)

    def open(self):
        """A recording's lines."""
        key, name, length = self._ask(
            "SELECT r.key, f.name, f.length FROM reenact.recordings r JOIN reenact.files f ON f.recording = r.key "
            "WHERE r.project = %s ORDER BY r.key LIMIT 1", [self._project],
        ).fetchone()  # fmt: skip
        self._ask("SELECT address FROM reenact.blobs WHERE recording = %s", [key]).fetchall()
        data = self._ask(
            "SELECT at, data FROM reenact.chunks WHERE recording = %s AND name = %s AND at + length(data) > 0 "
            "ORDER BY at LIMIT 200", [key, name],
        ).fetchall()  # fmt: skip
        assert sum(len(some) for _, some in data) == length

    def write(self, id, lines, made=None):
        """Take a recording in; with what is made of it by a reader, write that down too."""
        (key,) = self._ask(
            "INSERT INTO reenact.recordings (project, id, version) VALUES (%s, %s, 0) RETURNING key",
            [self._project, id],
        ).fetchone()
        self._ask("INSERT INTO reenact.chunks VALUES (%s, 'events.jsonl', 0, %s)", [key, lines])
        self._ask("INSERT INTO reenact.files VALUES (%s, 'events.jsonl', %s)", [key, len(lines)])
        self._ask(
            "UPDATE reenact.recordings SET version = nextval('reenact.versions'), written = %s, bytes = %s WHERE key = %s",
            [time.time_ns(), len(lines), key],
        )
        if made is None:
            return
        line, steps, blocks = made
        names = [name for name in LINE if name not in {"id", "bytes", "written"}]
        values = [list(value) if isinstance(value := getattr(line, name), tuple) else value for name in names]
        self._ask(
            f"UPDATE reenact.recordings SET known = version, {', '.join(f'{name} = %s' for name in names)} WHERE key = %s",
            [*values, key],
        )
        for step in steps:
            places = ", ".join(["%s"] * (len(STEP) + 1))
            self._ask(f"INSERT INTO reenact.steps VALUES ({places})", [key, *step])
        for part, data in enumerate(blocks):
            self._ask("INSERT INTO reenact.details VALUES (%s, %s, %s)", [key, part, data])
