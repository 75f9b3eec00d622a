"""Name values that no recording can give again, where they reach a question.

These are numbers of processes and threads, addresses, ports. Counters of the machine that the program reads by a
function are recorded like a clock.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import threading
from collections.abc import Callable
from threading import get_ident
from types import FrameType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from reenact.adapters.imports import when_imported
from reenact.adapters.stdlib import callers, early
from reenact.core.boundary import Run, current, draw
from reenact.core.model.log import RACE, SOURCE
from reenact.core.patterns import lazy
from reenact.core.store.writer import warn

LIBRARIES = {
    "psutil": "psutil's readings of the machine",
    "fastuuid": "the ids of fastuuid, which are drawn in native code",
    "uuid_utils": "the ids of uuid_utils, which are drawn in native code",
}
"""Libraries with values of their own, by import name."""

DEVICES = ("/dev/random", "/dev/urandom", "/dev/hwrng", "/proc/", "/sys/")
"""Files whose content is another at each reading."""

_ADDRESS = lazy(rb" at 0x[0-9a-f]{6,16}\b")
_SHORTEST = 3
"""Shorter numbers mean something else far too often."""

_NUMBERS = {
    "get_native_id": "a thread's number (threading.get_native_id)",
    "getppid": "the number of the process's parent (os.getppid)",
    "getpid": "the process's number (os.getpid)",
}
_own = {"getpid": os.getpid, "getppid": os.getppid, "get_native_id": threading.get_native_id}

machine_names: set[str] = set()
"""The names of this machine, or of the recorded one, that the program was given."""

_asked: set[str] = set()
"""Functions that the program has called for a number of its process or thread."""

_SYSTEM = 7
"""The number of the matching rules from which names and versions of the system are recorded."""

_MOST = 64
_SHORT = 200
_NO_NUMBER = 1 << 64
"""Greater than the number of any process."""
_LOOKED = 1 << 20


class Values:
    """The values of one run that a replay gives otherwise.

    Args:
        run: A run that is recorded.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: dict[bytes, str] = {}
        self._numbers: dict[tuple[int, int], dict[bytes, str]] = {}
        self._latest: tuple[int, int, dict[bytes, str]] = 0, 0, {}
        """The last thread that asked, the count of numbers that the program knew, and the values."""
        self._named: set[str] = set()

    def add(self, value: str, words: str) -> None:
        """Look for a value from here on."""
        if len(self._known) < _MOST and len(value) >= _SHORTEST:
            self._known.setdefault(value.encode("utf-8", "surrogatepass"), words)

    def named(self, text: str, kind: str = SOURCE) -> None:
        """Say a thing once: in the recording and on standard error."""
        if text not in self._named and len(self._named) < _MOST:
            self._named.add(text)
            self._run.handler.note(kind, text)
            warn(text)

    def look(self, line: bytes, label: str, call: int) -> None:
        """Look for the values in a written question, and name those that it has."""
        thread, asked, values = self._latest
        if thread != get_ident() or asked != len(_asked):
            values = self._numbers_here()
        if not self._known and b"<" not in line:
            # Nearly always no value is anywhere in the line.
            for value in values:
                if value in line:
                    break
            else:
                return
        begin, end = line.find(b'"args":'), line.rfind(b',"t":')
        for words in self._found(line[begin : min(end, begin + _LOOKED)]):
            key = f"{label} {words}"
            if key not in self._named and len(self._named) < _MOST:
                self._named.add(key)
                text = f"{label} at {callers.place_of(sys._getframe())} was asked with {words}, which is not recorded"
                self._run.handler.note("source", text, call=call)
                warn(f"{text}: a replay may ask with another one, and diverge there")

    def _found(self, args: bytes) -> list[str]:
        values = {**self._known, **self._numbers_here()}
        found = [words for value, words in values.items() if value in args and _has(args, value)]
        # A search for one byte takes a twentieth of the time.
        if b"<" in args and b" at 0x" in args and _ADDRESS.search(args):
            found.append("an object's address (its default text)")
        return found

    def forked(self) -> None:
        """Go on in a fork of the process, which has other numbers."""
        self._numbers, self._latest = {}, (0, 0, {})

    def _numbers_here(self) -> dict[bytes, str]:
        """Return the numbers of the running process and thread.

        Numbers of processes are short, so they count only if the program has asked for them.
        """
        here = get_ident(), len(_asked)
        numbers = self._numbers.get(here)
        if numbers is None:
            numbers = self._numbers_of(here)
        self._latest = *here, numbers
        return numbers

    def _numbers_of(self, here: tuple[int, int]) -> dict[bytes, str]:
        texts = {str(_own[name]()): words for name, words in _NUMBERS.items() if name in _asked}
        texts[str(here[0])] = "a thread's number (threading.get_ident)"
        numbers = {text.encode(): words for text, words in texts.items() if len(text) >= _SHORTEST}
        if len(self._numbers) < _MOST:
            self._numbers[here] = numbers
        return numbers


