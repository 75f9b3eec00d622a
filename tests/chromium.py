"""The browser of this machine, for tests that start it themselves."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

CHROMIUM = os.environ.get("CHROME") or next(
    filter(
        None,
        map(
            shutil.which,
            (
                "chromium",
                "google-chrome-stable",
                "google-chrome",
                "chromium-browser",
                "chromium-headless-shell",
            ),
        ),
    ),
    None,
)
"""Its path; None where there is none."""
SHELL = None if "CHROME" in os.environ else shutil.which("chromium-headless-shell")
"""The same browser without what belongs to windows; None where it is not installed."""


@cache
def headless() -> str | None:
    """The path of a program that starts it for pages alone, with half of the processor time for each of them.

    That is the headless shell, or a program that starts the browser as a session does.
    """
    if SHELL is not None:
        return SHELL
    if CHROMIUM is None or os.name == "nt":
        return CHROMIUM
    from reenact.browser.isolation.starter import Starter

    folder = Path(tempfile.mkdtemp(prefix="reenact-test-browser-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    starter = Starter(folder)
    starter.write([CHROMIUM], None)
    return starter.program
