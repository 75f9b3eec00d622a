"""A class name is used once in `src`, and a file name at most twice: a reader who meets a name knows the thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "reenact"

# What is still repeated. These lists only ever become shorter: a new class or file gets a name of its own.
CLASSES = frozenset(
    [
        "AgentRequest",
        "Asked",
        "Branch",
        "Check",
        "Checked",
        "Chosen",
        "Columns",
        "Context",
        "Debugged",
        "Deleted",
        "Departed",
        "Draft",
        "Entry",
        "Exchange",
        "Finding",
        "Forked",
        "Forking",
        "Found",
        "Hit",
        "Job",
        "Kept",
        "Key",
        "Known",
        "Limits",
        "Line",
        "Lines",
        "Mark",
        "Member",
        "Moved",
        "Named",
        "Options",
        "Order",
        "Origin",
        "Output",
        "Page",
        "Piece",
        "Place",
        "Plan",
        "Point",
        "Questions",
        "Recorded",
        "RecordedModel",
        "Recording",
        "Replay",
        "Result",
        "Session",
        "Shape",
        "Shell",
        "Shown",
        "Standing",
        "State",
        "Stop",
        "Taken",
        "Tracked",
        "Wanted",
        "Watch",
        "Wire",
    ]
)
FILES = frozenset(
    [
        "answer.py",
        "answers.py",
        "app.py",
        "check.py",
        "diff.py",
        "errors.py",
        "exchange.py",
        "files.py",
        "fork.py",
        "forking.py",
        "intake.py",
        "keys.py",
        "lines.py",
        "link.py",
        "message.py",
        "model.py",
        "order.py",
        "program.py",
        "question.py",
        "record.py",
        "recording.py",
        "replay.py",
        "replaying.py",
        "session.py",
        "state.py",
        "stream.py",
        "text.py",
        "video.py",
        "view.py",
        "wire.py",
    ]
)


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
    assert {name: places for name, places in repeated.items() if name not in FILES} == {}