_values: WeakKeyDictionary[Run, Values] = WeakKeyDictionary()


def _forked() -> None:
    for values in list(_values.values()):
        values.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _has(args: bytes, value: bytes) -> bool:
    """Return True if a text has a value that is no part of a longer word or number."""
    at = args.find(value)
    while at >= 0:
        before, after = args[max(at - 1, 0) : at], args[at + len(value) : at + len(value) + 2]
        part = before.isalnum() or before in (b".", b"_") or after[:1].isalnum() or after[:1] == b"_"
        if not part and not (after[:1] == b"." and after[1:].isdigit()):
            return True
        at = args.find(value, at + len(value))
    return False


# -- beginning and end of a run ------------------------------------------------------------------------------


def begin(run: Run) -> None:
    """Look at the questions of a run that is recorded."""
    if not run.replaying:
        _look_at_program()
        values = _values[run] = Values(run)
        run.asked = values.look


def end(run: Run) -> None:
    """That run is over: name the libraries whose values were not recorded."""
    values = _values.pop(run, None)
    if values is None:
        return
    loaded = LIBRARIES.keys() & sys.modules.keys()
    used = _used() if loaded else set()
    for name, words in LIBRARIES.items():
        if name in loaded and name in used:
            values.named(f"the program uses {words}, which are not recorded")


def _used() -> set[str]:
    """Return the packages of which the program's modules hold a module or an object."""
    names: set[str] = set()
    # By id: a type may refuse to be hashed.
    kinds: dict[int, type] = {}
    for namespace in callers.program_modules():
        values = list(namespace.values())
        types = list(map(type, values))
        kinds.update(zip(map(id, types), types, strict=True))
        names.update(str(value.__name__) for value in values if type(value) is ModuleType)
    kinds.pop(id(ModuleType), None)
    names.update(str(getattr(kind, "__module__", "")) for kind in kinds.values())
    return {name.partition(".")[0] for name in names}


def _look_at_program() -> None:
    """Find numbers of the process that the program has asked for before anything was replaced."""
    numbers = {str(_own[name]()): name for name in ("getppid", "getpid")}
    held = {text: name for text, name in numbers.items() if name not in _asked and len(text) >= _SHORTEST}
    if not held:
        return
    for namespace in callers.program_modules():
        for value in list(namespace.values()):
            if type(value) is str:
                short = value[:_SHORT]
            elif type(value) is int and abs(value) < _NO_NUMBER:
                short = str(value)
            else:
                continue
            for text, name in held.items():
                if text in short and _has(short.encode("utf-8", "replace"), text.encode()):
                    _asked.add(name)


def opened(run: Run, name: str, frame: FrameType) -> None:
    """The program opens a device or a file of the system, outside of tools."""
    values = _values.get(run)
    if values is not None and name.startswith(DEVICES):
        values.named(f"the program reads {name} at {callers.place_of(frame)}, which is not recorded")


def shared(run: Run, what: str) -> None:
    """Name what processes use in an order that is not recorded, also in each verdict."""
    values = _values.get(run)
    if values is not None:
        values.named(f"processes share {what}: which one comes first is not recorded", RACE)


def temporary(run: Run, path: str) -> None:
    """The program makes a temporary file or folder."""
    values = _values.get(run)
    if values is not None:
        values.add(path, "a temporary name (tempfile; a replay takes another while this one exists)")


