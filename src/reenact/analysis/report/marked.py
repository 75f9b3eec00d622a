"""Find functions with `@reenact.recorded` in the text of the user's program, unimported."""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

from reenact.analysis.report.python import is_name

_LARGEST = 5_000_000


def marked_arguments(module: str, function: str, test_file: Path) -> ast.arguments | None:
    """Return the parameters of a function decorated with `reenact.recorded`, or None.

    The module is looked for in the current folder, in the folders around the test's file and on Python's path, but
    not in the standard library. Nothing is imported.
    """
    parts = module.split(".")
    if (
        not is_name(function)
        or not all(map(is_name, parts))
        or parts[0] in sys.stdlib_module_names | {"__main__"}
    ):
        return None
    file = _file(parts, list(dict.fromkeys(map(str, _folders(test_file)))))
    if file is None:
        return None
    try:
        if file.suffix != ".py" or file.stat().st_size > _LARGEST:
            return None
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    marks = _marks(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
            decorators = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
            if not marks.isdisjoint(map(_path, decorators)):
                return node.args
    return None


def _folders(test_file: Path) -> Iterator[Path]:
    here = Path.cwd()
    own = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}
    yield here
    yield here / "src"
    yield from test_file.absolute().parents[:3]
    for entry in sys.path:
        if entry and Path(entry).resolve() not in own:
            yield Path(entry)


def _file(parts: list[str], folders: list[str]) -> Path | None:
    """Return the file of a module, as an import would find it."""
    spec = None
    for place in range(len(parts)):
        spec = PathFinder.find_spec(".".join(parts[: place + 1]), folders)
        if spec is None:
            return None
        folders = list(spec.submodule_search_locations or ())
    return Path(spec.origin) if spec is not None and spec.origin else None


def _marks(tree: ast.Module) -> set[str]:
    """Return the module's names for `reenact.recorded`."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names = [alias for alias in node.names if alias.name.partition(".")[0] == "reenact"]
            found |= {f"{alias.asname or 'reenact'}.recorded" for alias in names}
        elif (
            isinstance(node, ast.ImportFrom)
            and not node.level
            and node.module in ("reenact", "reenact.run.api")
        ):
            found |= {alias.asname or alias.name for alias in node.names if alias.name == "recorded"}
    return found


def _path(node: ast.expr) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
