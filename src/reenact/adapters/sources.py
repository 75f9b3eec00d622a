"""The source of a tool: a digest of its code, and its inputs that cannot be recorded.

The digest covers the tool's function and each function of the program that it names, through the program's own
modules, classes and closures. Code of installed packages is not followed.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import hashlib
import inspect
import io
import os
import sys
import textwrap
import threading
import types
import weakref
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from reenact.adapters import constants
from reenact.adapters.stdlib import callers, sqlite, witness
from reenact.adapters.writers import DRIVERS, writers_near
from reenact.core.boundary import Run, current, entered
from reenact.core.dataclass import dataclass
from reenact.core.model.event import Source, Substitute

_MOST = 300
"""The maximum number of functions that are followed from one tool."""

OUTSIDE = {
    *DRIVERS, "fastuuid", "jax", "llama_cpp", "onnxruntime", "playwright", "polars", "psutil", "pyarrow", "selenium",
    "sqlalchemy", "tensorflow", "torch", "transformers", "uuid_utils", "uvloop", "vllm",
}  # fmt: skip
"""Libraries with input or output that is not recorded, or with random numbers of their own."""

_PURE = {
    "PIL", "_cffi_backend", "aiohttp", "asyncpg", "attr", "brotli", "charset_normalizer", "frozenlist", "google",
    "jiter", "langsmith", "lxml", "markupsafe", "msgpack", "msgspec", "multidict", "numpy", "orjson", "ormsgpack",
    "pandas", "propcache", "pydantic_core", "rapidfuzz", "regex", "rpds", "scipy", "sklearn", "tiktoken", "ujson",
    "wrapt", "xxhash", "yaml", "yarl", "zstandard",
}  # fmt: skip
"""Packages with native code that only computes."""

_UNSEEN: dict[int, tuple[object, str]] = {
    id(one): (one, words)
    for words, found in {
        "the process's number": (os.getpid, os.getppid),
        "a thread's number": (threading.get_ident, threading.get_native_id),
        "the file system": (os.statvfs,) if hasattr(os, "statvfs") else (),
        "an object's address": (builtins.id,),
    }.items()
    for one in found
}  # fmt: skip
_CODE = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
"""The kinds of objects that are code, and no constants."""

DECLARED = "__reenact_writes__"
"""The attribute of a function that declares if it writes."""

SUBSTITUTE = "__reenact_substitute__"
"""The attribute of a function that declares its answer where it may not run."""

_sources: weakref.WeakKeyDictionary[Any, tuple[weakref.ref[Run], Source]] = weakref.WeakKeyDictionary()
"""The source of each tool in its run; in the next run, a name may be that of another object."""


def source_of(function: Any) -> Source | None:
    """Return the source of a tool's function; None outside of a run, or if a library has it."""
    scope = current()
    given, function = function, _plain(function) if scope is not None else None
    if scope is None or function is None:
        return None
    cached = _sources.get(function)
    if cached is not None and cached[0]() is scope.run:
        return cached[1]
    with entered(None):
        try:
            found = _Walk(function, scope.run).source()
        except Exception as error:  # a program's own objects may raise at any attribute
            found = Source("", (f"its code cannot be read ({type(error).__name__})",))
        found = replace(
            found,
            writes=declaration_of(given),
            near=writers_near(function),
            substitute=substitute_of(given),
        )
    _sources[function] = weakref.ref(scope.run), found
    return found


class ToolSource:
    """The source of one tool's function, found once in each run.

    Args:
        function: The tool's function.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self._cached: tuple[weakref.ref[Run], Source | None] | None = None

    def __call__(self) -> Source | None:
        """Return as `source_of` does."""
        scope = current()
        if scope is None:
            return None
        cached = self._cached
        if cached is None or cached[0]() is not scope.run:
            cached = self._cached = weakref.ref(scope.run), source_of(self._function)
        return cached[1]


def declaration_of(thing: Any) -> bool | None:
    """Return the `writes` of a function's `@reenact.tool(writes=…)`, or None."""
    declared = _attribute(thing, DECLARED)
    return declared if isinstance(declared, bool) else None


def substitute_of(thing: Any) -> Substitute | None:
    """Return the answer of a function's `@reenact.tool(fixed=…)` or `simulated=…`, or None."""
    declared = _attribute(thing, SUBSTITUTE)
    return declared if isinstance(declared, Substitute) else None


