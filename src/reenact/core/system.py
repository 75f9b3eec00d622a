"""Parts of the operating system that some systems lack, each with a portable second way.

`REENACT_PORTABLE=1` forces the second ways on a system that has the first ones: no fork, no signals but those that
Windows has, no Unix sockets, no descriptors passed to other processes, no namespaces. Locks of files are the exception:
each system has one kind, and `lock` hides the difference.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

if sys.platform == "win32":
    import _winapi
    import ctypes
    import msvcrt
else:
    import fcntl

monotonic: Callable[[], float] = time.monotonic
perf_counter: Callable[[], float] = time.perf_counter
"""The real clocks, whatever an adapter puts in their place for the program."""

random_bytes: Callable[[int], bytes] = os.urandom
"""The real random bytes, whatever an adapter or the program puts in their place."""

SWITCH = "REENACT_PORTABLE"
"""The environment variable that forces the portable ways."""

PORTABLE = sys.platform == "win32" or os.environ.get(SWITCH, "") not in {"", "0"}
"""True where the portable ways are taken: on Windows, and where they are forced."""

LINUX = sys.platform == "linux" and not PORTABLE
"""True where Linux's own means may be used: `/proc`, namespaces, copies of a process."""

FORKS = LINUX
"""True where a process may be forked; libraries of macOS start threads that are not seen."""

FILES = sys.platform != "win32"
"""True where the files of a run are recorded, and a replay runs on a disk of its own."""

WITHOUT_FILES = "files (Windows: they are not recorded, and the program runs on the user's own)"
"""The part of a verdict where `FILES` is false."""

# Windows opens files as text by default, and has none of the other flags.
if sys.platform == "win32":
    CLOEXEC = os.O_BINARY | os.O_NOINHERIT
    NOFOLLOW = NONBLOCK = NOCTTY = 0
else:
    CLOEXEC, NOFOLLOW, NONBLOCK, NOCTTY = os.O_CLOEXEC, os.O_NOFOLLOW, os.O_NONBLOCK, os.O_NOCTTY

if sys.platform == "win32" or PORTABLE:
    INTERRUPT = signal.SIGABRT
else:
    INTERRUPT = signal.SIGURG
"""The signal by which the debugger stops a program: one that is ignored by default."""


_STACK = 8 << 20


def signals(*names: str) -> tuple[signal.Signals, ...]:
    """Return the signals of these names that the system has."""
    return tuple(signal.Signals[name] for name in names if name in signal.Signals.__members__)


# -- files ---------------------------------------------------------------------------------------------------

_placing = threading.Lock()


def pread(file: int, count: int, start: int) -> bytes:
    """Read at a place of a file. Its position stays as it is."""
    if sys.platform == "win32" or PORTABLE:
        with _placing:
            before = os.lseek(file, 0, os.SEEK_CUR)
            try:
                os.lseek(file, start, os.SEEK_SET)
                return os.read(file, count)
            finally:
                os.lseek(file, before, os.SEEK_SET)
    else:
        return os.pread(file, count, start)


def put_in_place(
    fresh: int, source: str | os.PathLike[str], old: int, target: str | os.PathLike[str]
) -> tuple[int, OSError | None]:
    """Replace an open file by another open one, and close the descriptor that is not needed.

    Return the descriptor of the file that is at `target` now, and the error if it is still the old one.
    """
    if sys.platform != "win32" and not PORTABLE:
        try:
            os.replace(source, target)
        except OSError as error:
            os.close(fresh)
            return old, error
        os.close(old)
        return fresh, None
    # Windows replaces no open file.
    os.close(fresh)
    os.close(old)
    failed = None
    try:
        os.replace(source, target)
    except OSError as error:
        failed = error
    return os.open(target, os.O_RDWR | os.O_APPEND | CLOEXEC), failed


