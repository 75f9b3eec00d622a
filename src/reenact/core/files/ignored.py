"""Decide which files may not be kept: ignored ones, keys, and settings with secrets.

Patterns of `.gitignore` are matched in linear time. The `.gitignore` files of the tree and `.git/info/exclude` count,
the user's own list (`core.excludesFile`) does not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from fnmatch import translate
from functools import cache, lru_cache
from pathlib import Path

from reenact.core.dataclass import dataclass
from reenact.core.model.automaton import PatternError, automaton

KEYS = (
    ".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
    "*.gpg", "*.asc", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "credentials", "credentials.*",
    "*credentials.json", "client_secret*.json", "service[-_]account*.json", ".netrc", "_netrc", ".pgpass", ".my.cnf",
    ".npmrc", ".pypirc", ".htpasswd", ".git-credentials", ".dockercfg", "secret.*", "secrets.*", "secrets",
)  # fmt: skip
"""Names of files with secrets."""

KEY_FOLDERS = frozenset((".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud"))
"""Names of folders with secrets."""

_MOST = 10_000
"""The maximum number of patterns of one file."""

_REMEMBERED = 10_000
"""The maximum number of cached answers: a changed file is looked up at each step."""

_LONGEST = 1000
"""The maximum number of characters of a pattern."""


class IgnoreRules:
    """The files under a folder that may not be kept.

    Args:
        root: An absolute path. If it lies in a Git repository, the patterns of the folders above it count too.
    """

    def __init__(self, root: str) -> None:
        self._top = _repository(root) or root
        self._patterns: dict[str, list[_Pattern]] = {}
        self._folders: dict[str, bool] = {self._top: False}
        self._files: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        """Return True if the file at an absolute path may not be kept."""
        known = self._files.get(path)
        if known is None:
            if len(self._files) >= _REMEMBERED:
                self._files.clear()
            known = self._files[path] = has_secret_name(path) or self._ignored(path, folder=False)
        return known

    def folder(self, path: str) -> bool:
        """Return True if nothing in a folder may be kept."""
        known = self._folders.get(path)
        if known is None:
            known = os.path.basename(path) in KEY_FOLDERS or self._ignored(path, folder=True)
            self._folders[path] = known
        return known

    def _ignored(self, path: str, *, folder: bool) -> bool:
        above = os.path.dirname(path)
        if not path.startswith(self._top + os.sep):
            return False
        if self.folder(above):
            return True
        # The last pattern that fits counts, and patterns nearer to the path come after those above.
        while True:
            if patterns := self._of(above):
                relative = os.path.relpath(path, above) if above != "/" else path[1:]
                for pattern in reversed(patterns):
                    if pattern.fits(relative, folder=folder):
                        return pattern.ignores
            if above == self._top:
                return False
            above = os.path.dirname(above)

    def _of(self, folder: str) -> list[_Pattern]:
        known = self._patterns.get(folder)
        if known is None:
            known = _read(os.path.join(folder, ".gitignore"))
            if folder == self._top:
                known = _read(os.path.join(folder, ".git", "info", "exclude")) + known
            self._patterns[folder] = known
        return known


@lru_cache(4096)
def has_secret_name(path: str) -> bool:
    """Return True if a path is that of a key or of settings with secrets."""
    *folders, name = path.split("/")
    return _keys().match(name.lower()) is not None or not KEY_FOLDERS.isdisjoint(folders)


@cache
def _keys() -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in KEYS))


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One pattern of a `.gitignore`."""

    matches: Callable[[str], bool]
    ignores: bool
    folders: bool

    def fits(self, path: str, *, folder: bool) -> bool:
        if self.folders and not folder:
            return False
        return self.matches(path)


def _read(path: str) -> list[_Pattern]:
    try:
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return []
    found = (_pattern(line) for line in text.split("\n")[:_MOST])
    return [pattern for pattern in found if pattern is not None]


def _pattern(line: str) -> _Pattern | None:
    line = line.removesuffix("\r")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if not line or line.startswith("#") or len(line) > _LONGEST:
        return None
    ignores = not line.startswith("!")
    line = line if ignores else line[1:]
    folders = line.endswith("/")
    line = line.removesuffix("/")
    if not line:
        return None
    anchored = "/" in line
    text = _expression(line.removeprefix("/"))
    if text is None:
        return None
    return _Pattern(_matcher(text if anchored else f"(?:(?s:.)*/)?{text}"), ignores, folders)


def _matcher(expression: str) -> Callable[[str], bool]:
    try:
        found = automaton(rf"\A(?:{expression})\Z").found
    except PatternError:
        # Too large for an automaton: slower, but a file that Git ignores is never kept.
        compiled = re.compile(expression)
        return lambda path: compiled.fullmatch(path) is not None
    return lambda path: found(path.encode("utf-8", "surrogatepass"))


def _expression(pattern: str) -> str | None:
    """Return the regular expression of a pattern, or None for one that fits nothing."""
    found, at = [], 0
    while at < len(pattern):
        rest = pattern[at:]
        if rest.startswith("**/") and (at == 0 or pattern[at - 1] == "/"):
            found.append("(?:(?s:.)*/)?")
            at += 3
        elif rest == "**" and at and pattern[at - 1] == "/":
            found.append("(?s:.)+")
            at += 2
        elif rest[0] == "*":
            found.append("[^/]*")
            at += 1
        elif rest[0] == "?":
            found.append("[^/]")
            at += 1
        elif rest[0] == "[":
            text, length = _class(rest)
            if not length:
                return None
            found.append(text)
            at += length
        else:
            if rest[0] == "\\":
                at += 1
                if at == len(pattern):
                    return None
            found.append(re.escape(pattern[at]))
            at += 1
    return "".join(found)


def _class(text: str) -> tuple[str, int]:
    """Return the expression of the class that a text begins with, and its length.

    The length is 0 if it has no end.
    """
    start = 2 if text[1:2] in ("!", "^") else 1
    end = text.find("]", start + 1)
    if end < 0:
        return "", 0
    inside = text[start:end].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^").replace("]", "\\]")
    return f"(?:[{'^' if start == 2 else ''}{inside}])", end + 1


def _repository(folder: str) -> str:
    """Return the top of the Git repository that a folder lies in, or an empty text."""
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
