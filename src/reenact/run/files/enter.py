"""Start a program in a namespace where folders are overlays: changes go to scratch.

Run as a script by a Python of its own (`python -I -S enter.py ORDER`), with only the standard library, since a process
with several threads cannot enter the namespace. It replaces itself by the program. Where the system forbids namespaces,
the reason is left in the scratch folder, and the program starts without one.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

assert sys.platform == "linux", "other systems have no namespaces"

_NEWNS, _NEWUSER = 0x00020000, 0x10000000
_BIND, _REC, _PRIVATE, _DETACH = 4096, 16384, 1 << 18, 2
_HIGH = 200
"""The lowest number for descriptors that the program inherits, above its own ones."""


class _Forbidden(Exception):
    """The system does not allow it."""


def enter(order: dict[str, Any]) -> None:
    """Enter a namespace, and lay an overlay on each root.

    Raises _Forbidden if that is not allowed.
    """
    mounted: list[str] = []
    try:
        own = _unshare()
        _mount("none", "/", "", _REC | _PRIVATE, "")
        inner = _mount_points()
        kept = {path: os.open(path, os.O_PATH) for path in order["keep"] if Path(path).is_dir()}
        for root in sorted(order["roots"], key=lambda each: len(each["path"])):
            _check(root["path"], inner)
            _overlay(root, own=own)
            mounted.append(root["path"])
        for path, number in kept.items():
            _mount(f"/proc/self/fd/{number}", path, "", _BIND | _REC, "")
            os.close(number)
    except (OSError, AttributeError) as error:
        for path in reversed(mounted):
            _library().umount2(path.encode(), _DETACH)
        raise _Forbidden(getattr(error, "strerror", None) or str(error)) from None


def _unshare() -> bool:
    """Enter a mount namespace. Return True if it needs a namespace of users, too."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0 and _library().unshare(_NEWNS) == 0:
        return False
    if _library().unshare(_NEWUSER | _NEWNS) != 0:
        raise OSError(ctypes.get_errno(), f"no user namespace ({os.strerror(ctypes.get_errno())})")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")
    return True


def _overlay(root: dict[str, str], *, own: bool) -> None:
    numbers = [os.open(root[name], os.O_PATH) for name in ("path", "upper", "work")]
    lower, upper, work = (f"/proc/self/fd/{number}" for number in numbers)
    more = ",userxattr" if own else ""
    _mount("overlay", root["path"], "overlay", 0, f"lowerdir={lower},upperdir={upper},workdir={work}{more}")
    for number in numbers:
        os.close(number)


def _mount_points() -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [re.sub(r"\\([0-7]{3})", lambda sign: chr(int(sign[1], 8)), line.split(" ")[4]) for line in lines]


def _check(root: str, mount_points: list[str]) -> None:
    inner = next((path for path in mount_points if path.startswith(f"{root.rstrip('/')}/")), None)
    if inner is not None or root == "/":
        raise OSError(0, f"a file system is mounted inside of {root}" if root != "/" else "the root is /")


def _mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    words = [os.fsencode(word) for word in (source, target, kind)]
    if _library().mount(*words, flags, os.fsencode(options)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"no overlay on {target} ({os.strerror(number)})")


_LIBRARY: list[Any] = []


def _library() -> Any:
    if not _LIBRARY:
        library = ctypes.CDLL(None, use_errno=True)
        library.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
        library.umount2.argtypes = [ctypes.c_char_p, ctypes.c_int]
        library.unshare.argtypes = [ctypes.c_int]
        _LIBRARY.append(library)
    return _LIBRARY[0]


def main(path: str) -> None:
    """Follow the order in that file, and become the program."""
    order = json.loads(Path(path).read_text(encoding="utf-8", errors="surrogateescape"))
    scratch = Path(order["scratch"])
    try:
        if not order["roots"]:
            raise _Forbidden(order.get("forbidden") or "no folder of the recording is here")
        enter(order)
        (scratch / "entered").touch()
    except _Forbidden as error:
        (scratch / "forbidden").write_text(str(error), encoding="utf-8")
    _hold(scratch / "lock")
    os.chdir(order["cwd"])
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        # This Python ignores these signals, and the program would, too.
        signal.signal(number, signal.SIG_DFL)
    os.execve(order["executable"], order["argv"], os.environb)  # noqa: S606 - the program that the user runs


def _hold(lock: Path) -> None:
    """Share the lock of the scratch folder until the program has ended."""
    number = os.open(lock, os.O_RDONLY)
    held = fcntl.fcntl(number, fcntl.F_DUPFD, _HIGH)
    fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    os.close(number)


if __name__ == "__main__":
    main(sys.argv[1])
