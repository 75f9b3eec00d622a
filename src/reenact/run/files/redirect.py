"""Redirect Python's access to files into scratch, where no overlay is possible.

Inside of a replay, `open`, the functions of `os`, the modules built on them (pathlib, shutil, tempfile, glob) and
`sqlite3.connect` are redirected. Native code and other processes are not: `NOT_COVERED` says so in the verdict.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import Any
from urllib.parse import quote

from reenact.adapters.stdlib import file_uses, seal
from reenact.adapters.stdlib.folders import Listing
from reenact.core import boundary, system
from reenact.core.files import databases
from reenact.run.files.error_paths import name_paths
from reenact.run.files.redirected_events import EVENTS, EventOf, connects, opens
from reenact.run.files.replacements import Replacements
from reenact.run.files.scanned import ScannedName
from reenact.run.files.upper import Upper
from reenact.run.files.view import OverlayView

NOT_COVERED = "files that native code and other processes use: they are the user's own"

_READS = (
    "stat",
    "access",
    "readlink",
    "lstat",
    "statvfs",
    "getxattr",
    "listxattr",
)
_CHANGES = ("chmod", "chown", "utime", "truncate", "lchown", "setxattr", "removexattr")
_LSTAT = ("readlink", "lstat")
_unlink = os.unlink
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_TRUNC | os.O_APPEND


class FileRedirection:
    """Replaces the functions while a block is replayed.

    Args:
        uppers: The changed layers.
        keep: Folders that stay the real ones.
    """

    def __init__(self, uppers: list[Upper], keep: list[str]) -> None:
        self.view = OverlayView(uppers, keep)
        self._inside = threading.local()
        self._replacements = Replacements()

    def install(self) -> None:
        """Replace them."""
        for name in _READS:
            self._replacements.set(os, name, self._reading(name))
        for name in _CHANGES:
            self._replacements.set(os, name, self._changing(name))
        own: dict[str, Callable[..., Any]] = {
            "open": self._os_open, "listdir": self._listdir, "scandir": self._scandir, "mkdir": self._mkdir,
            "mkfifo": self._mkfifo, "mknod": self._mkfifo,
            "rmdir": self._rmdir, "remove": self._remove, "unlink": self._remove, "rename": self._rename,
            "chdir": self._chdir, "replace": self._rename, "link": self._link, "symlink": self._symlink,
            "getcwd": self._getcwd,
        }  # fmt: skip
        for name, function in own.items():
            original = getattr(os, name, None)
            if original is not None:
                self._replacements.set(os, name, self._guarded(original, function, EVENTS.get(name)))
        for function in vars(vars(tempfile).get("_TemporaryFileCloser", object)).values():
            self._replacements.set_default(function, _unlink, os.unlink)
        opened = self._guarded(io.open, self._open, opens)
        self._replacements.set(io, "open", opened)
        self._replacements.set(builtins, "open", opened)
        with suppress(ImportError):
            # Imported here, as a recording does not need it.
            sqlite3 = import_module("sqlite3")
            self._replacements.set(
                sqlite3, "connect", self._guarded(sqlite3.connect, self._connect, connects)
            )
        # Functions with descriptors of folders instead of paths would not be redirected.
        self._replacements.set(shutil, "_use_fd_functions", False)
        self._replacements.set(shutil.rmtree, "avoids_symlink_attacks", False)
        self._replacements.spread()

    def uninstall(self) -> None:
        """Put them back."""
        with self.paused():
            here = os.getcwd()
            back = self.view.public(here)
            while back != here and not os.path.isdir(back):
                back = os.path.dirname(back)
            if back != here:
                os.chdir(back)
        self._replacements.undo()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let Reenact itself see the real files."""
        before = getattr(self._inside, "on", False)
        self._inside.on = True
        try:
            yield
        finally:
            self._inside.on = before

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Let Reenact itself see the program's files."""
        before = getattr(self._inside, "shown", False)
        self._inside.shown = True
        try:
            yield
        finally:
            self._inside.shown = before

    def public(self, path: str) -> str:
        """Return the path that the program knows for a path in scratch."""
        return self.view.public(path)

    # -- wrappers --------------------------------------------------------------------------------------------

    def _guarded(
        self, original: Callable[..., Any], function: Callable[..., Any], event_of: EventOf | None = None
    ) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            known = boundary.current() is not None or getattr(self._inside, "shown", False)
            if getattr(self._inside, "on", False) or not known:
                return original(*args, **kwargs)
            if event_of is not None:
                self._tell(event_of, args, kwargs, sys._getframe(1))
            with self.paused():
                try:
                    return function(original, *args, **kwargs)
                except OSError as error:
                    name_paths(error, args, kwargs, absolute=self._path, public=self.view.public)
                    raise

        call.__name__ = call.__qualname__ = getattr(original, "__name__", "call")
        return call

    def _tell(
        self, event_of: EventOf, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> None:
        """Report a function's audit event before anything changes, with the program's paths."""
        event = None
        with self.paused(), suppress(TypeError, ValueError, LookupError, OSError):
            # A call that is not valid raises its own error.
            event = event_of(self._path, args, kwargs)
        if event is not None:
            seal.hear(*event, frame)

    def _path(self, path: Any, dir_fd: int | None = None) -> str | None:
        """Return an absolute path, or None if it is none (a descriptor)."""
        if isinstance(path, int):
            return None
        text = os.fsdecode(path)
        if dir_fd is not None and not text.startswith("/"):
            text = os.path.join(self.view.public(os.readlink(f"/proc/self/fd/{dir_fd}")), text)
        elif not text.startswith("/"):
            text = os.path.join(self._getcwd(os.getcwd), text)
        return text

    def _reading(self, name: str) -> Callable[..., Any] | None:
        original = getattr(os, name, None)

        def read(original: Callable[..., Any], path: Any = ".", *args: Any, **kwargs: Any) -> Any:
            full = self._path(path, kwargs.get("dir_fd"))
            if full is None or (self.view.covers(os.path.normpath(full)) is None and not self._linked(full)):
                return original(path, *args, **kwargs)
            kwargs.pop("dir_fd", None)
            follow = name not in _LSTAT and kwargs.get("follow_symlinks", True)
            try:
                found = original(self.view.real(full, follow=follow), *args, **kwargs)
            except OSError as error:
                raise type(error)(error.errno, error.strerror, path) from None
            # The marks of the layer are not the program's.
            return [each for each in found if ".overlay." not in each] if name == "listxattr" else found

        return None if original is None else self._guarded(original, read)

    def _changing(self, name: str) -> Callable[..., Any] | None:
        original = getattr(os, name, None)

        def change(original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
            full = self._path(path, kwargs.get("dir_fd"))
            if full is None:
                return original(path, *args, **kwargs)
            kwargs.pop("dir_fd", None)
            follow = name != "lchown" and kwargs.get("follow_symlinks", True)
            self._must(full, path)
            return original(self.view.changed(full, follow=follow), *args, **kwargs)

        return None if original is None else self._guarded(original, change, EVENTS[name])

    def _linked(self, full: str) -> bool:
        """Return True if a path leads through a link into a covered folder."""
        return self.view.covers(self.view.resolved(full, follow=True)) is not None

    def _must(self, full: str, *paths: Any) -> None:
        if not self.view.there(full):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), *paths[:1], None, *paths[1:])

    def _must_not(self, full: str, *paths: Any) -> None:
        if self.view.there(full):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), *paths[:1], None, *paths[1:])

    # -- functions -------------------------------------------------------------------------------------------

    def _open(self, original: Callable[..., Any], file: Any, *args: Any, **kwargs: Any) -> Any:
        given = kwargs.pop("opener", args[6] if len(args) > 6 else None)
        if isinstance(file, int) or given is not None:
            with self._resumed():
                return original(file, *args[:6], **kwargs, opener=given)

        def opener(path: str, flags: int) -> int:
            with self.paused():
                return self._os_open(os.open, path, flags, 0o666)

        return original(file, *args[:6], **kwargs, opener=opener)

    @contextmanager
    def _resumed(self) -> Iterator[None]:
        self._inside.on = False
        try:
            yield
        finally:
            self._inside.on = True

    def _os_open(
        self,
        original: Callable[..., int],
        path: Any,
        flags: int,
        mode: int = 0o777,
        *,
        dir_fd: int | None = None,
    ) -> int:
        full = self._path(path, dir_fd)
        if full is None:
            return original(path, flags, mode, dir_fd=dir_fd)
        follow = not flags & system.NOFOLLOW
        resolved = self.view.resolved(full, follow=follow)
        if self.view.covers(resolved) is None:
            return original(path, flags, mode, dir_fd=dir_fd)
        there = self.view.there(resolved)
        real = self.view.real(resolved)
        if there and not self.view.has_content(resolved):
            return original(real, flags, mode)
        if flags & os.O_CREAT and flags & os.O_EXCL:
            self._must_not(resolved, path)
        elif not there and not flags & os.O_CREAT:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if not flags & _WRITES and there:
            return original(real, flags, mode)
        return original(
            self.view.changed(resolved, fresh=bool(flags & os.O_TRUNC) and not there), flags, mode
        )

    def _listdir(self, original: Callable[..., Any], path: Any = ".") -> Any:
        full = self._path(path if path is not None else ".")
        names = None if full is None else self.view.names(full)
        if names is None:
            return original(path if full is None else self.view.real(full))
        return [os.fsencode(name) for name in names] if isinstance(path, bytes) else names

    def _scandir(self, original: Callable[..., Any], path: Any = ".") -> Any:
        full = self._path(path if path is not None else ".")
        names = None if full is None else self.view.names(full)
        if full is None or names is None:
            return original(path)
        given = os.fsdecode(path if path is not None else ".")
        return Listing([ScannedName(self, full, given, name) for name in names])

    def _mkdir(
        self, original: Callable[..., Any], path: Any, mode: int = 0o777, *, dir_fd: int | None = None
    ) -> None:
        full = self._path(path, dir_fd)
        assert full is not None
        self._must_not(full, path)
        original(self.view.changed(full, follow=False, fresh=True), mode)
        self.view.made(full)

    def _mkfifo(
        self, original: Callable[..., Any], path: Any, *args: Any, dir_fd: int | None = None, **kwargs: Any
    ) -> None:
        full = self._path(path, dir_fd)
        assert full is not None
        if self.view.there(full) and self.view.has_content(full):
            # A pipe that is there may be the one that the recorded run has left behind.
            self._must_not(full, path)
        original(self.view.changed(full, follow=False, fresh=True), *args, **kwargs)
        file_uses.pipes.add(full)

    def _rmdir(self, original: Callable[..., Any], path: Any, *, dir_fd: int | None = None) -> None:
        full = self._path(path, dir_fd)
        assert full is not None
        self._must(full, path)
        names = self.view.names(full)
        if names is None and self.view.covers(self.view.resolved(full, follow=False)) is None:
            original(path, dir_fd=dir_fd)
            return
        if not stat.S_ISDIR(self.view.mode(full)):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        if names if names is not None else os.listdir(self.view.real(full, follow=False)):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        shutil.rmtree(self.view.changed(full, follow=False))
        self.view.hide(full)

    def _remove(self, original: Callable[..., Any], path: Any, *, dir_fd: int | None = None) -> None:
        full = self._path(path, dir_fd)
        assert full is not None
        if self.view.covers(self.view.resolved(full, follow=False)) is None:
            original(path, dir_fd=dir_fd)
            return
        self._must(full, path)
        if stat.S_ISDIR(self.view.mode(full)):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        original(self.view.changed(full, follow=False))
        self.view.hide(full)

    def _rename(
        self,
        original: Callable[..., Any],
        src: Any,
        dst: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
    ) -> None:
        old, new = self._path(src, src_dir_fd), self._path(dst, dst_dir_fd)
        assert old is not None
        assert new is not None
        self._must(old, src, dst)
        if stat.S_ISDIR(self.view.mode(old)):
            self.view.own(old)
            if self.view.names(new):
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), src, None, dst)
        moved = self.view.changed(old, follow=False)
        original(moved, self.view.changed(new, follow=False, fresh=not self.view.there(new)))
        self.view.hide(old)

    def _link(self, original: Callable[..., Any], src: Any, dst: Any, **kwargs: Any) -> None:
        old, new = self._path(src, kwargs.get("src_dir_fd")), self._path(dst, kwargs.get("dst_dir_fd"))
        assert old is not None
        assert new is not None
        self._must(old, src, dst)
        self._must_not(new, src, dst)
        original(self.view.changed(old, follow=False), self.view.changed(new, follow=False, fresh=True))

    def _symlink(self, original: Callable[..., Any], src: Any, dst: Any, *args: Any, **kwargs: Any) -> None:
        new = self._path(dst, kwargs.get("dir_fd"))
        assert new is not None
        self._must_not(new, src, dst)
        original(src, self.view.changed(new, follow=False, fresh=True))

    def _chdir(self, original: Callable[..., None], path: Any) -> None:
        full = self._path(path)
        real = None if full is None else self.view.real(full)
        if full is not None and real is not None and self.view.covers(self.view.resolved(full, follow=True)):
            below = self.view.resolved(full, follow=True)
            # The real folder, if it exists: that of the layer is removed at the end.
            real = below if os.path.isdir(real) and os.path.isdir(below) else real
        try:
            original(path if real is None else real)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, path) from None

    def _getcwd(self, original: Callable[[], str]) -> str:
        return self.view.public(original())

    def _connect(self, original: Callable[..., Any], database: Any, *args: Any, **kwargs: Any) -> Any:
        uri = bool(kwargs.get("uri", args[6] if len(args) > 6 else False))
        found = databases.opened(database, uri=uri)
        if found is None:
            return original(database, *args, **kwargs)
        text, query = found
        full = self._path(text)
        assert full is not None
        real = self.view.changed(full)
        for end in databases.BESIDE:
            # SQLite itself makes and removes these files beside the database.
            self.view.detach(self.view.resolved(full, follow=True) + end)
        return original(f"file:{quote(real)}?{query}" if uri else real, *args, **kwargs)
