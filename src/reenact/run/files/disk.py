"""The disk of a replay or fork: the recorded files, laid over the user's folders in scratch."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from reenact.core import system
from reenact.core.dataclass import dataclass
from reenact.core.files.states import NOTHING, FileState
from reenact.core.files.trees import changes, first_states, has_files, roots
from reenact.core.model.header import program_of, salt_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import UsageError
from reenact.run.files.path_state import blob, holds_other, is_state_of, looks_like
from reenact.run.files.scratch import Scratch, attach
from reenact.run.files.stand_ins import is_module
from reenact.run.files.upper import Upper
from reenact.run.plan import LIVE

ENTERED, FORBIDDEN = "entered", "forbidden"
"""Files that `enter.py` leaves in the scratch folder if it has entered, or if it may not."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One folder of the program, with its changed layer.

    Attributes:
        recorded: The folder's path when it was recorded.
        path: Its path in this run.
        upper: The changed layer.
        work: The kernel's own folder beside it.
    """

    recorded: str
    path: str
    upper: str
    work: str


@dataclass(frozen=True, slots=True)
class Laid:
    """The files that were laid for one run of a program.

    Attributes:
        scratch: The scratch folder.
        layers: The folders.
        lacking: The files that could not be laid, in words.
        keep: Folders inside of the program's that stay the real ones.
        stand_ins: Files whose bytes are not recorded, laid with the recorded size, mode and time.
        older: Files that have another content now: the recorded one was laid.
        forbidden: The reason that no overlay is possible; empty if it was not tried.
    """

    scratch: str
    layers: tuple[Layer, ...]
    lacking: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    forbidden: str = ""

    @classmethod
    def read(cls, scratch: Path) -> Laid:
        """Read the description of the files that were laid last in a scratch folder."""
        tree = orjson.loads((scratch / _LAID).read_bytes())
        forbidden = scratch / FORBIDDEN
        return cls(
            tree["scratch"],
            tuple(Layer(**each) for each in tree["layers"]),
            tuple(tree["lacking"]),
            tuple(tree["keep"]),
            tuple(tree["stand_ins"]),
            tuple(tree["older"]),
            forbidden.read_text(encoding="utf-8") if forbidden.exists() else "",
        )

    def write(self) -> None:
        """Write the description into the scratch folder. Raises OSError."""
        Path(self.scratch, _LAID).write_bytes(orjson.dumps(asdict(self)))

    @property
    def entered(self) -> bool:
        """True in a program that was started on the overlay."""
        return Path(self.scratch, ENTERED).exists()

    def here(self, path: Path) -> Path:
        """Return the path in this run of a recorded path."""
        for layer in self.layers:
            if path.is_relative_to(layer.recorded):
                return Path(layer.path) / path.relative_to(layer.recorded)
        return path

    def recorded(self, path: Path) -> Path:
        """Return the recorded path of one in this run."""
        for layer in self.layers:
            if path.is_relative_to(layer.path):
                return Path(layer.recorded) / path.relative_to(layer.path)
        return path


_LAID, _ORDER = "laid.json", "order.json"


class Disk:
    """The files of one replay or fork of a recording.

    Args:
        recording: The recording.
        keep: Folders that stay the real ones inside of the program's folders: the store, folders of reports.
    """

    def __init__(self, recording: RecordedRun, keep: Iterable[Path]) -> None:
        self._recording = recording
        self._cwd = str(program_of(recording.header).get("cwd") or "")
        self._first = first_states(recording)
        self._moving = _moving(self._first, recording)
        self._roots = _outermost(roots(recording))
        self._keep = [str(path) for path in keep]
        self._runs = 0
        self._scratch = Scratch(avoid=self._roots)
        self.salt = salt_of(recording.header)

    @property
    def folder(self) -> Path:
        """The scratch folder."""
        return self._scratch.folder

    def attach(self, place: Path) -> None:
        """Name the disk in a folder of reports, so that both are removed together."""
        attach(self._scratch, place)

    def close(self) -> None:
        """Remove it."""
        self._scratch.close()

    def lay(self, cwd: str | None, argv: Sequence[str] = ()) -> Laid:
        """Lay the first states for a run in that folder.

        Files that the command names stay the user's own.
        """
        self._runs += 1
        for name in (ENTERED, FORBIDDEN):
            (self.folder / name).unlink(missing_ok=True)
        cwd = os.path.realpath(cwd or Path.cwd())
        named = [os.path.join(cwd, word) for word in argv if not word.startswith("-")]  # noqa: PTH118 - as text
        own = {Path(to_path(name)) for name in named for to_path in (os.path.normpath, os.path.realpath)}
        layers: list[Layer] = []
        lacking: list[str] = []
        standing: list[str] = []
        self._older: list[str] = []
        for number, (root, path) in enumerate(self._places(cwd)):
            base = self.folder / f"run-{self._runs}-{number}"
            layer = Layer(str(root), path, str(base / "upper"), str(base / "work"))
            for made in (layer.upper, layer.work):
                Path(made).mkdir(parents=True)
            _like(Path(path), Path(layer.upper))
            layers.append(layer)
            lacking += self._filled(layer, own, standing)
            Upper(Path(path), Path(layer.upper)).date_folders()
        known = {layer.recorded for layer in layers}
        lacking += [f"the folder {root} is not here" for root in self._roots if str(root) not in known]
        laid = Laid(
            str(self.folder),
            tuple(layers),
            tuple(lacking),
            tuple(self._keep),
            tuple(standing),
            tuple(self._older),
        )
        laid.write()
        return laid

    def keep(self, into: Path) -> None:
        """Copy the files as they are now into a new folder.

        Of several folders, each comes under its own name.
        """
        laid = Laid.read(self.folder)
        names: dict[str, None] = {}
        for layer in laid.layers:
            name = Path(layer.path).name
            while name in names:
                name += "~"
            names[name] = None
            target = into / name if len(laid.layers) > 1 else into
            Upper(Path(layer.path), Path(layer.upper)).copy(target, without=[*self._keep, str(into)])

    def start(self, laid: Laid, argv: list[str], executable: str, cwd: str | None) -> tuple[list[str], str]:
        """Return the command line that starts a program on the laid files, and its executable."""
        if not system.LINUX:
            text = "this system has no overlays of folders"
            (self.folder / FORBIDDEN).write_text(text, encoding="utf-8")
            return argv, executable
        order: dict[str, Any] = {
            "scratch": str(self.folder),
            "roots": [
                {"path": layer.path, "upper": layer.upper, "work": layer.work} for layer in laid.layers
            ],
            "keep": [
                path for path in self._keep if any(Path(path).is_relative_to(x.path) for x in laid.layers)
            ],
            "cwd": str(cwd or Path.cwd()),
            "executable": executable,
            "argv": argv,
        }
        (self.folder / _ORDER).write_bytes(orjson.dumps(order))
        enter = Path(__file__).with_name("enter.py")
        return [sys.executable, "-I", "-S", str(enter), str(self.folder / _ORDER)], sys.executable

    # -- within ----------------------------------------------------------------------------------------------

    def _places(self, cwd: str) -> Iterator[tuple[Path, str]]:
        """Yield the recorded folders with their places here.

        The working folder of a run elsewhere is covered in both places.
        """
        for root in self._roots:
            if str(root) == self._cwd and cwd != self._cwd:
                yield root, cwd
            if root.is_dir():
                yield root, str(root)

    def _filled(self, layer: Layer, own: set[Path], standing: list[str]) -> list[str]:
        """Lay the states of one folder, stand-ins into `standing`. Return what is lacking."""
        upper, lacking = Upper(Path(layer.path), Path(layer.upper)), []
        for path, state in sorted(self._first.items()):
            if not path.is_relative_to(layer.recorded):
                continue
            inner = path.relative_to(layer.recorded)
            here = Path(layer.path) / inner
            if here in own or any(here.is_relative_to(kept) for kept in self._keep):
                continue
            if state.why in ("listed", "unread") and state.kind == "file":
                if is_module(here):
                    # With a stand-in of the recorded size and time, Python would run the code in an older cache.
                    lacking += [] if here.exists() else [f"{here} is gone, and its bytes are not recorded"]
                elif not looks_like(here, state):
                    standing.append(str(here))
                    upper.stand_in(inner, state)
            elif not self._laid(upper, inner, state):
                lacking.append(f"{here} is not as it was when it was recorded")
            if state.names is not None:
                lacking += self._listed(upper, path, inner, state.names, own)
        for path in self._moving:
            if path.is_relative_to(layer.recorded) and path != Path(layer.recorded):
                upper.own(path.relative_to(layer.recorded))
        return lacking

    def _laid(self, upper: Upper, inner: Path, state: FileState) -> bool:
        """Lay one state. Return False if its bytes are not recorded, and are not the user's."""
        same = is_state_of(upper.root / inner, state, self.salt)
        if same and (not state.blob or looks_like(upper.root / inner, state)):
            return True
        if state.kind == "none":
            return upper.hide(inner)
        if state.kind == "link":
            return upper.link(inner, state.target)
        if state.kind == "folder":
            return upper.folder(inner, state.mode)
        if not state.blob:
            return state.why == "unread"
        data = state.content(partial(blob, self._recording))
        if not same and holds_other(upper.root / inner, data):
            self._older.append(str(upper.root / inner))
        return upper.write(inner, data, state)

    def _listed(
        self, upper: Upper, path: Path, inner: Path, names: tuple[str, ...], own: set[Path]
    ) -> list[str]:
        """Give a folder the names that it had when it was listed."""
        lacking = []
        with suppress(OSError):
            for here in sorted((upper.root / inner).iterdir()):
                name = here.name
                if name not in names and f"{name}/" not in names and path / name not in self._first:
                    kept = (*map(Path, self._keep), *own)
                    if not any(each.is_relative_to(here) for each in kept):
                        upper.hide(inner / name)
        for name in names:
            plain = name.removesuffix("/")
            if path / plain in self._first or os.path.lexists(upper.root / inner / plain):
                continue
            if plain != name:
                upper.folder(inner / plain)
            else:
                upper.write(inner / plain, b"", FileState("file", 0o600))
                lacking.append(f"{upper.root / inner / plain} is gone, and its bytes are not recorded")
        return lacking


