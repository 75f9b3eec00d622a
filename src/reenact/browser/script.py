"""A recorded session as a script that does it again: durable selectors, and `AgentFallback` where an agent acted.

It is made from the recording's events alone. Nothing that a page said ends up as code: texts are written as string
literals, and in comments on one line.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from reenact.api import load
from reenact.browser.actions import MASK, TYPES
from reenact.browser.footage import sessions
from reenact.errors import UsageError
from reenact.model.recording import Recording, Step

if TYPE_CHECKING:
    from reenact.browser.session import Session

WIDTH = 100
"""Longer lines are broken up."""

_NO_CODE = frozenset({"completion", "help", "scrape"})
"""What an agent says, and what it only read for itself: nothing that a script would do."""

_ID = frozenset({"id", "selector", "timeout"})


class WorkflowCode(BaseModel):
    """A session as code: `python_script`, and the same as data, `json_actions`."""

    python_script: str
    json_actions: list[dict[str, Any]]


class Workflow:
    """What an agent did, or a whole session, as a script.

    Args:
        session: The session, as far as it has come.
        agent_id: Only what this agent did.
    """

    def __init__(self, session: Session, agent_id: str | None = None) -> None:
        self._session = session
        self._agent = agent_id

    def code(self) -> WorkflowCode:
        """The script. Raises UsageError where the session is not recorded, RecordingError where that cannot be read."""
        folder = self._session.recording
        if folder is None:
            raise UsageError("the session is not recorded, so there is nothing to make a script of")
        return code(load(Path(folder)), session=self._session.id, agent=self._agent)


@dataclass(frozen=True)
class Done:
    """One action as it was recorded."""

    kind: str
    fields: Mapping[str, Any]
    success: bool
    message: str
    selectors: Mapping[str, Any]
    agent: bool = False


@dataclass
class Stretch:
    """Actions of one actor, one after the other; `task` is the agent's."""

    actor: str
    agent: str = ""
    task: str = ""
    actions: list[Done] = field(default_factory=list)


def code(recording: Recording, *, session: str | None = None, agent: str | None = None) -> WorkflowCode:
    """A recorded session as a script.

    Args:
        recording: The recording.
        session: Which of its sessions, by id; by default the only one.
        agent: Only what the agent of that id did.

    Raises:
        UsageError: It has no browser session, several, or not that one.
    """
    steps = _of_session(recording, session)
    stretches = [one for one in _stretches(steps) if agent is None or one.agent == agent]
    writer = _Writer(recording.id)
    return WorkflowCode(
        python_script=writer.script(stretches, _options(steps)), json_actions=_data(stretches)
    )


def export(ref: str, *, session: str | None = None, home: Any = None) -> str:
    """The script of a recording's session, by the recording's id. Raises as `code` and `reenact.load`."""
    return code(load(ref, home=home), session=session).python_script


# -- from the recording ------------------------------------------------------------------------------------------


def _of_session(recording: Recording, session: str | None) -> list[Step]:
    """The steps of one session, and the beginnings of all agents."""
    steps = [step for step in recording.steps if step.call.kind in {"browser", "agent"}]
    of = _sessions_of(recording, steps)
    known = list(dict.fromkeys(of.values()))
    if not known:
        raise UsageError(
            f"recording {recording.id} has no browser session: there is nothing to make a script of"
        )
    if session is None and len(known) > 1:
        raise UsageError(f"recording {recording.id} has {len(known)} sessions, {', '.join(known)}: name one")
    chosen = session or known[0]
    if chosen not in known:
        raise UsageError(f"recording {recording.id} has no session {chosen}; it has {', '.join(known)}")
    return [step for step in steps if step.call.kind == "agent" or of[step.number] == chosen]


def _sessions_of(recording: Recording, steps: Sequence[Step]) -> dict[int, str]:
    """The session of each browser step: by the session's own file where there is one, else the last that was started."""
    filmed = {}
    for footage in sessions(Path(recording.path)):
        for entry in footage.entries("before", "after"):
            filmed[entry["call"]] = footage.id
    of: dict[int, str] = {}
    started = 0
    current = recording.id
    for step in steps:
        if step.call.kind != "browser":
            continue
        if step.call.name == "start":
            started += 1
            told = step.output if isinstance(step.output, Mapping) else {}
            current = str(told.get("id") or (recording.id if started == 1 else f"{recording.id}.{started}"))
        of[step.number] = filmed.get(step.call.number, current)
    return of


