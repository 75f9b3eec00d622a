"""Objects of the program's classes are rebuilt by replays, forks and restored states alone."""

from __future__ import annotations

import ast

from tests.source import modules

CALLERS = {
    "run/api/state.py",  # resume: the arguments of the program's own function
    "run/debugger/breaks.py",  # what the program that is being debugged holds
    "run/fork/resumer.py",  # resume: the answers that the program itself has had
    "run/fork/edit.py",  # the program's own function that computes an answer
    "core/model/log.py",
    "core/model/putback.py",  # restore
    "core/replay/answers.py",
    "core/replay/reads.py",
    "verbs/verify/zygote.py",  # the arguments of the program's own function
}

NAMES = {"rebuild", "rebuild_error", "rebuilt"}


def _rebuilds(tree: ast.Module) -> bool:
    return any(
        (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NAMES)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES)
        for node in ast.walk(tree)
    )


def test_no_module_rebuilds_objects_but_those_that_run_the_program() -> None:
    assert {path for path, tree in modules(*NAMES).items() if _rebuilds(tree)} == CALLERS
