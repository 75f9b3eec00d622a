"""The resources of a session that a server has opened for a client."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from reenact.browser.isolation.addresses import Reach


@dataclass(frozen=True)
class GuestResources:
    """The resources that a server gives to one session's browser.

    Attributes:
        folder: The session's folder, for all its files; it is removed with the session.
        reach: The machines whose pages may be opened.
    """

    folder: Path
    reach: Reach

    @property
    def uploads(self) -> Path:
        """The folder of the files that were uploaded for the session."""
        return self.folder / "uploads"

    @property
    def downloads(self) -> Path:
        """The folder of the files that its pages have downloaded."""
        return self.folder / "downloads"

    @property
    def browser(self) -> Path:
        """The folder that the browser may write to: profile, temporary files, unfinished downloads."""
        return self.folder / "browser"

    def lend(self, path: Path) -> Path:
        """Copy a file of the session to where the browser can read it; return the copy.

        Raises:
            FileNotFoundError: The session has no such file.
        """
        real = Path(os.path.realpath(path))
        if not any(real.parent == Path(os.path.realpath(one)) for one in (self.uploads, self.downloads)):
            raise FileNotFoundError(f"there is no file {path.name} in this session: upload it first")
        folder = self.browser / "given"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        copy = folder / real.name
        shutil.copyfile(real, copy)
        copy.chmod(0o644)
        return copy
