"""One recording as one file, to attach to a bug report: `NAME.reenact`, a plain zip.

    manifest.json                    format, id, name, and each member's size and sha256
    events.jsonl, events.<n>.jsonl   as in the store
    session.<n>.jsonl, labels.<n>.jsonl  as in the store
    blobs/ab/abcd…                   as in the store
    page.html                        the recording as a page, for viewers; in no manifest, and no part of the recording

The compression is deflate, not a better one: browsers, `unzip` and simple scripts read it. The file is written
under another name and then renamed, so that no half-written file ever has the name.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from reenact.core import private
from reenact.core.model.event import FORMAT
from reenact.core.model.storable import storable
from reenact.core.patterns import lazy
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store import shared
from reenact.core.store.base import Progress
from reenact.core.store.deleted import Tombstones
from reenact.core.store.labels import PATTERN
from reenact.core.store.local import EVENTS, SUFFIX, LocalStore, load
from reenact.core.store.reading import cause, check_exported, unreadable
from reenact.core.store.salvage import salvage
from reenact.core.store.summarised import reason
from reenact.core.unpack import Archive
from reenact.errors import (
    CorruptRecording,
    FutureFormat,
    NotARecording,
    RecordingError,
    ReenactError,
    TooLarge,
    UsageError,
)

MANIFEST = "manifest.json"
PAGE = "page.html"
_MEMBER = lazy(
    r"events(\.[\w-]+)?\.jsonl|(session|labels)\.[\w-]+\.jsonl|blobs/[0-9a-f]{2}/[0-9a-f]{64}", re.ASCII
)
_BLOCK = 1 << 20
_MANIFEST_SIZE = 32 << 20
LIMIT = 16 << 30
"""The default limit of a recording's unpacked size in bytes."""

_EPOCH = (1980, 1, 1, 0, 0, 0)

SAME = "with the same content: nothing to do"
"""The end of the refusal of a recording that the store has already."""


def export(
    store: LocalStore,
    ref: str,
    target: Path,
    *,
    force: bool = False,
    whole: bool = True,
    progress: Progress | None = None,
    page: Callable[[str], bytes] | None = None,
) -> Path:
    """Write a recording to one file; return the file.

    Args:
        store: The store of the recording.
        ref: Its id, an unambiguous prefix, `last`, or a path.
        target: The file, or a folder to put it in under the recording's name.
        force: Replace an existing file.
        whole: Refuse a damaged recording; otherwise keep its whole parts, and note a hole for lines left out.
        progress: Called after each member, with (done, all).
        page: Makes a page about the recording, by its path; it is kept in the file for viewers.

    Raises:
        RecordingError: The recording is missing, or cannot be read.
        UsageError: The file exists, or its folder does not.
    """
    source = store.find(ref)
    if not whole:
        with tempfile.TemporaryDirectory(prefix="reenact-") as name:
            folder = Path(name, source.name)
            folder.mkdir()
            salvage(source, folder)
            return export(store, f"{folder}{os.sep}", target, force=force, progress=progress, page=page)
    recording = load(source)
    if source.is_file():
        raise UsageError(f"{source} is an exported file already; copy it")
    target = _target_file(target, recording, force=force)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    shown = page(f"{source}{os.sep}") if page is not None else b""
    try:
        with _complete(source) as folder:
            _write(folder, part, recording, shown, progress)
        part.replace(target)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
    return target


def _target_file(target: Path, recording: RecordedRun, *, force: bool) -> Path:
    """Return the file to write; `target` may be the folder to put it in. Raises UsageError."""
    if target.is_dir():
        name = re.sub(r"[^\w.-]+", "-", recording.name).strip("-.")
        target /= f"{name + '-' if name else ''}{recording.id}{SUFFIX}"
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent} is no folder; make it first")
    if target.exists() and not force:
        raise UsageError(f"{target} exists; --force replaces it")
    return target


