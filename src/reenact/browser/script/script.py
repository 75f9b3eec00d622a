"""Export a recorded session as a script, with durable selectors.

An agent's actions become an `AgentFallback` block. Only the recording's events are needed. A page's text never becomes
code: it is written as a string literal, or as one line of a comment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from reenact.browser.actions.types import TYPES
from reenact.browser.camera.footage import sessions
from reenact.browser.effects.playwright_api import DOING
from reenact.browser.script.python_code import (
    ActionGroup,
    RecordedAction,
    ScriptWriter,
    SecretNames,
    fields_of,
    is_secret,
)
from reenact.core.query.recorded_run import RecordedRun, Step
from reenact.errors import UsageError
from reenact.run.api.forking import load

if TYPE_CHECKING:
    from reenact.browser.effects.open_session import OpenSession

_MARKS = ("heal:block", "heal:left")
"""The labels of a block's begin and end."""

_NO_CODE = frozenset({"completion", "help", "scrape"})
"""An agent's actions that only report or read: a script leaves them out."""


class WorkflowCode(BaseModel):
    """A session as code: `python_script`, and the same as data, `json_actions`."""

    python_script: str
    json_actions: list[dict[str, Any]]


class Workflow:
    """The actions of an agent, or of a whole session, as a script.

    Args:
        session: The session, with its actions so far.
        agent_id: Only the actions of this agent.
    """

    def __init__(self, session: OpenSession, agent_id: str | None = None) -> None:
        self._session = session
        self._agent = agent_id

    def code(self) -> WorkflowCode:
        """Return the script.

        Raises UsageError if the session is not recorded, RecordingError if it is unreadable.
        """
        folder = self._session.recording
        if folder is None:
            raise UsageError("the session is not recorded, so there is nothing to make a script of")
        return code(load(Path(folder)), session=self._session.id, agent=self._agent)


def code(recording: RecordedRun, *, session: str | None = None, agent: str | None = None) -> WorkflowCode:
    """Return a recorded session as a script.

    Args:
        recording: The recording.
        session: The id of its session; by default the only one.
        agent: Only the actions of the agent of that id.

    Raises:
        UsageError: It has no browser session, several without a choice, or not the named one.
    """
    steps = _of_session(recording, session)
    stretches = [one for one in _stretches(steps) if agent is None or one.agent == agent]
    writer = ScriptWriter(recording.id)
    return WorkflowCode(
        python_script=writer.script(stretches, _options(steps)), json_actions=_data(stretches)
    )


def export(ref: str, *, session: str | None = None, home: Any = None) -> str:
    """Return the script of a recording's session. Raises as `code` and `reenact.load`."""
    return code(load(ref, home=home), session=session).python_script


# -- from the recording ------------------------------------------------------------------------------------------


def _of_session(recording: RecordedRun, session: str | None) -> list[Step]:
    """Return the steps of one session, the begin and end of its blocks, and all agents' starts."""
    steps = [
        step
        for step in recording.steps
        if step.call.kind in {"browser", "agent"} or step.call.label in _MARKS
    ]
    of = _sessions_of(recording, steps)
    known = list(dict.fromkeys(of.values()))
    if not known:
        raise UsageError(
            f"recording {recording.id} has no browser session: there is nothing to make a script of"
        )
    if session is None and len(known) > 1:
        listed = ", ".join(known)
        raise UsageError(
            f"recording {recording.id} has {len(known)} sessions, {listed}: name one (--session)"
        )
    chosen = session or known[0]
    if chosen not in known:
        raise UsageError(f"recording {recording.id} has no session {chosen}; it has {', '.join(known)}")
    return [step for step in steps if step.call.kind == "agent" or of.get(step.number) == chosen]


