"""Write a recording as a pytest test that a person can read and change, for `reenact keep`.

A recorded function is called again, marked `reenact`, so that the plugin replays it. A recorded command is run again
by `reenact.testing.rerun`. Either way, the test passes as long as the program's questions are those recorded. Once the
program is mended, the reader changes the test.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reenact.analysis.report import python
from reenact.analysis.report.marked import marked_arguments
from reenact.core.dataclass import dataclass
from reenact.core.messages.spelling import spelled
from reenact.core.model import codec
from reenact.core.model.header import program_of
from reenact.core.model.plain import compact
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import SUFFIX
from reenact.errors import UsageError
from reenact.run.launch.program import script_of

_WIDTH = 100
_SHOWN = 12
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class EntryCall:
    """The call in the test: a function of a module, with arguments."""

    module: str
    call: ast.Call
    is_async: bool = False

    @property
    def function(self) -> str:
        """The function's name."""
        assert isinstance(self.call.func, ast.Name)
        return self.call.func.id


@dataclass(frozen=True, slots=True)
class KeptTest:
    """A test to be written.

    Attributes:
        name: The test function's name.
        fixture: The recording's file, relative to the test's folder.
        imports: Lines that the test's file needs at its top.
        text: The test function.
        entry: The call in it; None if it runs the recorded command.
    """

    name: str
    fixture: str
    imports: tuple[str, ...]
    text: str
    entry: EntryCall | None = None


def kept(
    recording: RecordedRun,
    test_file: Path,
    *,
    name: str = "",
    entry: EntryCall | None = None,
    live: tuple[str, ...] = (),
    policy: tuple[str, ...] = (),
) -> KeptTest:
    """Return the test of a recording.

    Args:
        recording: The recording to keep.
        test_file: The file that the test goes to.
        name: The test's name, by default after the recording's.
        entry: The call; by default the recorded function, or the recorded command.
        live: The calls that run for real in the test (`tool`): the test then checks their code.
        policy: What may run for real there (`refund=live`).

    Raises:
        UsageError: There is nothing to run, or the name cannot be a test's.
    """
    title = _title(recording, name)
    fixture = f"recordings/{test_file.stem}/{title}{SUFFIX}"
    entry = entry or _recorded_function(recording, test_file)
    given = {"live": live, "policy": policy}
    real = {name: python.literal(list(words)) for name, words in given.items() if words}
    if entry is not None:
        return replace(_of_function(recording, entry, title, fixture, real), entry=entry)
    return _of_command(recording, test_file, title, fixture, real)


def entry_of(text: str, *, is_async: bool = False) -> EntryCall:
    """Parse `pkg.module:function('an argument', n=2)`; without parentheses, no arguments.

    Raises UsageError.
    """
    module, colon, call = text.partition(":")
    example = "write it as pkg.module:function('an argument')"
    if not colon or not all(map(python.is_name, module.split("."))):
        raise UsageError(f"--entry {text}: {example}")
    call = call if call.endswith(")") else f"{call}()"
    try:
        tree = ast.parse(call, mode="eval").body
    except (SyntaxError, ValueError):
        tree = None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise UsageError(f"--entry {text}: {example}")
    python.as_unparsed(tree)
    return EntryCall(module, tree, is_async)


def add(existing: str, test: KeptTest) -> str:
    """Add a test to a file's text. Raises UsageError for a name in use, or invalid Python."""
    try:
        tree = ast.parse(existing)
    except SyntaxError as error:
        raise UsageError(
            f"the test file does not parse (line {error.lineno}: {error.msg}); correct it first"
        ) from None
    if any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == test.name
        for node in tree.body
    ):
        raise UsageError(f"the test file has a test {test.name} already; --name gives this test another name")
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


def _of_function(
    recording: RecordedRun, entry: EntryCall, title: str, fixture: str, real: dict[str, ast.expr]
) -> KeptTest:
    marked = python.call(
        python.dotted("pytest.mark.reenact"),
        [ast.Constant(fixture)],
        real,
    )
    called: ast.expr = ast.Await(entry.call) if entry.is_async else entry.call
    output = _literal(recording.output) if "output" in (recording.logs[0].sealed or {}) else None
    body: list[ast.stmt] = [_story(recording)]
    body.append(
        ast.Expr(called) if output is None else ast.Assert(ast.Compare(called, [ast.Eq()], [output]), None)
    )
    kind = ast.AsyncFunctionDef if entry.is_async else ast.FunctionDef
    decorators = [marked, *([python.dotted("pytest.mark.asyncio")] if entry.is_async else [])]
    imports = [python.imported("pytest"), python.imported(entry.module, entry.function)]
    return _kept(title, fixture, imports, kind(title, _nothing(), body, decorators))


