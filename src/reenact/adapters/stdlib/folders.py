"""List folders in the order of their names.

The order in which a file system gives names is its own: another one on another machine, or on an overlay. In a run,
`os.listdir` and `os.scandir` sort them, also for what is built on them: pathlib, glob, `os.walk`, shutil.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Self

from reenact.adapters.stdlib import early, file_uses
from reenact.core.boundary import current


def install() -> None:
    """Replace the two functions, once."""
    if isinstance(os.listdir, staticmethod):
        return
    for name, function in (("listdir", _listdir), ("scandir", _scandir)):
        original = getattr(os, name)
        early.replace(os, name, partial(function, original), everywhere=True)
        if original in os.supports_fd:
            os.supports_fd.add(getattr(os, name))


class Listing(Iterator[Any]):
    """The entries of a folder, as `os.scandir` gives them."""

    def __init__(self, entries: Iterable[Any]) -> None:
        self._entries = iter(entries)

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End it."""
        self._entries = iter(())


def _listdir(original: Callable[..., list[Any]], *args: Any, **more: Any) -> list[Any]:
    if not _in_a_run():
        return original(*args, **more)
    return sorted(file_uses.listed(_folder(args, more), lambda: original(*args, **more)))


def _scandir(original: Callable[..., Any], *args: Any, **more: Any) -> Any:
    if not _in_a_run():
        return original(*args, **more)

    def entries() -> list[Any]:
        with original(*args, **more) as listing:
            return sorted(listing, key=lambda entry: entry.name)

    return Listing(file_uses.listed(_folder(args, more), entries))


def _folder(args: tuple[Any, ...], more: dict[str, Any]) -> Any:
    return args[0] if args else more.get("path")


def _in_a_run() -> bool:
    scope = current()
    return scope is not None and not scope.hidden