def _sessions_of(recording: RecordedRun, steps: Sequence[Step]) -> dict[int, str]:
    """Map each browser step to its session.

    The session's own file decides if there is one, else the last session started.
    """
    filmed, names = {}, []
    for footage in sessions(Path(recording.path)):
        names.append(footage.id)
        for entry in footage.entries("before", "after"):
            filmed[entry["call"]] = footage.id
    of: dict[int, str] = {}
    started = 0
    for step in steps:
        if step.call.kind == "browser":
            started += step.call.name == "start"
            number = max(started, 1)
            latest = names[number - 1] if number <= len(names) else f"{recording.id}.{number}"
            of[step.number] = filmed.get(step.call.number, latest)
    _blocks_of(steps, of)
    return of


def _blocks_of(steps: Sequence[Step], of: dict[int, str]) -> None:
    """Assign each block to the session of the next step in its scope."""
    within: dict[str, str] = {}
    for step in reversed(steps):
        if step.call.kind == "browser":
            within[step.call.scope] = of[step.number]
        elif step.call.label == _MARKS[0] and step.call.scope in within:
            of[step.number] = within[step.call.scope]
    entered: dict[str, list[str]] = {}
    for step in steps:
        blocks = entered.setdefault(step.call.scope, [])
        if step.call.label == _MARKS[0]:
            blocks.append(of.get(step.number, ""))
        elif step.call.label == _MARKS[1] and blocks:
            of[step.number] = blocks.pop()


def _options(steps: Sequence[Step]) -> dict[str, Any]:
    """Return the session's start options that are not the default."""
    return next((dict(step.args) for step in steps if step.call.label == "browser:start"), {})


def _stretches(steps: Sequence[Step]) -> Iterator[ActionGroup]:
    """Yield the actions grouped by actor; all actions in an agent's span are the agent's."""
    starts: dict[str, ActionGroup] = {}
    current: ActionGroup | None = None
    block, blocks, task, heal = 0, 0, "", ""
    for step in steps:
        if step.call.label in _MARKS:
            blocks += step.call.label == _MARKS[0]
            block = blocks if "task" in step.args else 0
            task, heal = str(step.args.get("task") or ""), str(step.args.get("heal") or "")
            continue
        if step.call.kind == "agent":
            output = step.output if isinstance(step.output, Mapping) else {}
            agent, own_task = str(output.get("agent_id") or ""), str(step.args.get("task") or "")
            starts[step.call.scope] = ActionGroup("agent", agent, own_task, block, heal)
            continue
        outcome = step.output if isinstance(step.output, Mapping) else {}
        if not _does(step):
            continue
        actor = str(outcome.get("actor") or "script")
        own = starts.get(step.call.scope) if actor == "agent" else None
        if (
            current is None
            or (own or current) is not current
            or (current.actor, current.block) != (actor, block)
        ):
            if current is not None and current.actions:
                yield current
            current = own or ActionGroup(actor, task=task, block=block, heal=heal)
        if (done := _done(step, outcome)) is not None:
            current.actions.append(done)
    if current is not None and current.actions:
        yield current


def _does(step: Step) -> bool:
    """Return True if a step acted, False if it only read."""
    name = step.call.name
    return name in TYPES or name == "set_cookies" or name.removeprefix("page.") in DOING


def _done(step: Step, outcome: Mapping[str, Any]) -> RecordedAction | None:
    """Return an action; None for an agent's failed tries and reports, which are not repeated."""
    # The outcome of a page's call has no `success`: the call returned or raised.
    success = bool(outcome.get("success", step.call.status == "ok"))
    agent = outcome.get("actor") == "agent"
    if agent and (not success or step.call.name in _NO_CODE):
        return None
    message, selectors = str(outcome.get("message") or step.error or ""), outcome.get("selectors") or {}
    return RecordedAction(step.call.name, step.args, success, message, selectors, agent)


# -- as data -----------------------------------------------------------------------------------------------------


def _data(stretches: Sequence[ActionGroup]) -> list[dict[str, Any]]:
    names = SecretNames()
    found = []
    for stretch in stretches:
        for done in stretch.actions:
            action = {"type": done.kind, **fields_of(done)}
            for name, value in action.items():
                if is_secret(value):
                    action[name] = f"${{{names.of(done)}}}"
            found.append(
                {**action, "actor": stretch.actor, **({"task": stretch.task} if stretch.task else {})}
            )
    return found