def _of_command(
    recording: RecordedRun, test_file: Path, title: str, fixture: str, real: dict[str, ast.expr]
) -> KeptTest:
    program = program_of(recording.header)
    argv = [str(word) for word in program.get("argv") or ()]
    if not argv:
        raise UsageError(
            f"recording {recording.id} has no recorded program (was it imported?); "
            "say what to call: --entry pkg.module:function('an argument')"
        )
    folder = os.path.relpath(_folder(program, argv), test_file.absolute().parent)
    runs_python = "proxy" not in program
    words = [
        python.dotted("sys.executable") if runs_python else ast.Constant(argv[0]),
        *map(ast.Constant, argv[1:]),
    ]
    here = python.name("here")
    rerun = python.call(
        python.name("rerun"),
        [ast.BinOp(here, ast.Div(), ast.Constant(fixture)), ast.List(words, ast.Load())],
        {
            "cwd": ast.BinOp(here, ast.Div(), ast.Constant(folder)),
            **real,
        },
    )
    beside = ast.Attribute(python.call(python.name("Path"), [python.name("__file__")]), "parent", ast.Load())
    verdict = python.dotted("done.verdict")
    proof = python.dotted("done.verdict.faithful")
    body: list[ast.stmt] = [
        _story(recording),
        ast.Assign([ast.Name("here", ast.Store())], beside),
        ast.Assign([ast.Name("done", ast.Store())], rerun),
        ast.Assert(
            ast.UnaryOp(ast.Not(), python.dotted("done.verdict.divergences")) if "live" in real else proof,
            python.call(python.name("str"), [verdict]),
        ),
    ]
    imports = [
        *([python.imported("sys")] if runs_python else []),
        python.imported("pathlib", "Path"),
        python.imported("reenact.testing", "rerun"),
    ]
    return _kept(title, fixture, imports, ast.FunctionDef(title, _nothing(), body, []))


def _folder(program: Mapping[str, Any], argv: Sequence[str]) -> Path:
    """Return the recorded folder, or this one if that is gone and the program is here."""
    recorded, here = Path(str(program.get("cwd") or ".")), Path.cwd()
    script = None if "proxy" in program else script_of(argv)
    # Functions of `os.path`: a recorded name may be one that no system takes.
    gone = not os.path.isdir(recorded)  # noqa: PTH112
    return here if gone and script is not None and os.path.isfile(here / script) else recorded  # noqa: PTH113


def _kept(title: str, fixture: str, imports: list[ast.stmt], test: ast.stmt) -> KeptTest:
    lines = tuple(python.source([one]).rstrip("\n") for one in imports)
    return KeptTest(title, fixture, lines, python.source([test]))


def _nothing() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])


def _recorded_function(recording: RecordedRun, test_file: Path) -> EntryCall | None:
    """Return the function recorded by `@reenact.recorded`, if it can be called in a test.

    The program here must mark it so, and its arguments must be expressible as Python.
    """
    known = recording.header.get("function")
    if not isinstance(known, dict):
        return None
    module, _, function = str(known.get("name", "")).partition(":")
    parameters = marked_arguments(module, function, test_file)
    if parameters is None:
        return None
    args = {key: _literal(codec.view(tree)) for key, tree in dict(known.get("args") or {}).items()}
    given = {key: value for key, value in args.items() if value is not None and python.is_name(key)}
    if len(given) < len(args):
        return None
    places = list(_by_place(parameters, given))
    return EntryCall(module, python.call(python.name(function), places, given), bool(known.get("async")))


def _by_place(parameters: ast.arguments, given: dict[str, ast.expr]) -> Iterator[ast.expr]:
    """Take from the arguments by name those that a call can only give by place, in their order."""
    rest = given.pop(parameters.vararg.arg, None) if parameters.vararg is not None else None
    for parameter in (*parameters.posonlyargs, *(parameters.args if rest is not None else ())):
        if parameter.arg in given:
            yield given.pop(parameter.arg)
    if isinstance(rest, ast.Tuple | ast.List):
        yield from rest.elts


def _story(recording: RecordedRun) -> ast.stmt:
    """Return the test's docstring: a summary of the run."""
    facts = RecordingFacts(recording)
    when = recording.started[:16].replace("T", " ")
    first = f"Kept from recording {recording.id} of {when}, which {_ended(recording)}."
    lines = textwrap.wrap(_said(first), _WIDTH - 8)
    for step in list(facts)[:_SHOWN]:
        call = step.model_call
        label = f"model {call.model}" if call is not None else step.call.label
        text = compact(step.args) if call is None else (call.answer.text if call.answer is not None else "")
        asked = [spelled(asked) for asked in call.answer.calls] if call and call.answer else []
        said = " ".join([text, *asked]).strip()
        shown = textwrap.shorten(_said(f"{label} {said}"), _WIDTH - 14, placeholder=" …")
        lines.append(f"{step.step.number:>3}  {shown}")
    if len(recording.steps) > _SHOWN:
        lines.append(f"     … {len(recording.steps) - _SHOWN} more steps")
    return python.docstring(lines)


def _said(text: str) -> str:
    """Return a recorded text for a docstring: on one line, without backslashes."""
    return python.one_line(text).replace("\\", "/").replace('"""', "'''")


def _ended(recording: RecordedRun) -> str:
    return {"ok": "succeeded", "error": "ended with an error"}.get(recording.status, "was interrupted")


def _title(recording: RecordedRun, name: str) -> str:
    words = re.sub(r"\W+", "_", (name or recording.name or recording.id).strip().lower()).strip("_")
    if name and not words:
        raise UsageError(f"--name {name}: a test's name is made of letters, digits and _")
    words = unicodedata.normalize("NFKC", words or recording.id)[:_LONGEST]
    title = words if words.startswith("test_") else f"test_{words}"
    return title if title.isidentifier() else f"test_{re.sub(r'[^a-z0-9_]', '_', title.lower())}"


def _literal(value: Any) -> ast.expr | None:
    """Return a value as a Python expression, or None."""
    try:
        return python.literal(value)
    except python.Unwritable:
        return None


def _grouped(imports: list[str]) -> list[str]:
    """Return the imports, with those of the standard library first."""
    own = [line for line in imports if line.split()[1].partition(".")[0] in sys.stdlib_module_names]
    others = [line for line in imports if line not in own]
    return [*own, "", *others] if own and others else [*own, *others]


def _after_imports(tree: ast.Module) -> int:
    """Return the line after the last import at the top, counted from 0."""
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
