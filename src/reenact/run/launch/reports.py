"""Record a program's standard output from outside, and pass it on."""

from __future__ import annotations

import codecs
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from reenact.core import system
from reenact.run.output import Output

if sys.platform != "win32":
    import pty
    import termios

_BLOCK = 65536
_PATIENCE = 1.0
"""Seconds to wait for the last output: a remaining child process may keep its end open."""


@contextmanager
def listening(onto: int) -> Iterator[tuple[int, Output]]:
    """Make a file for a program to write to, and collect its output until the end of the body.

    The output goes on to the file `onto`; if that is a terminal, the program's is one too (a pipe on Windows).
    """
    ours, theirs = _terminal(onto) if os.isatty(onto) else os.pipe()
    heard = Output()
    thread = threading.Thread(target=_pass_on, args=(ours, onto, heard), name="reenact-output", daemon=True)
    thread.start()
    try:
        yield theirs, heard
    finally:
        os.close(theirs)
        thread.join(_PATIENCE)


def _terminal(like: int) -> tuple[int, int]:
    if sys.platform == "win32" or system.PORTABLE:
        return os.pipe()
    else:  # noqa: RET505 - the type checker skips the branches of other systems
        ours, theirs = pty.openpty()
        with suppress(termios.error, OSError):
            termios.tcsetwinsize(theirs, termios.tcgetwinsize(like))
            settings = termios.tcgetattr(theirs)
            # The real terminal converts line ends: this one must not do so, too.
            settings[1] &= ~termios.OPOST
            termios.tcsetattr(theirs, termios.TCSANOW, settings)
        return ours, theirs


def _pass_on(source: int, onto: int, heard: Output) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    gone = False
    while data := _read(source):
        heard.heard(decoder.decode(data))
        try:
            while data and not gone:
                data = data[os.write(onto, data) :]
        except OSError:
            # The reader has left; the program may still finish.
            gone = True
    with suppress(OSError):
        os.close(source)


def _read(source: int) -> bytes:
    try:
        return os.read(source, _BLOCK)
    except OSError:
        # A terminal whose other end is closed.
        return b""


def out(quiet: bool) -> int:
    """Return the program's output descriptor: standard output, or (`quiet`) standard error."""
    return (sys.stderr if quiet else sys.stdout).fileno()
