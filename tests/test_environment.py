"""Every environment variable that the code reads is on one page of the documentation."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from reenact.browser.isolation import sandbox
from reenact.run.proxy.providers import VARIABLES
from reenact.team import objects

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "reenact"
PAGE = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
LISTED = set(re.findall(r"`([A-Z][A-Z0-9_]+(?:\(X86\))?…?)`", PAGE))
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*(\(X86\))?")
READING = re.compile(r"\benviron\b|\bgetenv\b")
OURS = re.compile(r"REENACT_[A-Z_]+\b")
BOUND = re.compile(r'^([\w, ]+?)(?:: [^=\n]+)? = \(?((?:\s*"[^"\n]*",?)+)', re.MULTILINE)


def texts_in(node):
    return [
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]


@cache
def modules():
    """The text of each module."""
    paths = SOURCE.rglob("*.py")
    return {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@cache
def constants():
    """The texts that modules give to names at their top, alone or in a tuple."""
    found = {}
    for text in modules().values():
        for names, quoted in BOUND.findall(text):
            values = re.findall(r'"([^"\n]*)"', quoted)
            for number, name in enumerate(names.split(", ")):
                found.setdefault(name, []).extend(values[number : number + 1] if ", " in names else values)
    return found


def environment(node):
    """True for `os.environ`, and for a parameter or a variable with its name."""
    return (isinstance(node, ast.Attribute) and node.attr == "environ") or (
        isinstance(node, ast.Name) and node.id == "environ"
    )


def keys(tree):
    """The expressions by which a module reads variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and environment(node.value) and isinstance(node.ctx, ast.Load):
            yield node.slice
        elif isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute):
            function = node.func
            if function.attr == "getenv" or (function.attr in {"get", "pop"} and environment(function.value)):
                yield node.args[0]
        elif isinstance(node, ast.Compare) and any(map(environment, node.comparators)):
            yield node.left


def loops(tree):
    """The names that loops bind to each of some texts."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            yield node.target.id, node.iter


def named(key, bound):
    """The variables that an expression may name."""
    if isinstance(key, ast.Constant):
        return [key.value]
    name = key.id if isinstance(key, ast.Name) else key.attr if isinstance(key, ast.Attribute) else ""
    if name in bound:
        known = texts_in(bound[name])
        for each in ast.walk(bound[name]):
            if isinstance(each, (ast.Name, ast.Attribute)):
                known += constants().get(each.id if isinstance(each, ast.Name) else each.attr, [])
        return known
    return constants().get(name, [])


@cache
def read():
    """The variables that the code reads, and the reads whose variable is not found, each with its module."""
    variables, unknown = {}, []
    for module, text in modules().items():
        variables |= dict.fromkeys((found.rstrip("_") for found in OURS.findall(text)), module)
        if not READING.search(text):
            continue
        tree = ast.parse(text)
        bound = dict(loops(tree))
        for key in keys(tree):
            found = [each for each in named(key, bound) if VARIABLE.fullmatch(each)]
            variables |= dict.fromkeys(found, module)
            if not found:
                unknown.append(f"{module}: {ast.unparse(key)}")
    return variables, unknown


def test_every_variable_is_on_the_page():
    variables, _ = read()
    assert len(variables) > 25
    missing = {name: module for name, module in variables.items() if not {name, f"{name}_…"} & LISTED}
    assert missing == {}


# The names that these read are data, or stand in a list that is tested below.
DATA = {
    "adapters/stdlib/command.py: name": "the variables that a command is given",
    "adapters/stdlib/environ.py: self": "`os.environ` itself, whose reads are recorded",
    "adapters/process_starts.py: key": "the variables that a child process is given",
    "browser/isolation/sandbox.py: name": "the languages, the time zone and the screen",
    "cli/__init__.py: '_REENACT_COMPLETE'": "a shell asks for the next words",
    "team/objects.py: (name := (prefix + option.upper()))": "the options of an object store's client",
    "team/objects.py: name": "the same",
    "testing/pytest/__init__.py: variable": "CI and REENACT_RECORD_IN_CI",
}


def test_the_name_of_every_variable_that_is_read_is_known():
    assert set(read()[1]) == set(DATA)


def test_the_variables_of_lists_are_on_the_page():
    names = [*sandbox._ENVIRON, *VARIABLES, *(f"…_{option.upper()}" for option in objects._OPTIONS)]
    assert [name for name in (*names, "CI") if f"`{name}`" not in PAGE] == []


def test_the_page_has_no_variable_that_is_not_in_the_code():
    whole = "\n".join(modules().values())
    assert [name for name in sorted(LISTED) if name.rstrip("…") not in whole] == []
