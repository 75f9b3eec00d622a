"""Open a page in the user's browser, if there is a screen."""

from __future__ import annotations

import os
import sys
import webbrowser

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def opened(address: str) -> bool:
    """Open an address in the user's browser. Returns False without a screen."""
    seen = sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in _SCREENS)
    return seen and webbrowser.open(address)