@contextmanager
def _complete(source: Path) -> Iterator[Path]:
    """Yield a recording's folder; for a fork, one that also has what it shares with its parent."""
    if not shared.shares(source):
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="reenact-") as name:
        folder = Path(name)
        shutil.copytree(source, folder, dirs_exist_ok=True)
        (folder / EVENTS).unlink()
        shared.flatten(source, folder)
        yield folder


def _write(source: Path, part: Path, recording: RecordedRun, page: bytes, progress: Progress | None) -> None:
    members = members_of(source)
    # The run's own events first: a reader of the arriving file finds the header at once.
    members.sort(key=lambda member: (member.startswith("blobs/"), member != EVENTS, member))
    listed: dict[str, Any] = {}
    # The file is as private as the store that it comes from.
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for number, member in enumerate(members):
                listed[member] = _add(archive, source / member, member)
                if progress is not None:
                    progress(number + 1, len(members))
            if page:
                archive.writestr(_entry(PAGE), page)
            manifest = {"reenact": FORMAT, "id": recording.id, "name": recording.name, "members": listed}
            archive.writestr(_entry(MANIFEST), orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        file.flush()
        os.fsync(file.fileno())


def members_of(folder: Path) -> list[str]:
    """Return the paths of a recording's files within its folder, without links and devices."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    found = [path.relative_to(folder).as_posix() for path in files]
    return [member for member in found if _MEMBER.fullmatch(member)]


def _entry(member: str) -> zipfile.ZipInfo:
    # One recording gives the same bytes whenever it is exported.
    entry = zipfile.ZipInfo(member, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _add(archive: zipfile.ZipFile, path: Path, member: str) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    with shared.opened(path) as source, archive.open(_entry(member), "w", force_zip64=True) as target:
        # A recording that is still being written may grow meanwhile: hash the bytes that are written.
        while block := source.read(_BLOCK):
            digest.update(block)
            size += len(block)
            target.write(block)
    return {"sha256": digest.hexdigest(), "size": size}


def is_bundle(path: Path) -> bool:
    """Return True if a file is an exported recording, damaged or not."""
    if path.suffix == SUFFIX:
        return True
    if not zipfile.is_zipfile(path):
        return False
    try:
        with Archive(path, str(path), 0) as archive:
            return bool({MANIFEST, EVENTS} & set(archive.names))
    except unreadable() as error:
        raise CorruptRecording(f"{path} is damaged ({cause(error)}); ask for it again") from None


def bring(store: LocalStore, path: Path, *, limit: int = LIMIT, fresh: Path | None = None) -> str:
    """Put an exported recording into the store; return its id. A failure leaves no files.

    Args:
        store: The store to put it in.
        path: The file.
        limit: The largest unpacked size in bytes.
        fresh: The folder to unpack it to, in the store's; by default one of a random name.

    Raises:
        CorruptRecording: A member differs from the manifest, or has a name that no recording has.
        TooLarge: It unpacks to more than the limit, or to very many times its size.
        RecordingError: The store has a recording of that id.
    """
    private.folder(store.root)
    fresh = fresh or store.root / f"incoming-{secrets.token_hex(6)}"
    try:
        _unpack(path, fresh, limit)
        return adopt(store, fresh, path)
    except RecordingError as error:
        # The folder is about to be removed: messages name the file.
        raise type(error)(
            str(error).replace(f"{fresh}{os.sep}", f"{path}: ").replace(str(fresh), str(path))
        ) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def unpacked(path: Path) -> int:
    """Return the maximum unpacked size of a file in bytes; 0 for a file that `bring` refuses."""
    try:
        with Archive(path, str(path), sys.maxsize) as archive:
            return sum(map(archive.size, archive.names))
    except RecordingError:
        return 0
    except unreadable():
        return 0


def adopt(store: LocalStore, fresh: Path, source: Path) -> str:
    """Move a recording's finished folder into the store, under its id."""
    try:
        id = load(fresh).id
    except ReenactError:
        raise
    except Exception as error:
        raise CorruptRecording(f"{source}: {storable(reason(error), 400)}") from None
    if not re.fullmatch(r"[\w-]{1,64}", id):
        raise NotARecording(f"{source} is no recording: its id {id[:80]!r} is none")
    target = store.folder(id)
    if target.exists():
        same = _digest(fresh / EVENTS) == _digest(target / EVENTS)
        if same and _labelled(fresh, target):
            return id
        raise RecordingError(
            f"{source}: recording {id} is already in the store, "
            + (SAME if same else f"with other content; delete it first: `reenact rm {id}`")
        )
    private.folder(target.parent)
    fresh.replace(target)
    # An import of a recording that was deleted here is meant to bring it back.
    Tombstones(store.root).drop(id)
    return id


def _labelled(fresh: Path, target: Path) -> bool:
    """Move the labels that a recording lacks into its folder; return True if there were some."""
    files = [path for path in fresh.iterdir() if PATTERN.fullmatch(path.name)]
    new = [path for path in files if not (target / path.name).exists()]
    for path in new:
        path.replace(target / path.name)
    return bool(new)


def _unpack(path: Path, fresh: Path, limit: int) -> None:
    if path.suffix != SUFFIX:
        check_exported(path)
    try:
        with Archive(path, str(path), limit) as archive:
            listed = _listed(archive, path)
            fresh.mkdir(mode=0o700)
            for member in archive.names:
                if _MEMBER.fullmatch(member):
                    _take(archive, member, fresh / member, listed, path)
    except unreadable() as error:
        if isinstance(error, OSError) and error.errno in (
            errno.ENOSPC,
            errno.EACCES,
            errno.EROFS,
            errno.EDQUOT,
        ):
            raise
        raise CorruptRecording(f"{path} is damaged ({cause(error)}); ask for it again") from None
    missing = sorted(listed.keys() - {item.relative_to(fresh).as_posix() for item in fresh.rglob("*")})
    if missing:
        raise CorruptRecording(f"{path} is damaged: {missing[0][:200]} is missing; ask for it again")


def _listed(archive: Archive, path: Path) -> dict[str, Any]:
    try:
        manifest = orjson.loads(archive.read(MANIFEST, _MANIFEST_SIZE))
        version, members = int(manifest["reenact"]), dict(manifest["members"])
    except TooLarge:
        raise
    except KeyError:
        raise NotARecording(
            f"{path} is a zip file, but no exported recording: it has no {MANIFEST}"
        ) from None
    except (ValueError, TypeError, OverflowError):
        raise CorruptRecording(
            f"{path} is damaged: its {MANIFEST} cannot be read; ask for it again"
        ) from None
    if version > FORMAT:
        raise FutureFormat(
            f"{path} is in format {version}, and this Reenact reads up to {FORMAT}: "
            "upgrade with `pip install -U reenact`"
        )
    return members


def _take(archive: Archive, member: str, target: Path, listed: dict[str, Any], path: Path) -> None:
    known = listed.get(member)
    if not isinstance(known, dict) or archive.size(member) != known.get("size"):
        raise CorruptRecording(f"{path} is damaged: {member} is not what its manifest says; ask for it again")
    private.folder(target.parent)
    digest = hashlib.sha256()
    with target.open("xb") as file:
        target.chmod(0o600)
        for block in archive.blocks(member):
            digest.update(block)
            file.write(block)
    if digest.hexdigest() != known.get("sha256"):
        raise CorruptRecording(f"{path} is damaged: {member} does not have its checksum; ask for it again")
    folder, _, name = member.rpartition("/")
    if folder and (digest.hexdigest() != name or not folder.endswith(name[:2])):
        raise CorruptRecording(f"{path} is damaged: {member} does not have the hash that is its name")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
