"""The changed layer of an overlay, written by hand: files, and marks that hide names.

The form is the kernel's: a device with number 0 hides the name below it. Where it cannot be made, a link with a special
text replaces it, which only `redirect.py` understands.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reenact.core import system
from reenact.core.files.restore import set_time
from reenact.core.files.states import FileState
from reenact.run.files import stand_ins

_HIDDEN = "(reenact: no such file)"
_OPAQUE = ("user.overlay.opaque", "trusted.overlay.opaque")


class Upper:
    """One root's changed layer.

    Args:
        root: The folder that it covers.
        path: The layer's own folder.
    """

    def __init__(self, root: Path, path: Path) -> None:
        self.root = root
        self.path = path

    def write(self, inner: Path, data: bytes, state: FileState) -> bool:
        """Put a file there. Return False if a name on the way is no folder."""
        target = self.free(inner)
        if target is None:
            return False
        target.write_bytes(data)
        target.chmod(stat.S_IMODE(state.mode) or 0o600)
        set_time(target, state)
        self._owned(target, inner)
        return True

    def stand_in(self, inner: Path, state: FileState) -> bool:
        """Put a stand-in there. Return False if a name on the way is no folder."""
        target = self.free(inner)
        if target is None:
            return False
        stand_ins.fill(target, state, self.root / inner)
        self._owned(target, inner)
        return True

    def link(self, inner: Path, text: str) -> bool:
        """Put a symbolic link there. Return False if a name on the way is no folder."""
        target = self.free(inner)
        if target is not None:
            target.symlink_to(text)
        return target is not None

    def folder(self, inner: Path, mode: int | None = None) -> bool:
        """Put a folder there. Return False if a name on the way is no folder."""
        target = self._at(inner)
        if target is None:
            return False
        if not _folder(target):
            fresh = hidden(target)
            if _there(target):
                target.unlink()
            target.mkdir(exist_ok=True)
            if fresh:
                close(target)
            below = self.root / inner
            if _folder(below) and self._open(inner.parent):
                shutil.copystat(below, target, follow_symlinks=False)
            self._owned(target, inner)
        if mode is not None:
            target.chmod(stat.S_IMODE(mode) | 0o700)
        return True

    def date_folders(self) -> None:
        """Give the folders of the layer, once it is filled, the times of those below them."""
        for path, _, _ in os.walk(self.path, topdown=False):
            below = self.root / Path(path).relative_to(self.path)
            if _folder(below):
                with suppress(OSError):
                    status = below.stat()
                    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def hide(self, inner: Path) -> bool:
        """Hide the name there. Return False if a name on the way is no folder."""
        if any(hidden(self.path / each) for each in inner.parents):
            return True
        target = self._at(inner)
        if target is None:
            return False
        if _folder(target):
            shutil.rmtree(target)
        elif _there(target):
            target.unlink()
        if _there(self.root / inner) and self._open(inner.parent):
            hide(target)
        return True

    def own(self, inner: Path) -> None:
        """Copy a whole folder into the layer: a folder of the layer below cannot be renamed."""
        source = self.root / inner
        if not self.folder(inner) or not _folder(source) or not self._open(inner):
            return
        for path, folders, files in os.walk(source):
            within = Path(path).relative_to(self.root)
            for name in (*folders, *files):
                below, target = Path(path, name), self.path / within / name
                if _there(target):
                    continue
                if _folder(below):
                    target.mkdir()
                    shutil.copystat(below, target)
                elif below.is_symlink() or below.is_file():
                    shutil.copy2(below, target, follow_symlinks=False)
            above = self.path / within
            folders[:] = [name for name in folders if _folder(above / name) and not is_opaque(above / name)]
        close(self.path / inner)

    def copy(self, into: Path, without: Sequence[str]) -> None:
        """Copy the content of the overlay into a folder, without some of its folders."""
        into.mkdir(parents=True, exist_ok=True)
        self._copy(Path(), into, frozenset(without), below=True)

    def _copy(self, inner: Path, into: Path, without: frozenset[str], *, below: bool) -> None:
        above = self.path / inner
        below = below and not is_opaque(above)
        names = set(_names(above)) | (set(_names(self.root / inner)) if below else set())
        for name in sorted(names):
            each = inner / name
            if hidden(self.path / each) or str(self.root / each) in without:
                continue
            source = self.path / each if _there(self.path / each) else self.root / each
            if _folder(source):
                (into / name).mkdir(exist_ok=True)
                self._copy(each, into / name, without, below=below and _folder(self.root / each))
                shutil.copystat(source, into / name)
            elif source.is_symlink() or source.is_file():
                shutil.copy2(source, into / name, follow_symlinks=False)

    def free(self, inner: Path) -> Path | None:
        """Return a path in the layer, freed; None if a name on the way is no folder."""
        target = self._at(inner)
        if target is not None and _folder(target):
            shutil.rmtree(target)
        elif target is not None and _there(target):
            target.unlink()
        return target

    def _at(self, inner: Path) -> Path | None:
        """Return the path of a name in the layer. Makes the folders on the way, and follows no link."""
        if inner.is_absolute() or ".." in inner.parts:
            return None
        if inner == Path():
            return self.path
        above = self.path / inner.parent
        if not _folder(above):
            if _there(above) and not hidden(above):
                return None
            if not self.folder(inner.parent):
                return None
        else:
            for each in inner.parent.parents:
                if (self.path / each).is_symlink():
                    return None
        return self.path / inner

    def _open(self, inner: Path) -> bool:
        """Return True if the folder below shows through."""
        return not any(is_opaque(self.path / each) for each in (inner, *inner.parents))

    def _owned(self, target: Path, inner: Path) -> None:
        """Give a path the owner of the covered one, or of its folder."""
        if sys.platform != "win32" and system.is_root():
            below = self.root / inner
            with suppress(OSError):
                status = (below if _there(below) else target.parent).lstat()
                os.chown(target, status.st_uid, status.st_gid, follow_symlinks=False)


def hide(path: Path) -> None:
    """Make the mark that hides a name."""
    if sys.platform != "win32":
        with suppress(OSError, AttributeError):
            os.mknod(path, stat.S_IFCHR, 0)
            return
    path.symlink_to(_HIDDEN)


def close(path: Path) -> None:
    """Mark a folder of the layer, so that it hides the covered folder.

    The kernel lists the marks of hidden names in such a folder as names: they are removed.
    """
    if sys.platform == "linux":
        for name in _OPAQUE:
            with suppress(OSError):
                _mark(path, name)
    if is_opaque(path):
        for above, _, names in os.walk(path):
            for each in (Path(above, name) for name in names):
                if hidden(each):
                    each.unlink()


def hidden(path: Path) -> bool:
    """Return True for the mark that hides a name."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return str(path.readlink()) == _HIDDEN
    except OSError:
        return False
    marked = False
    if sys.platform != "win32":
        marked = stat.S_ISCHR(status.st_mode) and status.st_rdev == 0
    return marked