def _attribute(thing: Any, name: str) -> Any:
    """Return the attribute of a callable, or of a function that it wraps; None if none has it."""
    for _ in range(20):
        value = inspect.getattr_static(thing, name, None)
        if value is not None:
            return value
        if isinstance(thing, functools.partial):
            thing = thing.func
        elif isinstance(thing, types.MethodType):
            thing = thing.__func__
        else:
            thing = inspect.getattr_static(thing, "__wrapped__", None)
        if thing is None:
            return None
    return None


def _plain(thing: Any) -> types.FunctionType | None:
    """Return the program's function that a partial, method, wrapper or object calls, or None."""
    for _ in range(20):
        if isinstance(thing, functools.partial):
            thing = thing.func
        elif isinstance(thing, types.MethodType):
            thing = thing.__func__
        elif isinstance(thing, types.FunctionType):
            inner = thing.__dict__.get("__wrapped__")
            if inner is None or callers.module_kind(thing.__globals__) == callers.OWN:
                return thing if _own(thing) else None
            thing = inner
        else:
            thing = None if isinstance(thing, type) else vars(type(thing)).get("__call__")
            if thing is None:
                return None
    return None


def _own(function: types.FunctionType) -> bool:
    return callers.module_kind(function.__globals__) == callers.OWN


@dataclass(frozen=True, slots=True)
class _UsedNames:
    """The names that one function uses: global names, attributes, and imports within it."""

    globals: tuple[str, ...]
    attributes: frozenset[str]
    imports: tuple[tuple[str, str], ...]


class _Walk:
    """Collects the program's own code that one function reaches by name."""

    def __init__(self, function: types.FunctionType, run: Run) -> None:
        self._run = run
        self._pending = [function]
        self._seen: set[types.CodeType] = set()
        self._objects: set[int] = set()
        self._texts: set[str] = set()
        self._constants: set[str] = set()
        self._reasons: dict[str, None] = {}

    def source(self) -> Source:
        while self._pending:
            if len(self._seen) > _MOST:
                self._reasons["more code than is looked at"] = None
                break
            self._function(self._pending.pop())
        reasons = tuple(f"it uses {reason}" for reason in self._reasons)
        return Source(_digest(self._texts), reasons, constants=_digest(self._constants - {""}))

    def _function(self, function: types.FunctionType) -> None:
        code = function.__code__
        if code in self._seen:
            return
        self._seen.add(code)
        module = function.__globals__.get("__name__")
        self._texts.add(_text(code, module if isinstance(module, str) else None))
        names = _names(code)
        for name in names.globals:
            found = function.__globals__.get(name, getattr(builtins, name, None))
            self._object(found, name, names.attributes)
            self._constant(function.__globals__, name, found)
        for cell, name in zip(function.__closure__ or (), code.co_freevars, strict=False):
            try:
                self._object(cell.cell_contents, name, names.attributes)
            except ValueError:
                continue
        for module, name in names.imports:
            self._package(module)
            loaded = sys.modules.get(module)
            if loaded is not None:
                self._object(loaded, module, names.attributes | {name})
        wrapped = function.__dict__.get("__wrapped__")
        if wrapped is not None:
            self._object(wrapped, "", frozenset())

    def _object(self, thing: Any, name: str, attributes: frozenset[str]) -> None:
        if id(thing) in _UNSEEN:
            self._reasons[_UNSEEN[id(thing)][1]] = None
            return
        if isinstance(thing, types.ModuleType):
            self._module(thing, attributes)
            return
        if id(thing) in self._objects:
            return
        self._objects.add(id(thing))
        if isinstance(thing, type):
            self._class(thing, vars(thing))
        elif isinstance(thing, types.FunctionType):
            inner = thing.__dict__.get("__wrapped__")
            if _own(thing):
                self._pending.append(thing)
            elif inner is not None:
                self._object(inner, name, attributes)
            else:
                self._package(thing.__module__)
        elif isinstance(thing, types.MethodType):
            self._object(thing.__func__, name, attributes)
            self._instance(thing.__self__, name, attributes)
        elif isinstance(thing, functools.partial):
            self._object(thing.func, name, attributes)
        elif isinstance(thing, types.BuiltinFunctionType):
            self._package(getattr(thing, "__module__", None))
        else:
            self._instance(thing, name, attributes)

    def _module(self, module: types.ModuleType, attributes: frozenset[str]) -> None:
        self._package(module.__name__)
        own = callers.module_kind(vars(module)) == callers.OWN
        for name in attributes & vars(module).keys():
            found = vars(module)[name]
            if own:
                self._constant(vars(module), name, found)
            if own or id(found) in _UNSEEN or isinstance(found, types.ModuleType):
                if id(found) in self._objects:
                    continue
                if isinstance(found, types.ModuleType):
                    self._objects.add(id(found))
                self._object(found, name, attributes)

    def _constant(self, members: dict[str, Any], name: str, thing: Any) -> None:
        """Add the source that assigns a module's name, if its value is not code."""
        if not isinstance(thing, _CODE) and name in members:
            self._constants.add(constants.of_module(members, name))

    def _class(self, kind: type, members: Any) -> None:
        module = sys.modules.get(kind.__module__)
        if module is None or callers.module_kind(vars(module)) != callers.OWN:
            self._package(kind.__module__)
            return
        self._constants.add(constants.of_class(kind))
        for member in list(members.values()):
            function = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
            if isinstance(function, types.FunctionType) and _own(function):
                self._pending.append(function)

    def _instance(self, thing: Any, name: str, attributes: frozenset[str]) -> None:
        if thing is None or isinstance(thing, (str, bytes, int, float, bool)):
            return
        if isinstance(thing, io.IOBase):
            own = thing is sys.stdout or thing is sys.stderr or isinstance(thing, (io.StringIO, io.BytesIO))
            if not own and not witness.is_followed(thing, self._run):
                self._reasons[f"the open file `{name}`"] = None
        elif _is_socket(thing):
            self._reasons[f"the open socket `{name}`"] = None
        elif type(thing).__module__ == "sqlite3":
            if not sqlite.is_followed(thing, self._run):
                self._reasons[f"the database `{name}`"] = None
        else:
            kind = type(thing)
            self._class(kind, {key: item for key, item in _members(kind) if key in attributes})
            held = getattr(thing, "__dict__", None)
            if type(held) is dict and callers.module_kind({"__file__": _file(kind)}) == callers.OWN:
                for key in attributes & held.keys():
                    self._object(held[key], f"{name}.{key}", attributes)

    def _package(self, module: Any) -> None:
        if not isinstance(module, str):
            return
        top = module.partition(".")[0]
        if top in OUTSIDE:
            self._reasons[f"the library {top}"] = None
        elif top not in _PURE and _native(top):
            self._reasons[f"the native extension {top}"] = None


