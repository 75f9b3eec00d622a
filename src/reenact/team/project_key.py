"""A project's key: members endorse the recordings that they push, and readers check that."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert

from reenact.core.model.log import Log
from reenact.core.store.intake import RECEIVED
from reenact.core.store.local import load
from reenact.core.trust import Book, Provenance, endorsement, origin_of
from reenact.core.trust.identity import public_of, signature_of
from reenact.errors import ReenactError
from reenact.team.database import Database
from reenact.team.tables import PROJECT_KEYS, RECORDINGS

_SEED = 32


def public_key(database: Database) -> str:
    """Return the project's public key; empty if nothing was endorsed yet. Raises StoreAway."""
    asked = select(PROJECT_KEYS.c.public).where(PROJECT_KEYS.c.project == database.project)
    with database.begin() as connection:
        return connection.execute(asked).scalar() or ""


def private_key(database: Database) -> bytes | None:
    """Return the project's private key, created if missing; None without `cryptography`."""
    try:
        return _seed(database)
    except ImportError:
        return None


def examined(home: Path, folders: Mapping[str, Path]) -> Iterator[tuple[str, Sequence[Log], Provenance]]:
    """Yield the id, the events and the origin of each recording that can be read.

    Args:
        home: The home whose keys decide which recordings are at home.
        folders: The recordings' folders, by their ids.
    """
    book = Book(home)
    for id, folder in folders.items():
        # An unreadable recording is listed as broken, and not endorsed.
        with suppress(ReenactError, OSError):
            logs = load(folder).logs
            yield id, logs, book.standing(origin_of(logs, book.identity, folder))


def endorse(database: Database, home: Path, folders: Mapping[str, Path]) -> dict[str, str]:
    """Sign the recordings that are at home here with the project's key. Raises StoreAway.

    Args:
        database: The store, which must have the recordings.
        home: The home whose keys decide which recordings are at home.
        folders: The recordings' folders, by their ids.

    Returns:
        The foreign and changed recordings, which are not endorsed, each with a sentence about its origin.
    """
    statements: dict[str, bytes] = {}
    foreign: dict[str, str] = {}
    for id, logs, standing in examined(home, folders):
        if not standing.at_home:
            foreign[id] = standing.sentence
        elif (signed := endorsement.statement(logs)) is not None:
            statements[id] = signed
    if statements:
        _sign(database, home, statements)
    return foreign


def _sign(database: Database, home: Path, statements: Mapping[str, bytes]) -> None:
    try:
        seed = _seed(database)
        rows = {id: signature_of(seed, signed) for id, signed in statements.items()}
        key = public_of(seed)
    except ImportError:
        return
    Book(home).learn(database.place.project, key)
    with database.begin() as connection:
        for id, signature in sorted(rows.items()):
            connection.execute(
                update(RECORDINGS)
                .where(RECORDINGS.c.project == database.project, RECORDINGS.c.id == id)
                .values(endorser=key, endorsement=signature)
            )


def unendorsed(database: Database, ids: Iterable[str]) -> set[str]:
    """Return the recordings in the store that have no endorsement. Raises StoreAway."""
    asked = database.recordings(RECORDINGS.c.id).where(
        RECORDINGS.c.id == func.any(list(ids)), RECORDINGS.c.endorsement == ""
    )
    with database.begin() as connection:
        return set(connection.execute(asked).scalars())


def adopt(database: Database, home: Path, folders: Mapping[str, Path]) -> None:
    """Store the endorsements of downloaded recordings locally. Raises StoreAway.

    Args:
        database: The store of the recordings.
        home: The home that shall know the project's key.
        folders: The local folders of the recordings, by their ids.
    """
    learn(database, home)
    columns = RECORDINGS.c.id, RECORDINGS.c.endorser, RECORDINGS.c.endorsement
    asked = database.recordings(*columns).where(
        RECORDINGS.c.id == func.any(list(folders)), RECORDINGS.c.endorsement != ""
    )
    with database.begin() as connection:
        rows: Sequence[tuple[str, str, str]] = [(*row,) for row in connection.execute(asked)]
    for id, key, signature in rows:
        if (folders[id] / RECEIVED).is_file():
            # If it cannot be written, the recording stays foreign.
            with suppress(OSError):
                endorsement.write(folders[id], key, signature)


def learn(database: Database, home: Path) -> None:
    """Let a home trust the project's key, unless its user has removed it. Raises StoreAway."""
    if key := public_key(database):
        Book(home).learn(database.place.project, key)


def _seed(database: Database) -> bytes:
    """Return the project's private key, created if missing. Raises StoreAway, ImportError."""
    asked = select(PROJECT_KEYS.c.seed).where(PROJECT_KEYS.c.project == database.project)
    with database.begin() as connection:
        found = connection.execute(asked).scalar()
        if found is None:
            seed = secrets.token_bytes(_SEED)
            new = insert(PROJECT_KEYS).values(project=database.project, seed=seed, public=public_of(seed))
            connection.execute(new.on_conflict_do_nothing())
            found = connection.execute(asked).scalar_one()
    return bytes(found)
