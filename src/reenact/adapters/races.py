"""Name the races of a recording: threads that change one object at the same time.

A recording lets one thread run at a time, from one wait to the next. It does not wait long for a thread that is in
native code or computes without end: other threads then run beside it. Their code and variables are compared with those
of that thread. If one thread changes an object that the other one uses, the lines of both are named.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dis import Instruction, get_instructions
from functools import lru_cache
from pathlib import Path
from threading import get_ident
from types import CodeType, FrameType, FunctionType
from typing import Any

from reenact.adapters.stdlib import callers
from reenact.core.boundary import Run
from reenact.core.dataclass import dataclass
from reenact.core.frames import current_frames
from reenact.core.model.log import RACE
from reenact.core.store.writer import warn

_CONTAINERS = (list, dict, set, bytearray, deque)
_CHANGING = {
    "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem", "popleft",
    "remove", "reverse", "rotate", "setdefault", "sort", "update",
}  # fmt: skip
"""Names of methods that change an object."""

_STORES = {"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_ATTR", "DELETE_ATTR", "STORE_SLICE"}
_REBINDS = {"STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL", "DELETE_DEREF"}
_ADVANCES = {"FOR_ITER"}
_NAMING = {
    "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME",
    "LOAD_CLASSDEREF", *_REBINDS,
}  # fmt: skip
_ONE_LINE = "two threads ran the same line at the same time"
_MOST = 16
"""The number of frames of a thread that are looked at, and of races that are named."""


class RaceWatch:
    """Names the races of one recorded run.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._named: set[str] = set()

    def __call__(self, threads: set[int]) -> None:
        """Compare the running thread with those that run beside it; name each race once."""
        frames = current_frames()
        me = get_ident()
        mine = _program(frames.get(me))
        for thread in threads - {me}:
            found = _race(mine, _program(frames.get(thread)))
            if found is not None and found not in self._named and len(self._named) < _MOST:
                self._named.add(found)
                self._run.handler.note(RACE, found)
                warn(
                    f"{found}: which comes first is not recorded; a lock around {_lines_of(found)} makes it sure"
                )


def _program(frame: FrameType | None) -> list[FrameType | FunctionType]:
    """Return the frames of the program's own code, innermost first.

    Of a new thread, return its function.
    """
    found: list[FrameType | FunctionType] = []
    while frame is not None and len(found) < _MOST:
        if frame.f_code.co_filename.startswith(callers.OURS):
            found += _target(frame.f_locals)
        elif callers.kind_of(frame) == callers.OWN:
            found.append(frame)
        frame = frame.f_back
    return found


def _target(variables: dict[str, Any]) -> Iterator[FunctionType]:
    """Yield the function of the thread or job that this frame of Reenact's runs."""
    function = variables.get("fn") or getattr(variables.get("thread"), "_target", None)
    function = getattr(function, "__func__", function)
    if isinstance(function, FunctionType) and not function.__code__.co_filename.startswith(callers.OURS):
        yield function


def _race(mine: list[FrameType | FunctionType], others: list[FrameType | FunctionType]) -> str | None:
    """Return the lines of two threads that use one object, at least one of them changing it."""
    here, there = _by_object(mine), _by_object(others)
    for key in here.keys() & there.keys():
        one, other = here[key], there[key]
        if (one.changed or other.changed) and not one.guards & other.guards:
            first, second = sorted((str(one), str(other)))
            if (one.file, one.line) == (other.file, other.line):
                return f"{_ONE_LINE}: {first if one.changed else second}"
            return f"two threads ran at the same time: {first}, {second}"
    return None


def _lines_of(race: str) -> str:
    return "it" if race.startswith(_ONE_LINE) else "both lines"


def _by_object(frames: list[FrameType | FunctionType]) -> dict[Any, _Use]:
    """Return one use of each object: a change, if there is one."""
    found: dict[Any, _Use] = {}
    for key, use in _uses(frames):
        if key not in found or (use.changed and not found[key].changed):
            found[key] = use
    return found


