"""Find the function that `module:function` names, without importing the module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

_LARGEST = 10 << 20


def missing(name: str, folders: Iterable[str] = ()) -> str:
    """Return the reason that a function is not there, or an empty text.

    It is empty also where only an import can tell.

    Args:
        name: `module:function`.
        folders: Folders that modules are imported from, besides those of this process.
    """
    module, _, path = name.partition(":")
    function = path.partition(".")[0]
    if module == "__main__":
        # The program itself: it has not begun.
        return ""
    if module in sys.modules:
        there = hasattr(sys.modules[module], function)
        return "" if there else f"the module {module} has no {function}"
    spec = _spec(module, [*folders, *sys.path])
    if spec is None:
        return f"there is no module {module}"
    try:
        names = _names_of(spec)
    except SyntaxError as error:
        return f"the module {module} is no Python: {error.msg} (line {error.lineno})"
    except (OSError, ValueError):
        return ""
    return "" if names is None or function in names else f"the module {module} has no {function}"


def _spec(module: str, folders: list[str]) -> ModuleSpec | None:
    """Return where a module is, from its outermost package inwards."""
    places: Any = None
    spec, name = None, ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, folders if places is None else places)
        for finder in sys.meta_path if spec is None else ():
            spec = spec or finder.find_spec(name, places)
        if spec is None:
            return None
        places = spec.submodule_search_locations or []
    return spec


def _names_of(spec: ModuleSpec) -> set[str] | None:
    """Return the names that a module defines; None if its text cannot tell them all."""
    file = Path(spec.origin or "")
    if not spec.has_location or file.suffix != ".py" or file.stat().st_size > _LARGEST:
        return None
    found: set[str] = set()
    for statement in _statements(ast.parse(file.read_bytes()).body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(statement.name)
        else:
            found |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    for folder in spec.submodule_search_locations or ():
        found |= {entry.stem for entry in Path(folder).iterdir()}
    dynamic = {"*", "__getattr__", "globals", "exec", "setattr", "vars"}
    return None if found & dynamic else found


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module that run at its import."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(statement, name, [])
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _statements(inner)