def lock(file: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file until it is closed, also by the end of the process.

    Raises BlockingIOError if another one holds the lock and `wait` is false, and another OSError where the file
    system has no locks.
    """
    if sys.platform == "win32":
        _lock_file(file, (0 if shared else 2) | (0 if wait else 1))
    else:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


def unlock(file: int) -> None:
    """Release a lock before the file is closed: a fork may have it open, too."""
    if sys.platform == "win32":
        _unlock_file(file)
    else:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def locked_folder(folder: str | os.PathLike[str], *, wait: bool = True) -> Iterator[bool]:
    """Lock a folder; yield False if that is not possible.

    With `wait=False`, that is also False while another process holds the lock.

    Windows opens no folders: there a file beside it is locked. Raises OSError if there is nothing to lock.
    """
    beside = f"{os.fspath(folder)}.lock"
    if sys.platform == "win32" or PORTABLE:
        file = os.open(beside, os.O_RDWR | os.O_CREAT | CLOEXEC | NOFOLLOW, 0o600)
    else:
        file = os.open(folder, os.O_RDONLY | CLOEXEC | NOFOLLOW)
    held = False
    try:
        with suppress(OSError):
            lock(file, wait=wait)
            held = True
        yield held
    finally:
        os.close(file)
        if PORTABLE and held and not wait:
            # The folder itself has gone, or has been renamed.
            with suppress(OSError):
                os.unlink(beside)


if sys.platform == "win32":
    _AWAY = 0x7FFFFFFF
    # The high half of the locked byte's place: far after any content, which a lock would hide from readers.

    class _Overlapped(ctypes.Structure):
        _fields_ = (
            ("internal", ctypes.c_void_p),
            ("internal_high", ctypes.c_void_p),
            ("offset", ctypes.c_uint32),
            ("offset_high", ctypes.c_uint32),
            ("event", ctypes.c_void_p),
        )

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _HELD = {33, 158, 997}  # a part of the file is locked; not locked; the lock is pending

    def _lock_file(file: int, flags: int) -> None:
        place = _Overlapped(offset_high=_AWAY)
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(file))
        if not _kernel.LockFileEx(handle, flags, 0, 1, 0, ctypes.byref(place)):
            number = ctypes.get_last_error()
            if number in _HELD:
                raise BlockingIOError(11, "another process holds the lock")
            raise ctypes.WinError(number)

    def _unlock_file(file: int) -> None:
        place = _Overlapped(offset_high=_AWAY)
        handle = ctypes.c_void_p(msvcrt.get_osfhandle(file))
        if not _kernel.UnlockFileEx(handle, 0, 1, 0, ctypes.byref(place)):
            raise ctypes.WinError(ctypes.get_last_error())


_SYNCHRONIZE = 0x00100000


def sync(path: str | os.PathLike[str]) -> None:
    """Write a file's content, or a folder's entries, to the disk. Windows writes entries itself."""
    if sys.platform == "win32":
        if os.path.isdir(path):
            return
        file = os.open(path, os.O_RDWR | CLOEXEC)
    else:
        file = os.open(path, os.O_RDONLY | CLOEXEC)
    try:
        # macOS has no fdatasync.
        (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(file)
    finally:
        os.close(file)


# -- processes -----------------------------------------------------------------------------------------------


def is_root() -> bool:
    """Return True for the user who may do everything; Windows has none."""
    return sys.platform != "win32" and os.geteuid() == 0


def user() -> int:
    """Return the number of this user; on Windows, where a user's files are their own, always 0."""
    if sys.platform == "win32":
        return 0
    else:
        return os.getuid()


def own_group() -> int:
    """Return the number of this process's group; 0 on Windows, which has none."""
    if sys.platform == "win32":
        return 0
    else:
        return os.getpgrp()


def cores() -> int:
    """Return the number of processors that this process may use."""
    if sys.platform == "linux" and hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def random_hex(size: int) -> str:
    """Return random bytes as hex digits. The module `secrets` takes long to import."""
    return random_bytes(size).hex()


def kill(pid: int) -> None:
    """End a process at once. Nothing happens if it is gone."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.kill(pid, signal.SIGKILL)


def kill_group(pid: int) -> None:
    """End a process that was started in a session of its own, with all that it has started.

    Windows knows no groups of this kind: there its child processes are found, and ended one by one.
    """
    if sys.platform == "win32":
        words = ["taskkill", "/F", "/T", "/PID", str(pid)]
        with suppress(OSError):
            subprocess.run(words, check=False, capture_output=True)  # noqa: S603 - a number, and the system's program
        kill(pid)
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def exit_status(given: int) -> int:
    """Return the exit status that the system keeps for the number given to `exit`.

    Source: `Py_Exit` takes a C long, of which POSIX keeps 8 bits and Windows 32.
    """
    number = int(given) if -(2**63) <= given < 2**63 else -1
    return number & (0xFFFFFFFF if sys.platform == "win32" else 0xFF)


def ending(status: int) -> str:
    """Return a sentence on the end of a process, from its status as `subprocess` gives it."""
    if status < 0:
        with suppress(ValueError):
            return f"the process was ended by {signal.Signals(-status).name}"
    return f"the process ended with exit status {status}, and without a message"


def runs(pid: int, *, others: bool = True) -> bool:
    """Return True if a process has not ended. `others` is the answer for one of another user."""
    if not 0 < pid < 2**31:
        return False
    try:
        if sys.platform == "win32":
            # There the signal 0 is Ctrl+C.
            return _waits(pid, 0)
        else:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat", "rb") as file:
                return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except PermissionError:
        return others
    except ProcessLookupError:
        return False
    except (OSError, IndexError):
        return sys.platform != "win32"


if sys.platform == "win32":

    def _waits(pid: int, milliseconds: int) -> bool:
        """Wait for the end of a process; True if it still runs. Raises OSError if there is none."""
        handle = _winapi.OpenProcess(_SYNCHRONIZE, False, pid)
        try:
            return bool(_winapi.WaitForSingleObject(handle, milliseconds) == _winapi.WAIT_TIMEOUT)
        finally:
            _winapi.CloseHandle(handle)


def await_end(pid: int) -> None:
    """Wait until a child process has ended, and leave its status to the program. Raises OSError."""
    if sys.platform == "win32":
        _waits(pid, _winapi.INFINITE)
    elif sys.platform == "darwin":
        # macOS has no `os.waitid` before Python 3.13.
        wanted = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
        with closing(select.kqueue()) as queue:
            queue.control([wanted], 1)
    else:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def birth_time(path: str | os.PathLike[str]) -> int | None:
    """Return the time when a file was made, in nanoseconds; None if it is not known."""
    if not LINUX:
        return None
    import ctypes  # noqa: PLC0415 - it is rarely needed

    try:
        ask = ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError):
        return None
    found = ctypes.create_string_buffer(256)
    if ask(-100, os.fsencode(path), 0x100, 0x800, found) != 0:
        return None
    mask = int.from_bytes(found.raw[:4], sys.byteorder)
    seconds = int.from_bytes(found.raw[80:88], sys.byteorder, signed=True)
    rest = int.from_bytes(found.raw[88:92], sys.byteorder)
    return seconds * 1_000_000_000 + rest if mask & 0x800 else None


def keeps_reading_times(folder: str | os.PathLike[str]) -> bool:
    """Return True if the file system of a folder notes when a file is read. Raises OSError."""
    if sys.platform == "linux" and not PORTABLE:
        return not os.statvfs(folder).f_flag & os.ST_NOATIME
    else:
        return False


def terminal_of(file: int) -> str:
    """Return the path of the terminal that is open as this descriptor. Raises OSError."""
    if sys.platform == "win32":
        if not os.isatty(file):
            raise OSError("no terminal")
        return "CON"
    else:
        return os.ttyname(file)


def widen_stacks() -> None:
    """Give threads on musl a stack as large as glibc's.

    The stack of 128 KB that musl gives them holds too few calls of a recorded program.
    """
    if sys.platform == "linux":
        try:
            os.confstr("CS_GNU_LIBC_VERSION")
        except (OSError, ValueError):
            threading.stack_size(_STACK)


def has_ended(number: int) -> bool:
    """Return True if a child process has ended or is none. It stays to be waited for."""
    ended = False
    if sys.platform == "linux":
        try:
            ended = os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            ended = True
    return ended