def keeping(folder: str, recording: RecordedRun, files: str) -> Path | None:
    """Return the folder to keep a fork's files in, or None.

    Raises UsageError if they cannot be kept there.
    """
    if not folder:
        return None
    if files == LIVE:
        raise UsageError(
            "--keep-files: with --files live the fork writes to your own files; there is nothing to keep"
        )
    if not has_files(recording):
        raise UsageError(f"--keep-files: recording {recording.id} has no files")
    # It may be inside of a folder that is copied into it: its real name is needed to leave it out.
    path = Path(folder).resolve()
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"--keep-files {folder}: it exists; name a new folder")
    return path


def disk_of(recording: RecordedRun, keep: Iterable[Path]) -> Disk | None:
    """Return a disk for a recording with files; None for one without."""
    return Disk(recording, keep) if has_files(recording) else None


def _like(path: Path, made: Path) -> None:
    """Give the layer's folder the mode and the owner of the folder that it covers."""
    status = path.stat()
    made.chmod(stat.S_IMODE(status.st_mode) | 0o700)
    if sys.platform != "win32":
        with suppress(OSError):
            os.chown(made, status.st_uid, status.st_gid)
    os.utime(made, ns=(status.st_atime_ns, status.st_mtime_ns))


def _moving(first: Mapping[Path, FileState], recording: RecordedRun) -> list[Path]:
    """Return the outermost folders that the run has removed or renamed."""
    gone = {
        path
        for log in recording.logs
        for change in changes(log)
        for path, state in change.states.items()
        if state.kind != "folder" and first.get(path, NOTHING).kind == "folder"
    }
    found: list[Path] = []
    for path in sorted(gone):
        if not any(path.is_relative_to(each) for each in found):
            found.append(path)
    return found


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders that are not inside of another one."""
    known = tuple(dict.fromkeys(paths))
    return tuple(
        path for path in known if not any(path != each and path.is_relative_to(each) for each in known)
    )
