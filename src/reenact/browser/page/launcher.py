"""Start an installed browser for a session, or connect to a running one."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import getproxies

from playwright.async_api import Browser, BrowserContext, Error, Playwright

from reenact.browser import executable
from reenact.browser.isolation import commands, sandbox
from reenact.browser.isolation.addresses import Reach
from reenact.browser.isolation.egress import Egress
from reenact.browser.isolation.endpoint import DebugEndpoint
from reenact.browser.isolation.guest import GuestResources
from reenact.browser.isolation.pipe import Check, PipeProtocol
from reenact.browser.isolation.starter import Starter
from reenact.core import system
from reenact.errors import SessionError

_PROFILE = "reenact-browser-"
_LOCAL = Reach(private=True)
DOWNLOADS = "reenact-downloads-"
"""The beginning of the name of a temporary folder of downloads, before the process number."""


@dataclass(frozen=True)
class LaunchSettings:
    """Options of a session's browser: its start, and its end by time limits.

    Attributes:
        viewport: Width and height in CSS pixels.
        executable: The browser's executable, or None for one that is found.
        cdp_url: The address of a running browser to use instead of a new one.
        profile: The folder of the browser's profile; without it, the profile is deleted with the session.
        downloads: The folder of downloads, or None for a temporary one.
        idle: Seconds without an action after which the session ends; 0 for never.
        longest: Seconds after which it ends in any case; 0 for never.
        mask: Selectors of elements whose content is secret.
        cdp: True if other programs may use it, by an address with a key.
        guest: The resources that a server gives to a client's session; None for a program's own session.
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
    guest: GuestResources | None = None


@dataclass(frozen=True)
class LaunchedBrowser:
    """A started browser, with its proxy and its endpoint.

    Attributes:
        context: Playwright's context.
        browser: Playwright's browser; None if a profile was opened.
        cdp: The address of a running browser that was connected to, or None.
        folder: A folder to remove after its end.
    """

    context: BrowserContext
    browser: Browser | None
    cdp: str | None
    folder: str | None = None
    egress: Egress | None = None
    room: sandbox.Sandbox | None = None
    door: DebugEndpoint | None = None


async def launch(playwright: Playwright, settings: LaunchSettings) -> LaunchedBrowser:
    """Start a browser. Raises SessionError if there is none, or it does not start."""
    path = executable.find(settings.executable, own=playwright.chromium.executable_path)
    _sweep()
    return await (_for_a_guest if settings.guest else _for_a_program)(playwright, settings, path)


async def _for_a_program(playwright: Playwright, settings: LaunchSettings, path: str) -> LaunchedBrowser:
    """Start a browser for a program on this machine, as its user."""
    own = Path(tempfile.mkdtemp(prefix=f"{_PROFILE}{os.getpid()}-"))
    egress = None if _has_proxy(settings) else Egress(_LOCAL)
    arguments = [] if egress is None else _through(await egress.start())
    # Other programs share Playwright's pipe, so that the browser needs no port.
    starter = Starter(own) if settings.cdp and not system.PORTABLE else None
    # Some containers allow no sandbox.
    for inner in (True, False) if _may_have_sandbox() else (False,):
        beginning: asyncio.Task[DebugEndpoint] | None = None
        try:
            if starter is not None:
                starter.write([path], None, protocol=True)
                beginning = asyncio.create_task(_let_in(starter))
            context = await playwright.chromium.launch_persistent_context(
                settings.profile or own / "profile",
                chromium_sandbox=inner,
                executable_path=path if starter is None else starter.program,
                **_options(settings, arguments),
            )
            door = None if beginning is None else await beginning
        except (Error, OSError) as error:
            if beginning is not None:
                await _leave(beginning)
            if inner:
                continue
            if egress is not None:
                await egress.stop()
            shutil.rmtree(own, ignore_errors=True)
            raise _unstarted(path, error) from None
        return LaunchedBrowser(context, context.browser, None, str(own), egress, door=door)
    raise AssertionError("the last try raises its error")


async def _let_in(starter: Starter) -> DebugEndpoint:
    return await _door(await starter.received(), None)


async def _door(pipes: list[int], check: Check | None) -> DebugEndpoint:
    protocol = PipeProtocol(pipes, check)
    await protocol.start()
    return DebugEndpoint(protocol)


