"""The configuration of a project: `reenact.toml`, or `[tool.reenact]` in `pyproject.toml`.

A file may have come with another person's repository, so it is hostile until the user has trusted it:
`ConfigurationFile.need_trust` guards each setting that lets something run, leave this machine or be written elsewhere.
The user's consent holds for the file's path and content. It is kept beside the keys of homes, outside of every project.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from reenact.core import private
from reenact.core.dataclass import dataclass
from reenact.core.patterns import lazy
from reenact.core.trust.identity import is_private, keys_folder, unwritable
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.core.config.positions import KeyPath, Positions, TextPosition

NAMES = ("reenact.toml", "pyproject.toml")
TOOL = ("tool", "reenact")
TRUSTED_FILES = "configurations.jsonl"

_LONGEST = 1 << 20
_NAMED = lazy(rb"""\breenact["']?[ \t]*(?:\]|\.|=[^=])""")
"""The key `reenact`, not the name of the package in a list of dependencies."""
_PLACE = lazy(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_TWICE = lazy(r"^Cannot declare \((.*?),?\) twice$")
_DIGITS = lazy(r"[0-9][0-9_]*")
_PLAIN_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True)
class ConfigurationFile:
    """A configuration file, as read at that moment.

    Attributes:
        path: Its path.
        tree: Its settings as TOML values; of `pyproject.toml` only those of Reenact.
        text: Its whole text.
        digest: The hash of its content.
    """

    path: Path
    tree: dict[str, Any]
    text: str
    digest: str

    @property
    def folder(self) -> Path:
        """The folder that its relative paths begin in."""
        return self.path.parent

    @property
    def name(self) -> str:
        """Its path as shown: relative to the working directory."""
        try:
            return os.path.relpath(self.path)
        except (OSError, ValueError):
            return str(self.path)

    def place(self, path: KeyPath = (), *, value: bool = False) -> str:
        """Return `FILE:LINE:COLUMN` of a key, or of its value."""
        whole = (*self._above, *path)
        found = self._positions.value(whole) if value else self._positions.key(whole)
        return f"{self.name}:{found.line}:{found.column}"

    def error(self, path: KeyPath, message: str, *, value: bool = False) -> UsageError:
        """Make the error for a key or a value that is not valid."""
        named = ".".join(str(part) if isinstance(part, int) else part[:80] for part in path or self._above)
        return UsageError(f"{self.place(path, value=value)}: {named}: {message}")

    def need_trust(self, path: KeyPath, reason: str) -> None:
        """Raise UsageError for a setting that is for trusted files only, if this one is not trusted."""
        if not self.trusted:
            advice = "is not trusted: look at the file, then `reenact config --trust`"
            raise self.error(path, f"it {reason}, and {self.name} {advice}", value=True)

    @property
    def trusted(self) -> bool:
        """True if the user has trusted this content at this path."""
        return {"path": os.fspath(self.path), "sha256": self.digest} in _trusted_files()

    @property
    def home(self) -> Path | None:
        """The folder of the recordings that it sets, or None. Raises UsageError."""
        given = self.tree.get("home")
        if given is None:
            return None
        if not isinstance(given, str) or not given.strip() or "\0" in given:
            raise self.error(("home",), "the name of a folder in quotes is expected", value=True)
        folder = self.folder / given
        if not folder.resolve().is_relative_to(self.folder.resolve()):
            self.need_trust(("home",), "puts recordings outside of the file's folder")
        return folder

    @property
    def _above(self) -> KeyPath:
        return TOOL if self.path.name == NAMES[1] else ()

    @cached_property
    def _positions(self) -> Positions:
        from reenact.core.config.positions import Positions  # noqa: PLC0415 - for messages alone

        return Positions(self.text)


def found(start: Path | None = None, *, unowned: bool = False) -> ConfigurationFile | None:
    """Return the nearest configuration file of a folder and those above it, or None.

    Args:
        start: The folder; by default the working directory.
        unowned: Also return a file of another user that is not trusted.

    The search ends at the folder of a Git repository. Raises UsageError for a file that cannot be read, or that
    belongs to another user and is not trusted.
    """
    try:
        folder = Path.cwd() if start is None else start.absolute()
    except OSError:
        return None
    for each in (folder, *folder.parents):
        for name in NAMES:
            if (file := _read(each / name)) is not None:
                if not unowned and not _ours(file.path) and not file.trusted:
                    advice = "look at it, then `reenact config --trust`, or delete it"
                    raise UsageError(f"{file.place()}: this file belongs to another user: {advice}")
                return file
        if (each / ".git").exists():
            return None
    return None