def _options(steps: Sequence[Step]) -> dict[str, Any]:
    """How the session was started, as far as it was not as always."""
    return next((dict(step.args) for step in steps if step.call.label == "browser:start"), {})


def _stretches(steps: Sequence[Step]) -> Iterator[Stretch]:
    """What was done, in stretches of one actor; within an agent's span all is its own."""
    starts: dict[str, Stretch] = {}
    current: Stretch | None = None
    for step in steps:
        if step.call.kind == "agent":
            output = step.output if isinstance(step.output, Mapping) else {}
            agent, task = str(output.get("agent_id") or ""), str(step.args.get("task") or "")
            starts[step.call.scope] = Stretch("agent", agent, task)
            continue
        outcome = step.output
        if step.call.name not in TYPES or not isinstance(outcome, Mapping):
            continue
        own = starts.get(step.call.scope) if outcome.get("actor") == "agent" else None
        if (
            current is None
            or (own or current) is not current
            or current.actor != outcome.get("actor", "script")
        ):
            if current is not None and current.actions:
                yield current
            current = own or Stretch(str(outcome.get("actor") or "script"))
        if (done := _done(step, outcome)) is not None:
            current.actions.append(done)
    if current is not None and current.actions:
        yield current


def _done(step: Step, outcome: Mapping[str, Any]) -> Done | None:
    """An action, or None where it is not to be done again: an agent's failed tries, and what it said."""
    success, agent = bool(outcome.get("success")), outcome.get("actor") == "agent"
    if agent and (not success or step.call.name in _NO_CODE):
        return None
    message, selectors = str(outcome.get("message") or ""), outcome.get("selectors") or {}
    return Done(step.call.name, step.args, success, message, selectors, agent)


# -- as data -----------------------------------------------------------------------------------------------------


def _data(stretches: Sequence[Stretch]) -> list[dict[str, Any]]:
    names = _Names()
    found = []
    for stretch in stretches:
        for done in stretch.actions:
            action = {"type": done.kind, **_fields(done)}
            for name, value in action.items():
                if _secret(value):
                    action[name] = f"${{{names.of(done)}}}"
            found.append(
                {**action, "actor": stretch.actor, **({"task": stretch.task} if stretch.task else {})}
            )
    return found


def _fields(done: Done) -> dict[str, Any]:
    """An action's fields, with a durable selector for an element that was named by its place in an observation."""
    fields = {name: value for name, value in done.fields.items() if name not in _ID}
    if "id" in done.fields or "selector" in done.fields:
        selector = dict(done.selectors) or done.fields.get("selector")
        aim = {"selector": selector} if selector else {"id": done.fields.get("id")}
        fields = {**aim, **fields}
        if "timeout" in done.fields and not done.agent:
            fields["timeout"] = done.fields["timeout"]
    return fields


def _secret(value: Any) -> bool:
    return isinstance(value, str) and (MASK in value or _TOKEN.search(value) is not None)


class _Names:
    """Environment variables for secrets: one for each field that held one."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, done: Done, part: str = "") -> str:
        """The variable for what was filled into that element; the same element gets the same one."""
        key = part or json.dumps(done.selectors or done.fields.get("selector"), sort_keys=True, default=str)
        if key not in self._known:
            word = _variable(part or _label(done.selectors))
            taken = set(self._known.values())
            names = [word, *(f"{word}_{number}" for number in range(2, len(taken) + 3))]
            self._known[key] = next(name for name in names if name not in taken)
        return self._known[key]


def _label(selectors: Mapping[str, Any]) -> str:
    """What an element is called, by its selectors: its label, or its id."""
    texts = [value for value in selectors.values() if isinstance(value, str)]
    for pattern in (
        r"""name=["']([^"']+)""",
        r"""get_by_(?:label|placeholder|test_id)\(["']([^"']+)""",
        r"#([\w-]+)",
    ):
        for text in texts:
            if found := re.search(pattern, text):
                return found[1]
    return "secret"


def _variable(text: str) -> str:
    word = re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")[:40]
    return word if word and not word[0].isdigit() else "SECRET"


