"""What is handed out at signed addresses comes from the object store itself, where a server stands before a team's
store that signs addresses (S3, Google's, Azure's).

An address stays ours, and leads on to one of the store's that expires with it: who has the first needs no more, a file
is brought to the store when somebody fetches it and not when somebody lists it, and while the store is away the server
answers itself.
"""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from reenact.errors import StoreAway
from reenact.server.keys import DEFAULT
from reenact.team.objects import ObjectBlobs

HERE = (".html", ".vtt")
"""What the server answers itself: pages need a policy of ours to be harmless, and captions are read from the origin of
the page that plays them alone."""

_KEPT = 12 * 3600.0
"""Seconds for which what was brought to the store is known to be there."""


class Lending:
    """Lends a server's files from an object store.

    Args:
        home: The server's home.
        objects: The address of the object store.
    """

    def __init__(self, home: Path, objects: str) -> None:
        self._home = home.resolve()
        self._objects = objects
        self._lock = threading.Lock()
        self._stores: dict[str, ObjectBlobs] = {}
        self._brought: dict[tuple[str, str, int, int], tuple[str, float]] = {}

    def address(self, file: Path, name: str, headers: dict[str, str], expires: str) -> str | None:
        """Where the store gives a file away, until then; None where it does not, or not now.

        Args:
            file: A file in the home.
            name: What it is called for who gets it.
            headers: The `Content-Type` and `Content-Disposition` that it is given away with.
            expires: In seconds since 1970.
        """
        seconds = int(expires) - int(time.time())
        if name.endswith(HERE) or seconds <= 0:
            return None
        with contextlib.suppress(StoreAway, OSError):
            store = self._store(self._project(file))
            return store.lent_url(self._there(store, file, name, headers), seconds) if store.signs else None
        return None

    def origin(self) -> str:
        """`https://host` of what the store signs; empty where it signs nothing."""
        with contextlib.suppress(StoreAway):
            url = self._store(DEFAULT).url(f"sha256:{'0' * 64}", 1)
            if url is not None:
                parts = urlsplit(url)
                return f"{parts.scheme}://{parts.netloc}"
        return ""

    def _there(self, store: ObjectBlobs, file: Path, name: str, headers: dict[str, str]) -> str:
        """The file in the store, brought there where it is not there yet."""
        state = file.stat()
        known = (str(file), name, state.st_mtime_ns, state.st_size)
        key, until = self._brought.get(known, ("", 0.0))
        if time.monotonic() >= until:
            key = store.lend(file, headers)
            if len(self._brought) > 1000:
                self._brought.clear()
            self._brought[known] = key, time.monotonic() + _KEPT
        return key

    def _store(self, project: str) -> ObjectBlobs:
        with self._lock:
            if project not in self._stores:
                self._stores[project] = ObjectBlobs(self._objects, project)
            return self._stores[project]

    def _project(self, file: Path) -> str:
        parts = file.relative_to(self._home).parts
        return parts[1] if parts[0] == "projects" and len(parts) > 2 else DEFAULT
