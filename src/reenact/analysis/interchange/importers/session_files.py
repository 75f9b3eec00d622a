"""The files of an imported session at each of its turns.

They come from its log, and from the commits of a repository.
"""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from reenact.analysis.interchange.importers.file_acts import FileAct, patched
from reenact.analysis.interchange.importers.repository import Commit, GitFile, Repository
from reenact.analysis.interchange.importers.run import Happened, ImportedRun, Workspace
from reenact.core.dataclass import dataclass
from reenact.core.files.ignored import IgnoreRules, has_secret_name
from reenact.core.files.keeping import FileKeeper
from reenact.core.files.listing import writable
from reenact.core.files.states import LONGEST, NOTHING, FileState, Why, fingerprint
from reenact.core.files.trees import How
from reenact.core.record.places import Place

_PLAIN = 0o100644
_NO_TIME = -1


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file at a moment of a session.

    Attributes:
        mode: Its mode, as Git has it.
        data: Its bytes, if they are in the log.
        id: The id of its bytes in the repository, else empty. Without both, the bytes are unknown.
        soft: The bytes may lack the last line end.
    """

    mode: int = _PLAIN
    data: bytes | None = None
    id: str = ""
    soft: bool = False


Version: TypeAlias = FileVersion | None
"""None: no file is there."""


@dataclass(frozen=True, slots=True)
class VersionChange:
    """New versions of some files, by path within the session's folder."""

    how: How
    versions: Mapping[str, Version]


