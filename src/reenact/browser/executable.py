"""Find the browser to start: an installed one. Nothing is downloaded."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from reenact.errors import SessionError

VARIABLES = ("REENACT_BROWSER", "CHROME_PATH")
"""Environment variables that name the browser's executable."""

_NAMES = (
    "google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "chromium-headless-shell",
    "microsoft-edge",
)  # fmt: skip

_MAC = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_WINDOWS = (
    r"Google\Chrome\Application\chrome.exe",
    r"Chromium\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
)


def find(asked: str | os.PathLike[str] | None = None, *, own: str | None = None) -> str:
    """Return the path of the browser to start.

    Args:
        asked: The path that the program names; then nothing else is tried.
        own: The path of the browser that `playwright install` downloads.

    Raises:
        SessionError: There is none; the message names the ways to get one.
    """
    if asked:
        return _there(os.fspath(asked), "executable_path")
    for variable in VARIABLES:
        if value := os.environ.get(variable):
            return _there(value, variable)
    for path in _candidates(own):
        if Path(path).exists():
            return path
    raise SessionError(
        "no browser was found: run `playwright install chromium`, or `apt-get install chromium` (any Chrome, Chromium "
        f"or Edge will do), or name one in {VARIABLES[0]}"
    )


def _there(path: str, source: str) -> str:
    found = path if Path(path).is_file() else shutil.which(path)
    if found is None:
        raise SessionError(
            f"{source}={path!r}: there is no such program; name a Chrome's or Chromium's executable"
        )
    return found


def _candidates(own: str | None) -> Iterator[str]:
    if own:
        yield own
    for name in _NAMES:
        if path := shutil.which(name):
            yield path
    if sys.platform == "darwin":
        yield from _MAC
    if sys.platform == "win32":
        for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
            if root := os.environ.get(variable):
                yield from (os.path.join(root, path) for path in _WINDOWS)  # noqa: PTH118 - a path of Windows'
