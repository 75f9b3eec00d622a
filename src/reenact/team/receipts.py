"""Receipts of deletions in the object store, beside the blobs: `PROJECT/receipts/ID.json`.

They outlive the database, so that a restored backup does not bring back recordings that were deleted after it was made.
"""

from __future__ import annotations

from typing import Any

import obstore
import orjson
from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from reenact.core.model.storable import integer, storable
from reenact.core.store.writer import warn
from reenact.core.trust.identity import public_of, signature_of, signed_by
from reenact.errors import MissingExtra
from reenact.team.columns import fit
from reenact.team.objects import kept, path_of
from reenact.team.tables import BLOBS, CLOCK, PROJECT_KEYS, PROJECTS, RECORDINGS, TOMBSTONES

_AT_ONCE = 500
_SHORT = 1000

Receipt = dict[str, Any]
"""The receipt of a deletion; docs/team.md lists its members."""


SIGNED = "signed"
"""The member with the signature: the key, and the signature of all other members."""


def sign(receipt: Receipt, seed: bytes) -> Receipt:
    """Return a receipt with the project's signature. Raises ImportError."""
    bare = {name: value for name, value in receipt.items() if name != SIGNED}
    return {**bare, SIGNED: {"key": public_of(seed), "signature": signature_of(seed, _content(bare))}}


def problem(receipt: Receipt, key: str) -> str:
    """Return the reason not to trust a receipt, or "".

    Args:
        receipt: The receipt that was read.
        key: The public key of the project.
    """
    signed = receipt.get(SIGNED)
    if not isinstance(signed, dict):
        return "it is not signed: it was made before receipts were signed, or forged"
    if not key or signed.get("key") != key:
        return "it is signed with another key than the project's: it was forged"
    try:
        good = signed_by(key, _content(receipt), signed.get("signature"))
    except ImportError:
        return f"its signature cannot be checked: {MissingExtra('a signature', 'sign')}"
    return "" if good else "its signature does not fit: it was changed after it was signed"


def _claimed(receipt: Receipt) -> str:
    signed = receipt[SIGNED]
    return str(signed.get("key")) if isinstance(signed, dict) else ""


def _content(receipt: Receipt) -> bytes:
    bare = {name: value for name, value in receipt.items() if name != SIGNED}
    return orjson.dumps(bare, option=orjson.OPT_SORT_KEYS)


def obey(connection: Connection, store: Any) -> list[str]:
    """Repeat the deletions that were made after a dump, from their receipts.

    Returns `project/id` of each.

    Args:
        connection: The connection, in its transaction, with the tables of this version.
        store: The object store, with its receipts.
    """
    gone: list[str] = []
    asked = select(PROJECTS.c.key, PROJECTS.c.name, PROJECT_KEYS.c.public)
    asked = asked.join_from(PROJECTS, PROJECT_KEYS, PROJECTS.c.key == PROJECT_KEYS.c.project, isouter=True)
    for project in connection.execute(asked).all():
        found = {}
        for receipt in kept(store, project.name):
            # Receipts of versions that did not sign them are obeyed, too, and those of a key that is newer than the
            # dump.
            if SIGNED in receipt and (why := problem(receipt, project.public or _claimed(receipt))):
                warn(f"the receipt of {project.name}/{receipt['id']} is not obeyed: {why}")
            else:
                found[receipt["id"]] = receipt
        ids = sorted(found)
        for at in range(0, len(ids), _AT_ONCE):
            some = ids[at : at + _AT_ONCE]
            rows = [row for id in some if (row := _row(project.key, found[id])) is not None]
            if rows:
                connection.execute(insert(TOMBSTONES).on_conflict_do_nothing(), rows)
            lasting = select(TOMBSTONES.c.id).where(
                TOMBSTONES.c.project == project.key,
                TOMBSTONES.c.until > CLOCK,
                TOMBSTONES.c.id == func.any(some),
            )
            mine = RECORDINGS.c.project == project.key, RECORDINGS.c.id.in_(lasting)
            had = select(BLOBS.c.address).join_from(BLOBS, RECORDINGS).where(*mine)
            addresses = set(connection.execute(had).scalars())
            back = connection.execute(delete(RECORDINGS).where(*mine).returning(RECORDINGS.c.id)).scalars()
            gone += [f"{project.name}/{id}" for id in back]
            named = (
                select(BLOBS.c.address)
                .join_from(BLOBS, RECORDINGS)
                .where(RECORDINGS.c.project == project.key)
            )
            still = set(
                connection.execute(named.where(BLOBS.c.address == func.any(list(addresses)))).scalars()
            )
            for address in addresses - still:
                obstore.delete(store, path_of(project.name, address))
    return gone


def _row(project: int, receipt: Receipt) -> dict[str, Any] | None:
    at, until = integer(receipt.get("at")), integer(receipt.get("until"))
    if at is None or until is None:
        return None
    why, who = (fit(storable(str(receipt.get(name) or ""), _SHORT)) for name in ("why", "who"))
    text = orjson.dumps(receipt).decode()
    return {
        "project": project, "id": receipt["id"], "at": at, "until": until, "why": why, "who": who, "receipt": fit(text)
    }  # fmt: skip
