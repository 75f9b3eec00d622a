"""Find the reader of a clock or random number: only the program's own reads are recorded.

A read belongs to the program if its code does. Some libraries read for their caller and return the value (`uuid4()`, a
default factory of pydantic's): their reads belong to their caller.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

OWN, VALUE, CARRIER, LIBRARY = 1, 2, 3, 4

VALUES = {
    # The standard library.
    "_pydatetime", "_strptime", "abc", "calendar", "codecs", "collections", "configparser", "contextlib", "copy",
    "csv", "dataclasses", "datetime", "email", "enum", "fileinput", "functools", "gzip", "io", "json", "operator",
    "os", "pathlib", "random", "sched", "secrets", "shutil", "statistics", "string", "tarfile", "tempfile", "timeit",
    "tomllib", "typing", "uuid", "wsgiref.handlers", "zipfile", "zoneinfo",
    # From the package index.
    "aiolimiter", "arrow", "attr", "attrs", "babel", "backoff", "cachetools", "croniter", "cuid", "cuid2",
    "dateparser", "dateutil", "delorean", "django.utils.crypto", "django.utils.timezone", "factory", "faker",
    "humanize", "isodate", "itsdangerous", "jwt", "ksuid", "maya", "mimesis", "msgspec", "nanoid", "numpy",
    "pandas", "pendulum", "pexpect", "polars", "ptyprocess", "pydantic", "pydantic_core", "pytz", "ratelimit",
    "retrying", "shortuuid", "sqlmodel", "stamina", "tenacity", "typeid", "typing_extensions", "tzlocal", "ulid",
    "uuid6", "uuid7", "uuid_extensions", "whenever", "yaml",
}  # fmt: skip
"""Libraries that read on behalf of their caller. Extend it before the first run."""

_CARRIERS = ("anyio._backends", "concurrent.futures", "threading")
"""Modules that run given functions: `pool.submit(uuid4)` is the program's own read."""

_RUNNERS = {
    "IPython", "arq", "asyncio", "cProfile", "celery", "chainlit", "coverage", "daphne", "ddtrace", "debugpy",
    "django", "dramatiq", "fastapi", "fastapi_cli", "flask", "gradio", "granian", "gunicorn", "hypercorn", "ipykernel",
    "ipykernel_launcher", "jupyter", "jupyter_core", "newrelic", "nox", "opentelemetry", "pdb", "pdm", "poetry",
    "profile", "pytest", "reenact", "rq", "runpy", "streamlit", "tox", "trace", "unittest", "uv", "uvicorn",
    "watchfiles",
}  # fmt: skip
"""Programs that run other programs: their own package is not the program's."""

STARTERS = {"reenact.adapters.concurrency", "reenact.adapters.event_loops", "reenact.adapters.thread_pools"}
"""Reenact's modules that call the program's jobs."""

OURS = f"{Path(__file__).parents[2]}{os.sep}"
"""The folder of Reenact's own code."""

_LIBRARY = Path(os.__file__).parent


def _stdlib() -> str:
    """Return the folder of the standard library, on Unix without the slow `sysconfig`."""
    if os.name == "posix":
        return f"{sys.base_prefix}/{sys.platlibdir}/python{sys.version_info[0]}.{sys.version_info[1]}"
    return str(import_module("sysconfig").get_path("stdlib"))


STANDARD = tuple({f"{path}{os.sep}" for path in (_LIBRARY, _LIBRARY.resolve(), _stdlib())})
"""The folders of the standard library."""

_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))

_own: set[str] = set()
_kinds: dict[str, int] = {}
_synthetic: dict[tuple[str, str], int] = {}
_candidates: dict[str, None] = {}
"""Names of loaded modules that are, or may become, the program's."""


def own(*packages: str) -> None:
    """Count installed packages, or parts of them (`package.module`), as the program's own code.
    `REENACT_OWN=package,package` does the same from outside.
    """
    _own.update(packages)
    _kinds.clear()
    _synthetic.clear()
    _candidates.clear()
    _loaded.forget()


def install() -> None:
    """Find the installed packages that are the program itself: requested, or `python -m`."""
    asked = [name for name in os.environ.get("REENACT_OWN", "").replace(",", " ").split() if name]
    # The script `pytest` imports `_pytest`.
    own(*asked, *(name for name in [_started()] if name and name.lstrip("_") not in _RUNNERS))


def program(frame: FrameType | None) -> bool:
    """Return True if a read in this frame is the program's own."""
    if frame is None:
        return False
    kind = kind_of(frame)
    if kind != VALUE:
        return kind == OWN
    frame = frame.f_back
    while frame is not None:
        kind = kind_of(frame)
        if kind != VALUE:
            return kind != LIBRARY
        frame = frame.f_back
    return True


def carries(frame: FrameType) -> bool:
    """Return True if this code of a library runs functions that it is given."""
    return kind_of(frame) == CARRIER


def place_of(frame: FrameType | None) -> str:
    """Return the file and line of the program's code that a frame was called from."""
    return line_of(frame) or "a library"