# -- functions that are replaced -----------------------------------------------------------------------------


def install() -> None:
    """Replace functions of the standard library, once."""
    if isinstance(os.times, staticmethod):
        return
    early.replace(os, "times", _recorded("clock:times", os.times, os.times_result))
    if hasattr(os, "getloadavg"):
        early.replace(os, "getloadavg", _recorded("machine:load", os.getloadavg, tuple))
    for name in ("cpu_count", "process_cpu_count"):
        if hasattr(os, name):
            early.replace(os, name, _recorded(f"machine:{name}", getattr(os, name), lambda value: value))
    usage = vars(shutil)["_ntuple_diskusage"]._make
    early.replace(shutil, "disk_usage", _recorded("machine:disk_usage", shutil.disk_usage, usage))
    when_imported("resource", _resource_loaded)
    _name_machine(platform, "node")
    if hasattr(os, "uname"):
        early.replace(os, "uname", _recorded("machine:os.uname", os.uname, _named_by_system, rules=_SYSTEM))
    for name in ("machine", "platform", "release", "system", "version"):
        read = _recorded(f"machine:{name}", getattr(platform, name), str, rules=_SYSTEM)
        early.replace(platform, name, read)
    early.replace(
        platform, "uname", _recorded("machine:uname", platform.uname, _named_by_platform, rules=_SYSTEM)
    )
    for module, name in ((os, "getpid"), (os, "getppid"), (threading, "get_native_id")):
        early.replace(module, name, _noted(name, getattr(module, name)))
    native_id = threading.Thread.native_id.fget  # type: ignore[attr-defined]
    threading.Thread.native_id = property(_noted("get_native_id", native_id))  # type: ignore[assignment]


def install_in_sockets(module: ModuleType) -> None:
    """Replace the functions of `socket` that name the machine."""
    for name in ("gethostname", "getfqdn"):
        _name_machine(module, name)


def _name_machine(module: ModuleType, name: str) -> None:
    early.replace(module, name, _recorded(f"machine:{name}", getattr(module, name), _name_of_machine))


def _name_of_machine(name: Any) -> str:
    machine_names.add(str(name))
    return str(name)


def _named_by_system(fields: Any) -> Any:
    """Return what `os.uname` gives."""
    machine_names.add(str(fields[1]))
    return os.uname_result(fields)


def _named_by_platform(fields: Any) -> Any:
    """Return what `platform.uname` gives."""
    machine_names.add(str(fields[1]))
    return platform.uname_result(*fields)


def _resource_loaded(module: Any) -> None:
    usage = _recorded("machine:getrusage", module.getrusage, module.struct_rusage)
    early.replace(module, "getrusage", usage)


def chosen_port(port: int) -> None:
    scope = current()
    values = None if scope is None or scope.hidden else _values.get(scope.run)
    if values is not None:
        values.add(str(port), "a port that the system chose (getsockname)")


def _noted(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def read(*args: Any) -> Any:
        if name not in _asked and _for_program(sys._getframe(1)):
            _asked.add(name)
        return original(*args)

    return read


def _for_program(frame: FrameType) -> bool:
    if frame.f_globals.get("__name__") == "multiprocessing.process":  # `current_process().pid`
        return callers.program(frame.f_back)
    return callers.program(frame)


def _recorded(
    source: str, original: Callable[..., Any], made: Callable[[Any], Any], *, rules: int = 0
) -> Callable[..., Any]:
    """Return a function whose plain values are recorded; `made` makes the result of one.

    `rules` is the first number of the matching rules with such values.
    """

    def read(*args: Any, **options: Any) -> Any:
        scope = current()
        if scope is None or scope.hidden or scope.run.rules < rules or not callers.program(sys._getframe(1)):
            return original(*args, **options)
        value = draw(source, lambda: _plain(original(*args, **options)))
        return made(value)

    return read


def _plain(value: Any) -> Any:
    if isinstance(value, platform.uname_result):
        # Its sixth member is found by a command, where it is asked for.
        return [value.system, value.node, value.release, value.version, value.machine]
    return list(value) if isinstance(value, tuple) else value
