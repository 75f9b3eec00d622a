"""Split recorded and foreign addresses.

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
