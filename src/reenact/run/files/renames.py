"""Rename folders on an overlay: the kernel refuses to rename those of the layer below."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any


class FolderRenames:
    """Replaces `os.rename` and `os.replace` by functions that copy such a folder.

    Args:
        covers: Returns True for a path on scratch.
        own: Entered while Reenact itself uses files.
    """

    def __init__(
        self, covers: Callable[[str], bool], own: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._covers, self._own = covers, own
        self._known = {name: getattr(os, name) for name in ("rename", "replace")}

    def install(self) -> None:
        """Replace them."""
        for name, original in self._known.items():
            setattr(os, name, self._wrapped(original))

    def uninstall(self) -> None:
        """Put them back."""
        for name, original in self._known.items():
            setattr(os, name, original)

    def _wrapped(self, original: Callable[..., None]) -> Callable[..., None]:
        def rename(src: Any, dst: Any, **folders: Any) -> None:
            try:
                original(src, dst, **folders)
            except OSError as error:
                if error.errno != errno.EXDEV or folders or not self._is_own(src) or not self._is_own(dst):
                    raise
                self._copy(Path(os.fsdecode(src)), Path(os.fsdecode(dst)))

        rename.__name__ = rename.__qualname__ = original.__name__
        return rename

    def _is_own(self, path: Any) -> bool:
        return self._covers(os.fsdecode(path))

    def _copy(self, source: Path, target: Path) -> None:
        with self._own():
            if target.is_dir():
                target.rmdir()
            shutil.copytree(source, target, symlinks=True)
            shutil.rmtree(source)
