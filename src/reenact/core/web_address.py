"""Split recorded and foreign addresses; tell IP addresses from names.

Python's `urlsplit` raises ValueError for some, such as `http://[x]/`.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from reenact.core.patterns import lazy

_LOCAL = lazy(r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(\d{1,5})(?:/|\Z)")


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


def local_port(place: str) -> int | None:
    """Return the port of `host:port/path` if the host is a usual name of this machine."""
    found = _LOCAL.match(place)
    return None if found is None else int(found[1])
