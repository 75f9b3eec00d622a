"""Tell the run of the files that its program uses, as Python's audit events name them.

Files that are opened by native code, and modules that are imported, are not told.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from types import FrameType
from typing import Any, TypeVar

from reenact.adapters.stdlib import callers
from reenact.core import system
from reenact.core.boundary import Call, current
from reenact.core.boundary.file_sensor import FileSensor

T = TypeVar("T")

_CODE = (".py", ".pyc", ".so", ".pyd", ".pth", ".pyi")
_READERS = (
    "linecache.py",
    "tokenize.py",
    "inspect.py",
    "traceback.py",
    "runpy.py",
    "pkgutil.py",
    "zipimport.py",
)
_HOOKS = ("reenact.adapters.", "reenact.run.files.renames")
"""Modules of Reenact that a program's call passes through."""

_PLUMBING = ("asyncio", "concurrent", "importlib", "multiprocessing")
"""Packages of the standard library with files of their own: sockets, the code of modules."""

_LOOKS = 5
"""The number of looks at a path that changes at each of them."""

_INSTALLED = ("importlib.metadata", "importlib_metadata", "pkg_resources")
"""Modules that search every folder of imports, the program's as well, for packages."""

_FAR = 12
"""The number of frames between the opening of a module and the import, or less."""


pipes: set[str] = set()
"""The paths of the named pipes that the program has made (`named_pipes`)."""


def opens_pipe(path: str) -> None:
    """Note that the program opens a named pipe that it has made; `named_pipes` replaces this."""


def before(*paths: str, writes: bool, names: bool = False) -> None:
    """Note that the program is about to use files; `file_turns` replaces this."""


def begins(seen: int | None = None) -> None:
    """Note that the noted use begins, or that a look has found a file of that number; as above."""


_UNRECORDED = FileSensor()
"""Takes the uses in the replayed part of a fork, whose order counts."""


def heard(event: str, arguments: tuple[Any, ...], frame: FrameType | None) -> None:
    """Tell the run of the program of a use of files."""
    sensor = _sensor(hidden=True)
    if sensor is None or frame is None or _ours(frame):
        return
    _HEARD[event](sensor, arguments, frame)
    begins()


def _ours(frame: FrameType | None) -> bool:
    """Return True if Reenact itself uses a file, and not the program through a hook."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(callers.OURS):
            if not frame.f_globals.get("__name__", "").startswith(_HOOKS):
                return True
        elif not name.startswith((*callers.STANDARD, "<frozen ")):
            return False
        frame = frame.f_back
    return False


def looked_up(path: Any, look: Callable[[], T], *, ordered: bool) -> T:
    """Return what the program is told of a path, once the run has the state that it is told of.

    An `ordered` look comes in its turn among those of the run's processes.
    """
    sensor = _sensor()
    if sensor is None or isinstance(path, int):
        return look()
    name = os.fsdecode(path)
    if not ordered:
        return _told(look, sensor.asked, name)
    before(name, writes=False)
    try:
        found = _told(look, sensor.asked, name)
    except OSError:
        begins(0)
        raise
    begins(getattr(found, "st_ino", None))
    return found


def listed(folder: Any, look: Callable[[], T]) -> T:
    """Return the names in a folder, once the run has those names."""
    sensor, name = _sensor(), named(folder)
    return look() if sensor is None or name is None else _told(look, sensor.listed_again, name)


def _sensor(*, hidden: bool = False) -> FileSensor | None:
    """Return what is told of the running code's files; with `hidden`, also inside of a leaf."""
    scope = current()
    if scope is None or (scope.hidden and not hidden):
        return None
    sensor, family = scope.run.files, scope.run.family
    if sensor is None and scope.run.replaying and family is not None and family.several:
        return _UNRECORDED
    return None if sensor is None or sensor.busy else sensor


def _told(look: Callable[[], T], changed: Callable[[str], bool], path: str) -> T:
    for _ in range(_LOOKS):
        try:
            found = look()
        except OSError:
            if not changed(path):
                raise
        else:
            if not changed(path):
                return found
    return look()


