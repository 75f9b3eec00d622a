"""Run a user's script once, unchanged, and collect its repeatable actions with their values.

The values stay in memory; only the script's own recording is written, without secrets.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reenact.browser.actions import types as do
from reenact.browser.actions.results import ExecutionResult
from reenact.browser.heal.caller import place
from reenact.browser.session.core import SessionCore
from reenact.errors import UsageError


@dataclass(frozen=True)
class ScriptAction:
    """One action of the script.

    Attributes:
        number: From 1.
        action: With its real values; an id of an observation is replaced by durable selectors.
        line: The script's line that called it, or None if another file did.
        told: The action in words.
    """

    number: int
    action: do.Action = field(repr=False)
    line: int | None
    told: str


@dataclass
class ScriptRun:
    """The actions of a script.

    Attributes:
        script: Its file.
        session: The inside of the session that it used.
        steps: Its actions.
        left: Its parts that cannot be repeated, in words.
    """

    script: Path
    session: SessionCore
    steps: list[ScriptAction]
    left: list[str]


def run(script: Path, argv: Sequence[str] = ()) -> ScriptRun:
    """Run a script in this process and collect its actions. Its output goes to standard error.

    Raises:
        UsageError: The script does not exist, fails, or has no step to try.
    """
    if not script.is_file():
        raise UsageError(f"{script}: there is no such script")
    if script.suffix != ".py":
        raise UsageError(f"{script}: harden runs Python scripts (.py)")
    with _collected() as heard, _started(script, argv), redirect_stdout(sys.stderr):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as leaving:
            if leaving.code not in (None, 0):
                raise UsageError(f"{script} does not pass as it is: it exits with {leaving.code}") from None
        except Exception as error:
            words = " ".join(str(error).split())[:200]
            raise UsageError(
                f"{script} does not pass as it is, so there is nothing to harden yet: {type(error).__name__}: {words}"
            ) from None
    return _course(script, heard)


@dataclass
class _Performed:
    core: SessionCore
    action: do.Action
    actor: str
    line: int | None
    result: ExecutionResult


class _Collector:
    """Collects the actions of all sessions.

    A call of a page, which cannot be repeated, is noted as text.
    """

    def __init__(self) -> None:
        self.done: list[_Performed | str] = []

    def acted(self, core: SessionCore, action: do.Action, actor: str, result: ExecutionResult) -> None:
        """Note an action and its result."""
        at = place()
        self.done.append(_Performed(core, action, actor, at.line if at else None, result))

    def page_called(self, name: str) -> None:
        """Note a call of `session.page`."""
        self.done.append(f"session.{name}")


@contextmanager
def _collected() -> Iterator[list[_Performed | str]]:
    collector = _Collector()
    SessionCore.listeners.append(collector)
    try:
        yield collector.done
    finally:
        SessionCore.listeners.remove(collector)


@contextmanager
def _started(script: Path, argv: Sequence[str]) -> Iterator[None]:
    """Set `sys.argv` and `sys.path` as if Python had been started with the script."""
    before = sys.argv, list(sys.path)
    sys.argv = [str(script), *argv]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before


def _course(script: Path, heard: Sequence[_Performed | str]) -> ScriptRun:
    done = [one for one in heard if isinstance(one, _Performed)]
    if not any(isinstance(one.action, do.Aimed) for one in done):
        raise UsageError(
            f"{script}: no session.execute(…) of it acts on an element, so there is nothing to harden"
        )
    first = next(one.core for one in done if isinstance(one.action, do.Aimed))
    left = sorted({one for one in heard if isinstance(one, str)})
    steps: list[ScriptAction] = []
    failed: list[str] = []
    for one in done:
        if one.core is not first:
            left.append("the steps of its other sessions")
        elif one.actor != "script":
            left.append("what a repair did" if one.actor == "heal" else "what an agent did")
        elif one.result.success and (action := _lasting(one)) is not None:
            steps.append(ScriptAction(len(steps) + 1, action, one.line, _in_words(one)))
        elif one.result.success:
            left.append(f"line {one.line}: an element by its id, for which no selector was found")
        else:
            # Within a fallback block a failed step does not end the script.
            failed.append(f"line {one.line}: {one.result.message}")
    if failed and not any(isinstance(step.action, do.Aimed) for step in steps):
        raise UsageError(f"{script} does not pass as it is, so there is nothing to harden yet: {failed[0]}")
    left += [f"a step that failed, {each}" for each in failed]
    return ScriptRun(script, first, steps, list(dict.fromkeys(left)))


def _lasting(one: _Performed) -> do.Action | None:
    action = one.action
    if not isinstance(action, do.Aimed) or action.id is None:
        return action
    selectors: dict[str, Any] = dict(one.result.selectors or {})
    return action.model_copy(update={"id": None, "selector": selectors}) if selectors else None


def _in_words(one: _Performed) -> str:
    aim = (
        getattr(one.action, "selector", None)
        or getattr(one.action, "id", None)
        or getattr(one.action, "url", None)
    )
    if isinstance(aim, dict):
        aim = next((value for value in aim.values() if value), "")
    return f"{one.action.type} {aim or ''}".strip()
