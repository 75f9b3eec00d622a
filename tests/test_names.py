"""Class names are used once in `src`, file names at most twice, and modules are short."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.source import SOURCE, modules

CLASSES = frozenset(["Options", "Result"])
"""Each verb has its own."""


def class_names():
    found = defaultdict(set)
    for path, module in modules("class ").items():
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(path)
    return found


def file_names():
    found = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        if path.stem not in ("__init__", "__main__"):
            found[path.name].add(str(path.relative_to(SOURCE)))
    return found


def test_a_class_name_is_used_once():
    repeated = {name: sorted(places) for name, places in class_names().items() if len(places) > 1}
    assert {name: places for name, places in repeated.items() if name not in CLASSES} == {}


def test_a_file_name_is_used_at_most_twice():
    repeated = {name: sorted(places) for name, places in file_names().items() if len(places) > 2}
    assert repeated == {}


def test_a_module_has_at_most_400_lines():
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in SOURCE.rglob("*.py")}
    assert {str(path.relative_to(SOURCE)): count for path, count in lengths.items() if count > 400} == {}