_TOKEN = re.compile(r"\[\[secret:[^\]]*\]\]")


# -- as Python ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Code:
    """Python as it stands, among values that are written as literals."""

    text: str


class _Writer:
    """Writes the script, line by line.

    Args:
        recording: Where it comes from, for its first line.
    """

    def __init__(self, recording: str) -> None:
        self._recording = recording
        self._names = _Names()
        self._lines: list[str] = []
        self._secrets = False

    def script(self, stretches: Sequence[Stretch], options: Mapping[str, Any]) -> str:
        """The whole text."""
        opened = _call("with client.Session", options)
        opened[-1] += " as session:"
        self._lines += opened
        for stretch in stretches:
            self._stretch(stretch)
        if not stretches:
            self._lines.append("    pass")
        imports = ["import os\n"] if self._secrets else []
        head = [
            f'"""Recording {_one_line(self._recording)}, as a script. Written by `reenact export-script`."""\n',
            *imports,
            "from reenact import Client\n",
            "client = Client()\n",
        ]
        return "\n".join([*head, *self._lines]) + "\n"

    def _stretch(self, stretch: Stretch) -> None:
        indent = "    "
        if stretch.actor == "agent":
            block = _call("    with client.AgentFallback", {"task": stretch.task}, "session")
            block[-1] += ":"
            self._lines += block
            indent *= 2
        for done in stretch.actions:
            self._action(done, indent)

    def _action(self, done: Done, indent: str) -> None:
        fields = {}
        for name, value in _fields(done).items():
            fields[name] = self._literal(done, name, value)
            if fields[name] is not value:
                self._lines.append(f"{indent}# A secret was filled in here: it is not in the recording.")
        more: dict[str, Any] = {}
        if not done.success:
            self._lines.append(f"{indent}# It failed: {_one_line(done.message)}")
            more["raise_on_failure"] = False
        self._lines += _call(f"{indent}session.execute", {"type": done.kind, **fields, **more})

    def _literal(self, done: Done, name: str, value: Any) -> Any:
        if _secret(value):
            self._secrets = True
            return _Code(f'os.environ["{self._names.of(done)}"]')
        if isinstance(value, Mapping) and name == "value" and any(_secret(one) for one in value.values()):
            self._secrets = True
            return {
                key: _Code(f'os.environ["{self._names.of(done, key)}"]') if _secret(one) else one
                for key, one in value.items()
            }
        return value


def _call(function: str, arguments: Mapping[str, Any], *first: str) -> list[str]:
    """A call, on one line, or one line an argument where that is too long."""
    plain = {
        name: value
        for name, value in arguments.items()
        if name.isidentifier() and not keyword.iskeyword(name)
    }
    flat = (
        f"{function}({', '.join([*first, *(f'{name}={_written(value)}' for name, value in plain.items())])})"
    )
    if len(flat) <= WIDTH:
        return [flat]
    indent = " " * (len(function) - len(function.lstrip()) + 4)
    lines = [f"{function}(", *(f"{indent}{one}," for one in first)]
    for name, value in plain.items():
        lines += _argument(f"{indent}{name}=", value, indent)
    return [*lines, f"{indent[4:]})"]


def _argument(start: str, value: Any, indent: str) -> list[str]:
    flat = f"{start}{_written(value)},"
    if len(flat) <= WIDTH or not isinstance(value, Mapping):
        return [flat]
    inner = [
        line
        for key, one in value.items()
        for line in _argument(f"{indent}    {_written(key)}: ", one, indent + "    ")
    ]
    return [start + "{", *inner, indent + "},"]


def _written(value: Any) -> str:
    """A value as a literal."""
    match value:
        case _Code():
            return value.text
        case str():
            # JSON's strings are Python's, and read better; what does not print is spelt out.
            plain = value.isprintable() and value.count('"') <= value.count("'")
            return json.dumps(value, ensure_ascii=False) if plain else repr(value)
        case Mapping():
            return "{" + ", ".join(f"{_written(key)}: {_written(one)}" for key, one in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_written, value)) + "]"
    return repr(value)


def _one_line(text: str) -> str:
    return (
        "".join(letter if letter.isprintable() else " " for letter in text)
        .replace('"""', "'''")
        .replace("\\", "/")
    )
