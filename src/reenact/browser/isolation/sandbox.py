"""Give each hosted browser its own user, files and network, as far as the machine allows it.

`start.py` changes the user and the network, bubblewrap (`bwrap`) hides all files but the system's programs and the
browser's own folder, and Chromium's sandbox runs inside. A trial finds, once, which of these a machine allows.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from reenact.browser import executable
from reenact.browser.isolation.starter import Starter
from reenact.core import system
from reenact.errors import SessionError

PORT = 1080
"""The proxy's port in the browser's own network."""

_USERS = range(61_184, 65_520)
"""User numbers that systems leave unused."""
_PATIENCE = 20.0
_ENVIRON = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ")
"""The environment variables that a browser gets; with a screen it also gets `DISPLAY`."""

_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SETTINGS = (
    "alternatives", "chromium.d", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types",
    "nsswitch.conf", "pki", "ssl", "timezone",
)  # fmt: skip
_POLICIES = ("chromium", "chromium-browser", "opt/chrome", "opt/chrome_for_testing", "opt/edge")
"""Folders of /etc in which browsers look for `policies/managed`."""

POLICY: dict[str, Any] = {
    # The star does not include the browser's own pages.
    "URLBlocklist": [
        "*",
        "chrome://*",
        "chrome-extension://*",
        "chrome-untrusted://*",
        "devtools://*",
        "file://*",
        "filesystem:*",
        "view-source:*",
    ],
    "URLAllowlist": ["http://*", "https://*", "data:*", "blob:*", "about:blank", "about:srcdoc"],
    "AudioCaptureAllowed": False,
    "BackgroundModeEnabled": False,
    "BrowserSignin": 0,
    "DefaultFileSystemReadGuardSetting": 2,
    "DefaultFileSystemWriteGuardSetting": 2,
    "DnsOverHttpsMode": "off",
    "ExtensionInstallBlocklist": ["*"],
    "MaxConnectionsPerProxy": 99,
    "NetworkPredictionOptions": 2,
    "PrintingEnabled": False,
    "QuicAllowed": False,
    "SyncDisabled": True,
    "VideoCaptureAllowed": False,
    "WebRtcIPHandling": "disable_non_proxied_udp",
}
"""Chromium's policies: it refuses all pages that are not web pages, and other ways out."""


@dataclass(frozen=True)
class Isolation:
    """The protection of a machine from the hosted browsers on it.

    Attributes:
        user: True if each has its own user, which is not the server's.
        files: True if each sees only the system's programs, its own folder and its own processes.
        network: True if each has its own network, which leads only to its proxy.
        policy: True if Chromium's policies refuse all but web pages; None until a browser was started.
        sandbox: True if Chromium's own sandbox is on; None until a browser was started.
    """

    user: bool = False
    files: bool = False
    network: bool = False
    policy: bool | None = None
    sandbox: bool | None = None

    def __str__(self) -> str:
        """Describe the present and the missing protection in one line."""
        parts = {
            "a user of its own": self.user or _plain_user(),
            "files and processes of its own": self.files,
            "a network of its own": self.network,
            "Chromium's policies": self.policy if self.policy is not None else self.files,
            "Chromium's sandbox": self.sandbox is not False,
        }
        there = [name for name, is_there in parts.items() if is_there]
        missing = [name for name, is_there in parts.items() if not is_there]
        text = f"each browser session has {', '.join(there) or 'nothing but the egress proxy'}"
        if missing:
            text += f"; missing: {', '.join(missing)}"
            if not self.files and shutil.which("bwrap") is None:
                text += " (install bubblewrap)"
        return text


_known: dict[str, Isolation] = {}
_probing = threading.Lock()
_taken: set[int] = set()
_taking = threading.Lock()


def isolation(executable: str) -> Isolation:
    """Find the strongest protection that the machine allows for a browser.

    Trying takes up to some seconds; the result is kept.
    """
    with _probing:
        found = _known.get(executable)
        if found is None:
            found = _known[executable] = next(
                (one for one in _candidates() if _works(one, executable)), Isolation()
            )
        return found


def _candidates() -> Iterator[Isolation]:
    if not system.LINUX:
        return
    users = (True, False) if system.is_root() else (False,)
    for files in (True, False) if shutil.which("bwrap") else (False,):
        for network in (True, False):
            for user in users:
                yield Isolation(user, files, network)