def trust(file: ConfigurationFile) -> None:
    """Remember the user's consent to a file's content. Raises UsageError on failure."""
    folder = keys_folder()
    line = orjson.dumps({"path": os.fspath(file.path), "sha256": file.digest}) + b"\n"
    try:
        private.folder(folder)
        target = os.open(folder / TRUSTED_FILES, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(target, line)
        finally:
            os.close(target)
    except OSError as error:
        raise unwritable(folder, error) from None


def _trusted_files() -> Iterator[Any]:
    try:
        path = keys_folder() / TRUSTED_FILES
        if not is_private(path.stat()):
            return
        data = path.read_bytes()
    except (OSError, UsageError):
        return
    for line in data.splitlines():
        try:
            yield orjson.loads(line)
        except ValueError:
            continue


def _read(path: Path) -> ConfigurationFile | None:
    """Return a file, or None where no settings of Reenact are found. Raises UsageError."""
    data = _content(path)
    if data is None or (path.name == NAMES[1] and _NAMED.search(data) is None):
        return None
    return _parsed(path, data, os.path.relpath(path))


@lru_cache(maxsize=4)
def _parsed(path: Path, data: bytes, shown: str) -> ConfigurationFile | None:
    """Parse a file; the same content is parsed once in a process."""
    import tomllib  # noqa: PLC0415 - most programs under Reenact have no such file

    try:
        # As tomllib does; some editors put a byte order mark before the text.
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        tree: Any = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{shown}:{line}:1: this is not UTF-8: save the file in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        where, why = _refused(str(error), text)
        raise UsageError(f"{shown}:{where.line}:{where.column}: {why}: see docs/configuration.md") from None
    except ValueError:
        # Python's limit of digits. tomllib names no place for it.
        where = _position(text, max(_DIGITS.finditer(text), key=lambda number: len(number[0])).start())
        raise UsageError(f"{shown}:{where.line}:{where.column}: a number has too many digits") from None
    except RecursionError:
        raise UsageError(f"{shown}:1:1: its values are nested too deeply") from None
    if path.name == NAMES[1]:
        above = tree.get(TOOL[0], {})
        if not isinstance(above, dict) or TOOL[1] not in above:
            return None
        tree = above[TOOL[1]]
    file = ConfigurationFile(
        path, tree if isinstance(tree, dict) else {}, text, hashlib.sha256(data).hexdigest()
    )
    if not isinstance(tree, dict):
        raise file.error((), "a table is expected: [tool.reenact]")
    return file


def _content(path: Path) -> bytes | None:
    """Return the bytes of a regular file of at most 1 MB, or None. Raises UsageError."""
    try:
        source = os.open(path, _PLAIN_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if path.name == NAMES[1]:
            return None
        raise UsageError(f"{os.path.relpath(path)}:1:1: it cannot be read: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(source).st_mode):
            return None
        data = b""
        while len(data) <= _LONGEST and (more := os.read(source, _LONGEST + 1 - len(data))):
            data += more
    finally:
        os.close(source)
    if len(data) > _LONGEST:
        if path.name == NAMES[1]:
            return None
        raise UsageError(f"{os.path.relpath(path)}:1:1: a configuration file has at most 1 MB")
    return data


def _ours(path: Path) -> bool:
    """Return True if a file belongs to this user or to root; root reads those of all users."""
    if not hasattr(os, "geteuid"):
        return True
    return os.geteuid() == 0 or path.stat().st_uid in {0, os.geteuid()}


def _refused(message: str, text: str) -> tuple[TextPosition, str]:
    """Return the place and the reason in an error of `tomllib`."""
    from reenact.core.config.positions import TextPosition  # noqa: PLC0415 - for messages alone

    place = _PLACE.search(message)
    reason = message[: place.start()] if place is not None else message
    if twice := _TWICE.match(reason):
        reason = f"the table [{twice[1].replace(chr(39), '').replace(', ', '.')}] is there already"
    if place is not None and place[1] is not None:
        return TextPosition(int(place[1]), int(place[2])), reason
    return _position(text, len(text)), reason


def _position(text: str, offset: int) -> TextPosition:
    from reenact.core.config.positions import TextPosition  # noqa: PLC0415 - as above

    return TextPosition(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
