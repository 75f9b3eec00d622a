"""Docstrings are short, literal statements."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import reenact

SOURCE = Path(reenact.__file__).parent
PACKAGES = sorted(path.name for path in SOURCE.iterdir() if any(path.rglob("*.py")))
"""The packages, as folders of `src/reenact`."""

LONGEST = 90
"""The maximum length of a first line in characters."""

QUESTION = re.compile(r"(what|who|whom|whose|which|whether|where|when|how|why)(ever)?\b", re.IGNORECASE)
UNWANTED = re.compile(r"\b(nobody|somebody|whoever|anybody)\b", re.IGNORECASE)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring, those of attributes included."""
    for node in ast.walk(ast.parse(source)):
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
    files = sorted((SOURCE / package).rglob("*.py"))
    assert files
    broken = [
        f"{file.relative_to(SOURCE)}:{line} {fault}"
        for file in files
        for line, text in docstrings(file.read_text("utf-8"))
        for fault in faults(text)
    ]
    assert not broken, "\n".join(broken)


def test_docstring_that_is_a_riddle_is_found() -> None:
    source = 'def asked():\n    """What nobody has been told"""\n\n\nlimit = 1\n"""Whether it ends."""\n'
    assert [(line, faults(text)) for line, text in docstrings(source)] == [
        (6, ["opens with 'Whether'"]),
        (2, ["opens with 'What'", "says 'nobody'", "has a first line without a full stop at its end"]),
    ]
