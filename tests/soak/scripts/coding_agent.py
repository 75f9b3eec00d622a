"""A coding agent without a model: it reads, edits, tests and commits in a repository, turn by turn.

    coding_agent.py <number of turns>

What it does at a turn depends on the turn and on what the tools have answered so far.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import reenact

TEST = """import unittest
import click

class Test{turn}(unittest.TestCase):
    def test_name(self):
        self.assertTrue(hasattr(click, {name!r}))

    def test_turn(self):
        self.assertNotEqual({turn} % 7, 5)
"""


@reenact.tool(writes=False)
def read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


@reenact.tool(writes=True)
def edit(path: str, old: str, new: str) -> int:
    text = Path(path).read_text(encoding="utf-8")
    Path(path).write_text(text.replace(old, new, 1), encoding="utf-8")
    return text.count(old)


@reenact.tool(writes=True)
def create(path: str, text: str) -> int:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return Path(path).write_text(text, encoding="utf-8")


@reenact.tool(writes=True)
def rename(old: str, new: str) -> str:
    Path(old).rename(new)
    return new


@reenact.tool(writes=True)
def shell(command: str) -> dict[str, Any]:
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    return {"status": done.returncode, "out": done.stdout[-2000:], "err": done.stderr[-500:]}


def decide(turn: int, history: list[Any]) -> list[Any]:
    """Return the next action, as a model would."""
    seen = int(hashlib.sha256(json.dumps(history).encode()).hexdigest(), 16)
    paths = sorted(str(path) for path in Path("click").glob("*.py"))
    path, name = paths[seen % len(paths)], ["echo", "style", "Command", "nothing"][seen % 4]
    python = f"{sys.executable} -m unittest discover -s tests -v 2>&1 | sed 's/ in [0-9.]*s//; s#\"/.*/#\"#'"
    return [
        ["read", path],
        ["edit", path, "import", "# changed\nimport"],
        ["create", f"tests/test_{turn}.py", TEST.format(turn=turn, name=name)],
        ["shell", python],
        ["shell", f"git add -A && git commit -qm 'Turn {turn}' && git log --oneline | wc -l"],
        ["shell", f"sed -i 's/ as / as  /' {path} && git diff --stat | tail -1"],
        ["rename", f"tests/test_{turn - 4}.py", f"tests/test_again_{turn}.py"],
        ["shell", f"git stash -q && ls tests && git stash pop -q && git checkout -q -b turn-{turn}"],
        [
            "shell",
            f"cp {path} copy-{turn}.txt && ln -s copy-{turn}.txt link-{turn} && chmod 600 copy-{turn}.txt",
        ],
        ["shell", python],
    ][turn % 10]


def main() -> None:
    history: list[Any] = []
    tools: dict[str, Any] = {"read": read, "edit": edit, "create": create, "rename": rename, "shell": shell}
    for turn in range(int(sys.argv[1])):
        chosen = reenact.effect("model", "decides", turn=turn, seen=len(json.dumps(history)))
        name, *words = chosen.perform(lambda turn=turn: decide(turn, history))
        history.append([name, words, tools[name](*words)])
    print(hashlib.sha256(json.dumps(history).encode()).hexdigest())


main()
