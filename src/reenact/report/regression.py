"""`reenact keep`: a recording becomes a pytest test that a person can read and change.

A recorded function is called again, marked `reenact`, so that the plugin replays it. A recorded command is run again
by `reenact.testing.rerun`. Either way the test passes as long as the program asks what was recorded; what it should do
instead, once it is mended, is for the reader to say.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact.errors import UsageError
from reenact.model import codec
from reenact.model.facts import RecordingFacts
from reenact.model.plain import compact
from reenact.model.recording import Recording
from reenact.store.local import SUFFIX

_WIDTH = 100
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Kept:
    """A test to be written.

    Attributes:
        name: The test function's name.
        fixture: The recording's file, relative to the test's folder.
        imports: Lines that the test's file needs at its top.
        text: The test function.
    """

    name: str
    fixture: str
    imports: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What the test calls: a function of a module, with arguments."""

    module: str
    function: str
    call: str
    is_async: bool = False


def kept(
    recording: Recording,
    test_file: Path,
    *,
    name: str = "",
    entry: Entry | None = None,
    live: tuple[str, ...] = (),
) -> Kept:
    """The test that keeps a recording.

    Args:
        recording: What is kept.
        test_file: The file that the test goes to.
        name: The test's name, by default after the recording's.
        entry: What to call; by default the recorded function, or the recorded command.
        live: What is to run for real in the test (`tool`): its code is what the test is about then.

    Raises:
        UsageError: There is nothing to run, or the name is none.
    """
    title = _title(recording, name)
    fixture = f"recordings/{test_file.stem}/{title}{SUFFIX}"
    entry = entry or _recorded_function(recording)
    if entry is not None:
        return _of_function(recording, entry, title, fixture, live)
    return _of_command(recording, test_file, title, fixture, live)


def entry_of(text: str, *, is_async: bool = False) -> Entry:
    """Read `pkg.module:function('an argument', n=2)`; without parentheses, a function without arguments.

    Raises UsageError.
    """
    module, colon, call = text.partition(":")
    example = "write it as pkg.module:function('an argument')"
    if not colon or not all(part.isidentifier() for part in module.split(".")):
        raise UsageError(f"--entry {text}: {example}")
    call = call if call.endswith(")") else f"{call}()"
    try:
        tree = ast.parse(call, mode="eval").body
    except SyntaxError:
        tree = None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise UsageError(f"--entry {text}: {example}")
    return Entry(module, tree.func.id, call, is_async)


def add(existing: str, test: Kept) -> str:
    """A test file's text with the test added. Raises UsageError where it has a test of that name, or is no Python."""
    try:
        tree = ast.parse(existing)
    except SyntaxError as error:
        raise UsageError(
            f"the test file does not parse (line {error.lineno}: {error.msg}); mend it first"
        ) from None
    if any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == test.name
        for node in tree.body
    ):
        raise UsageError(f"the test file has a test {test.name} already; --name gives this one another")
    lines = existing.splitlines()
    missing = [line for line in test.imports if line not in lines]
    at = _after_imports(tree)
    head, rest = lines[:at], lines[at:]
    if not existing.strip():
        head = ["from __future__ import annotations", ""]
    elif missing and head and head[-1].strip() and at == _docstring_end(tree):
        head.append("")
    body = "\n".join([*head, *_grouped(missing), *rest]).rstrip("\n")
    return f"{body}\n\n\n{test.text}"


# -- within --------------------------------------------------------------------------------------------------


def _of_function(recording: Recording, entry: Entry, title: str, fixture: str, live: tuple[str, ...]) -> Kept:
    options = f", live={_listed(live)}" if live else ""
    await_ = "await " if entry.is_async else ""
    lines = [f"@pytest.mark.reenact({_quoted(fixture)}{options})"]
    lines += ["@pytest.mark.asyncio"] if entry.is_async else []
    lines += [f"{'async ' if entry.is_async else ''}def {title}():", *_story(recording)]
    output = _literal(recording.output) if "output" in (recording.logs[0].sealed or {}) else None
    if output is not None:
        lines.append(f"    assert {await_}{entry.call} == {output}")
    else:
        lines.append(f"    {await_}{entry.call}")
    return Kept(
        title,
        fixture,
        ("import pytest", f"from {entry.module} import {entry.function}"),
        "\n".join(lines) + "\n",
    )


