"""The arguments with which a printed command names a recording."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from reenact.core.store.local import LocalStore
from reenact.team.open import cached


def reference(
    id: str, path: str | os.PathLike[str], home: Path | None = None, *, typed: str | None = None
) -> str:
    """Return the arguments that name a recording in a command that is run in this folder.

    Args:
        id: Its id.
        path: Its folder or file. An exported file, and a folder outside of the home, are named by their path.
        home: The value of --home, which the command needs, too.
        typed: The reference that the user typed, to be repeated; by default the id or the path.
    """
    if typed is not None:
        return shlex.join([*(["--home", str(home)] if home is not None else []), typed])
    folder = Path(path).parent
    if folder == LocalStore(home).recordings:
        return f"--home {shlex.quote(str(home))} {id}" if home is not None else id
    return id if cached(Path(path)) else shlex.quote(os.fspath(path))
