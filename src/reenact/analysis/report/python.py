"""Write Python from syntax trees, on lines of limited length.

Texts of a recording enter a tree only as constants, checked names, or comments of one line, so none of them becomes
code. `source` parses its own text, and raises an error if the result differs from the tree.
"""

from __future__ import annotations

import ast
import json
import keyword
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reenact.errors import UsageError

WIDTH = 100
"""The length from which lines are broken up, where possible."""

_DEEPEST = 60


class Comment(ast.stmt):
    """A comment on a line of its own: printable characters, and `…` for the end of a long text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        line = one_line(text)
        self.text = line if len(line) <= WIDTH + 10 else f"{line[: WIDTH + 9]}…"


class Blank(ast.stmt):
    """An empty line."""


class Unwritable(UsageError):
    """Something that cannot be written as Python."""


def one_line(text: str) -> str:
    """Return a text on one line: each unprintable character becomes a space."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def is_name(text: object) -> bool:
    """Return True if a text is a valid name: an ASCII identifier that is no keyword."""
    return isinstance(text, str) and text.isascii() and text.isidentifier() and not keyword.iskeyword(text)


def name(text: str) -> ast.Name:
    """Return a name. Raises Unwritable if the text is none."""
    if not is_name(text):
        raise Unwritable(f"{text!r} is no name")
    return ast.Name(text, ast.Load())


def dotted(text: str) -> ast.expr:
    """Return a name with attributes: `session.page.goto`."""
    first, *rest = text.split(".")
    found: ast.expr = name(first)
    for part in rest:
        found = ast.Attribute(found, name(part).id, ast.Load())
    return found


def call(
    function: ast.expr, arguments: Sequence[ast.expr] = (), options: Mapping[str, ast.expr] | None = None
) -> ast.Call:
    """Return a call, without options whose keys are no names."""
    known = {key: value for key, value in (options or {}).items() if is_name(key)}
    return ast.Call(function, list(arguments), [ast.keyword(key, value) for key, value in known.items()])


def as_unparsed(node: ast.expr) -> ast.expr:
    """Return the same expression, to be written as `ast.unparse` does, in single quotes."""
    node.as_unparsed = True  # type: ignore[attr-defined]
    return node


def within(opened: ast.expr, body: list[ast.stmt], alias: str = "") -> ast.With:
    """Return `with opened as alias:` and its body."""
    target = ast.Name(alias, ast.Store()) if alias else None
    return ast.With([ast.withitem(opened, target)], body)


def imported(module: str, what: str = "") -> ast.stmt:
    """Return `import module` or `from module import what`. Raises Unwritable for invalid names."""
    if not all(map(is_name, module.split("."))) or (what and not is_name(what)):
        raise Unwritable(f"{module}:{what} is no name")
    return ast.ImportFrom(module, [ast.alias(what)], 0) if what else ast.Import([ast.alias(module)])


def literal(value: Any, depth: int = 0) -> ast.expr:
    """Return a plain value as a literal, a tree unchanged. Raises Unwritable for other values."""
    if depth > _DEEPEST:
        raise Unwritable("a value that is nested too deeply")
    kind = type(value)
    if isinstance(value, ast.expr):
        return value
    if value is None or kind in (bool, str, bytes):
        return ast.Constant(value)
    if kind is int or kind is float:
        if not math.isfinite(value):
            raise Unwritable(f"{value} has no literal")
        negative = value < 0 or (kind is float and math.copysign(1, value) < 0)
        return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if negative else ast.Constant(value)
    if kind is list:
        return ast.List([literal(item, depth + 1) for item in value], ast.Load())
    if kind is tuple:
        return ast.Tuple([literal(item, depth + 1) for item in value], ast.Load())
    if kind is set and value:
        return ast.Set(sorted((literal(item, depth + 1) for item in value), key=ast.dump))
    if isinstance(value, Mapping) and kind.__module__ in ("builtins", "collections"):
        pairs = [(literal(key, depth + 1), literal(item, depth + 1)) for key, item in value.items()]
        return ast.Dict([key for key, _ in pairs], [item for _, item in pairs])
    raise Unwritable(f"a {kind.__name__} has no literal")


def docstring(lines: Sequence[str]) -> ast.stmt:
    """Return a docstring of its first line, and further ones under it."""
    said = [one_line(line) for line in lines]
    if len(said) > 1:
        pad = " " * 4
        said = [said[0], "", *(f"{pad}{line}".rstrip() for line in said[1:]), pad]
    return ast.Expr(ast.Constant("\n".join(said)))


def source(body: Sequence[ast.stmt]) -> str:
    """Return the text of statements. Raises Unwritable if it does not parse to the same tree."""
    text = "\n".join(_block(body, "")) + "\n"
    wanted = ast.dump(ast.Module(_bare(body), []))
    try:
        written = ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        written = ""
    if written != wanted:
        raise Unwritable("this cannot be written as Python")
    return text


# -- statements ------------------------------------------------------------------------------------------------


