"""The view of an overlay from Python: the file of a path, and the place of a change."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from reenact.run.files.upper import Upper, hidden, hide, is_opaque

_LINKS = 40
_NOTHING = ".reenact-nothing"
"""A name that no folder of a layer has."""


class OverlayView:
    """Several overlays, seen by absolute paths.

    Args:
        uppers: The changed layers.
        keep: Folders inside of the roots that stay the real ones.
    """

    def __init__(self, uppers: Sequence[Upper], keep: Sequence[str]) -> None:
        self._detached: set[str] = set()
        """Paths that hide the covered ones: native code uses them directly."""
        self._uppers = tuple(uppers)
        self._keep = tuple(keep)

    def covers(self, path: str) -> Upper | None:
        """Return the layer of an absolute path, or None if it stays the real one."""
        for upper in self._uppers:
            root = str(upper.root)
            if path == root or path.startswith(f"{root}/"):
                return (
                    None if any(path == kept or path.startswith(f"{kept}/") for kept in self._keep) else upper
                )
        return None

    def public(self, path: str) -> str:
        """Return the path that the program knows for one in a changed layer."""
        for upper in self._uppers:
            if path == str(upper.path) or path.startswith(f"{upper.path}/"):
                return str(upper.root) + path[len(str(upper.path)) :]
        return path

    def resolved(self, path: str, *, follow: bool) -> str:
        """Return an absolute path without links on the way; with `follow`, none at its end."""
        done, rest = "/", [part for part in os.path.abspath(path).split("/") if part]
        links = 0
        while rest:
            part = rest.pop(0)
            if part == "..":
                done = os.path.dirname(done)
                continue
            here = os.path.join(done, part)
            if (rest or follow) and self._is_link(here):
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                target = os.readlink(self._real(here))
                rest = [each for each in target.split("/") if each and each != "."] + rest
                done = "/" if target.startswith("/") else done
                continue
            done = here
        return done

    def real(self, path: str, *, follow: bool = True) -> str:
        """Return the path of the file that a path means now."""
        return self._real(self.resolved(path, follow=follow))

    def there(self, path: str) -> bool:
        """Return True if something is at a path, a link to nothing too."""
        return os.path.lexists(self.real(path, follow=False))

    def changed(self, path: str, *, follow: bool = True, fresh: bool = False) -> str:
        """Return the path for a change of a file, which is copied first, unless `fresh`."""
        full = self.resolved(path, follow=follow)
        upper = self.covers(full)
        if upper is None:
            return full
        inner = Path(full).relative_to(upper.root)
        above = self._real(os.path.dirname(full)) if inner != Path() else full
        if not os.path.isdir(above):
            number = errno.ENOTDIR if os.path.lexists(above) else errno.ENOENT
            raise OSError(number, os.strerror(number), path)
        target = upper.path / inner
        if os.path.lexists(target) and not hidden(target):
            return str(target)
        upper.folder(inner.parent)
        source = self._real(full)
        if fresh or not os.path.lexists(source):
            if hidden(target):
                target.unlink(missing_ok=True)
        elif os.path.isdir(source) and not os.path.islink(source):
            upper.folder(inner)
        else:
            _copy(source, target, upper.path.parent)
        return str(target)

    def hide(self, path: str) -> None:
        """Hide a path that was removed."""
        full = self.resolved(path, follow=False)
        upper = self.covers(full)
        if upper is None:
            return
        inner = Path(full).relative_to(upper.root)
        target = upper.path / inner
        if (
            os.path.lexists(upper.root / inner)
            and not os.path.lexists(target)
            and self._shows(upper, inner.parent)
        ):
            upper.folder(inner.parent)
            hide(target)

    def detach(self, path: str) -> None:
        """Leave a path of the layer to native code, which sees neither marks nor covered files."""
        full = self.resolved(path, follow=True)
        upper = self.covers(full)
        if upper is None or full in self._detached:
            return
        if self.there(full):
            self.changed(full)
        target = upper.path / Path(full).relative_to(upper.root)
        if hidden(target):
            target.unlink()
        self._detached.add(full)

    def made(self, path: str) -> None:
        """Note that a folder was made, which hides the covered one."""
        full = self.resolved(path, follow=False)
        upper = self.covers(full)
        if upper is not None:
            inner = Path(full).relative_to(upper.root)
            if (upper.root / inner).is_dir() and self._shows(upper, inner.parent):
                for name in os.listdir(upper.root / inner):
                    hide(upper.path / inner / name)

    def own(self, path: str) -> None:
        """Copy a whole folder into the changed layer, to rename it there."""
        full = self.resolved(path, follow=False)
        upper = self.covers(full)
        if upper is not None:
            upper.own(Path(full).relative_to(upper.root))

    def names(self, path: str) -> list[str] | None:
        """Return the names in a folder, or None if the real folder has them all."""
        full = self.resolved(path, follow=True)
        upper = self.covers(full)
        if upper is None:
            return None
        inner = Path(full).relative_to(upper.root)
        target = upper.path / inner
        if not target.is_dir() or target.is_symlink():
            return None
        below = upper.root / inner
        names = set(os.listdir(below)) if below.is_dir() and self._shows(upper, inner) else set()
        names -= {name for name in names if os.path.join(full, name) in self._detached}
        for name in os.listdir(target):
            if hidden(target / name):
                names.discard(name)
            else:
                names.add(name)
        return sorted(names)

    # -- within ----------------------------------------------------------------------------------------------

    def _real(self, full: str) -> str:
        upper = self.covers(full)
        if upper is None:
            return full
        inner = Path(full).relative_to(upper.root)
        target = upper.path / inner
        if hidden(target):
            return str(target.parent / _NOTHING)
        if os.path.lexists(target) or full in self._detached or not self._shows(upper, inner.parent):
            return str(target)
        return full

    def _shows(self, upper: Upper, inner: Path) -> bool:
        """Return True if the layer below shows through in a folder."""
        for each in (inner, *inner.parents):
            target = upper.path / each
            try:
                status = target.lstat()
            except OSError:
                continue
            if not stat.S_ISDIR(status.st_mode) or is_opaque(target):
                return False
        return True

    def mode(self, full: str) -> int:
        """Return the mode of a path, of a link its own. Raises OSError."""
        return os.lstat(self.real(full, follow=False)).st_mode

    def has_content(self, full: str) -> bool:
        """Return False for a pipe, socket or device: it is opened itself, and never copied."""
        mode = self.mode(full)
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)

    def _is_link(self, full: str) -> bool:
        try:
            return stat.S_ISLNK(os.lstat(self._real(full)).st_mode)
        except OSError:
            return False


def _copy(source: str, target: Path, beside: Path) -> None:
    """Copy a file into the layer in one act, unless it is there.

    Another process or thread may have copied it, and written to it.
    """
    whole = beside / f"copied-{threading.get_native_id()}"
    shutil.copy2(source, whole, follow_symlinks=False)
    try:
        os.link(whole, target, follow_symlinks=sys.platform == "win32")
    except FileExistsError:
        pass
    finally:
        whole.unlink()
