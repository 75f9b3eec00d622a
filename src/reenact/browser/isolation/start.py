"""Start a browser as another user, in its own network, under a program that hides files.

A script of `sandbox.py` runs it as a program: `start.py PLAN ARGUMENT…`. PLAN is a JSON file; the arguments are the
browser's. It imports only the standard library, and is at last replaced by the browser.
"""

import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager

assert sys.platform != "win32", "on Windows a browser is started as itself"


_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_SET_DUMPABLE = 4
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_LONGEST_NAME = 100
"""Bytes of a socket's name that every system accepts."""
_COMMANDS, _ANSWERS = 3, 4
"""The descriptors between Playwright and a browser."""
_OF_A_WINDOW = "WebUIOmniboxPopup,WebUIOmniboxAimPopup"
"""Features that load two pages with each context: half of a start's processor time."""


def main() -> None:
    """Read the plan, drop the privileges that it names, and become the browser."""
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - it starts with every browser: few imports
        plan = json.load(file)
    if plan["environ"] is not None:
        os.umask(0o077)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    channel = None
    if plan["channel"]:
        # Connect before the user changes, because that user cannot reach the socket.
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with short(plan["channel"]) as name:
            channel.connect(name)
    if plan["user"] is not None:
        _become(plan["user"])
    given = []
    if plan["port"]:
        _own_network()
        listening = socket.create_server(("127.0.0.1", plan["port"]))
        given.append(listening.fileno())
    if plan["protocol"]:
        given += _between()
    if channel is not None:
        socket.send_fds(channel, [b"%d" % len(given)], given)
        channel.close()
        for one in given:
            os.close(one)
    arguments = [*plan["command"], *without_address_bar(sys.argv[2:])]
    environ = os.environ if plan["environ"] is None else plan["environ"]
    os.execvpe(arguments[0], arguments, environ)  # noqa: S606 - the browser


def without_address_bar(arguments: list[str]) -> list[str]:
    """Return arguments with which a headless browser does not load its address bar's pages."""
    if not any(word.startswith("--headless") for word in arguments):
        return arguments
    switch = "--disable-features="
    # A browser reads only the last of these switches, so the earlier features are added to ours.
    before = [word.removeprefix(switch) for word in arguments if word.startswith(switch)][-1:]
    kept = [word for word in arguments if not word.startswith(switch)]
    return [switch + ",".join([*before, _OF_A_WINDOW]), *kept]


@contextmanager
def short(path: str) -> Iterator[str]:
    """Yield a name of a socket's path that is short enough for the system, if there is one."""
    system: str = sys.platform
    if system != "linux" or len(os.fsencode(path)) <= _LONGEST_NAME:
        yield path
        return
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)  # noqa: PTH120 - as above
    try:
        yield f"/proc/self/fd/{folder}/{os.path.basename(path)}"  # noqa: PTH119
    finally:
        os.close(folder)


def _become(user: int) -> None:
    """Change to that user, without groups."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def _own_network() -> None:
    """Enter a new network that has only its own loopback."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    # Without this, a process that has changed its user may not write its own maps.
    libc.prctl(_SET_DUMPABLE, 1, 0, 0, 0)
    if libc.unshare(_NEW_USER | _NEW_NETWORK):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    for name, text in (
        ("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1"),
    ):  # fmt: skip
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 - as above
            file.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        request = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(one, _GET_FLAGS, request))[1]
        fcntl.ioctl(one, _SET_FLAGS, struct.pack("16sH14s", b"lo", flags | _UP, b""))


def _between() -> list[int]:
    """Replace this process's pipes so that the parent is in between; return the parent's ends."""
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    theirs = [os.dup(_COMMANDS), os.dup(_ANSWERS)]
    os.dup2(commands, _COMMANDS)
    os.dup2(answers, _ANSWERS)
    os.close(commands)
    os.close(answers)
    return [*theirs, to_browser, from_browser]


if __name__ == "__main__":
    main()
