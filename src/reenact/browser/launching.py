"""How a session comes to its browser: starts one that is found, or connects to one that runs."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Error, Playwright

from reenact.browser import finding
from reenact.errors import SessionError

_PORT = "DevToolsActivePort"
_PROFILE = "reenact-browser-"
DOWNLOADS = "reenact-downloads-"
"""How the temporary folder of a session's downloads is called, before the number of its process."""


@dataclass(frozen=True)
class Settings:
    """How a session's browser is started, and when it ends by itself.

    Attributes:
        viewport: Width and height in CSS pixels.
        executable: The browser's executable, or None for one that is found.
        cdp_url: The address of a running browser to use in the place of an own one.
        profile: A folder to keep the browser's profile in; without it, it is gone with the session.
        downloads: The folder of downloads, or None for a temporary one.
        idle: Seconds without an action after which the session ends; 0 for never.
        longest: Seconds after which it ends at all; 0 for never.
        mask: Selectors of elements whose content is secret.
        cdp: Whether the browser listens for other programs of this machine.
    """

    headless: bool = True
    viewport: tuple[int, int] = (1280, 720)
    user_agent: str | None = None
    chrome_args: tuple[str, ...] = ()
    executable: str | None = None
    cdp_url: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    profile: str | None = None
    downloads: str | None = None
    idle: float = 0
    longest: float = 0
    mask: tuple[str, ...] = ()
    cdp: bool = True


@dataclass(frozen=True)
class Started:
    """A browser: its context, the address by which other clients connect, and a folder to remove behind it."""

    context: BrowserContext
    browser: Browser | None
    cdp: str | None
    folder: str | None = None


async def launch(playwright: Playwright, settings: Settings) -> Started:
    """Start a browser. Raises SessionError where there is none, or it does not start."""
    kind = playwright.chromium
    path = finding.find(settings.executable, own=kind.executable_path)
    _sweep()
    own = None if settings.profile else tempfile.mkdtemp(prefix=f"{_PROFILE}{os.getpid()}-")
    folder = settings.profile or own
    assert folder is not None
    width, height = settings.viewport
    options: dict[str, Any] = {
        "executable_path": path,
        "headless": settings.headless,
        "args": [*(["--remote-debugging-port=0"] if settings.cdp else []), *settings.chrome_args],
        "viewport": {"width": width, "height": height},
        "user_agent": settings.user_agent,
        "extra_http_headers": settings.headers or None,
        "accept_downloads": True,
        # Signals are the program's: it hears them, and ends the session.
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
    }
    # Some containers allow no sandbox to anybody.
    for sandbox in (True, False) if hasattr(os, "geteuid") and os.geteuid() != 0 else (False,):
        try:
            context = await kind.launch_persistent_context(folder, chromium_sandbox=sandbox, **options)
        except Error as error:
            if sandbox:
                continue
            if own is not None:
                shutil.rmtree(own, ignore_errors=True)
            raise SessionError(f"the browser {path} did not start: {_first_line(error)}") from None
        address = _address(Path(folder) / _PORT) if settings.cdp else None
        return Started(context, context.browser, address, own)
    raise AssertionError("one of them was tried last")


async def connect(playwright: Playwright, settings: Settings) -> Started:
    """Connect to the browser at `settings.cdp_url`. Raises SessionError where none answers."""
    url = settings.cdp_url or ""
    try:
        browser = await playwright.chromium.connect_over_cdp(url)
    except Error as error:
        raise SessionError(f"cdp_url={url!r}: no browser answers there ({_first_line(error)})") from None
    context = browser.contexts[0] if browser.contexts else await browser.new_context()
    if settings.headers:
        await context.set_extra_http_headers(settings.headers)
    return Started(context, browser, url)


def _sweep() -> None:
    """Remove what programs that were killed have left of their browsers."""
    for path in Path(tempfile.gettempdir()).glob("reenact-*-*-*"):
        pid = path.name.removeprefix(_PROFILE).removeprefix(DOWNLOADS).partition("-")[0]
        if pid.isdigit() and not _runs(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _runs(pid: int) -> bool:
    if os.name != "posix":
        return True  # there a signal 0 would end it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _address(file: Path) -> str | None:
    try:
        port = file.read_text(encoding="ascii").split()[0]
    except (OSError, IndexError):
        return None
    return f"http://127.0.0.1:{port}"


def _first_line(error: Error) -> str:
    return error.message.strip().splitlines()[0] if error.message else type(error).__name__
