"""Signed addresses of videos, exports and reports, valid for a while without a key.

Pages give them to players, and people send them to each other. The server serves the files, or an object store does.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Protocol

from fastapi import Depends, Request

from reenact.browser.session.signatures import Signer

FILES = "/files"
"""The path prefix of files that the server lends."""


class Links(Protocol):
    """Serves files at signed addresses."""

    def lend(self, name: str, path: Path, seconds: float) -> tuple[str, datetime]:
        """Make a file readable for a while at an address without a key.

        Args:
            name: The file's name for the reader: `session 1.mp4`. Its suffix selects the content type.
            path: The file. It is not copied, and may be replaced or removed at any time.
            seconds: The validity of the address.

        Returns:
            The address, and the moment it expires. An address that begins with `/` is on this server.
        """
        ...


class HomeLinks:
    """Serves the files of a folder. The address contains all data; nothing is stored.

    Args:
        home: The folder; all files below it may be served.
        signer: Signs the addresses.
    """

    def __init__(self, home: Path, signer: Signer) -> None:
        self._home = home
        self._signer = signer

    def lend(self, name: str, path: Path, seconds: float) -> tuple[str, datetime]:
        """Do as `Links.lend`. Raises ValueError, a programming error, for a file outside the home."""
        inside = path.absolute().relative_to(self._home.absolute())
        return self._signer.sign(f"{FILES}/{inside.as_posix()}/{_plain(name)}", seconds=seconds)

    def lent(self, path: str, expires: str, signature: str) -> Path | None:
        """Return the file of an address, existing or not; None if it is invalid or expired."""
        if not self._signer.allows(path, expires, signature):
            return None
        # Even with a valid signature, only files in the home are served.
        inside = PurePosixPath(path).relative_to(FILES).parent
        file = (self._home / inside).resolve()
        return file if file.is_relative_to(self._home.resolve()) else None


def _plain(name: str) -> str:
    plain = "".join(letter if letter.isprintable() and letter not in '/\\"' else "_" for letter in name)
    return plain if plain.strip(".") else "file"


def _links(request: Request) -> Links:
    links: Links = request.app.state.links
    return links


Lender = Annotated[Links, Depends(_links)]
"""The dependency of routes that lend files: `def route(access: Reader, links: Lender)`."""