def _of_command(
    recording: Recording, test_file: Path, title: str, fixture: str, live: tuple[str, ...]
) -> Kept:
    program = recording.header.get("program") or {}
    argv = [str(word) for word in program.get("argv") or ()]
    if not argv:
        raise UsageError(
            f"recording {recording.id} remembers no program (it was imported?); "
            "say what to call: --entry pkg.module:function('an argument')"
        )
    folder = os.path.relpath(str(program.get("cwd") or "."), test_file.absolute().parent)
    python = "proxy" not in program
    words = ", ".join(["sys.executable" if python else _quoted(argv[0]), *map(_quoted, argv[1:])])
    text = [
        f"def {title}():",
        *_story(recording),
        "    here = Path(__file__).parent",
        "    done = rerun(",
        f"        here / {_quoted(fixture)},",
        f"        [{words}],",
        f"        cwd=here / {_quoted(folder)},",
        *([f"        live={_listed(live)},"] if live else []),
        "    )",
    ]
    if live:
        text.append("    assert not done.verdict.divergences, str(done.verdict)")
    else:
        text.append("    assert done.verdict.faithful, str(done.verdict)")
    imports = (
        *(("import sys",) if python else ()),
        "from pathlib import Path",
        "from reenact.testing import rerun",
    )
    return Kept(title, fixture, imports, "\n".join(text) + "\n")


def _recorded_function(recording: Recording) -> Entry | None:
    """The function that `@reenact.recorded` has written down, if its arguments can be written as Python."""
    known = recording.header.get("function")
    if not isinstance(known, dict):
        return None
    module, _, function = str(known.get("name", "")).partition(":")
    if not function.isidentifier() or module == "__main__":
        return None
    args = {name: _literal(codec.view(tree)) for name, tree in dict(known.get("args") or {}).items()}
    if not all(args.values()):
        return None
    call = f"{function}({', '.join(f'{name}={value}' for name, value in args.items())})"
    return Entry(module, function, call, bool(known.get("async")))


def _story(recording: Recording) -> list[str]:
    """What happened, for whoever reads the test."""
    facts = RecordingFacts(recording)
    when = recording.started[:16].replace("T", " ")
    first = f"Kept from recording {recording.id} of {when}, which ended {_ended(recording)}."
    lines = textwrap.wrap(first, _WIDTH - 8)
    for step in list(facts)[:_SHOWN]:
        call = step.model_call
        label = f"model {call.model}" if call is not None else step.call.label
        text = compact(step.args) if call is None else (call.answer.text if call.answer is not None else "")
        asked = (
            [f"{asked.name}({compact(asked.args)})" for asked in call.answer.calls]
            if call and call.answer
            else []
        )
        said = " ".join([text, *asked]).strip().replace("\\", "/").replace('"""', "'''")
        shown = textwrap.shorten(f"{label} {said}", _WIDTH - 14, placeholder=" …")
        lines.append(f"{step.step.number:>3}  {shown}")
    if len(recording.steps) > _SHOWN:
        lines.append(f"     … {len(recording.steps) - _SHOWN} more steps")
    return [
        '    """' + lines[0],
        *(["", *(f"    {line}" for line in lines[1:])] if lines[1:] else []),
        '    """',
    ]


def _ended(recording: Recording) -> str:
    return {"ok": "well", "error": "with an error"}.get(recording.status, "without a word")


def _title(recording: Recording, name: str) -> str:
    words = re.sub(r"\W+", "_", (name or recording.name or recording.id).strip().lower()).strip("_")
    if name and not words:
        raise UsageError(f"--name {name}: a test's name is made of letters, digits and _")
    words = words or recording.id
    return words if words.startswith("test_") else f"test_{words}"


def _literal(value: Any) -> str | None:
    """A value as Python that means the same, or None."""
    text = repr(value)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return text if same else None


def _quoted(text: str) -> str:
    """A text as Python, in the quotes that formatters prefer."""
    return json.dumps(text, ensure_ascii=False)


def _listed(words: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"


def _grouped(imports: list[str]) -> list[str]:
    """Imports of the standard library apart from the others."""
    own = [line for line in imports if line.split()[1].partition(".")[0] in sys.stdlib_module_names]
    others = [line for line in imports if line not in own]
    return [*own, "", *others] if own and others else [*own, *others]


def _after_imports(tree: ast.Module) -> int:
    """The line after the last import at the top, counted from 0."""
    last = _docstring_end(tree)
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            last = node.end_lineno or last
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            break
    return last


def _docstring_end(tree: ast.Module) -> int:
    first = tree.body[0] if tree.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return first.end_lineno or 0
    return 0