def _works(one: Isolation, executable: str) -> bool:
    with TemporaryDirectory(prefix="reenact-trying-") as folder:
        room = Sandbox(Path(folder), executable, one)
        try:
            room.prepare(channel=False)
            done = subprocess.run(  # noqa: S603 - the program that was written just now
                [room.program, "--version"],
                env=room.environ(),
                capture_output=True,
                timeout=_PATIENCE,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return False
        finally:
            room.leave()
        return done.returncode == 0


def find_out() -> Isolation | None:
    """Return the protection of the browser that sessions will use; None without a browser."""
    with suppress(SessionError):
        return isolation(executable.find())
    return None


def told() -> str:
    """Describe the protection of all browsers tried so far, in one line."""
    return str(next(reversed(_known.values()))) if _known else ""


class Sandbox:
    """The place of one browser: its folder, its user, and the program that starts it there.

    Args:
        folder: The session's folder. The browser may write only to its subfolder `browser`.
        executable: The browser's executable.
        isolation: The protection that the machine allows.
        protocol: True if messages between Playwright and the browser pass through this process.
    """

    def __init__(
        self, folder: Path, executable: str, isolation: Isolation, *, protocol: bool = False
    ) -> None:
        self.folder = folder
        self.home = folder / "browser"
        self.isolation = isolation
        self.executable = executable
        self._executable = os.path.realpath(executable)
        self._protocol = protocol
        self.starter = Starter(folder)
        self._user = _take() if isolation.user else None

    @property
    def program(self) -> str:
        """The path of the program that starts the browser."""
        return self.starter.program

    @property
    def speaks(self) -> bool:
        """True if the starting browser passes descriptors to this process."""
        return self.isolation.network or self._protocol

    @property
    def profile(self) -> str:
        """The folder of the browser's profile."""
        return str(self.home / "profile")

    @property
    def incoming(self) -> Path:
        """The folder of unfinished downloads."""
        return self.home / "incoming"

    def prepare(self, *, channel: bool = True, headed: bool = False) -> None:
        """Write the files that start the browser. Raises OSError."""
        # The browser's user must be able to pass through the folder, but to list nothing in it.
        self.folder.chmod(0o711)
        self.home.mkdir(mode=0o755, exist_ok=True)
        self.home.chmod(0o755)
        for name in ("profile", "incoming", "tmp", "home"):
            one = self.home / name
            one.mkdir(mode=0o700, exist_ok=True)
            if self._user is not None and sys.platform != "win32":
                os.chown(one, self._user, self._user)
        policies = self.folder / "policies"
        policies.mkdir(exist_ok=True)
        policies.chmod(0o755)
        policy = policies / "reenact.json"
        policy.write_text(json.dumps(POLICY), encoding="ascii")
        policy.chmod(0o644)
        self.starter.write(
            [*(self._hidden(headed) if self.isolation.files else ()), self._executable],
            self.environ(headed=headed),
            user=self._user,
            port=PORT if self.isolation.network else 0,
            protocol=self._protocol,
            channel=channel,
        )

    def environ(self, *, headed: bool = False) -> dict[str, str]:
        """Return the browser's environment: the server's languages, time zone and screen."""
        names = (*_ENVIRON, "DISPLAY") if headed else _ENVIRON
        home = self.home / "home"
        return {
            **{name: os.environ[name] for name in names if name in os.environ},
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "TMPDIR": str(self.home / "tmp"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_DATA_HOME": str(home / "data"),
        }

    def fetch(self, source: Path, target: Path) -> int:
        """Copy a finished download; return its size in bytes. Raises OSError if it is no plain file.

        A link made by the browser must not lead the server to another file.
        """
        if source.parent != self.incoming:
            raise PermissionError(f"{source.name} is none of the session's downloads")
        descriptor = os.open(source, os.O_RDONLY | system.NOFOLLOW | system.NONBLOCK)
        with os.fdopen(descriptor, "rb") as file, target.open("wb") as copy:
            found = os.fstat(file.fileno())
            if not _is_plain(found, self._user):
                raise PermissionError(f"{source.name} is no plain file of the browser's")
            shutil.copyfileobj(file, copy)
        return target.stat().st_size

    def leave(self) -> None:
        """Release the user and the files of the ended browser.

        The caller removes the folder.
        """
        self.starter.close()
        if self._user is not None:
            with _taking:
                _taken.discard(self._user)
            self._user = None

    def _hidden(self, headed: bool) -> list[str]:
        """Return the command that shows the browser only the system's programs and its folder."""
        words = [
            "bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
            "--die-with-parent", "--hostname", "browser", "--ro-bind", "/usr", "/usr",
        ]  # fmt: skip
        for name in _SYSTEM:
            path = Path("/", name)
            if path.is_symlink():
                words += ["--symlink", str(path.readlink()), str(path)]
            elif path.is_dir():
                words += ["--ro-bind", str(path), str(path)]
        for name in _SETTINGS:
            words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        for name in _POLICIES:
            words += ["--ro-bind", str(self.folder / "policies"), f"/etc/{name}/policies/managed"]
        words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - its own
        words += ["--ro-bind-try", "/var/cache/fontconfig", "/var/cache/fontconfig"]
        own = os.path.dirname(self._executable)  # noqa: PTH120 - as it is written
        if not own.startswith(("/usr/", "/bin")):
            words += ["--ro-bind", own, own]
        if headed:
            words += ["--ro-bind-try", "/tmp/.X11-unix", "/tmp/.X11-unix"]  # noqa: S108 - the screen's socket
        if system.is_root() and self._user is None:
            words += ["--uid", "1000", "--gid", "1000"]
        return [*words, "--bind", str(self.home), str(self.home), "--chdir", str(self.home), "--"]


def _take() -> int:
    """Return a user number that no other session of this process has."""
    with _taking:
        # Servers on one machine begin at different numbers.
        first = os.getpid() * 16 % len(_USERS)
        user: int = next(one for one in (*_USERS[first:], *_USERS[:first]) if one not in _taken)
        _taken.add(user)
        return user


def _is_plain(found: os.stat_result, user: int | None) -> bool:
    owner = system.user() if user is None else user
    return bool(stat.S_ISREG(found.st_mode)) and (found.st_nlink, found.st_uid) == (1, owner)


def _plain_user() -> bool:
    return os.name == "posix" and not system.is_root()


def seen(executable: str, *, policy: bool, sandbox: bool) -> Isolation:
    """Store the observed protection of a started browser; return all that is known of it."""
    found = _known[executable] = replace(isolation(executable), policy=policy, sandbox=sandbox)
    return found