def _bare(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Return the statements without comments and empty lines."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, Comment | Blank):
            continue
        if isinstance(node, ast.With | ast.FunctionDef | ast.AsyncFunctionDef):
            fields = {key: getattr(node, key) for key in node._fields if hasattr(node, key)}
            found.append(type(node)(**{**fields, "body": _bare(node.body) or [ast.Pass()]}))
            continue
        found.append(node)
    return found


def _block(body: Iterable[ast.stmt], indent: str) -> Iterator[str]:
    for node in body:
        yield from _statement(node, indent)


def _body(body: Sequence[ast.stmt], indent: str) -> Iterator[str]:
    yield from _block(body, indent)
    if all(isinstance(node, Comment | Blank) for node in body):
        yield f"{indent}pass"


def _statement(node: ast.stmt, indent: str) -> Iterator[str]:
    match node:
        case Comment():
            yield f"{indent}# {node.text}".rstrip()
        case Blank():
            yield ""
        case ast.Expr(ast.Constant(str() as text)) if (
            '"""' not in text and "\\" not in text and text[-1:] != '"'
        ):
            yield from f'{indent}"""{text}"""'.split("\n")
        case ast.Expr(value):
            yield from _expression(value, indent, indent, "")
        case ast.Assign([target], value):
            yield from _expression(value, indent, f"{indent}{flat(target)} = ", "")
        case ast.Assert(ast.Compare(left, [ast.Eq()], [right]), None):
            yield from _equal(left, right, indent)
        case ast.Assert(test, message):
            yield f"{indent}assert {flat(test)}{f', {flat(message)}' if message is not None else ''}"
        case ast.With([ast.withitem(opened, alias)], body):
            end = f" as {flat(alias)}:" if alias is not None else ":"
            yield from _expression(opened, indent, f"{indent}with ", end)
            yield from _body(body, indent + "    ")
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            for decorator in node.decorator_list:
                yield from _expression(decorator, indent, f"{indent}@", "")
            start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            yield f"{indent}{start} {node.name}():"
            yield from _body(node.body, indent + "    ")
        case _:
            yield f"{indent}{ast.unparse(node)}"


def _equal(left: ast.expr, right: ast.expr, indent: str) -> Iterator[str]:
    one = f"{indent}assert {flat(left)} == {flat(right)}"
    if len(one) <= WIDTH:
        yield one
        return
    short = f"{indent}assert {flat(left)} == "
    if len(short) < WIDTH * 2 // 3 and isinstance(right, ast.Dict | ast.List | ast.Tuple):
        yield from _expression(right, indent, short, "")
        return
    yield f"{indent}assert ("
    yield from _expression(left, f"{indent}    ", f"{indent}    ", "")
    yield from _expression(right, f"{indent}    ", f"{indent}    == ", "")
    yield f"{indent})"


# -- expressions -----------------------------------------------------------------------------------------------


def _expression(node: ast.expr, indent: str, start: str, end: str) -> Iterator[str]:
    """Yield an expression on one line, or, if that is too long, one line for each part."""
    one = f"{start}{flat(node)}{end}"
    inner = indent + "    "
    if len(one) <= WIDTH:
        yield one
        return
    match node:
        case ast.Await(value):
            yield from _expression(value, indent, f"{start}await ", end)
        case ast.Call(function, arguments, options) if arguments or options:
            yield f"{start}{flat(function)}("
            for argument in arguments:
                yield from _expression(argument, inner, inner, ",")
            for option in options:
                yield from _expression(option.value, inner, f"{inner}{option.arg}=", ",")
            yield f"{indent}){end}"
        case ast.Dict(keys, values) if keys:
            yield f"{start}{{"
            for key, value in zip(keys, values, strict=True):
                assert key is not None
                yield from _expression(value, inner, f"{inner}{flat(key)}: ", ",")
            yield f"{indent}}}{end}"
        case ast.List(items) | ast.Tuple(items) if items:
            opening, closing = "[]" if isinstance(node, ast.List) else "()"
            yield f"{start}{opening}"
            for item in items:
                yield from _expression(item, inner, inner, ",")
            yield f"{indent}{closing}{end}"
        case _:
            yield one


def flat(node: ast.expr) -> str:
    """Return an expression on one line, its texts in the quotes that formatters prefer."""
    if getattr(node, "as_unparsed", False):
        return ast.unparse(node)
    match node:
        case ast.Constant(str() as text):
            return _quoted(text)
        case ast.Attribute(value, attribute) if isinstance(
            value, ast.Name | ast.Attribute | ast.Call | ast.Subscript
        ):
            return f"{flat(value)}.{attribute}"
        case ast.Subscript(value, ast.Constant() as key):
            return f"{flat(value)}[{flat(key)}]"
        case ast.Call(function, arguments, options):
            given = [
                *map(flat, arguments),
                *(f"{option.arg}={flat(option.value)}" for option in options if option.arg),
            ]
            if any(isinstance(one, ast.Starred | ast.GeneratorExp) for one in arguments) or not all(
                option.arg for option in options
            ):
                return ast.unparse(node)
            return f"{flat(function)}({', '.join(given)})"
        case ast.Await(value):
            return f"await {flat(value)}"
        case ast.List(items):
            return f"[{', '.join(map(flat, items))}]"
        case ast.Dict(keys, values) if None not in keys:
            pairs = zip(keys, values, strict=True)
            return (
                "{"
                + ", ".join(f"{flat(key)}: {flat(value)}" for key, value in pairs if key is not None)
                + "}"
            )
        case ast.BinOp(ast.expr() as left, ast.Div(), ast.Constant() as right) if isinstance(left, ast.Name):
            return f"{flat(left)} / {flat(right)}"
    return ast.unparse(node)


def _quoted(text: str) -> str:
    """Return a text in double quotes if that needs no more backslashes, else its `repr`."""
    plain = text.isprintable() and text.count('"') <= text.count("'")
    return json.dumps(text, ensure_ascii=False) if plain else repr(text)
