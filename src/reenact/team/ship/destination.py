"""The destination of recordings: a server, and the key for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from urllib.parse import urlsplit

from reenact.core.dataclass import dataclass
from reenact.errors import UsageError

SERVER, KEY = "REENACT_SERVER", "REENACT_API_KEY"


@dataclass(frozen=True, slots=True)
class Destination:
    """A server, and a key.

    Attributes:
        server: Its address, `https://reenact.example.com`.
        key: The API key; empty for a server on this machine that needs none. It is never written to a file.
    """

    server: str
    key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """The destination's name in files.

        It depends on the key, because another key may be for another project.
        """
        return hashlib.sha256(f"{self.server}\0{self.key}".encode()).hexdigest()[:12]

    @property
    def headers(self) -> dict[str, str]:
        """The headers with the key."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Destination | None:
        """Return the environment's destination, or None.

        Raises UsageError for an invalid address or key.
        """
        server = environ.get(SERVER, "").strip().rstrip("/")
        if not server:
            return None
        try:
            parts = urlsplit(server)
            fit = (
                parts.scheme in {"http", "https"}
                and parts.hostname
                and (parts.port is None or parts.port > 0)
            )
        except ValueError:
            fit = False
        if not fit:
            raise UsageError(f"{SERVER}={server!r} is no address of a server; e.g. http://127.0.0.1:8090")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise UsageError(f"{SERVER} takes only an address; put the key into {KEY}")
        key = environ.get(KEY, "").strip()
        if not key.isascii() or not key.isprintable():
            raise UsageError(f"{KEY} contains characters that are not allowed in a key; copy it again")
        return cls(server, key)
