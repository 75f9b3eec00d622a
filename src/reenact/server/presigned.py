"""Serve videos at signed addresses from the object store of a team's store.

The store must sign addresses (S3, Google's, Azure's). The address on this server redirects to one of the store that
expires with it. So a video is uploaded to the store only when it is fetched, and while the store is away the server
itself sends it.

Only videos are redirected, because the bytes from the store are not checked. A player can only show them, but exports,
reports, scripts and other files of jobs are opened, imported or run, so the server itself sends them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from reenact.errors import StoreAway
from reenact.server.keys import DEFAULT
from reenact.team.objects import Lent, ObjectBlobs

THERE = (".mp4",)
"""The types of files that are redirected to the store."""


class PresignedFiles:
    """Signed addresses of a server's files in an object store.

    Args:
        home: The server's home.
        objects: The address of the object store.
    """

    def __init__(self, home: Path, objects: str) -> None:
        self._home = home.resolve()
        self._objects = objects
        self._lock = threading.Lock()
        self._stores: dict[str, ObjectBlobs] = {}
        self._brought: dict[tuple[str, str, int, int], Lent] = {}

    def address(self, file: Path, name: str, headers: dict[str, str], expires: str) -> str | None:
        """Return the store's address of a file, or None if the store is away.

        Args:
            file: A file in the home.
            name: The file's name for the client.
            headers: The `Content-Type` and `Content-Disposition` of the answer.
            expires: The end of its validity, in seconds since 1970.
        """
        seconds = int(expires) - int(time.time())
        if not name.endswith(THERE) or seconds <= 0:
            return None
        with contextlib.suppress(StoreAway, OSError):
            store = self._store(self._project(file))
            return store.lent_url(self._there(store, file, name, headers), seconds) if store.signs else None
        return None

    def origin(self) -> str:
        """Return `https://host` of the store's signed addresses; empty if it does not sign any."""
        with contextlib.suppress(StoreAway):
            url = self._store(DEFAULT).url(f"sha256:{'0' * 64}", 1)
            if url is not None:
                parts = urlsplit(url)
                return f"{parts.scheme}://{parts.netloc}"
        return ""

    def _there(self, store: ObjectBlobs, file: Path, name: str, headers: dict[str, str]) -> str:
        """Return the file's name in the store; upload it if it is missing or was changed."""
        state = file.stat()
        known = (str(file), name, state.st_mtime_ns, state.st_size)
        lent = self._brought.get(known)
        if lent is None or not store.keeps(lent):
            lent = store.lend(file, headers)
            if len(self._brought) > 1000:
                self._brought.clear()
            self._brought[known] = lent
        return lent.path

    def _store(self, project: str) -> ObjectBlobs:
        with self._lock:
            if project not in self._stores:
                self._stores[project] = ObjectBlobs(self._objects, project)
            return self._stores[project]

    def _project(self, file: Path) -> str:
        parts = file.relative_to(self._home).parts
        return parts[1] if parts[0] == "projects" and len(parts) > 2 else DEFAULT
