"""Addresses that are good for a while and need no key: of videos, exports, reports and what jobs have made.

A page gives them to a player, a person sends one to another. With recordings in a folder the server itself answers
them; with object storage the store would, by addresses that it signs. Who lends does not see the difference.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Protocol

from fastapi import Depends, Request

from reenact.browser.session.signing import Signer

FILES = "/files"
"""Under which addresses the server answers for them."""


class Links(Protocol):
    """Lends files."""

    def lend(self, name: str, path: Path, seconds: float) -> tuple[str, datetime]:
        """Make a file readable for a while to whoever has its address.

        Args:
            name: What it is called for who gets it: `session 1.mp4`. Its ending says how it is served.
            path: The file. It stays where it is, and may be replaced or removed at any time.
            seconds: How long the address is good.

        Returns:
            The address, and when it expires. An address that begins with `/` is one of this server.
        """
        ...


class HomeLinks:
    """Lends the files of a folder. Nothing is remembered: what may be read is in the address, and signed.

    Args:
        home: The folder, with all that is in it.
        signer: Signs the addresses.
    """

    def __init__(self, home: Path, signer: Signer) -> None:
        self._home = home
        self._signer = signer

    def lend(self, name: str, path: Path, seconds: float) -> tuple[str, datetime]:
        """As `Links` has it. Raises ValueError for a file that is not in the home: that would be our mistake."""
        inside = path.absolute().relative_to(self._home.absolute())
        return self._signer.sign(f"{FILES}/{inside.as_posix()}/{_plain(name)}", seconds=seconds)

    def lent(self, path: str, expires: str, signature: str) -> Path | None:
        """The file that an address means, existing or not; None where it is not ours, or has expired."""
        if not self._signer.allows(path, expires, signature):
            return None
        # Signed by us or not: what is not in the home is never given out.
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
"""What a route lends by: `def route(access: Reader, links: Lender)`."""