class WorkspaceFiles:
    """Finds the files of a session.

    Args:
        run: The session.
        workspace: Its folder.
        repository: The repository that it worked in, if it is joined.
    """

    def __init__(self, run: ImportedRun, workspace: Workspace, repository: Repository | None) -> None:
        self._repository = repository
        self._folder = posixpath.normpath(workspace.folder)
        self._within = ""
        self.root = self._folder
        self._first: dict[str, Version] = {}
        self._now: dict[str, Version] = {}
        self._commit = ""
        self._coming: list[Commit] = []
        self._changes: dict[tuple[int, bool], list[VersionChange]] = {}
        self._rules: IgnoreRules | None = None
        source = "of the repository's commits and " if repository is not None else ""
        self.note = (
            f"the files are those {source}of the contents and edits in the log: what commands have changed shows at "
            "the next commit, or not at all"
        )
        effects = list(run.effects)
        if repository is not None:
            self._join(repository, workspace, effects)
        for happened in effects:
            self._pass(happened, after=False, at=happened.began, git=False)
            for act in happened.acts:
                self._take(act, happened)
            ran_git = happened.kind == "tool" and "git" in str(happened.args)
            self._pass(happened, after=True, at=happened.ended, git=ran_git)

    @property
    def known(self) -> bool:
        """True if anything is known of files."""
        return _is_plain(self.root) and posixpath.isabs(self.root) and bool(self._first or self._changes)

    def before(self, keeper: FileKeeper, salt: bytes) -> dict[Place, FileState]:
        """Return the files before the first effect, their bytes kept."""
        return self._states(self._first, keeper, salt)

    def around(
        self, happened: Happened, keeper: FileKeeper, salt: bytes, *, after: bool
    ) -> Iterator[tuple[How, dict[Place, FileState]]]:
        """Yield the changes before an effect, or after it."""
        for change in self._changes.get((id(happened), after), ()):
            yield change.how, self._states(change.versions, keeper, salt)

    # -- commits ---------------------------------------------------------------------------------------------

    def _join(self, repository: Repository, workspace: Workspace, effects: list[Happened]) -> None:
        top, self.root = repository.top, str(repository.top)
        self._rules = IgnoreRules(self.root)
        if Path(self._folder).is_relative_to(top):
            self._folder = str(top)
        else:
            self._within = "" if repository.folder == top else str(repository.folder.relative_to(top))
        began = next((each.began.timestamp() for each in effects if each.began is not None), None)
        if began is None:
            return
        history = repository.history(workspace.branch, began)
        before = [commit for commit in history if commit.time <= began]
        self._coming = history[len(before) :]
        self._commit = (
            workspace.commit if repository.has(workspace.commit) else before[-1].id if before else ""
        )
        tree = repository.tree(self._commit) if self._commit else {}
        self._first = {name: _of_git(file) for name, file in tree.items()}
        self._now = dict(self._first)

    def _pass(self, happened: Happened, *, after: bool, at: datetime | None, git: bool) -> None:
        """Take the commits up to a moment.

        Git's times are whole seconds, so a commit may be later than its time.
        """
        while self._coming and at is not None and self._repository is not None:
            commit = self._coming[0]
            if commit.time + (0 if git else 1) > at.timestamp():
                return
            del self._coming[0]
            if self._commit:
                found = self._repository.changes(self._commit, commit.id)
            else:
                found = dict(self._repository.tree(commit.id))
            self._commit = commit.id
            changed = {name: _of_git(file) for name, file in found.items()}
            self._change(happened, "change" if git else "outside", changed, after=after)

    # -- the log ---------------------------------------------------------------------------------------------

    def _take(self, act: FileAct, happened: Happened) -> None:
        name = self._name(act.path)
        if name is None:
            return
        if act.verb not in ("seen", "read", "absent") and name not in self._now:
            # It existed before, with a content that is not in the log.
            self._first[name] = self._now[name] = FileVersion()
        known = self._now.get(name)
        if act.verb in ("seen", "read", "absent"):
            self._told(name, act, happened)
        elif act.verb == "written":
            mode = known.mode if known is not None else _PLAIN
            self._change(happened, "change", {name: FileVersion(mode, self._encoded(act.text, known))})
        elif act.verb == "removed":
            self._change(happened, "change", {name: None})
        else:
            made = self._patched(act, known)
            to = self._name(act.to) if act.to else name
            changed: dict[str, Version] = {name: None}
            self._change(happened, "change", {**changed, **({to: made} if to is not None else {})})

    def _told(self, name: str, act: FileAct, happened: Happened) -> None:
        """Take the content of a file in the log, or its absence."""
        known = self._now.get(name)
        if act.verb == "absent":
            if known is not None:
                self._change(happened, "outside", {name: None}, after=False)
            self._now[name] = None
            return
        told = FileVersion(
            _PLAIN if known is None else known.mode, self._encoded(act.text, known), soft=act.verb == "read"
        )
        if name not in self._now and name not in self._first:
            self._first[name] = self._now[name] = told
        elif known is None or not self._same(known, told):
            self._change(happened, "outside", {name: told}, after=False)
        elif known.soft and not told.soft:
            # The exact bytes of a content that a tool has shown before.
            self._now[name] = told
            if self._first.get(name) is known:
                self._first[name] = told

    def _patched(self, act: FileAct, known: Version) -> FileVersion:
        mode = _PLAIN if known is None else known.mode
        data = None if known is None else self._data(known)[1]
        try:
            made = None if data is None else patched(data.decode().replace("\r\n", "\n"), act.hunks)
        except UnicodeDecodeError:
            made = None
        return FileVersion(mode, None if made is None else self._encoded(made, known))

    def _encoded(self, text: str, known: Version) -> bytes:
        """Return the bytes of a text with the file's own line ends: agents see those of Unix."""
        data = text.encode("utf-8", "replace")
        before = b"" if known is None else self._data(known)[1] or b""
        windows = b"\r\n" in before and b"\r\n" not in data
        return data.replace(b"\n", b"\r\n") if windows else data

    def _same(self, known: FileVersion, told: FileVersion) -> bool:
        """Return True if a file has the content in the log."""
        one, other = self._data(known)[1], told.data
        if known.soft or told.soft:
            return one is not None and other is not None and one.rstrip(b"\n") == other.rstrip(b"\n")
        return one == other

    def _change(
        self, happened: Happened, how: How, versions: Mapping[str, Version], *, after: bool = True
    ) -> None:
        new = {name: version for name, version in versions.items() if not self._is_now(name, version)}
        if new:
            self._now.update(new)
            self._changes.setdefault((id(happened), after), []).append(VersionChange(how, new))

    def _is_now(self, name: str, version: Version) -> bool:
        known = self._now.get(name)
        if known is None or version is None:
            return known is version
        if known == version:
            return not (known.data is None and not known.id)
        if known.mode != version.mode or (known.id and version.id):
            return False
        data = self._data(known)[1]
        return data is not None and data == self._data(version)[1]

    def _name(self, path: str) -> str | None:
        """Return a path within the root; None for one elsewhere."""
        if not _is_plain(path):
            return None
        whole = posixpath.normpath(posixpath.join(self._folder, path))
        folder = self._folder.rstrip("/") + "/"
        if not whole.startswith(folder):
            return None
        name = posixpath.normpath(posixpath.join(self._within, whole[len(folder) :]))
        return None if name.split("/")[0] in ("", ".", "..", ".git") else name

    # -- states ----------------------------------------------------------------------------------------------

    def _data(self, version: FileVersion) -> tuple[int, bytes | None]:
        """Return the size of a version and its bytes; None if these are not known, or too many."""
        if version.data is not None:
            return len(version.data), version.data
        if self._repository is None or not version.id:
            return 0, None
        return self._repository.blob(version.id)

    def _states(
        self, versions: Mapping[str, Version], keeper: FileKeeper, salt: bytes
    ) -> dict[Place, FileState]:
        """Return each path with its state, its bytes kept if they may be."""
        places = {
            Place(self.root, name, f"{self.root.rstrip('/')}/{name}"): versions[name] for name in versions
        }
        return {place: self._state(place, version, keeper, salt) for place, version in places.items()}

    def _state(self, place: Place, version: Version, keeper: FileKeeper, salt: bytes) -> FileState:
        if version is None:
            return NOTHING
        size, data = self._data(version)
        mode = stat.S_IMODE(version.mode) & 0o755 | 0o644
        if data is None:
            why: Why = "large" if size else "unread"
            return FileState("file", mode, size, why=why)
        if stat.S_ISLNK(version.mode):
            target = data.decode("utf-8", "replace")[:LONGEST].replace("\0", "?")
            return FileState("link", 0o777, target=target) if target else NOTHING
        if has_secret_name(place.path) or (
            not version.id and self._rules is not None and self._rules(place.path)
        ):
            return FileState("file", mode, size, print=fingerprint(data, salt), why="ignored")
        return replace(keeper.kept(data, mode, _NO_TIME), mtime=None)


def _is_plain(path: str) -> bool:
    return "\0" not in path and len(path) <= LONGEST and writable(path)


def _of_git(file: GitFile | None) -> Version:
    return None if file is None else FileVersion(file.mode, id=file.id)
