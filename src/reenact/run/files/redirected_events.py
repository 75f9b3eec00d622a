"""The audit events of redirected functions, with the program's paths.

Python's own events have the paths in scratch, and come after the redirection has prepared scratch for the change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Event: TypeAlias = tuple[str, tuple[Any, ...]]
Absolute: TypeAlias = Callable[[Any, int | None], str | None]
"""Returns the absolute path of one in a descriptor's folder; None for a descriptor itself."""

EventOf: TypeAlias = Callable[[Absolute, tuple[Any, ...], dict[str, Any]], Event | None]


def opens(path: Absolute, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Event | None:
    """Return the event of `open`."""
    file = args[0] if args else kwargs["file"]
    mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
    return None if isinstance(file, int) else ("open", (file, mode, 0))


def connects(path: Absolute, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Event | None:
    """Return the event of `sqlite3.connect`."""
    return "sqlite3.connect", (args[0] if args else kwargs["database"],)


def _os_open(path: Absolute, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Event | None:
    flags = args[1] if len(args) > 1 else kwargs["flags"]
    file = _within(path, args[0] if args else kwargs["path"], kwargs.get("dir_fd"))
    return "open", (file, None, flags)


def _of_one(event: str) -> EventOf:
    def event_of(path: Absolute, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Event | None:
        given = args[0] if args else kwargs.get("path")
        file = _within(path, "." if given is None else given, kwargs.get("dir_fd"))
        return None if isinstance(file, int) else (event, (file,))

    return event_of


def _of_two(event: str) -> EventOf:
    def event_of(path: Absolute, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Event | None:
        source = args[0] if args else kwargs["src"]
        target = args[1] if len(args) > 1 else kwargs["dst"]
        if event != "os.symlink":
            source = _within(path, source, kwargs.get("src_dir_fd"))
        target = _within(path, target, kwargs.get("dst_dir_fd", kwargs.get("dir_fd")))
        return event, (source, target)

    return event_of


def _within(path: Absolute, given: Any, folder: int | None) -> Any:
    return given if folder is None else path(given, folder)


EVENTS: dict[str, EventOf] = {
    "open": _os_open,
    **{
        name: _of_one(f"os.{name}")
        for name in (
            "chmod", "chown", "listdir", "mkdir", "remove", "removexattr", "rmdir", "scandir", "setxattr",
            "truncate", "utime",
        )
    },
    "lchown": _of_one("os.chown"),
    "unlink": _of_one("os.remove"),
    "rename": _of_two("os.rename"),
    "replace": _of_two("os.rename"),
    "link": _of_two("os.link"),
    "symlink": _of_two("os.symlink"),
}  # fmt: skip
"""The events of functions of `os`, by their names."""
