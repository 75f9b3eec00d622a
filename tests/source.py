"""The modules of `src/reenact`, parsed once for all tests that look at them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import reenact

SOURCE = Path(reenact.__file__).parent


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of each module, by its path below `src/reenact`."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
