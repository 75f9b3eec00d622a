"""The text of a function, without its comments and its layout."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator

_TRIES = 8
"""The number of possible ends that are tried before Python's tokenizer is asked."""


def function_text(function: types.FunctionType) -> str:
    """Return a function's source without comments and layout.

    Where it is no code by itself (a lambda within a call), it is returned as it is. Raises OSError, TypeError,
    SyntaxError or IndexError if there is none.
    """
    lines, first = inspect.findsource(function)
    for block in _blocks(lines[first:]):
        try:
            tree = ast.parse(_dedented(block))
        except (SyntaxError, ValueError, RecursionError):
            continue
        if len(tree.body) == 1 and isinstance(tree.body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
            return ast.unparse(tree)
    text = _dedented("".join(inspect.getblock(lines[first:])))
    try:
        return ast.unparse(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return text


def _blocks(lines: list[str]) -> Iterator[str]:
    """Yield the texts that may be the function whose first line is given, the shortest first.

    It ends before a line that is no deeper than its first one. Inside of a string or of brackets there may be such a
    line, too: what is before it is no code then. To ask the tokenizer, as `inspect` does, takes longer.
    """
    depth = _depth(lines[0])
    end, tries = 0, 0
    for number, line in enumerate(lines):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if number and _depth(line) <= depth and not lines[number - 1].endswith(("\\\n", "\\\r\n")):
            yield "".join(lines[:end])
            tries += 1
            if tries == _TRIES:
                return
        end = number + 1
    yield "".join(lines[:end])


def _depth(line: str) -> int:
    """Return the number of characters before the first word; a form feed begins a line anew."""
    return len(_indent(line).rpartition("\f")[2])


def _indent(line: str, spaces: str = " \t\f") -> str:
    return line[: len(line) - len(line.lstrip(spaces))]


def _dedented(text: str) -> str:
    """As `textwrap.dedent`, whose module takes long to import."""
    lines = ["" if not line.strip(" \t") else line for line in text.split("\n")]
    margin: str | None = None
    for line in filter(None, lines):
        indent = _indent(line, " \t")
        if margin is None or margin.startswith(indent):
            margin = indent
        elif not indent.startswith(margin):
            margin = margin[
                : next(at for at, (one, two) in enumerate(zip(margin, indent, strict=False)) if one != two)
            ]
    return "\n".join(line.removeprefix(margin or "") for line in lines)
