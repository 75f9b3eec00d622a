"""The constants of a tool: the source code that assigns the names of modules and classes.

The source is compared, not the value: the value of a counter or a cache changes with each call.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from collections.abc import Iterable
from importlib.util import resolve_name
from typing import Any

from reenact.adapters.stdlib import callers

_DEEP = 5
"""The maximum number of modules through which an imported name is followed."""


def of_module(members: dict[str, Any], name: str) -> str:
    """Return the source that assigns a module's name; empty for a library's, or without any."""
    for _ in range(_DEEP):
        if callers.module_kind(members) != callers.OWN:
            return ""
        assigned, imported = _names(str(members.get("__file__") or ""))
        if name in assigned:
            return assigned[name]
        if name not in imported:
            return ""
        module, name = imported[name]
        try:
            module = resolve_name(module, str(members.get("__package__") or ""))
        except (ImportError, ValueError):
            return ""
        members = vars(sys.modules[module]) if module in sys.modules else {}
    return ""


def of_class(kind: type) -> str:
    """Return the source that assigns the attributes of a program's class."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return _names(str(file or ""))[0].get(kind.__qualname__, "")


@functools.lru_cache(256)
def _names(file: str) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Return the assignments of a file, by name or class, and the origins of imported names."""
    assigned: dict[str, str] = {}
    imported: dict[str, tuple[str, str]] = {}
    try:
        tree = ast.parse("".join(linecache.getlines(file))) if file else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError):
        return assigned, imported
    for statement in _statements(tree.body):
        if isinstance(statement, ast.ImportFrom):
            module = "." * statement.level + (statement.module or "")
            imported |= {each.asname or each.name: (module, each.name) for each in statement.names}
        elif isinstance(statement, ast.ClassDef):
            _add_class(assigned, statement, statement.name)
        else:
            for name in _targets(statement):
                assigned[name] = f"{assigned.get(name, '')}{ast.unparse(statement)}\n"
    return assigned, imported


def _statements(body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """Yield the statements of a body, also those in `if`, `try`, `with` and `for`."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.If, ast.Try, ast.With, ast.For)):
            for part in ("body", "handlers", "orelse", "finalbody"):
                for inner in getattr(statement, part, ()):
                    yield from _statements(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def _add_class(assigned: dict[str, str], kind: ast.ClassDef, name: str) -> None:
    lines = []
    for statement in _statements(kind.body):
        if isinstance(statement, ast.ClassDef):
            inner = f"{name}.{statement.name}"
            _add_class(assigned, statement, inner)
            lines.append(f"{inner}\n{assigned[inner]}")
        elif _targets(statement):
            lines.append(ast.unparse(statement))
    assigned[name] = "\n".join(lines)


def _targets(statement: ast.stmt) -> list[str]:
    """Return the names that a statement assigns."""
    if isinstance(statement, ast.Assign):
        found = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        found = [statement.target]
    else:
        return []
    return [node.id for target in found for node in ast.walk(target) if isinstance(node, ast.Name)]