def _is_socket(thing: Any) -> bool:
    """Return True for a socket; a program that has one has imported the module."""
    module = sys.modules.get("socket")
    return module is not None and isinstance(thing, module.socket)


def _digest(texts: AbstractSet[str]) -> str:
    text = "\n".join(sorted(texts))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16] if texts else ""


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    for base in kind.__mro__:
        yield from vars(base).items()


def _file(kind: type) -> str:
    return str(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")


def _native(top: str) -> bool:
    """Return True if an installed package is a native extension, or has loaded one."""
    if top in sys.stdlib_module_names or top in sys.builtin_module_names or top == "reenact":
        return False
    return any(
        str(getattr(module, "__file__", None) or "").endswith((".so", ".pyd", ".dylib"))
        for name, module in list(sys.modules.items())
        if name == top or name.startswith(f"{top}.")
    )


@functools.lru_cache(4096)
def _names(code: types.CodeType) -> _UsedNames:
    names: dict[str, None] = {}
    attributes: set[str] = set()
    imports: dict[tuple[str, str], None] = {}
    module = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names[str(instruction.argval)] = None
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
            attributes.add(str(instruction.argval))
        elif instruction.opname == "IMPORT_NAME":
            module = str(instruction.argval)
            imports[module, ""] = None
        elif instruction.opname == "IMPORT_FROM":
            imports[module, str(instruction.argval)] = None
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _names(constant)
            names |= dict.fromkeys(inner.globals)
            attributes |= inner.attributes
            imports |= dict.fromkeys(inner.imports)
    return _UsedNames(tuple(names), frozenset(attributes), tuple(imports))


@functools.lru_cache(4096)
def _text(code: types.CodeType, module: str | None) -> str:
    """Return a function's source without comments and layout; else its instructions.

    `inspect` is given a function with its module: for bare code, it searches all imported modules, which is slow.
    """
    closure = tuple(types.CellType() for _ in code.co_freevars)
    function = types.FunctionType(code, {"__name__": module}, closure=closure)
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError, SyntaxError, IndexError):
        return f"{code.co_qualname} {_instructions(code)}"
    try:
        return ast.unparse(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return text


def _instructions(code: types.CodeType) -> str:
    constants = [item for item in code.co_consts if not isinstance(item, types.CodeType)]
    inner = [_instructions(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, inner))
