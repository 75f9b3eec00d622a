"""The modules of `src/reenact`, each read and parsed at most once for all tests that look at them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import reenact

SOURCE = Path(reenact.__file__).parent


@cache
def texts() -> dict[str, str]:
    """Return the text of each module, by its path below `src/reenact`."""
    return {
        path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SOURCE.rglob("*.py"))
    }


@cache
def tree(path: str) -> ast.Module:
    """Return the syntax tree of a module: to parse all of them takes a second."""
    return ast.parse(texts()[path])


def modules(*words: str) -> dict[str, ast.Module]:
    """Return the syntax tree of each module that contains one of these words, or of all modules."""
    return {
        path: tree(path) for path, text in texts().items() if not words or any(word in text for word in words)
    }
