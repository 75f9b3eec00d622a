"""Watch a running tool for inputs and effects that cross no boundary.

While recording each is noted with the tool, which a replay then answers without running it. In a tool that runs again
an effect on the world is refused.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from reenact.adapters.stdlib import callers, file_uses
from reenact.core import system
from reenact.core.boundary import Run, Scope, ToolInside
from reenact.core.boundary.inside import ENDS

if sys.platform != "win32":
    import fcntl

_LISTS = {
    "os.listdir",
    "os.scandir",
    "os.walk",
    "os.fwalk",
    "glob.glob",
    "pathlib.Path.glob",
    "pathlib.Path.rglob",
}
_WALKS = _LISTS - {"os.listdir", "os.scandir"}
_CHANGES = {
    "os.chflags", "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.removexattr", "os.rename",
    "os.rmdir", "os.setxattr", "os.symlink", "os.truncate", "os.utime", "shutil.chown", "shutil.copyfile",
    "shutil.copymode", "shutil.copystat", "shutil.copytree", "shutil.make_archive", "shutil.move", "shutil.rmtree",
    "shutil.unpack_archive",
}  # fmt: skip
_OF_TWO = {"shutil.copyfile", "shutil.copytree", "shutil.move"}
"""Of these the second path is changed, too."""

_MADE_OF_OTHERS = {event for event in _CHANGES if event.startswith("shutil.")}

_STARTS = {
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "pty.spawn",
    "subprocess.Popen",
}  # fmt: skip
_NATIVE = {"ctypes.dlopen", "ctypes.dlsym", "ctypes.call_function", "_ctypes.FreeLibrary"}
_SOCKETS = {"socket.bind", "socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"}
_OTHER = {"os.kill": "sends a signal", "os.killpg": "sends a signal", "signal.pthread_kill": "sends a signal"}
_DATABASE = "sqlite3.connect"

EVENTS = frozenset(("open", _DATABASE, *_LISTS, *_CHANGES, *_STARTS, *_NATIVE, *_SOCKETS, *_OTHER))
"""The audit events that are looked at inside a tool."""

_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".pth")
_SYSTEM = (
    "/usr/share/zoneinfo",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/",
    "/etc/hosts",
    "/etc/resolv.conf",
)
_SILENT = ("/dev/null", "/dev/tty")

_DESCRIPTORS = "/proc/self/fd" if system.LINUX else "/dev/fd"
_MOST = 200


def install() -> None:
    """Look at each tool when it has run, once."""
    if _ended not in ENDS:
        ENDS.append(_ended)


def heard(event: str, arguments: tuple[Any, ...], tool: ToolInside, scope: Scope, frame: FrameType) -> None:
    """Note an audit event inside a tool.

    Raises `Halt` for an effect on the world in a tool that runs again.
    """
    if event == "open":
        _opened(arguments, tool, scope, frame)
    elif event in _LISTS:
        # Where files are recorded, the folders that a walk or a pattern lists have events of their own.
        walks = event in _WALKS and scope.run.files is not None
        if not walks and not _ours(frame) and not _installed(arguments[0]):
            name = file_uses.named(arguments[0]) or ""
            tool.saw(f"lists {name or 'a folder'}", kept=_kept(scope, name, listed=True))
    elif event == _DATABASE:
        if on_disk(arguments[0]):
            _acts(tool, scope, f"opens the database {name_of(arguments[0])}", arguments[0])
    elif event in _CHANGES:
        # Where files are recorded, what a function of `shutil` does has events of its own.
        if not _ours(frame) and not (event in _MADE_OF_OTHERS and scope.run.files is not None):
            paths = arguments[:2] if event in _OF_TWO else file_uses.changed_by(event, arguments)
            what = f"changes files ({event} {name_of(arguments[0]) if arguments else ''})".replace(" )", ")")
            _acts(tool, scope, what, *paths)
    elif event in _STARTS:
        if not _asks_the_machine(frame):
            _acts(tool, scope, "starts a process")
    elif event in _NATIVE:
        if not _ours(frame) and event == "ctypes.call_function":
            tool.acts("calls native code by ctypes")
    elif event in _SOCKETS:
        if event != "socket.bind" or not isinstance(arguments[1], (str, bytes)):
            reaches(event, tool)
    else:
        _acts(tool, scope, _OTHER[event])


def _asks_the_machine(frame: FrameType | None) -> bool:
    """Return True if a library asks about the machine (`ctypes` runs `ldconfig`)."""
    for _ in range(8):
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] in ("ctypes", "platform", "uuid"):
            return True
        frame = frame.f_back
    return False


def reaches(event: str, tool: ToolInside) -> None:
    """Note that a tool reaches the network beside recorded requests."""
    what = "uses the network beside the recorded requests"
    if event in ("socket.connect", "socket.sendto"):
        tool.acts(what)
    else:
        tool.saw(what)


def starts(scope: Scope) -> None:
    """A tool starts a process that joins the run."""
    if scope.tool is not None:
        _acts(scope.tool, scope, "starts a process")


def _acts(tool: ToolInside, scope: Scope, what: str, *paths: Any) -> None:
    """Note an act that changes `paths`.

    Those on a disk of the run's own may be changed.
    """
    scratch = scope.run.scratch
    if scratch is not None and paths and all(scratch(name_of(path)) for path in paths):
        tool.saw(what)
        return
    tool.acts(what, kept=bool(paths) and all(_kept(scope, name_of(path)) for path in paths))
    if tool.again and not scope.run.handler.gone_live:
        raise scope.run.handler.refuse(
            scope.path,
            f"a tool that runs again {what}, which it did not when it was recorded",
            "to answer tools from the recording: tools=['answer']",
        )


def _kept(scope: Scope, path: str, *, listed: bool = False) -> bool:
    """Return True if the run records the content of a path."""
    files = scope.run.files
    return files is not None and not files.busy and files.keeps(path, listed=listed)


def _opened(arguments: tuple[Any, ...], tool: ToolInside, scope: Scope, frame: FrameType) -> None:
    path, mode, flags = arguments
    if not isinstance(path, (str, bytes, os.PathLike)) or _ours(frame):
        return
    name = os.fsdecode(path)
    if name in _SILENT:
        return
    if _writes(mode, flags):
        # A folder is named where a file without a name, or with one of its own event, is made in it.
        if Path(name).is_dir():
            return
        if not name.endswith(".pyc") and "__pycache__" not in name:
            _acts(tool, scope, f"writes the file {name}", name)
    elif callers.program(frame):
        if not name.endswith(_CODE):
            tool.saw(f"reads the file {name}", kept=_kept(scope, name))
    elif not name.endswith(_CODE) and not name.startswith(_SYSTEM) and not _installed(name):
        tool.saw(f"reads the file {name}", kept=_kept(scope, name))


def _writes(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return bool(set(mode) & set("wax+"))
    return isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR) != 0


@cache
def _library_folders() -> tuple[str, ...]:
    """Return the folders of Python and of what is installed for it."""
    places = import_module("sysconfig").get_paths().values()
    return tuple(
        {
            f"{os.path.realpath(path)}{os.sep}"
            for path in (*places, sys.prefix, sys.base_prefix)
            if path and path not in ("/", "/usr", "/usr/local")
        }
    )


def _installed(path: Any) -> bool:
    try:
        return os.path.realpath(os.fsdecode(path)).startswith(_library_folders())
    except (TypeError, ValueError, OSError):
        return False


def _ours(frame: FrameType | None) -> bool:
    """Return True if Reenact itself, or the import of a module, opens something."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(callers.OURS):
            # A hook around a call of the program's is ours too, and the program's call is what counts.
            return frame.f_globals.get("__name__") not in _HOOKS
        if name.startswith("<frozen importlib"):
            return True
        if not name.startswith((*callers.STANDARD, "<frozen ")):
            return False
        frame = frame.f_back
    return False