async def _for_a_guest(playwright: Playwright, settings: LaunchSettings, path: str) -> LaunchedBrowser:
    """Start a browser for a server's client, isolated as far as this machine allows."""
    guest = settings.guest
    assert guest is not None
    found = await asyncio.to_thread(sandbox.isolation, path)
    if settings.cdp and not (found.files and found.network):
        raise SessionError(f"cdp=True is refused here: {found}")
    room = sandbox.Sandbox(guest.folder, path, found, protocol=settings.cdp)
    tries = (True, False) if (found.user or found.files or _may_have_sandbox()) else (False,)
    for one in tries if found.sandbox is None else (found.sandbox,):
        egress = Egress(guest.reach)
        room.prepare(headed=not settings.headless)
        beginning = asyncio.create_task(_begin(room, egress))
        try:
            arguments = _through(sandbox.PORT if found.network else await egress.start())
            context = await playwright.chromium.launch_persistent_context(
                room.profile,
                chromium_sandbox=one,
                executable_path=room.program,
                env={**room.environ(headed=not settings.headless)},
                downloads_path=room.incoming,
                # Block pop-ups without a click: a page could open thousands.
                ignore_default_args=["--disable-popup-blocking"],
                **_options(settings, arguments),
            )
            door = await beginning
        except (Error, OSError) as error:
            await _leave(beginning)
            await egress.stop()
            if one:
                continue
            room.leave()
            raise _unstarted(path, error) from None
        if found.policy is None:
            found = sandbox.seen(path, policy=await _obeys(context), sandbox=one)
        return LaunchedBrowser(context, context.browser, None, None, egress, room, door)
    raise AssertionError("the last try raises its error")


async def _begin(room: sandbox.Sandbox, egress: Egress) -> DebugEndpoint | None:
    """Receive the browser's pipes, and the proxy's socket in the browser's network."""
    if not room.speaks:
        return None
    descriptors = await room.starter.received()
    if room.isolation.network:
        await egress.start(socket.socket(fileno=descriptors.pop(0)))
    return await _door(descriptors, commands.check) if descriptors else None


async def _leave(beginning: asyncio.Task[Any]) -> None:
    """Close the descriptors of a browser that did not start, or stop waiting for them."""
    beginning.cancel()
    given = await asyncio.gather(beginning, return_exceptions=True)
    if isinstance(given[0], DebugEndpoint):
        await given[0].close()


async def _obeys(context: BrowserContext) -> bool:
    """Return True if the browser refuses a page that the policies forbid."""
    page = await context.new_page()
    try:
        await page.goto("chrome://version", timeout=5000)
    except Error as error:
        return "ERR_BLOCKED_BY_ADMINISTRATOR" in error.message
    finally:
        await page.close()
    return False


def _options(settings: LaunchSettings, arguments: list[str]) -> dict[str, Any]:
    width, height = settings.viewport
    return {
        "headless": settings.headless,
        "args": [*arguments, *settings.chrome_args],
        "viewport": {"width": width, "height": height},
        "user_agent": settings.user_agent,
        "extra_http_headers": settings.headers or None,
        "accept_downloads": True,
        # The program handles signals, and ends the session.
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
    }


def _may_have_sandbox() -> bool:
    return os.name == "posix" and not system.is_root()


def _unstarted(path: str, error: Exception) -> SessionError:
    said = _first_line(error) if isinstance(error, Error) else str(error)
    return SessionError(f"the browser {path} did not start: {said}")


async def connect(playwright: Playwright, settings: LaunchSettings) -> LaunchedBrowser:
    """Connect to the browser at `settings.cdp_url`. Raises SessionError if none answers."""
    url = settings.cdp_url or ""
    try:
        browser = await playwright.chromium.connect_over_cdp(url)
    except Error as error:
        raise SessionError(f"cdp_url={url!r}: no browser answers there ({_first_line(error)})") from None
    context = browser.contexts[0] if browser.contexts else await browser.new_context()
    if settings.headers:
        await context.set_extra_http_headers(settings.headers)
    return LaunchedBrowser(context, browser, url)


def _has_proxy(settings: LaunchSettings) -> bool:
    """Return True if the user has set a proxy: by an argument, or in the system's settings."""
    named = any(one.startswith(("--proxy-", "--no-proxy-server")) for one in settings.chrome_args)
    return named or bool(getproxies().keys() & {"http", "https", "all", "socks"})


def _through(port: int) -> list[str]:
    """Return the arguments that send all connections through the proxy at a port of loopback."""
    return [
        f"--proxy-server=socks5://127.0.0.1:{port}",
        # Without this, loopback would be connected to directly.
        "--proxy-bypass-list=<-loopback>",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    ]


def _sweep() -> None:
    """Remove the temporary files of browsers whose programs were killed."""
    for path in Path(tempfile.gettempdir()).glob("reenact-*-*-*"):
        pid = path.name.removeprefix(_PROFILE).removeprefix(DOWNLOADS).partition("-")[0]
        if pid.isdigit() and not system.runs(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _first_line(error: Error) -> str:
    return error.message.strip().splitlines()[0] if error.message else type(error).__name__
