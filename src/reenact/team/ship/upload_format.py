r"""The format of uploads: pieces of recordings' files, many in one body.

    {"pieces":[{"recording":"k3v9…","name":"events.jsonl","offset":5120,"length":812}, …],"live":["k3v9…"]}\n
    <the bytes of the first piece><the bytes of the second> …

A piece of a file is whole lines; it is appended if `offset` is the length of the server's file. A blob is a piece, too,
with the name `sha256:…` and the offset 0. Blobs come before the lines that name them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from reenact.core.model.header import ID
from reenact.core.store.base import BLOB, FILE, LARGEST, Piece, PieceTaken, Status

__all__ = [
    "API",
    "BLOB",
    "BODY",
    "FILE",
    "ID",
    "LARGEST",
    "PIECES",
    "TYPE",
    "Malformed",
    "Piece",
    "PieceTaken",
    "Status",
    "packed",
    "unpacked",
]  # fmt: skip

API = "/api/v1"
TYPE = "application/vnd.reenact.pieces"

BODY = LARGEST + (256 << 10)
"""Most bytes of a request's body: the largest blob, and its description."""

PIECES = 500
"""Most pieces in a request."""


class Malformed(ValueError):
    """A malformed body of a request."""


def packed(pieces: Sequence[Piece], live: Sequence[str] = ()) -> bytes:
    """Return the body of a request."""
    told = [
        {"recording": one.recording, "name": one.name, "offset": one.offset, "length": len(one.data)}
        for one in pieces
    ]
    return b"".join(
        [orjson.dumps({"pieces": told, "live": list(live)}), b"\n", *(one.data for one in pieces)]
    )


def unpacked(body: bytes) -> tuple[list[Piece], list[str]]:
    """Split a body into pieces, and the ids of recordings being written.

    Raises Malformed, with the reason.
    """
    head, _, rest = body.partition(b"\n")
    try:
        told = orjson.loads(head)
        listed, live = list(told["pieces"]), list(told.get("live", ()))
        if len(listed) > PIECES:
            raise Malformed(f"{len(listed)} pieces in one request; {PIECES} at most")
        pieces, at = [], 0
        for one in listed:
            piece = _piece(one, rest, at)
            at += len(piece.data)
            pieces.append(piece)
    except Malformed:
        raise
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Malformed("the first line of the body does not list the pieces that follow") from None
    if at != len(rest):
        raise Malformed(f"{len(rest)} bytes follow, but the first line announces {at}")
    return pieces, [str(id) for id in live if isinstance(id, str) and ID.fullmatch(id)]


def _piece(told: Mapping[str, Any], rest: bytes, at: int) -> Piece:
    recording, name, offset, length = (told[key] for key in ("recording", "name", "offset", "length"))
    if not (isinstance(recording, str) and isinstance(name, str)):
        raise TypeError
    if type(offset) is not int or type(length) is not int or not 0 <= offset < 1 << 62 or length < 0:
        raise TypeError
    if at + length > len(rest):
        raise Malformed(f"the body ends within the piece of {name[:80]!r}")
    return Piece(recording, name, offset, rest[at : at + length])
