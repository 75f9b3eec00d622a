"""Back up and restore a team's store: the database by Postgres's tools, and the blobs.

    TARGET/dumps/<when>/database.dump     the output of `pg_dump` for the schema `reenact`
                        manifest.json     written last: without it a dump is not complete
    TARGET/.making/<when>/                an unfinished dump in a folder; it is renamed when it is complete
    TARGET/<project>/blobs/ab/<sha256>    as in the store; stored once for all dumps

The database and the list of its blobs are read in one snapshot. A blob is stored before the line that names it is
committed, so a later copy of the blobs has all of them, even if agents go on writing. Blobs of an earlier backup are
not copied again. A restore copies the blobs first, so that no line can be read before its blob exists.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import obstore
import orjson
import psycopg
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore as Folder
from sqlalchemy import create_engine, text

from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.core.version import VERSION
from reenact.errors import StoreAway, UsageError
from reenact.team.client_programs import database_of, dumped, run, tool
from reenact.team.location import TeamPlace
from reenact.team.objects import opened, path_of
from reenact.team.receipts import obey
from reenact.team.schema import ready
from reenact.team.tables import ANALYZE, META
from reenact.team.unavailable import asking

FORMAT = 1
_SCHEMA = META.schema
_DUMP, _MANIFEST = "database.dump", "manifest.json"
_DUMPS, _MAKING = "dumps", ".making"
_AT_ONCE = 8
_BLOCK = 1 << 20
_AHEAD = 1_000_000

_NAMED = f"""
SELECT DISTINCT p.name, b.address, b.size FROM {_SCHEMA}.blobs b
JOIN {_SCHEMA}.recordings r ON r.key = b.recording JOIN {_SCHEMA}.projects p ON p.key = r.project
ORDER BY p.name, b.address
"""  # noqa: S608 - a schema's name of our own

Said = Callable[[str], None]
"""A function that receives the current activity, in words."""


@dataclass(slots=True)
class BackupResult:
    """The result of a backup or a restore.

    Attributes:
        name: The name of the dump.
        recordings: The number of recordings in the dump.
        bytes: The size of the dump.
        blobs: The number of blobs that it names.
        copied: The number of blobs that were copied.
        copied_bytes: Their size.
        missing: Blobs, `project/sha256:…`, that are missing everywhere, or damaged.
        deleted: Recordings of the dump, `project/id`, that were deleted after it was made, and are left out.
    """

    name: str = ""
    recordings: int = 0
    bytes: int = 0
    blobs: int = 0
    copied: int = 0
    copied_bytes: int = 0
    missing: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)


def backup(
    place: TeamPlace, target: str, *, tools: Path | None = None, say: Said = lambda _: None
) -> BackupResult:
    """Back up a team's store, with all its projects, while it is in use.

    Args:
        place: The store.
        target: The address of an object store, or of a folder.
        tools: The folder of `pg_dump`; by default it is searched for.
        say: Receives the current activity.

    Raises:
        UsageError: There is no `pg_dump` of that Postgres's version, or no store yet.
        StoreAway: One of the three does not answer.
    """
    program = tool("pg_dump", tools)
    kept = opened(target, patient=True)
    found = BackupResult(datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ"))
    making = f"{_MAKING if isinstance(kept, Folder) else _DUMPS}/{found.name}"
    try:
        _make(place, program, kept, found, say=say, making=making)
    except BaseException:
        _dropped(kept, making)
        raise
    return found


def _make(place: TeamPlace, program: str, kept: Any, found: BackupResult, *, making: str, say: Said) -> None:
    """Write the dump, the blobs and the manifest to the target, in this order."""
    source = opened(place.objects, patient=True)
    with _away(place), psycopg.connect(place.database) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        if not _there(connection):
            raise UsageError(f"{place.name} has no recordings yet: there is nothing to back up")
        snapshot = _one(connection, "SELECT pg_export_snapshot()")
        found.recordings = _one(connection, f"SELECT count(*) FROM {_SCHEMA}.recordings WHERE version > 0")  # noqa: S608
        say("the database")
        what = [f"--schema={_SCHEMA}"]
        if _one(connection, "SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'"):
            # The index of words needs the extension.
            what.append("--extension=pg_trgm")
        words = ["--format=custom", *what, "--no-owner", f"--snapshot={snapshot}"]
        digest = hashlib.sha256()
        obstore.put(kept, f"{making}/{_DUMP}", _counted_bytes(dumped(program, place, words), digest, found))
        say("the blobs")
        with connection.cursor("blobs") as rows:
            rows.itersize = 10_000
            _copy(rows.execute(_NAMED), source, kept, found)
        connection.rollback()
        found.missing = [one for one in found.missing if _still(connection, one)]
    manifest = {
        "format": FORMAT, "reenact": VERSION, "made": found.name, "recordings": found.recordings,
        "blobs": found.blobs, "missing": found.missing, "bytes": found.bytes, "sha256": digest.hexdigest(),
    }  # fmt: skip
    with _away(place):
        folder = f"{_DUMPS}/{found.name}"
        if making != folder:
            obstore.rename(kept, f"{making}/{_DUMP}", f"{folder}/{_DUMP}")
        obstore.put(kept, f"{folder}/{_MANIFEST}", orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        _emptied(kept, making)


def _counted_bytes(blocks: Iterator[bytes], digest: Any, found: BackupResult) -> Iterator[bytes]:
    for block in blocks:
        digest.update(block)
        found.bytes += len(block)
        yield block


def _dropped(kept: Any, making: str) -> None:
    """Remove the dump of a failed backup, if possible."""
    with contextlib.suppress(BaseError, OSError):
        obstore.delete(kept, f"{making}/{_DUMP}")
    _emptied(kept, making)


def _emptied(kept: Any, making: str) -> None:
    """Remove the folder of an unfinished backup, with the files of a failed write."""
    if isinstance(kept, Folder) and making.startswith(_MAKING) and kept.prefix is not None:
        shutil.rmtree(Path(kept.prefix) / making, ignore_errors=True)
        with contextlib.suppress(OSError):
            (Path(kept.prefix) / _MAKING).rmdir()


def restore(
    place: TeamPlace, source: str, *, name: str = "", tools: Path | None = None, say: Said = lambda _: None
) -> BackupResult:
    """Restore a backup into a Postgres without recordings.

    Args:
        place: The store; its object store may have some of the blobs already.
        source: The address of the backup.
        name: The name of the dump; by default the newest.
        tools: The folder of `pg_restore`; by default it is searched for.
        say: Receives the current activity.

    Raises:
        UsageError: There are recordings already, or there is no such dump, or it is damaged.
        StoreAway: One of the three does not answer.
    """
    program, kept, target = (
        tool("pg_restore", tools),
        opened(source, patient=True),
        opened(place.objects, patient=True),
    )
    with _away(place), psycopg.connect(place.database) as connection:
        if _there(connection):
            raise UsageError(
                f"{place.name} has recordings already; a backup is restored into an empty database"
            )
    with _away(place), tempfile.TemporaryDirectory(prefix="reenact-") as folder:
        manifest = _manifest(kept, source, name)
        found = BackupResult(manifest["made"], manifest["recordings"], manifest["bytes"])
        say("the dump")
        file = Path(folder) / _DUMP
        _fetched(kept, f"dumps/{found.name}/{_DUMP}", file, manifest["sha256"])
        say("the blobs")
        _copy(_listed_all(kept), kept, target, found)
        say("the database")
        run(
            [
                program,
                "--no-owner",
                "--exit-on-error",
                "--single-transaction",
                *database_of(place),
                str(file),
            ],
            place,
        )
    with _away(place):
        found.deleted = _upgraded(place, target)
        found.blobs, found.missing = 0, []
        with psycopg.connect(place.database) as connection, connection.cursor("blobs") as rows:
            _copy(rows.execute(_NAMED), kept, target, found, fetch=False)
    return found


# -- the database ----------------------------------------------------------------------------------------------------


def _there(connection: psycopg.Connection[Any]) -> bool:
    return _one(connection, f"SELECT to_regclass('{_SCHEMA}.recordings')") is not None


def _still(connection: psycopg.Connection[Any], blob: str) -> bool:
    """Return True if a recording still names a blob: a deletion may have removed both."""
    project, address = blob.split("/", 1)
    asked = f"SELECT 1 FROM ({_NAMED}) AS named WHERE name = %s AND address = %s"  # noqa: S608
    return connection.execute(asked, (project, address)).fetchone() is not None


def _one(connection: psycopg.Connection[Any], asked: Any) -> Any:
    row = connection.execute(asked).fetchone()
    return row[0] if row is not None else None


def _upgraded(place: TeamPlace, objects: Any) -> list[str]:
    """Upgrade the tables, and repeat deletions that came after the dump.

    Returns the recordings deleted.
    """
    engine = create_engine("postgresql+psycopg://" + place.database.partition("://")[2])
    try:
        ready(engine)
        with engine.begin() as connection:
            # Caches identify recordings by their version, so versions given after the dump must not be given again.
            asked = f"SELECT setval('{_SCHEMA}.versions', last_value + {_AHEAD}) FROM {_SCHEMA}.versions"  # noqa: S608
            connection.execute(text(asked))
            deleted = obey(connection, objects)
            # A dump has no statistics for the planner.
            connection.execute(text(ANALYZE))
            return deleted
    finally:
        engine.dispose()


# -- the blobs -------------------------------------------------------------------------------------------------------

Named = tuple[str, str, int]
"""A project, an address and a size."""


def _copy(
    named: Iterable[Named], source: Any, target: Any, found: BackupResult, *, fetch: bool = True
) -> None:
    """Copy the blobs that the target lacks; without `fetch`, only list them."""
    there: tuple[str, set[str]] = "", set()

    def lacks(one: Named) -> bool:
        nonlocal there
        path = path_of(one[0], one[1])
        above = path.rpartition("/")[0]
        if there[0] != above:
            # Rows come in order, so only one folder of the target is in memory.
            there = above, {entry["path"].rpartition("/")[2] for entry in _entries(target, above)}
        return path.rpartition("/")[2] not in there[1]

    def copied(one: Named) -> tuple[Named, int]:
        return one, _moved(source, target, *one[:2]) if fetch else -1

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        rows = _counted(named, found)
        while some := list(islice(rows, 200)):
            for one, size in pool.map(copied, [one for one in some if lacks(one)]):
                if size < 0:
                    found.missing.append(f"{one[0]}/{one[1]}")
                else:
                    found.copied += 1
                    found.copied_bytes += size


def _counted(named: Iterable[Named], found: BackupResult) -> Iterator[Named]:
    for one in named:
        found.blobs += 1
        yield one


def _moved(source: Any, target: Any, project: str, address: str) -> int:
    """Copy a blob; return its size, or -1 if it is missing or damaged."""
    path = path_of(project, address)
    try:
        data = bytes(obstore.get(source, path).bytes())
    except (FileNotFoundError, NotFoundError):
        return -1
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != address:
        return -1
    obstore.put(target, path, data, use_multipart=False)
    return len(data)


def _listed_all(store: Any) -> Iterator[Named]:
    """Yield all blobs of a backup, folder by folder."""
    for project in sorted(_folders(store, None)):
        for above in sorted(_folders(store, f"{project}/blobs")):
            for entry in _entries(store, above):
                yield project, f"sha256:{entry['path'].rpartition('/')[2]}", entry["size"]


def _folders(store: Any, above: str | None) -> list[str]:
    return [str(one) for one in obstore.list_with_delimiter(store, above)["common_prefixes"]]


def _entries(store: Any, above: str) -> Iterator[Any]:
    for some in obstore.list(store, above):
        yield from some


def _manifest(kept: Any, source: str, name: str) -> dict[str, Any]:
    names = sorted(one.rpartition("/")[2] for one in _folders(kept, "dumps"))
    for one in [name] if name else reversed(names):
        try:
            found: dict[str, Any] = orjson.loads(bytes(obstore.get(kept, f"dumps/{one}/{_MANIFEST}").bytes()))
        except (FileNotFoundError, NotFoundError):
            if name:
                raise UsageError(_incomplete(kept, source, name, names)) from None
            continue
        except ValueError:
            raise UsageError(
                f"the backup {one} in {source} is damaged: its {_MANIFEST} cannot be read"
            ) from None
        if found["format"] > FORMAT:
            raise UsageError(f"the backup {one} was made by a later Reenact ({found['reenact']}): upgrade")
        return found
    raise UsageError(_incomplete(kept, source, name, names))


def _incomplete(kept: Any, source: str, name: str, names: list[str]) -> str:
    """Return the reason that there is no backup to restore."""
    making = {one.rpartition("/")[2] for one in _folders(kept, _MAKING)}
    known = sorted({*names, *making})
    which = f"no whole backup {name!r}" if name else "no whole backup"
    if name in known or (known and not name):
        return f"there is {which} in {source}: {name or known[-1]} was cut off, or is still being made"
    return f"there is {which} in {source}" + (f"; there are {', '.join(known[-5:])}" if known else "")


def _fetched(kept: Any, path: str, file: Path, wanted: str) -> None:
    digest = hashlib.sha256()
    with open(file, "wb", opener=private.opener) as writing:
        for block in obstore.get(kept, path).stream(_BLOCK):
            digest.update(block)
            writing.write(block)
    if digest.hexdigest() != wanted:
        raise UsageError(
            f"{path} is damaged: its bytes differ from the backup's checksum; try another backup with --from"
        )


@contextmanager
def _away(place: TeamPlace) -> Iterator[None]:
    """Convert errors of the database or the object store to StoreAway, without passwords."""
    try:
        with asking(place.name):
            yield
    except (BaseError, FileNotFoundError) as error:
        line = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise StoreAway(f"the object store, or the place of the backup, failed ({line})") from None