@dataclass(frozen=True, slots=True)
class _Use:
    """A line that uses an object, by its name there."""

    name: str
    file: str
    line: int
    changed: bool

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line} {'changes' if self.changed else 'reads'} {self.name}"

    @property
    def guards(self) -> frozenset[str]:
        """The expressions of the `with` statements around the line, such as a lock."""
        return frozenset(text for text, first, last in _withs(self.file) if first <= self.line <= last)


@lru_cache(maxsize=16)
def _withs(file: str) -> tuple[tuple[str, int, int], ...]:
    """Return the expression of each `with` statement of a file, with its first and last line."""
    with suppress(SyntaxError, ValueError, RecursionError):
        return tuple(
            (ast.unparse(item.context_expr), node.lineno, node.end_lineno or node.lineno)
            for node in ast.walk(ast.parse("".join(linecache.getlines(file))))
            if isinstance(node, ast.With)
            for item in node.items
        )
    return ()


def _uses(frames: list[FrameType | FunctionType]) -> Iterator[tuple[Any, _Use]]:
    """Yield the objects that these frames use and other threads may use, each with its use."""
    for frame in frames:
        for code, variables in _codes(frame):
            for name, (line, changed, rebound) in _lines(code).items():
                use = _Use(name, code.co_filename, line, changed or rebound)
                if rebound:
                    yield (code.co_filename, name), use
                value = variables.get(name)
                if _may_be_shared(value):
                    yield id(value), use


def _codes(frame: FrameType | FunctionType) -> Iterator[tuple[CodeType, dict[str, Any]]]:
    """Yield the code of a frame, and of functions that it names, with their variables."""
    code = frame.__code__ if isinstance(frame, FunctionType) else frame.f_code
    names = _variables(frame)
    yield code, names
    for name in code.co_names + code.co_freevars:
        value = names.get(name)
        if isinstance(value, FunctionType) and value.__code__.co_filename == code.co_filename:
            yield value.__code__, _variables(value)


def _variables(frame: FrameType | FunctionType) -> dict[str, Any]:
    try:
        if not isinstance(frame, FunctionType):
            return {**frame.f_globals, **frame.f_locals}
        cells = zip(frame.__code__.co_freevars, frame.__closure__ or (), strict=False)
        return {**frame.__globals__, **_contents(cells)}
    except RuntimeError:
        # The other thread has added a name during the copy.
        return {}


def _contents(cells: Any) -> dict[str, Any]:
    found = {}
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found


def _may_be_shared(value: Any) -> bool:
    if isinstance(value, _CONTAINERS) or hasattr(type(value), "__next__"):
        return True
    module = sys.modules.get(type(value).__module__)
    return module is not None and not isinstance(value, type) and _has_state(value, module)


def _has_state(value: Any, module: Any) -> bool:
    return hasattr(value, "__dict__") and callers.module_kind(vars(module)) == callers.OWN


@lru_cache(maxsize=256)
def _lines(code: CodeType) -> dict[str, tuple[int, bool, bool]]:
    """Return the line of each name that code uses.

    The flags beside it: the line changes the object; the line rebinds the name.
    """
    found: dict[str, tuple[int, bool, bool]] = {}
    outer = code.co_cellvars if code.co_name != "<module>" else code.co_names
    for line, instructions in _by_line(code).items():
        changed = any(map(_changes, instructions))
        for each in instructions:
            name = each.argval
            if not isinstance(name, str) or each.opname not in _NAMING:
                continue
            # A variable of inner functions is bound before they run, and read after they end.
            rebound = each.opname in _REBINDS and name not in outer
            if name in outer and not changed:
                continue
            before = found.get(name, (line, False, False))
            if before[0] == line or not (before[1] or before[2]):
                found[name] = (line, changed, rebound or (before[0] == line and before[2]))
    return found


def _changes(instruction: Instruction) -> bool:
    name = instruction.opname
    method = name in {"LOAD_METHOD", "LOAD_ATTR"} and instruction.argval in _CHANGING
    return name in _STORES or name in _ADVANCES or method


def _by_line(code: CodeType) -> dict[int, list[Instruction]]:
    lines: dict[int, list[Instruction]] = {}
    current = code.co_firstlineno
    starts = {offset: line for offset, _, line in code.co_lines() if line is not None}
    for each in get_instructions(code):
        current = starts.get(each.offset, current)
        lines.setdefault(current, []).append(each)
    return lines
