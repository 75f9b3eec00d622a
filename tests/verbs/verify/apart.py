"""Runs a command in a network and a process table of its own: `python -m tests.verbs.verify.apart COMMAND…`.

Ray binds many ports on the machine's own address, and leaves processes behind when it is killed: so it sees the loopback
only, and all that it has started ends with the command. Where that is not allowed the command runs as it is.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import sys

_SET_FLAGS, _UP = 0x8914, 0x41


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        fcntl.ioctl(line, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))


def main(words: list[str]) -> None:
    """Run them."""
    if words[0] == "--inside":
        _loopback_up()
        if words[1:]:
            os.execvp(words[1], words[1:])
        return
    apart = ["unshare", *(["--map-root-user"] if os.geteuid() else [])]
    apart += ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    apart += [sys.executable, "-m", "tests.verbs.verify.apart", "--inside"]
    try:
        may = subprocess.run(apart, capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        may = False
    if not may:
        print("no namespaces of our own here: Ray uses this machine's network", file=sys.stderr)
    words = [*apart, *words] if may else words
    os.execvp(words[0], words)


if __name__ == "__main__":
    main(sys.argv[1:])
