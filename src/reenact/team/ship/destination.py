"""Where recordings are sent: a server, and the key that it knows us by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from reenact.errors import UsageError

SERVER, KEY = "REENACT_SERVER", "REENACT_API_KEY"


@dataclass(frozen=True, slots=True)
class Destination:
    """A server, and a key.

    Attributes:
        server: Its address, `https://reenact.example.com`.
        key: The API key; empty for a server on this machine that asks for none. It is in no file of ours.
    """

    server: str
    key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """What it is called in files: recordings for another key (another project) are not sent by this one."""
        return hashlib.sha256(f"{self.server}\0{self.key}".encode()).hexdigest()[:12]

    @property
    def headers(self) -> dict[str, str]:
        """What says who we are."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Destination | None:
        """What the environment names; None where it names none. Raises UsageError where that is no server."""
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
            raise UsageError(f"{SERVER} is an address and no more; the key goes into {KEY}")
        key = environ.get(KEY, "").strip()
        if not key.isascii() or not key.isprintable():
            raise UsageError(f"{KEY} holds characters that no key has; copy it again")
        return cls(server, key)
