"""The commands that Reenact's texts name, found in its source; tests follow each of them as a user would."""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reenact.cli.interfaces import GROUPS, INTERFACES
from reenact.verbs.registry import VERBS
from tests.source import texts, tree

COMMANDS = [verb.name for verb in (*VERBS, *INTERFACES)] + list(GROUPS)
_NAMED = re.compile(rf"\breenact (?=(?:{'|'.join(COMMANDS)}|\{{\d+\}})\b)")
_WRITTEN = re.compile(r"""(?<!from )\breenact(?: |["']\s*f?["'] )""")
"""What is found in a module that names a command, also where its text is written in two pieces."""


@dataclass(frozen=True)
class Hint:
    """A text of the source that names a command; `{0}`, `{1}` … stand for what is known when it is printed."""

    module: str
    line: int
    text: str
    start: int

    @property
    def command(self) -> str:
        """The command's words as they are written, up to the end of the quotation or the text."""
        after = self.text[self.start :]
        return re.split(r"[`\n\]]|: | \(|; |\)$", after, maxsplit=1)[0].strip()

    def found(self, said: str) -> str | None:
        """The command as an output has it; None where the output does not have this text."""
        before, after = self.text[: self.start], self.text[self.start + len(self.command) :]
        # The words around it say which text it is: as many as a line of a terminal has.
        parts = [_pattern(before[-40:]), f"({_pattern(self.command)})", _pattern(after[:40])]
        match = re.search(
            "".join([*parts, r"(?=`|\s*$)" if self.text.endswith("}") and not after else ""]),
            said,
            re.MULTILINE,
        )
        return match[1] if match else None


def _pattern(text: str) -> str:
    # A cut through a placeholder leaves a piece of it at an end.
    text = re.sub(r"^\d*\}|\{\d*$", "", text)
    pieces = re.split(r"\{\d+\}", text)
    return ".*?".join(r"\s+".join(map(re.escape, re.split(r"\s+", piece))) for piece in pieces)


def _texts(module: ast.AST):
    """Each text of a module with its line, docstrings and the parts of other texts left out."""
    skipped = {
        id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }  # fmt: skip
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            places = iter(range(len(node.values)))
            yield (
                node.lineno,
                "".join(
                    part.value if isinstance(part, ast.Constant) else f"{{{next(places)}}}"
                    for part in node.values
                ),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


@cache
def hints() -> tuple[Hint, ...]:
    """All of them. A text that is nothing but a command's name is the name of a feature."""
    return tuple(
        Hint(path, line, text, match.end())
        for path, written in texts().items()
        if _WRITTEN.search(written)
        for line, text in _texts(tree(path))
        for match in _NAMED.finditer(text)
        if not re.fullmatch(r"reenact [a-z-]+( --[a-z]+)?", text)
    )


def followed(said: str, module: str, command: str) -> list[str]:
    """The words of a command as an output has them, which a text of that module names there.

    Args:
        said: The output.
        module: The module with the text, such as `cli/render/files.py`.
        command: The beginning of the command as the text has it.
    """
    texts = [hint for hint in hints() if (hint.module, True) == (module, hint.command.startswith(command))]
    assert texts, f"no text of {module} names `reenact {command} …`"
    named = [one for hint in texts if (one := hint.found(said)) is not None]
    assert named, f"the output does not name `reenact {command} …`:\n{said[-2000:]}"
    return shlex.split(named[0])


TESTS = Path(__file__).parent


@cache
def followers() -> dict[tuple[str, str], str]:
    """The module and the beginning of each command that a test follows, and the test's file."""
    found = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "followed(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and "follow" in node.func.id:
                words = [part.value for part in node.args if isinstance(part, ast.Constant)]
                if len(words) == 2:
                    found[words[0], words[1]] = str(path)
    return found
