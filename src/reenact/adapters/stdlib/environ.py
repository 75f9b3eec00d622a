"""Environment variables that the program's own code reads by name.

Each is recorded at its first read in a run, for the whole run: only a write changes the environment, and a replay
repeats the program's own writes. The variables that it gives to a child process are not recorded there: a replay gives
them, too. A walk through the whole environment (`dict(os.environ)`, for a child process) is not recorded.

Of libraries' reads, only those of services' addresses and keys are recorded (`OPENAI_API_KEY`, `*_BASE_URL`), so that a
replay needs no key on any machine. Paths, proxies and the like stay those of the machine.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from types import FrameType
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.stdlib import callers
from reenact.core.boundary import Run, current
from reenact.core.model.event import OPTIONS
from reenact.core.patterns import lazy
from reenact.core.record.given_folders import temporary_folder

_getframe = sys._getframe
_Environ: Any = type(os.environ)
_getitem: Callable[[Any, Any], str] = _Environ.__getitem__
_setitem: Callable[[Any, Any, Any], None] = _Environ.__setitem__
_delitem: Callable[[Any, Any], None] = _Environ.__delitem__
_iter: Callable[[Any], Iterator[str]] = _Environ.__iter__

_SERVICE = lazy(
    r"[A-Z0-9_]*_(?:API_?KEY|API_?TOKEN|AUTH_TOKEN|ACCESS_KEY(?:_ID)?|SECRET(?:_ACCESS)?_KEY|BASE_?URL|API_(?:BASE|URL|HOST"
    r"|VERSION)|ENDPOINT|ORG(?:ANIZATION)?(?:_ID)?|PROJECT(?:_ID)?|REGION|DEPLOYMENT|MODEL)"
)
_TOKEN = lazy(r"\[\[secret:[a-z0-9\-]+:[0-9a-f]{8}\]\]")
_MAPPING = {"_collections_abc", "collections.abc"}
_PLUMBING = {*_MAPPING, "os"}
_FOR_CALLER = {*_PLUMBING, "getpass", "ntpath", "posixpath"}
"""Modules that read for their caller: `os.path.expanduser`, `Path.home`, `getpass.getuser`."""
_RULES_FOR_CALLER = 6
"""The number of the matching rules from which such reads are recorded."""

_GIVEN = "REENACT_GIVEN"
"""The variable with the names of those that the program gives a process, joined by `=`."""

_TEMPORARY = "(temporary)"
"""Replaces a folder or value with a temporary name, which differs between runs."""

_known: dict[Run, dict[str, str | None]] = {}
_written_names: dict[Run, set[str]] = {}
"""The variables that the program's own code has written or deleted, by run."""
_put_variables: dict[Run, dict[str, str | None]] = {}
"""The variables that the program has set past `os.environ`, by run."""
_folders: dict[Run, str] = {}
"""The working folder at the beginning of each run."""
_given: set[str] = set()
"""The variables that the program's other processes gave to this one: they are not recorded."""
_walked = threading.local()
# Reentrant: the `__del__` of a collected object may read the environment during a read.
_lock = threading.RLock()


def _forked() -> None:
    global _lock
    _lock = threading.RLock()


def install() -> None:
    """Hook reads and writes of `os.environ`, once."""
    if _Environ.__getitem__ is _read:
        return
    _given.update(filter(None, (_live(_GIVEN) or "").split("=")))
    with suppress(KeyError):
        _delitem(os.environ, _GIVEN)
    _Environ.__getitem__ = _read
    _Environ.__setitem__ = _write
    _Environ.__delitem__ = _delete
    _Environ.__iter__ = _walk
    wrap(os, "putenv", _put)
    wrap(os, "unsetenv", _put)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)


def begin(run: Run) -> None:
    """Begin a run: from here on, note the changes of what commands inherit."""
    _folders[run] = _working_folder()


def end(run: Run) -> None:
    """Forget the variables of a run that is over."""
    _folders.pop(run, None)
    _known.pop(run, None)
    _written_names.pop(run, None)
    _put_variables.pop(run, None)


