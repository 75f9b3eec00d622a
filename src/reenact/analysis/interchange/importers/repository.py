"""Read the commits of a Git repository, and run no program that it names.

Only commands are used that run no hooks, filters, external diffs or signature checks, and no missing object is fetched.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from reenact.core import git
from reenact.core.dataclass import dataclass
from reenact.core.files.keeping import FILE_LIMIT
from reenact.core.files.listing import writable
from reenact.core.files.states import LONGEST
from reenact.core.record.walk import MOST
from reenact.errors import UsageError

COMMITS = 10_000
"""The maximum number of commits that are read."""

_OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_REFLOG = re.compile(r"[0-9a-f]+ ([0-9a-f]{40,64}) [^\t]*> ([0-9]{1,12}) [+-]")
_REFLOG_SIZE = 64 << 20
_BRANCH = re.compile(r"^([0-9a-f]{40,64}) ([0-9]{1,12})$", re.MULTILINE)
_SECONDS = 60
_PIECE = 1 << 20
_SUBMODULE = 0o160000


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, and the time from which the files were as in it, in seconds since 1970."""

    id: str
    time: int


@dataclass(frozen=True, slots=True)
class GitFile:
    """A file of a commit: its mode as Git has it, and the id of its bytes."""

    mode: int
    id: str


class Repository:
    """A Git repository on this machine.

    Args:
        folder: A folder in it.

    Raises:
        UsageError: It is in no repository, or Git is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.top = Path(os.path.realpath(self._asked(folder, "rev-parse", "--show-toplevel").strip()))
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise UsageError(
                f"{folder} lies in no Git repository that can be read ({_line(error)})"
            ) from None
        self.folder = Path(os.path.realpath(folder))
        self._reader: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._reader is not None:
            self._reader.kill()
            self._reader.communicate()
            self._reader = None

    def has(self, commit: str) -> bool:
        """Return True if a commit of that id is here."""
        return _OID.fullmatch(commit) is not None and self._verified(commit) == commit

    def history(self, branch: str, since: float) -> list[Commit]:
        """Return the commits in the order of their times.

        These are the commits that were checked out here, if the log goes back to that time; else those of the branch,
        if it exists here, or of the present commit.
        """
        checked_out = _in_order(self._checked_out())
        if checked_out and checked_out[0].time <= since:
            return checked_out
        tip = self._verified(f"refs/heads/{branch}") if branch else ""
        tip = tip or self._verified("HEAD")
        if not tip:
            return []
        text = self._git("rev-list", "--first-parent", f"--max-count={COMMITS}", "--format=%H %ct", tip)
        return _in_order(Commit(id, int(time)) for id, time in _BRANCH.findall(text))

    def tree(self, commit: str) -> dict[str, GitFile]:
        """Return the files of a commit by path. Raises UsageError for too many."""
        text = self._git("ls-tree", "-r", "-z", "--full-tree", commit)
        found = {}
        for line in text.split("\0"):
            about, _, name = line.partition("\t")
            words = about.split()
            if len(words) == 3 and words[1] == "blob" and _is_plain(name):
                found[name] = GitFile(int(words[0], 8), words[2])
        if len(found) > MOST:
            raise UsageError(f"commit {commit[:12]} has more than {MOST} files")
        return found

    def changes(self, old: str, new: str) -> dict[str, GitFile | None]:
        """Return the paths that differ between two commits, as they are in the second."""
        found: dict[str, GitFile | None] = {}
        words = iter(self._git("diff-tree", "-r", "-z", "--raw", "--no-renames", old, new).split("\0"))
        for about in words:
            name, parts = next(words, ""), about.removeprefix(":").split()
            if len(parts) == 5 and _is_plain(name):
                mode = int(parts[1], 8)
                found[name] = None if mode in (0, _SUBMODULE) else GitFile(mode, parts[3])
        return found

    def blob(self, id: str) -> tuple[int, bytes | None]:
        """Return the size of a blob and its bytes.

        None for bytes that are missing, or more than are kept of a file.
        """
        if self._reader is None:
            self._reader = subprocess.Popen(  # noqa: S603 - Git, with constant words
                [*git.COMMAND, "cat-file", "--batch"],
                cwd=self.top,
                env=git.environ(self.top),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        into, out = self._reader.stdin, self._reader.stdout
        if into is None or out is None or _OID.fullmatch(id) is None:
            return 0, None
        try:
            into.write(f"{id}\n".encode())
            into.flush()
            words = out.readline().split()
        except OSError:
            return 0, None
        if len(words) != 3:
            return 0, None
        size = left = int(words[2])
        if size <= FILE_LIMIT:
            data = out.read(size)
            out.read(1)
            return size, data if len(data) == size and words[1] == b"blob" else None
        while left > 0 and (piece := out.read(min(left, _PIECE))):
            left -= len(piece)
        out.read(1)
        return size, None

    # -- Git -------------------------------------------------------------------------------------------------

    def _checked_out(self) -> Iterator[Commit]:
        """Yield the commits that were checked out in this folder, the last first."""
        path = self.top / self._git("rev-parse", "--git-path", "logs/HEAD").strip()
        if path.is_file() and path.stat().st_size <= _REFLOG_SIZE:
            lines = path.read_bytes().decode("utf-8", "replace").splitlines()[-COMMITS:]
            for known in filter(None, map(_REFLOG.match, reversed(lines))):
                yield Commit(known[1], int(known[2]))

    def _verified(self, name: str) -> str:
        return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").strip()

    def _git(self, *words: str) -> str:
        """Return the output of Git, empty if it fails."""
        try:
            return self._asked(self.top, *words)
        except (OSError, ValueError, subprocess.SubprocessError):
            return ""

    def _asked(self, folder: Path, *words: str) -> str:
        # No word of the command begins with a text from a log, so none can be an option.
        return git.asked(folder, *words, seconds=_SECONDS).decode("utf-8", "surrogateescape")


def _in_order(commits: Iterable[Commit]) -> list[Commit]:
    """Return commits, given the last one first, in the order of time.

    A commit that is not earlier than those after it is left out.
    """
    found: list[Commit] = []
    for commit in commits:
        if not found or commit.time < found[-1].time:
            found.append(commit)
    return found[::-1]


def _is_plain(name: str) -> bool:
    """Return True for a path inside of its folder that can be written into a recording."""
    parts = name.split("/")
    return (
        writable(name) and len(name) <= LONGEST and all(part not in ("", ".", "..", ".git") for part in parts)
    )


def _line(error: Exception) -> str:
    said = getattr(error, "stderr", None)
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else ""
    return next(iter(text.splitlines()), "") or type(error).__name__
