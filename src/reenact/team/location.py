"""The addresses of a team's store, read from the environment."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from urllib.parse import urlsplit

from reenact.core.dataclass import dataclass
from reenact.core.model.header import ID
from reenact.errors import UsageError

STORE, OBJECTS, PROJECT, CACHE = "REENACT_STORE", "REENACT_OBJECTS", "REENACT_PROJECT", "REENACT_CACHE"
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class TeamPlace:
    """The addresses of a team's store.

    Attributes:
        database: The address of its Postgres, `postgresql://…`. It may contain a password, and is never shown.
        objects: The address of its object store.
        project: The name of the project.
        cache: The folder for cached recordings.
    """

    database: str = field(repr=False)
    objects: str
    project: str = DEFAULT
    cache: Path = Path()

    @property
    def name(self) -> str:
        """The store's name: its address without credentials, and the project."""
        parts = urlsplit(self.database)
        host = parts.netloc.rpartition("@")[2] or "local"
        return f"postgresql://{host}{parts.path} ({self.project})"

    def options(self, *, project: bool = True) -> str:
        """Return the options that name this store in a command, each after a space.

        Empty if the environment names it. An address with a password is replaced by `URL`.
        """
        here = {
            "--store": os.environ.get(STORE, "").strip(),
            "--objects": os.environ.get(OBJECTS, "").strip(),
            "--project": os.environ.get(PROJECT, "").strip() or DEFAULT,
        }
        shown = "URL" if _secret(self.database) else self.database
        words = ["--store", shown] if self.database != here["--store"] else []
        words += ["--objects", self.objects] if self.objects != here["--objects"] else []
        words += ["--project", self.project] if project and self.project != here["--project"] else []
        return "".join(f" {shlex.quote(word)}" for word in words)

    @classmethod
    def of(
        cls, environ: Mapping[str, str], *, store: str = "", objects: str = "", project: str = ""
    ) -> TeamPlace | None:
        """Return the store of the arguments, else that of the environment, else None.

        Raises:
            UsageError: The addresses are invalid or incomplete.
        """
        database = store or environ.get(STORE, "").strip()
        if not database:
            return None
        if not database.startswith(("postgresql://", "postgres://")):
            scheme = database.partition("://")[0][:20]
            raise UsageError(f"{STORE} is the address of a Postgres, postgresql://…, and not {scheme!r}")
        found = objects or environ.get(OBJECTS, "").strip()
        if not found:
            raise UsageError(
                f"{STORE} needs {OBJECTS} too, the place of large values: s3://bucket/prefix, or file:///folder"
            )
        if "://" not in found:
            raise UsageError(f"{OBJECTS}={found!r} is no address; s3://bucket/prefix, or file:///folder")
        name = project or environ.get(PROJECT, "").strip() or DEFAULT
        if not ID.fullmatch(name):
            raise UsageError(f"{PROJECT}={name!r} is no name of a project: letters, digits, - and _")
        return cls(database, found, name, _cache(environ, database, name))

    def of_project(self, project: str, cache: Path) -> TeamPlace:
        """Return the place of another project in the same store."""
        return TeamPlace(self.database, self.objects, project, cache)


def _secret(database: str) -> bool:
    parts = urlsplit(database)
    return parts.password is not None or "password=" in parts.query


def _cache(environ: Mapping[str, str], database: str, project: str) -> Path:
    above = environ.get(CACHE) or os.path.join(  # noqa: PTH118
        environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "reenact"
    )
    # The user's name is left out: the same server has the same recordings for all users.
    parts = urlsplit(database)
    known = f"{parts.netloc.rpartition('@')[2]}\0{parts.path}\0{parts.query}\0{project}"
    return Path(above).absolute() / hashlib.sha256(known.encode()).hexdigest()[:16]
