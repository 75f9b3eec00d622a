"""Ask Git about a repository, even a foreign one: it runs no program and changes nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

COMMAND = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
"""Git that leaves the index as it is, and asks no monitor and no hook."""

STATUS = ("status", "--no-renames", "--ignore-submodules=dirty")
"""Status without the contents of commits, and without entering submodules.

A submodule's configuration may name programs of its own.
"""

_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")
_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"


def asked(folder: Path, *words: str, seconds: float) -> bytes:
    """Return the output of a command. Raises OSError, or SubprocessError if it fails."""
    return subprocess.run(  # noqa: S603 - words of our own
        [*COMMAND, *words],
        cwd=folder,
        env=environ(folder),
        capture_output=True,
        timeout=seconds,
        check=True,
    ).stdout


def environ(folder: Path) -> dict[str, str]:
    """Return the variables for Git in a folder.

    None names another repository, no transport is allowed, and the filters that the repository's own configuration
    names are empty. Those of the user's configuration, such as LFS, stay.
    """
    found = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT},
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    keys = _filters(folder, found)
    for number, key in enumerate(keys):
        value = "false" if key.endswith(".required") else ""
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found | {"GIT_CONFIG_COUNT": str(len(keys))}


def _filters(folder: Path, variables: dict[str, str]) -> list[str]:
    """Return the settings of filters in the repository's own configuration, which runs nothing."""
    done = subprocess.run(  # noqa: S603 - words of our own
        [*COMMAND, "config", "--show-scope", "--null", "--name-only", "--get-regexp", _FILTERS],
        cwd=folder,
        env=variables,
        capture_output=True,
        timeout=20,
        check=False,
    )
    words = os.fsdecode(done.stdout).split("\0")
    scoped = zip(words[::2], words[1::2], strict=False)
    return list(dict.fromkeys(key for scope, key in scoped if scope in ("local", "worktree")))