def command_begins(writes: Collection[str] = ()) -> None:
    """The program is about to start a command, which writes its output into these files."""
    scope = current()
    if scope is not None and scope.run.files is not None:
        scope.run.files.command_begins(writes)


def command_asked(call: Call) -> None:
    """A command is started or given input: if its answer is recorded, files are compared."""
    compare, answer = call.scope.run.commands, call.answer
    if compare is not None and answer is not None and answer.call is not None:
        compare(answer.call)


def command_printed(call: Call) -> None:
    """The program has got output of a command, whose changes it may look at now."""
    if call.scope.run.files is not None:
        call.scope.run.files.command_printed()


def command_ended(call: Call | None = None, wrote: Collection[str] = ()) -> None:
    """A command has ended, in that call, or in the running one. Its outcome is not recorded yet."""
    scope = current() if call is None else call.scope
    if scope is not None and scope.run.files is not None:
        ticket = None if call is None else call.ticket
        scope.run.files.command_ended(scope.call if ticket is None else ticket.call, wrote)


def _opened(sensor: FileSensor, arguments: tuple[Any, ...], frame: FrameType) -> None:
    path, mode, flags = arguments
    name = _name(path)
    if name is None or (name.endswith(_CODE) and _imports(frame)):
        return
    if mode is None and not name.startswith("/") and frame.f_code.co_filename.startswith(callers.STANDARD):
        # `rmtree` and `fwalk` open folders within another one, which the event does not name.
        return
    if pipes and os.path.abspath(name) in pipes:  # noqa: PTH100 - links are not followed
        opens_pipe(name)
    writes = _writes(mode, flags)
    before(name, writes=writes)
    if writes:
        _tell_own(sensor, frame, name)
    sensor.used(name, writes=writes)


def _tell_own(sensor: FileSensor, frame: FrameType, *names: str) -> None:
    """Tell of changes that the program's own code makes, itself or through the standard library."""
    if _is_own(frame):
        for name in names:
            sensor.own_change(name)


def _is_own(frame: FrameType | None) -> bool:
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((*callers.STANDARD, callers.OURS, "<frozen ")):
            return callers.kind_of(frame) == callers.OWN
        if frame.f_globals.get("__name__", "").partition(".")[0] in _PLUMBING:
            return False
        frame = frame.f_back
    return False


def _writes(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return bool(set(mode) & set("wax+"))
    return isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC) != 0


def _listed(sensor: FileSensor, arguments: tuple[Any, ...], frame: FrameType) -> None:
    name = named(arguments[0])
    if name is not None and not _imports(frame):
        before(name, writes=False)
        sensor.listed(name)


def _changed(*places: tuple[int, int | None]) -> Callable[[FileSensor, tuple[Any, ...], FrameType], None]:
    """Return the function for an event that changes paths.

    Each place is that of a path among its arguments, with that of the descriptor of its folder.
    """

    def change(sensor: FileSensor, arguments: tuple[Any, ...], frame: FrameType) -> None:
        for at, folder in places:
            name = _within(arguments, at, folder)
            if name is not None:
                before(name, writes=True, names=True)
                _tell_own(sensor, frame, name)
                sensor.used(name, writes=True)

    return change


def _moved(sensor: FileSensor, arguments: tuple[Any, ...], frame: FrameType) -> None:
    source, target = _within(arguments, 0, 2), _within(arguments, 1, 3)
    if source is not None and target is not None:
        before(source, target, writes=True, names=True)
        _tell_own(sensor, frame, source, target)
        sensor.changes_tree(source, target)


def _linked(sensor: FileSensor, arguments: tuple[Any, ...], frame: FrameType) -> None:
    source, target = _within(arguments, 0, 2), _within(arguments, 1, 3)
    if source is not None and target is not None:
        # A change of one is a change of the other from here on.
        before(source, target, writes=True, names=True)
        _tell_own(sensor, frame, source, target)
        sensor.used(source, writes=True)
        sensor.used(target, writes=True)


