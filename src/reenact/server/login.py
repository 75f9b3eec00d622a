"""Logins of browsers: a signed cookie that names a key, valid for a while.

Browsers cannot send the key in a header of the console's streams, so the console uses a cookie. It does not contain the
key: a thief can use the cookie until it expires or the key is revoked, but does not learn the key.
"""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from reenact.browser.session.signatures import Signer

COOKIE = "reenact_login"
DAYS = 30


class Logins:
    """Makes and reads cookies.

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
        """Return the id of a cookie's key; None if the cookie is invalid or expired."""
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
    # No file has such a path, so a signed file address is no valid cookie, and vice versa.
    return f"login:{id}"
