"""A recording as rules see it: the models' answers, the used tools, the known facts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.messages import Message, ModelCall
from reenact.core.messages.spelling import spelled_call
from reenact.core.model.plain import compact, plain
from reenact.core.query.conversation import Turn
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recorded_run import RecordedRun

_NO_TOOLS = {
    "model", "http", "websocket", "user", "process", "state", "memory", "checkpoint", "browser", "heal", "remote",
    "agent",
}  # fmt: skip
_MCP_USES = {"resources/read", "prompts/get", "completion/complete"}
"""The content of an MCP server beside its tools; other `mcp` steps are protocol."""

_FAILED = re.compile(
    r"""^\s*(?:[\w.]*(?:error|exception|failure)\b|failed\b|fatal\b|traceback)
    | \A\s*\{\s*"(?:error|errors)"\s*:(?!\s*(?:null|""|\[\s*\]|\{\s*\}|false|0))
    | "(?:status|state|result|outcome)"\s*:\s*"(?:error|failed|failure)"
    | "(?:success|ok|is_success)"\s*:\s*false
    | traceback\ \(most\ recent\ call\ last\)
    | exit\ ?code:?\s*[1-9] | \(execution\ failed\)
    | \bunknown\ tool\b | \b\d+\ validation\ errors?\b | \A\[?\s*\{[^}]*"loc":[^}]*"msg":
    | \bcommand\ not\ found | \bno\ such\ file\ or\ directory | \bpermission\ denied
    | \b(?:http\ )?(?:404\ (?:page\ |file\ )?not\ found|5\d\d\ (?:internal|bad|service|gateway))
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LOOKED_AT = 4000


@dataclass(frozen=True, slots=True)
class Said:
    """One answer of a model.

    Attributes:
        step: The number of the step.
        agent: The agent in whose scope it was.
        turn: The call with its new messages.
        text: Its text, without its reasoning.
    """

    step: int
    agent: str
    turn: Turn
    text: str

    @property
    def call(self) -> ModelCall:
        """The whole call."""
        return self.turn.call

    @property
    def answer(self) -> Message | None:
        """The message, or None without one."""
        return self.turn.call.answer

    @property
    def to_tools(self) -> bool:
        """True if it calls tools."""
        return self.answer is not None and bool(self.answer.calls)


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a tool (or of any effect that is no model call).

    Attributes:
        step: Its own step, or that of the model call that asked for it, if only chats were recorded.
        asked: The step of the model call that asked for it, or None.
        name: The tool's name.
        args: Its arguments, plain.
        text: Its output, as text.
        error: Its error, or empty.
        failed: It raised an error, or its result reports one.
        kind: `tool`, or the effect's own kind.
        writes: The declaration that it writes, or only reads; None without one.
    """

    step: int
    asked: int | None
    name: str
    args: Any
    text: str
    error: str = ""
    failed: bool = False
    kind: str = "tool"
    writes: bool | None = None

    @property
    def key(self) -> str:
        """The tool with its arguments, for comparing."""
        return key(self.name, self.args)

    @property
    def spelled(self) -> str:
        """The tool with its arguments, for reading."""
        return spelled_call(self.name, self.args)

    @property
    def result(self) -> str:
        """The result or the error."""
        return self.error or self.text


class Case:
    """One recording as the rules read it; values that several rules use are computed once.

    Args:
        recording: The recording; it is only read.
    """

    def __init__(self, recording: RecordedRun) -> None:
        self.recording = recording
        self.facts = RecordingFacts(recording)

    @cached_property
    def said(self) -> tuple[Said, ...]:
        """All model calls that are chats, in order."""
        found = []
        for step in self.facts:
            turn = step.turn
            if turn is not None and turn.call.embedded is None:
                text = turn.call.answer.text if turn.call.answer is not None else ""
                found.append(Said(step.step.number, step.call.scope, turn, text))
        return tuple(found)

    @cached_property
    def answers(self) -> tuple[Said, ...]:
        """The model calls with text for a person or agent, not only for tools."""
        return tuple(said for said in self.said if said.text.strip())

    @property
    def final(self) -> Said | None:
        """The last model call, or None."""
        return self.said[-1] if self.said else None

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """All uses of tools; from the chats if no tool itself was recorded."""
        inside: set[tuple[int, int]] = set()
        found: list[StepFacts] = []
        for step in self.facts:
            place = (id(step.step.log), step.call.number)
            outer = (id(step.step.log), step.call.within) if step.call.within is not None else None
            if outer in inside:
                inside.add(place)
            elif _is_use(step):
                inside.add(place)
                found.append(step)
        return tuple(self._recorded(found)) if found else tuple(self._told())

    @cached_property
    def http(self) -> tuple[Use, ...]:
        """HTTP exchanges that carry no model call."""
        return tuple(
            _use(step, None)
            for step in self.facts
            if step.call.kind == "http" and step.model_call is None and not self._carries(step)
        )

    @cached_property
    def several(self) -> bool:
        """True if several agents speak."""
        return len({said.agent for said in self.said}) > 1

    @cached_property
    def leader(self) -> str:
        """The agent that speaks between all others and hands out the work, or empty."""
        agents = [said.agent for said in self.said]
        turns = [agent for place, agent in enumerate(agents) if place == 0 or agents[place - 1] != agent]
        most = max(set(turns), key=turns.count, default="")
        return (
            most if len(set(turns)) > 1 and len(turns) > 4 and turns.count(most) * 2 >= len(turns) - 1 else ""
        )

    def at(self, step: int | None) -> Said | None:
        """The model call that is that step, or None."""
        return None if step is None else self._by_step.get(step)

    def after(self, step: int) -> Said | None:
        """The first model call after a step, or None."""
        place = bisect_right(self.said, step, key=lambda said: said.step)
        return self.said[place] if place < len(self.said) else None

    @cached_property
    def _by_step(self) -> dict[int, Said]:
        return {said.step: said for said in self.said}

    @cached_property
    def output(self) -> str | None:
        """The final output of the run as text, or None if not declared."""
        sealed = self.recording.logs[0].sealed
        if sealed is None or "output" not in sealed:
            return None
        value = plain(sealed["output"])
        return "" if value is None else compact(value)

    def _carries(self, step: StepFacts) -> bool:
        within = step.step.log.calls.get(step.call.within) if step.call.within is not None else None
        return within is not None and within.kind == "model"

    def _recorded(self, steps: list[StepFacts]) -> Iterator[Use]:
        pending: list[tuple[int, str, str]] = []
        said = iter(self.said)
        now = next(said, None)
        last: int | None = None
        tools = any(one.to_tools for one in self.said)
        for step in steps:
            number = step.step.number
            while now is not None and now.step < number:
                calls = now.answer.calls if now.answer is not None else ()
                pending += [(now.step, call.name, key(call.name, call.args)) for call in calls]
                last, now = now.step, next(said, None)
            mine = key(step.call.name, step.args)
            asked = next((one for one in pending if one[2] == mine), None) or next(
                (one for one in pending if one[1] == step.call.name), None
            )
            if asked is not None:
                pending.remove(asked)
            # A terminal that runs an agent's code gets it as plain text.
            yield _use(step, asked[0] if asked is not None else None if tools else last)

    def _told(self) -> Iterator[Use]:
        pending: list[tuple[int, Any]] = []
        unknown: set[str] = set()
        for said in self.said:
            for message in said.turn.new:
                if message.role != "tool" or not pending:
                    continue
                mine = next((one for one in pending if one[1].id and one[1].id == message.id), pending[0])
                pending.remove(mine)
                step, call = mine
                failed = fails(message.text) or call.name in unknown
                yield Use(step, step, call.name, call.args, message.text, failed=failed)
            calls = said.answer.calls if said.answer is not None else ()
            pending += [(said.step, call) for call in calls]
            unknown |= {call.name for call in calls if said.call.tools and call.name not in said.call.tools}


def _is_use(step: StepFacts) -> bool:
    kind, name = step.call.kind, step.call.name
    return kind not in _NO_TOOLS and (kind != "mcp" or name in _MCP_USES)


def _interrupts(step: StepFacts) -> bool:
    error = (step.call.outcome or {}).get("error")
    return isinstance(error, dict) and str(error.get("type")).startswith("langgraph.errors:Graph")


def _use(step: StepFacts, asked: int | None) -> Use:
    output = step.output
    text = "" if output is None else compact(output)
    # An MCP tool marks a failure beside its text, which may be long.
    admits = isinstance(output, dict) and output.get("isError") is True
    raised = bool(step.error) or step.call.status == "error"
    # A graph that stops to ask a person raises an exception, which is no failure.
    failed = not _interrupts(step) and (raised or admits or fails(text))
    call = step.call
    writes = call.called.get("writes")
    return Use(step.step.number, asked, call.name, step.args, text, step.error, failed, call.kind, writes)


def fails(text: str) -> bool:
    """Return True if a result reports a failure."""
    return _FAILED.search(text[:_LOOKED_AT]) is not None


def key(name: str, args: Any) -> str:
    """Return a tool with its arguments as one text, the same for equal arguments in any order."""
    return f"{name}({compact(_sorted(args))})"


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        # A missing argument and one that is null ask the same.
        return {name: _sorted(value[name]) for name in sorted(value) if value[name] is not None}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def short(text: str, limit: int = 160) -> str:
    """Return a text on one line, cut to a short length."""
    line = " ".join(text.split(maxsplit=limit))
    return line if len(line) <= limit else line[: limit - 1] + "…"
