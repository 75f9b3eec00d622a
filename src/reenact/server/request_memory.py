"""Limit the bytes of requests that are in memory at once."""

from __future__ import annotations

MOST = 256 << 20
"""Bytes of a project's requests in memory, of uploads and of traces each."""

AGAIN = 1
"""Seconds after which a sender may try again."""


class TooManyRequestsError(Exception):
    """More bytes came at once than are held."""

    def __init__(self) -> None:
        super().__init__("too many requests at once; send this one again later")


class RequestMemory:
    """Counts the bytes of requests, which are in memory until they are answered.

    Args:
        most: The most bytes.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held = 0

    def hold(self, size: int) -> None:
        """Count bytes in memory. Raises TooManyRequestsError."""
        if self._held + size > self._most:
            raise TooManyRequestsError
        self._held += size

    def release(self, size: int) -> None:
        """Release counted bytes."""
        self._held -= size
