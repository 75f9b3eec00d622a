"""Logins of browsers: a signed cookie that names a key, valid for a while.

The console's streams can send no header of their own, so a key alone is not enough. The cookie does not contain the
key: a thief can use it until it expires or the key is revoked, and does not learn the key.
"""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from reenact.browser.session.signatures import Signer

COOKIE = "reenact_login"
DAYS = 30


class Logins:
    """Makes such cookies and reads them.

    Args:
        signer: Signs them.
    """

    def __init__(self, signer: Signer) -> None:
        self._signer = signer

    def cookie_for(self, id: str) -> str:
        """Return the cookie for the key with this id."""
        address, _ = self._signer.sign(_path(id), seconds=self.seconds)
        asked = parse_qs(urlsplit(address).query)
        return ".".join((id, *asked["expires"], *asked["signature"]))

    def id_of(self, cookie: str) -> str | None:
        """The id of the key that a cookie stands for; None where it is not ours, or has expired."""
        parts = cookie.split(".")
        if len(parts) != 3:
            return None
        id, expires, signature = parts
        return id if self._signer.allows(_path(id), expires, signature) else None

    @property
    def seconds(self) -> int:
        """The validity of a cookie in seconds."""
        return DAYS * 24 * 3600


def _path(id: str) -> str:
    # No file has such a path: what is signed for one use is of none for the other.
    return f"login:{id}"
