"""Split recorded and foreign addresses; tell IP addresses from names.

Python's `urlsplit` raises ValueError for some, such as `http://[x]/`.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split_address(url: str) -> SplitResult:
    """Split an address; of one that is not valid, the part up to `?` or `#` is its path."""
    try:
        return urlsplit(url)
    except ValueError:
        rest, _, fragment = url.partition("#")
        path, _, query = rest.partition("?")
        return SplitResult("", "", path, query, fragment)


def is_address(name: str) -> bool:
    """Return True for an IP address, without brackets and port."""
    import ipaddress  # noqa: PLC0415 - servers alone ask

    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