def _deleted(sensor: FileSensor, arguments: tuple[Any, ...], frame: FrameType) -> None:
    name = _within(arguments, 0, 1)
    if name is not None:
        before(name, writes=True, names=True)
        _tell_own(sensor, frame, name)
        sensor.changes_tree(name)


def _database(sensor: FileSensor, arguments: tuple[Any, ...], frame: FrameType) -> None:
    name = _name(arguments[0])
    if not name or ":memory:" in name or "mode=memory" in name:
        return
    name = name.removeprefix("file:").partition("?")[0]
    before(name, writes=True)
    _tell_own(sensor, frame, name)
    sensor.opens_database(name)


def opens_database(path: str, frame: FrameType) -> None:
    """Tell of a database that a statement of SQLite is about to open, which no event tells."""
    sensor = _sensor()
    if sensor is not None:
        _tell_own(sensor, frame, path)
        sensor.opens_database(path)


def makes_pipe(path: str, frame: FrameType) -> None:
    """Tell of a named pipe or device that the program is about to make, which no event tells."""
    sensor = _sensor()
    if sensor is not None:
        _tell_own(sensor, frame, path)
        sensor.used(path, writes=True)


def _locked(sensor: FileSensor, arguments: tuple[Any, ...], frame: FrameType) -> None:
    if isinstance(arguments[0], int):
        sensor.locks(arguments[0])


def changed_by(event: str, arguments: tuple[Any, ...]) -> list[str]:
    """Return the paths that an event changes, those within an open folder as well."""
    found = [_within(arguments, at, folder) for at, folder in _CHANGED.get(event, ((0, None),))]
    return [name for name in found if name is not None]


def named(folder: Any) -> str | None:
    """Return the path of a listed folder, given by name or descriptor; None is the current one."""
    return "." if folder is None else _name(folder)


def _within(arguments: tuple[Any, ...], at: int, folder: int | None) -> str | None:
    """Return a path among an event's arguments, in the folder of a descriptor if any."""
    name = _name(arguments[at]) if at < len(arguments) else None
    descriptor = arguments[folder] if folder is not None and folder < len(arguments) else -1
    if name is None or name.startswith("/") or not isinstance(descriptor, int) or descriptor < 0:
        return name
    above = path_of(descriptor)
    return None if above is None else f"{above}/{name}"


def _name(path: Any) -> str | None:
    if isinstance(path, int):
        return path_of(path)
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else None


def path_of(descriptor: int) -> str | None:
    """Return the path of an open file or folder, where the system tells it."""
    try:
        name = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - an audit event in each use of pathlib
    except OSError:
        return None
    return name if name.startswith("/") and not name.endswith(" (deleted)") else None


def _imports(frame: FrameType | None) -> bool:
    """Return True for a search of modules or packages, and for source in a traceback."""
    for _ in range(_FAR):
        if frame is None:
            return False
        name = frame.f_code.co_filename
        if name.startswith("<frozen ") and ("importlib" in name or "runpy" in name or "zipimport" in name):
            return True
        if name.endswith(_READERS) and name.startswith(callers.STANDARD):
            return True
        if frame.f_globals.get("__name__") in _INSTALLED:
            return True
        frame = frame.f_back
    return False


_CHANGED: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.utime": ((0, 3),),
}
"""The places of changed paths among an event's arguments, each with its folder's place."""

_HEARD: dict[str, Callable[[FileSensor, tuple[Any, ...], FrameType], None]] = {
    "open": _opened,
    "os.listdir": _listed,
    "os.scandir": _listed,
    "os.rename": _moved,
    "os.link": _linked,
    **{
        event: _changed(*_CHANGED[event])
        for event in (
            "os.symlink",
            "os.remove",
            "os.rmdir",
            "os.mkdir",
            "os.truncate",
            "os.chmod",
            "os.utime",
        )
    },
    "shutil.rmtree": _deleted,
    "sqlite3.connect": _database,
    "fcntl.lockf": _locked,
}

EVENTS = frozenset(_HEARD) if system.FILES else frozenset()
"""The audit events of files that are recorded."""
