"""`AgentStateSnapshot` and `StatefulAgent`: an agent's state at a step, by `reenact.track`."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import NotARecording, RecordingNotFound, UsageError
from reenact.lesson import messages
from reenact.lesson.session import written
from reenact.run.api.state import snapshot, track

EVERY = 5
"""Number of tool results after which `StatefulAgent` takes a snapshot by itself."""


@dataclass
class AgentStateSnapshot:
    """The state of an agent at a step.

    Attributes:
        step_number: The number of the step.
        memory: Its memory, item by item.
        context_variables: Its variables.
        tool_results: `{"step": ..., "tool": ..., "args": ..., "result": ...}` for each tool so far.
        iteration_count: The number of its iterations.
    """

    step_number: int
    memory: list[dict[str, Any]] = field(default_factory=list)
    context_variables: dict[str, Any] = field(default_factory=dict)
    tool_results: list[dict[str, Any]] = field(default_factory=list)
    iteration_count: int = 0

    def save(self, filepath: str | os.PathLike[str]) -> Path:
        """Write it as JSON, atomically; return the path. Raises UsageError if it fails."""
        return written(filepath, asdict(self))

    @classmethod
    def load(cls, filepath: str | os.PathLike[str]) -> AgentStateSnapshot:
        """Read a saved snapshot. Raises RecordingNotFound or NotARecording."""
        path = Path(filepath)
        try:
            return cls(**json.loads(path.read_bytes()))
        except FileNotFoundError:
            raise RecordingNotFound(f"{path}: there is no such file") from None
        except (ValueError, TypeError, OSError):
            known = ", ".join(each.name for each in fields(cls))
            raise NotARecording(f"{path} is no snapshot: it is a JSON object with {known}") from None

    @classmethod
    def of(cls, recording: RecordedRun, step: int | None = None, name: str = "") -> AgentStateSnapshot:
        """Return the tracked state at a step of a recording, by default at its end.

        Args:
            recording: A loaded recording.
            step: The number of the step; the state is that before its call.
            name: The name under which a `StatefulAgent` was tracked. Without it, each part is searched by its own
                name: `reenact.track("memory", memory)`, `"context_variables"`, `"tool_results"`.

        Raises:
            LookupError: There is no such step.
            UsageError: Nothing was tracked under that name.
        """
        state = recording.state(step)
        if name and name not in state:
            raise UsageError(
                f"recording {recording.id} has no state {name!r}: there is {', '.join(state) or 'none'}"
            )
        known = state[name] if name else {each: state[each] for each in state}
        if not isinstance(known, dict):
            raise UsageError(
                f"the state {name!r} is a {type(known).__name__}, and not that of a StatefulAgent"
            )
        results = list(known.get("tool_results", ()))
        return cls(
            step_number=int(known.get("step", step if step is not None else len(recording.steps))),
            memory=list(known.get("memory", ())),
            context_variables=dict(known.get("context_variables", {})),
            tool_results=results,
            iteration_count=int(known.get("step", len(results))),
        )


class StatefulAgent:
    """An agent with state that can be saved and restored; recordings track the state.

    Args:
        agent: The agent, of any type.
        name: The name of its state in recordings.
    """

    def __init__(self, agent: Any, name: str = "agent") -> None:
        self.agent = agent
        self.name = name
        self.memory: list[dict[str, Any]] = []
        self.context: dict[str, Any] = {}
        self.tool_results: list[dict[str, Any]] = []
        self.step = 0
        self.snapshots: list[AgentStateSnapshot] = []
        track(name, get=self._state, set=self._put)

    def take_snapshot(self) -> AgentStateSnapshot:
        """Return the current state; store it in `snapshots`, and in the current recording if any."""
        taken = AgentStateSnapshot(
            self.step,
            copy.deepcopy(self.memory),
            copy.deepcopy(self.context),
            copy.deepcopy(self.tool_results),
            self.step,
        )
        self.snapshots.append(taken)
        snapshot(f"{self.name} at {self.step}")
        return taken

    def restore_snapshot(self, snapshot: AgentStateSnapshot) -> None:
        """Restore a state. Later steps of the agent do not change the snapshot."""
        self.memory = copy.deepcopy(snapshot.memory)
        self.context = copy.deepcopy(snapshot.context_variables)
        self.tool_results = copy.deepcopy(snapshot.tool_results)
        self.step = snapshot.step_number

    def add_tool_result(self, tool_name: str, args: dict[str, Any], result: Any) -> None:
        """Add a tool's result as one more step; every fifth step takes a snapshot."""
        self.step += 1
        self.tool_results.append(
            {"step": self.step, "tool": tool_name, "args": args, "result": messages.jsonable(result)}
        )
        if self.step % EVERY == 0:
            self.take_snapshot()

    def _state(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "memory": self.memory,
            "context_variables": self.context,
            "tool_results": self.tool_results,
        }

    def _put(self, state: dict[str, Any]) -> None:
        self.step, self.memory = state["step"], state["memory"]
        self.context, self.tool_results = state["context_variables"], state["tool_results"]