def given(run: Run, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that names the variables which the program gives a new process.

    Args:
        run: The run.
        environ: The environment of the new process.
    """
    own = {name for name, value in environ.items() if _live(name) != value}
    return {_GIVEN: "=".join(sorted(own | _written_names.get(run, set()) | _given))}


def changed_folder(run: Run) -> str:
    """Return the working folder, relative to the run's first one; empty if it is the same."""
    here, there = _working_folder(), _folders.get(run)
    if not there or here == there:
        return ""
    if not Path(here).is_relative_to(there) and temporary_folder() in here:
        return _TEMPORARY
    return os.path.relpath(here, there) if here else "(removed)"


def _working_folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return ""


def set_by_program(run: Run, environ: Mapping[Any, Any] | None) -> dict[str, str | None]:
    """Return the variables that the program has set or deleted, as a command gets them.

    `environ` is the environment that it is given; None: that of the program.
    """
    names = sorted(_written_names.get(run, set()) | _given)
    put = _put_variables.get(run, {}) if environ is None and run.rules >= OPTIONS else {}
    readable = {os.fsdecode(name): os.fsdecode(value) for name, value in (environ or {}).items()}
    values = {name: _live(name) if environ is None else readable.get(name) for name in names}
    temporary = temporary_folder()
    return {
        name: _TEMPORARY if value and temporary in value else value
        for name, value in {**values, **put}.items()
    }


def forked(run: Run) -> None:
    """Count the variables that the program has written as given to this forked process."""
    _given.update(_written_names.get(run, ()))


def _read(self: Any, key: Any) -> str:
    scope = current()
    if scope is None or scope.hidden or self is not os.environ or type(key) is not str:
        return _getitem(self, key)
    reader = _getframe(1)
    if key in _given or _walking_by(reader, key) or not _recorded(reader, key, scope.run.rules):
        return _getitem(self, key)
    value = _value(scope.run, key)
    if value is None:
        raise KeyError(key)
    return value


def _recorded(frame: FrameType | None, key: str, rules: int) -> bool:
    through = _PLUMBING if rules < _RULES_FOR_CALLER else _FOR_CALLER
    while frame is not None and frame.f_globals.get("__name__") in through:
        frame = frame.f_back
    return callers.program(frame) or (
        frame is not None and _names_service(key) and not frame.f_code.co_filename.startswith(callers.OURS)
    )


@lru_cache(1024)
def _names_service(key: str) -> bool:
    """Return True for the address or key of a service. Cached: libraries read them at each call."""
    return _SERVICE.fullmatch(key) is not None


def _value(run: Run, key: str) -> str | None:
    with _lock:
        known = _known.setdefault(run, {})
        if key not in known:
            known[key] = _drawn(run, key, partial(_live, key))
        return known[key] if run.replaying or run.forked else _live(key)


def variable(run: Run, name: str, live: Callable[[], str | None]) -> str | None:
    """Return a variable that a library reads for the program, from a copy of the environment.

    Args:
        run: The run.
        name: The variable, in the library's spelling (in small letters, for example).
        live: Returns its present value in the environment.
    """
    with _lock:
        known = _known.setdefault(run, {})
        if name not in known:
            known[name] = _drawn(run, name, live)
        if not (run.replaying or run.forked):
            return live()
        own = {each.lower() for each in (*_written_names.get(run, ()), *_given)}
        return live() if name.lower() in own else known[name]


def _drawn(run: Run, key: str, live: Callable[[], str | None]) -> str | None:
    # In the first scope, so that it does not matter which of several tasks reads first.
    value: str | None = run.handler.draw(run.root, f"env:{key}", live)
    if run.replaying and value is not None and _TOKEN.search(value) and not run.handler.offline:
        # The recording has a token instead of a secret. Calls that run for real need the secret.
        return live() or value
    return value


def _put(wrapped: Callable[..., None], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`putenv` and `unsetenv`: `os.environ` calls them, too, and then knows the variable itself."""
    wrapped(*args, **kwargs)
    scope = current()
    if scope is not None and sys._getframe(2).f_globals.get("__name__") != "os":
        name, value, *_ = (*map(os.fsdecode, args), None)
        _put_variables.setdefault(scope.run, {})[str(name)] = value


def _live(key: str) -> str | None:
    try:
        return _getitem(os.environ, key)
    except KeyError:
        return None


def _write(self: Any, key: Any, value: Any) -> None:
    _setitem(self, key, value)
    _written(self, key, value, _getframe(1))


def _delete(self: Any, key: Any) -> None:
    scope = current()
    if scope is None or (_known.get(scope.run) or {}).get(key) is None:
        _delitem(self, key)
    else:
        # The recorded variable exists for the program, though perhaps not on this machine.
        with suppress(KeyError):
            _delitem(self, key)
    _written(self, key, None, _getframe(1))


def _written(self: Any, key: Any, value: str | None, frame: FrameType | None) -> None:
    scope = current()
    if scope is None or self is not os.environ or type(key) is not str:
        return
    while frame is not None and frame.f_globals.get("__name__") in _PLUMBING:
        frame = frame.f_back
    with _lock:
        known = _known.setdefault(scope.run, {})
        if callers.program(frame) and not scope.hidden:
            known[key] = value
            _written_names.setdefault(scope.run, set()).add(key)
        else:
            # A library writes a value from a file or service: the next read is recorded again.
            known.pop(key, None)
            known.pop(key.lower(), None)


def _walk(self: Any) -> Iterator[str]:
    return _iter(self) if current() is None or self is not os.environ else _walking(self)


def _walking(self: Any) -> Iterator[str]:
    try:
        for key in _iter(self):
            _walked.key = key
            yield key
    finally:
        # `dict(os.environ)` lists the names first, and then reads all of them at one place in the code.
        _walked.key = None
        _walked.place = _place(_getframe(1))


def _walking_by(reader: FrameType, key: str) -> bool:
    """Return True if a read is part of a walk through the whole environment."""
    place = getattr(_walked, "place", None)
    return getattr(_walked, "key", None) == key or (place is not None and place == _place(reader))


def _place(frame: FrameType | None) -> tuple[int, int] | None:
    while frame is not None and frame.f_globals.get("__name__") in _MAPPING:
        frame = frame.f_back
    return (id(frame), frame.f_lasti) if frame is not None else None
