"""Docstrings are short, literal statements."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.source import modules, texts

PACKAGES = sorted({path.partition("/")[0] for path in texts()})
"""The packages, and the modules beside them."""

LONGEST = 90
"""The maximum length of a first line in characters."""

QUESTION = re.compile(r"(what|who|whom|whose|which|whether|where|when|how|why)(ever)?\b", re.IGNORECASE)
UNWANTED = re.compile(r"\b(nobody|somebody|whoever|anybody)\b", re.IGNORECASE)


def docstrings(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring, those of attributes included."""
    for node in ast.walk(module):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, text.strip()


def faults(text: str) -> list[str]:
    """Return the broken rules of one docstring."""
    first = text.partition("\n")[0]
    found = []
    if match := QUESTION.match(text):
        found.append(f"opens with '{match[0]}'")
    if match := UNWANTED.search(text):
        found.append(f"says '{match[0]}'")
    if len(first) > LONGEST:
        found.append(f"has a first line of {len(first)} characters, {LONGEST} are allowed")
    if not first.endswith("."):
        found.append("has a first line without a full stop at its end")
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_of_a_package_are_short_statements(package: str) -> None:
    broken = [
        f"{path}:{line} {fault}"
        for path, module in modules().items()
        if path.partition("/")[0] == package
        for line, text in docstrings(module)
        for fault in faults(text)
    ]
    assert not broken, "\n".join(broken)


def test_docstring_that_is_a_riddle_is_found() -> None:
    source = 'def asked():\n    """What nobody has been told"""\n\n\nlimit = 1\n"""Whether it ends."""\n'
    assert [(line, faults(text)) for line, text in docstrings(ast.parse(source))] == [
        (6, ["opens with 'Whether'"]),
        (2, ["opens with 'What'", "says 'nobody'", "has a first line without a full stop at its end"]),
    ]
