"""Describe the running program for the header: revision, Python and packages.

A replay compares them.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from reenact.core import git
from reenact.core.model.event import Tree
from reenact.core.patterns import lazy

_DISTRIBUTION = lazy(r"^(?P<name>[A-Za-z0-9._-]+?)-(?P<version>[0-9][^-]*)\.(dist|egg)-info$")
_OID = "# branch.oid "


def describe() -> dict[str, Tree]:
    """Describe the running program: `argv`, `cwd`, `git`, `python`, `platform`, `packages`."""
    return {
        "argv": [sys.executable or "python", *sys.orig_argv[1:]],
        "cwd": os.getcwd(),
        "python": platform.python_version(),
        # `platform.platform()` would start a process to ask.
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "hash_seed": os.environ.get("PYTHONHASHSEED"),
        "packages": packages(),
        "git": revision(os.getcwd()),
    }


@lru_cache
def packages() -> dict[str, str]:
    """Return the installed packages' versions, read from folder names (metadata is slow)."""
    found: dict[str, str] = {}
    for folder in reversed([path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]):
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            match = _DISTRIBUTION.match(name)
            if match is not None:
                found[match["name"].lower().replace("_", "-")] = match["version"]
    return dict(sorted(found.items()))


@lru_cache
def revision(folder: str) -> dict[str, Tree] | None:
    """Return a folder's git revision and its uncommitted state, or None."""
    if not any((parent / ".git").exists() for parent in (Path(folder), *Path(folder).parents)):
        return None
    try:
        output = git.asked(
            Path(folder), *git.STATUS, "--porcelain=v2", "--branch", "--untracked-files=no", seconds=3
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = output.decode("utf-8", "replace").splitlines()
    head = next((line.removeprefix(_OID) for line in lines if line.startswith(_OID)), "")
    if not head or head.startswith("("):
        return None  # no commit yet
    return {"revision": head, "dirty": any(not line.startswith("#") for line in lines)}


def option_takes_value(word: str) -> bool:
    """Return True if an option of the Python interpreter takes the next word as its value."""
    return word in ("-X", "-W", "--check-hash-based-pycs")


def takes_part(options: tuple[str, ...]) -> bool:
    """Return True if a Python with these arguments joins the run that starts it."""
    words = iter(options)
    for word in words:
        if option_takes_value(word):
            next(words, None)
        elif not word.startswith("-") or word.startswith("--") or word in ("-", "-c", "-m"):
            return True
        elif set(word) & set("IES"):
            return False
    return True