def line_of(frame: FrameType | None) -> str:
    """Return the file and line of the program's code that called a frame, or an empty text."""
    while frame is not None:
        place = place_in(frame)
        if place is not None:
            return place
        frame = frame.f_back
    return ""


def place_in(frame: FrameType) -> str | None:
    """Return the file and line of a frame, or None if it is not the program's own code."""
    file = frame.f_code.co_filename
    if kind_of(frame) != OWN or file.startswith(OURS) or "<" in file:
        return None
    return f"{Path(file).name}:{frame.f_lineno}"


def kind_of(frame: FrameType) -> int:
    """Return the kind of a frame's code: the program's, a library's or a carrier's."""
    name = frame.f_code.co_filename
    kind = _kinds.get(name)
    return kind if kind is not None else _judged(name, frame.f_globals)


def module_kind(namespace: dict[str, Any]) -> int:
    """Return the kind of a loaded module, by its globals."""
    path = namespace.get("__file__")
    if not isinstance(path, str):
        return OWN if namespace.get("__name__") == "__main__" else LIBRARY
    kind = _kinds.get(path)
    return kind if kind is not None else _judged(path, namespace)


def program_modules() -> list[dict[str, Any]]:
    """Return the globals of each loaded module of the program.

    The kind of each module is found once: a large program loads thousands of modules of libraries.
    """
    for name, module in _loaded.new():
        if name == "__main__" or "__file__" not in namespace(module) or module_kind(namespace(module)) == OWN:
            _candidates[name] = None
    modules = [sys.modules.get(name) for name in list(_candidates)]
    found = [namespace(module) for module in modules if issubclass(type(module), ModuleType)]
    return [names for names in found if module_kind(names) == OWN]


def namespace(module: Any) -> dict[str, Any]:
    """Return a module's globals without reading an attribute, which would load a lazy module."""
    found: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return found


class NewModules:
    """Returns each loaded module once: those that were loaded since the last call."""

    def __init__(self) -> None:
        self._last: str | None = None
        self._count = 0

    def new(self) -> list[tuple[str, ModuleType]]:
        """Return the modules loaded since the last call, by name; all if they cannot be found."""
        last, count = self._last, self._count
        try:
            self._last, self._count = next(reversed(sys.modules), None), len(sys.modules)
            # `sys.modules` is in the order of loading.
            names = list(itertools.takewhile(lambda name: name != last, reversed(sys.modules)))
        except RuntimeError:  # another thread loads one in the middle
            names = list(sys.modules)
        # If one was removed, the last one may have been loaded again, after others.
        if self._count != count + len(names):
            names = list(sys.modules)
        found = ((name, sys.modules.get(name)) for name in names)
        return [(name, module) for name, module in found if issubclass(type(module), ModuleType)]  # type: ignore[misc]

    def forget(self) -> None:
        """Return all modules at the next call."""
        self._last = None
        self._count = 0


_loaded = NewModules()


def _judged(filename: str, namespace: dict[str, Any]) -> int:
    module = namespace.get("__name__")
    module = module if isinstance(module, str) else ""
    if filename.startswith("<") and not filename.startswith("<frozen "):
        # Generated code (a dataclass's `__init__`), or typed in at a prompt.
        key = (filename, module)
        kind = _synthetic.get(key)
        if kind is None:
            kind = _synthetic[key] = _generated(module)
        return kind
    kind = _kinds[filename] = _filed(filename, module)
    return kind


def _generated(module: str) -> int:
    if module == "__main__":
        return OWN
    path = getattr(sys.modules.get(module), "__file__", None)
    return _filed(path, module) if isinstance(path, str) else VALUE


def _filed(path: str, module: str) -> int:
    if module == "reenact.run.files.redirect":
        # A function of the program's that replaces the real one.
        return VALUE
    if path.startswith(OURS):
        # Reenact's own code calls a job that is a built-in (`to_thread(time.time)`), and reads no clock itself.
        return OWN if module in STARTERS else LIBRARY
    if any(part in path for part in _PACKAGES):
        if module == "__main__":
            module = _started() or ""
        if _among(module, _own):
            return OWN
    elif not path.startswith((*STANDARD, "<frozen ")):
        return OWN
    if _among(module, VALUES):
        return VALUE
    return CARRIER if module.startswith(_CARRIERS) else LIBRARY


def _among(module: str, names: set[str]) -> bool:
    while module:
        if module in names:
            return True
        module = module.rpartition(".")[0]
    return False


def _started() -> str | None:
    """Return the top package that started this process: by `python -m`, or a console script."""
    given = iter(sys.orig_argv[1:])
    for argument in given:
        if argument == "-m":
            return next(given, "").partition(".")[0]
        if argument in ("-X", "-W"):
            next(given, None)
        elif argument == "-c":
            return None
        elif not argument.startswith("-"):
            return _scripted(argument)
    return None


def _scripted(path: str) -> str | None:
    script = Path(path)
    if script.absolute().parent.name not in ("bin", "Scripts"):
        return None
    try:
        found = re.search(r"^from (\w+)[\w.]* import ", script.read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return found[1] if found else None
