"""A class name is used once in `src`, and a file name at most twice: a reader who meets a name knows the thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "reenact"

CLASSES = frozenset(["Options", "Result"])
"""Each verb has its own."""


def class_names():
    found = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(str(path.relative_to(SOURCE)))
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