_HOOKS = {
    "reenact.adapters.stdlib.processes",
    "reenact.adapters.concurrency",
    "reenact.adapters.event_loops",
    "reenact.adapters.process_starts",
    "reenact.adapters.thread_pools",
    "reenact.adapters.stdlib.witness",
}


def name_of(path: Any) -> str:
    """Return a path as text."""
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else "a folder"


# -- what the program holds open ------------------------------------------------------------------------------


def on_disk(name: Any) -> bool:
    """Return True if a database of SQLite is a file."""
    text = os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else str(name)
    return bool(text) and ":memory:" not in text and "mode=memory" not in text


class _Held:
    """The things that the program of one run has opened outside of tools."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        """The names by which files were opened, by their real paths."""
        self.others: dict[str, None] = {}


def _held_of(run: Run) -> _Held:
    if run.held is None:
        run.held = _Held()
    held: _Held = run.held
    return held


def opened_file(run: Run, name: str) -> None:
    """The program opens a file outside of its tools, which may use it later."""
    held = _held_of(run)
    if len(held.files) < _MOST:
        held.files[os.path.realpath(name)] = name


def opened_other(run: Run, what: str) -> None:
    """The program opens something else that is not recorded, and stays open."""
    _held_of(run).others[what] = None


def _ended(run: Run, tool: ToolInside) -> None:
    held = run.held
    if held is None:
        return
    for what in held.others:
        tool.saw(what)
    if held.files:
        with suppress(OSError):
            _look_for_files(held.files, tool, run.root)


def is_followed(file: Any, run: Run) -> bool:
    """Return True for an open file that needs no further record.

    The run has opened it, and records its content: in a replay it is on scratch, at the same place. A fork asks before
    a tool changes one.
    """
    if run.files is None or run.forked or not system.LINUX:
        return False
    with suppress(OSError, ValueError):
        number = file.fileno()
        path = os.readlink(f"{_DESCRIPTORS}/{number}")  # noqa: PTH115 - as above
        known = path if run.view is None else run.view.public(path)
        if run.replaying:
            # One that was opened before a block is the user's own file.
            return _kept(run.root, known) and (run.view is None or known != path or not _can_write(number))
        return run.held is not None and path in run.held.files and _kept(run.root, path)
    return False


def _look_for_files(files: Mapping[str, str], tool: ToolInside, scope: Scope) -> None:
    open_now: dict[str, bool] = {}
    # Text, not paths: each tool call of a program that has opened files pays for this.
    for name in os.listdir(_DESCRIPTORS):  # noqa: PTH208 - as above
        with suppress(OSError, ValueError):
            path = _path_of_open(name, files)
            if path in files and stat.S_ISREG(os.fstat(int(name)).st_mode):
                open_now[path] = open_now.get(path, False) or _can_write(int(name))
    for path, writes in open_now.items():
        how = "open" if writes else "open for reading"
        tool.saw(f"the program holds the file {files[path]} {how}", kept=_kept(scope, path))


def _path_of_open(descriptor: str, files: Collection[str]) -> str:
    """Return the path of an open file, or an empty text where it is none of `files`."""
    if system.LINUX:
        return os.readlink(f"{_DESCRIPTORS}/{descriptor}")  # noqa: PTH115 - as above
    return next((path for path in files if _is_same(path, int(descriptor))), "")


def _is_same(path: str, descriptor: int) -> bool:
    with suppress(OSError):
        return os.path.samestat(Path(path).stat(), os.fstat(descriptor))
    return False


def _can_write(descriptor: int) -> bool:
    writes = True
    if sys.platform != "win32":
        writes = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    return writes