def is_opaque(path: Path) -> bool:
    """Return True for a folder of the layer that hides the covered folder."""
    if sys.platform == "linux":
        for name in _OPAQUE:
            with suppress(OSError):
                if _attribute(path, name) == b"y":
                    return True
    return False


def _mark(path: Path, name: str) -> None:
    if sys.platform == "linux" and hasattr(os, "setxattr"):
        os.setxattr(path, name, b"y")
    else:
        _call("setxattr", path, name, b"y", 0)


def _attribute(path: Path, name: str) -> bytes:
    """Return the start of an extended attribute. Raises OSError."""
    if sys.platform == "linux" and hasattr(os, "getxattr"):
        return os.getxattr(path, name, follow_symlinks=False)
    return _call("lgetxattr", path, name, bytes(8))


def _call(function: str, path: Path, name: str, data: bytes, *rest: int) -> bytes:
    """Call a function of the C library. Raises OSError.

    Python before 3.13 lacks those of extended attributes on musl.
    """
    import ctypes  # noqa: PLC0415 - it is rarely needed

    library, buffer = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(data, len(data))
    done = getattr(library, function)(os.fsencode(path), name.encode(), buffer, len(data), *rest)
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path))
    return buffer.raw[:done]


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()] if _folder(folder) else []


def _folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _there(path: Path) -> bool:
    return os.path.lexists(path)
