"""Find the faults in a folder of recordings, and repair them if possible: `reenact fsck`.

Without `repair` nothing is changed. Broken recordings are moved to `broken/`, and not deleted; only the remains of
an interrupted write are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import field
from functools import partial
from pathlib import Path

from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.core.model.header import ID
from reenact.core.model.storable import storable
from reenact.core.patterns import lazy
from reenact.core.store import shared
from reenact.core.store.base import NAMED_BLOB, Progress
from reenact.core.store.deleted import Tombstones
from reenact.core.store.index import Index
from reenact.core.store.local import EVENTS, LocalStore, load
from reenact.core.store.shared import process_files
from reenact.core.store.summarised import reason, summarised
from reenact.errors import CorruptRecording, FutureFormat, ReenactError

_OLD = 3600.0
"""Seconds without a change after which a file being written counts as abandoned."""

_BLOCK = 1 << 20
_NEEDED = lazy(rb'"\$?blob":\s*"sha256:([0-9a-f]{64})"')
_DIGEST = lazy(r"[0-9a-f]{64}")
_PART = lazy(r"\.part$|^[0-9a-f]{64}\.")


@dataclass(frozen=True, slots=True)
class StoreFault:
    """One fault.

    Attributes:
        kind: The kind of the fault: `broken`, `torn line`, `damaged blob` …
        what: The recording's id, or the file.
        detail: The reason, in one line.
        repaired: The repair that was done; empty if none.
    """

    kind: str
    what: str
    detail: str
    repaired: str = ""


@dataclass(slots=True)
class StoreChecked:
    """The result of a check.

    Attributes:
        recordings: The number of recordings examined.
        blobs: The number of blobs read.
        findings: The faults.
    """

    recordings: int = 0
    blobs: int = 0
    findings: list[StoreFault] = field(default_factory=list)


class StoreCheck:
    """Check a folder of recordings.

    Args:
        store: The recordings.
        repair: Repair the faults if possible.
    """

    def __init__(self, store: LocalStore, *, repair: bool = False) -> None:
        self._store = store
        self._repair = repair
        self._found = StoreChecked()
        self._aside = store.root / "broken"
        self._wanted: dict[str, set[str]] = {}

    def run(self, progress: Progress | None = None) -> StoreChecked:
        """Check the whole folder."""
        folders = self._folders()
        for folder in folders:
            named = _digests(folder, NAMED_BLOB)
            for place in (folder, *shared.ancestors(folder)):
                self._wanted.setdefault(place.name, set()).update(named)
        for number, folder in enumerate(folders):
            if progress is not None:
                progress(number, len(folders))
            self._recording(folder)
        self._leftovers()
        self._index()
        return self._found

    # -- recordings ------------------------------------------------------------------------------------------

    def _folders(self) -> list[Path]:
        try:
            return sorted(path for path in self._store.recordings.iterdir() if path.is_dir())
        except FileNotFoundError:
            return []

    def _recording(self, folder: Path) -> None:
        self._found.recordings += 1
        names = [path.name for path in folder.iterdir()]
        if not ID.fullmatch(folder.name):
            self._say(
                "no id", _shown(folder.name), "no recording has this id", lambda: self._put_aside(folder)
            )
        elif Tombstones(self._store.root).get(folder.name) is not None:
            why = "it was deleted, but still exists here"
            self._say("deleted", folder.name, why, lambda: _remove(folder))
        elif EVENTS not in names:
            if not _still(folder):
                kind = "no parent" if process_files(names) else "no recording"
                self._say(kind, folder.name, f"it has no {EVENTS}", lambda: self._put_aside(folder))
        elif not self._broken(folder):
            self._parts(folder)
            self._blobs(folder)

    def _broken(self, folder: Path) -> bool:
        try:
            torn = load(folder).torn
            why = summarised(folder, 0)[0].broken
        except FutureFormat as error:
            self._say("newer", folder.name, str(error))
            return True
        except Exception as error:
            torn, why = (), storable(" ".join(reason(error).split()), 400)
        if why:
            self._say("broken", folder.name, why, lambda: self._put_aside(folder))
            return True
        if torn and not _still(folder):
            for name in process_files(path.name for path in folder.iterdir()):
                self._torn(folder / name)
        return False

    def _torn(self, path: Path) -> None:
        data = path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end == len(data) or not end:
            return

        def cut() -> str:
            kept = self._aside / f"{path.parent.name}.{path.name}.torn"
            private.folder(kept.parent)
            private.write(kept, data[end:])
            os.truncate(path, end)
            return f"cut off, and kept as {kept}"

        self._say(
            "torn line",
            f"{path.parent.name}/{path.name}",
            f"its last {len(data) - end} bytes are not a complete line",
            cut,
        )

    def _parts(self, folder: Path) -> None:
        """Find the remains of writers: reserved room, and files without final names."""
        if _still(folder):
            return
        for path in sorted(folder.rglob("*")):
            if path.suffix == ".reserve" or (path.is_file() and _PART.search(path.name) and _old(path)):
                name = path.relative_to(self._store.recordings).as_posix()
                self._say("left behind", _shown(name), "a write was interrupted", partial(_remove, path))

    def _blobs(self, folder: Path) -> None:
        wanted = self._wanted[folder.name]
        for path in sorted((folder / "blobs").glob("*/*")):
            if not _DIGEST.fullmatch(path.name) or not path.is_file():
                continue
            self._found.blobs += 1
            what = f"{folder.name}/{path.name[:12]}…"
            if _hash(path) != path.name:
                self._say(
                    "damaged blob",
                    what,
                    "its bytes have another hash",
                    partial(self._put_aside, path),
                )
            elif path.name not in wanted and not _still(folder):
                self._say("unneeded blob", what, "no line names it", partial(self._put_aside, path))
        places = [folder, *shared.ancestors(folder)]
        for digest in sorted(_digests(folder, _NEEDED)):
            if not any((place / "blobs" / digest[:2] / digest).is_file() for place in places):
                self._say("missing blob", f"{folder.name}/{digest[:12]}…", "a line names it; restore it")

    # -- the rest of the folder ------------------------------------------------------------------------------

    def _leftovers(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            for path in sorted(self._store.root.iterdir()):
                if path.name.startswith("incoming-") and _old(path):
                    self._say("left behind", path.name, "an import was interrupted", partial(_remove, path))
        for path in sorted((self._store.root / "deleted").glob(".*.part")):
            if _old(path):
                self._say("left behind", path.name, "a write was interrupted", partial(_remove, path))

    def _index(self) -> None:
        file = self._store.root / "index.sqlite"
        # Without leave to write, commands make an index in memory: the file does not matter.
        if not file.is_file() or not os.access(self._store.root, os.W_OK):
            return
        index = Index(self._store)
        try:
            lost = index.lost()
        except sqlite3.Error as error:
            self._say("damaged index", file.name, str(error), lambda: _rebuilt(index))
        else:
            for folder in lost:
                self._say(
                    "lost row",
                    _shown(folder),
                    "the index has it, the folder does not",
                    lambda: _renewed(index),
                )
        finally:
            index.close()

    # -- internal --------------------------------------------------------------------------------------------

    def _say(self, kind: str, what: str, detail: str, repair: Callable[[], str] | None = None) -> None:
        done = ""
        if self._repair and repair is not None:
            try:
                done = repair()
            except (OSError, ReenactError, sqlite3.Error) as error:
                done = f"cannot be repaired: {error}"
        self._found.findings.append(StoreFault(kind, what, detail, done))

    def _put_aside(self, path: Path) -> str:
        inside = path.relative_to(self._store.recordings)
        if len(inside.parts) == 1:
            shared.detach(self._store.recordings, [path.name] if (path / EVENTS).is_file() else [])
        target = self._aside / inside
        number = 1
        while target.exists():
            number += 1
            target = self._aside / inside.with_name(f"{inside.name}.{number}")
        private.folder(target.parent)
        path.replace(target)
        return f"moved to {_shown(str(target))}"


def _still(folder: Path) -> bool:
    """Return True if a file in the folder changed recently: it may be being written."""
    return any(not _old(path) for path in (folder, *folder.iterdir()))


def _old(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > _OLD
    except OSError:
        return False


def _remove(path: Path) -> str:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return "removed"


def _renewed(index: Index) -> str:
    index.refresh()
    return "read again"


def _rebuilt(index: Index) -> str:
    index.discard()
    index.refresh()
    return "made anew"


def _shown(name: str) -> str:
    return storable(name, 200)


def _digests(folder: Path, pattern: re.Pattern[bytes]) -> set[str]:
    """Return the hashes that the lines of a recording's own files name."""
    found: set[str] = set()
    for path in folder.glob("*.jsonl"):
        for line in _lines(path):
            found.update(match[1].decode() for match in pattern.finditer(line))
    return found


def _lines(path: Path) -> Iterator[bytes]:
    with contextlib.suppress(OSError, CorruptRecording), shared.opened(path) as file:
        yield from file


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with shared.opened(path) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except (OSError, CorruptRecording):
        return ""
    return digest.hexdigest()
