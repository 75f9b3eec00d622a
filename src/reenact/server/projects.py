"""The projects of a server, each with its own recordings in its own folder."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from reenact.core.store.quotas import IntakeLimits
from reenact.server.keys import DEFAULT, project_name
from reenact.server.library import ProjectLibrary
from reenact.server.readers import Readers
from reenact.team.location import TeamPlace


class Projects:
    """The libraries of a server's projects.

    Args:
        home: The server's home, the folder of the project `default`; the others are in its folder `projects`.
        team: The team's store, or None. With it, the folders are copies of its projects.
        limits: The limits of each project that is stored here.
    """

    def __init__(self, home: Path, team: TeamPlace | None = None, limits: IntakeLimits | None = None) -> None:
        self._home = home
        self._team = team
        self._limits = limits
        self._lock = threading.Lock()
        self._libraries: dict[str, ProjectLibrary] = {}
        self.readers = Readers()
        """The processes that read large recordings."""

    def library(self, project: str) -> ProjectLibrary:
        """Return a project's recordings."""
        with self._lock:
            found = self._libraries.get(project)
            if found is None:
                found = self._libraries[project] = ProjectLibrary(
                    self.folder(project), self._of_team(project), self._limits, self.readers
                )
            return found

    def folder(self, project: str) -> Path:
        """Return a project's folder, existing or not."""
        return self._home if project == DEFAULT else self._home / "projects" / project_name(project)

    def opened(self) -> dict[str, ProjectLibrary]:
        """Return the libraries in use, by project."""
        with self._lock:
            return dict(self._libraries)

    def names(self) -> list[str]:
        """Return the projects that have a folder or a library in use."""
        with contextlib.suppress(OSError), os.scandir(self._home / "projects") as entries:
            return sorted({DEFAULT, *self.opened(), *(entry.name for entry in entries if entry.is_dir())})
        return sorted({DEFAULT, *self.opened()})

    def _of_team(self, project: str) -> TeamPlace | None:
        return self._team.of_project(project, self.folder(project) / "team") if self._team else None

    def close(self) -> None:
        """Stop the background threads of all libraries, and the processes."""
        self.readers.close()
        with self._lock:
            for library in self._libraries.values():
                library.close()
