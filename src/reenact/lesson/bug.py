"""`BugReproducer`: reproduce the failure of a recorded session."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reenact.core.model import codec
from reenact.core.model.plain import error_line
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import DivergenceError
from reenact.lesson import messages
from reenact.lesson.compare import imported
from reenact.lesson.session import SessionRecord, tag, text
from reenact.run.api.forking import load
from reenact.run.api.recording import record
from reenact.verbs.diagnose import anomalies


class BugReproducer:
    """Analyses a session that went wrong, runs it again, and reports.

        bug = BugReproducer("sessions/cancel.json")
        bug.analyze_trace()
        bug.attempt_reproduction(agent, create_replay_model(bug.trace))
        print(bug.report())

    Args:
        trace_file: The file of a SessionRecord, or a recording of Reenact: its id, a prefix of it, `"last"`, a path.
        home: The folder of the recordings; by default `$REENACT_HOME`, or `.reenact` in the working folder.

    Attributes:
        trace: The session's dict.
        reproduction_attempts: The results of `attempt_reproduction`, in order.

    Raises:
        RecordingError: There is no such session, or it cannot be read.
    """

    def __init__(
        self, trace_file: str | os.PathLike[str], *, home: str | os.PathLike[str] | None = None
    ) -> None:
        self._home = home
        self._error = ""
        self._recording: RecordedRun | None = None
        self.trace: dict[str, Any] = self._read(trace_file)
        self.reproduction_attempts: list[dict[str, Any]] = []

    def analyze_trace(self) -> dict[str, Any]:
        """Return a summary of the session and its anomalies.

        The keys are `input`, `output`, `tool_calls`, `total_messages`, `timestamp`, `model`, and `anomalies`: a
        sentence for each warning and error of `reenact.anomalies`.

        Raises NotARecording if the session contains no message of a model.
        """
        trace = self.trace
        found = [f"The run failed: {self._error}"] if self._error else []
        found += [
            each.sentence if each.step is None else f"step {each.step}: {each.sentence}"
            for each in anomalies(self._recording or imported(trace), home=self._home)
            if each.severity != "info"
        ]
        return {
            "input": trace["user_input"],
            "output": trace["final_output"],
            "tool_calls": trace["tool_calls"],
            "total_messages": len(trace["messages"]),
            "timestamp": trace["timestamp"],
            "model": trace["model"],
            "anomalies": found,
        }

    def attempt_reproduction(self, agent: Any, replay_model: Any = None) -> dict[str, Any]:
        """Run the session's input again, in a new recording.

        Args:
            agent: The agent as it is now.
            replay_model: A model from `create_replay_model`, or None for the agent's own model, live.

        Returns:
            `attempt_number`, `timestamp`, `recording` (its id, for `reenact show`), `success` (it ran to its end), and,
            if known, `output`, `matches_original`, `tool_calls`, `error` (an exception of the agent), and `divergence`
            (the point where the agent left the session).
        """
        from pydantic_ai import capture_run_messages

        attempt: dict[str, Any] = {
            "attempt_number": len(self.reproduction_attempts) + 1,
            "timestamp": datetime.now(UTC).isoformat(),
            "success": False,
            "matches_original": False,
        }
        model = agent.override(model=replay_model) if replay_model is not None else nullcontext()
        name, tags = f"reproduce {self.trace['session_id']}", ["reproduction", tag(self.trace["session_id"])]
        try:
            with record(name, tags=tags, home=self._home) as recording:
                attempt["recording"] = recording.id
                with model, capture_run_messages() as seen:
                    recording.output = agent.run_sync(self.trace["user_input"]).output
            attempt["output"] = recording.output
            attempt["tool_calls"] = len(messages.tool_calls(messages.of_pydantic(seen)))
            attempt["success"] = True
            same = messages.jsonable(recording.output) == self.trace["final_output"]
            attempt["matches_original"] = same and not self._error
        except DivergenceError as error:
            attempt["error"] = f"DivergenceError: {error}"
        except Exception as error:
            attempt["error"] = f"{type(error).__name__}: {error}"
            attempt["matches_original"] = self._error == error_line(
                codec.encode_error(error, codec.Encoder())
            )
        self._departed(attempt, replay_model)
        self.reproduction_attempts.append(attempt)
        return attempt

    def report(self) -> str:
        """Return the findings and attempts as text."""
        analysis = self.analyze_trace()
        lines = [
            "Bug Reproduction Report",
            "=" * 40,
            f"Input: {_short(analysis['input'])}",
            f"Original output: {_short(analysis['output'])}",
            f"Tool calls: {len(analysis['tool_calls'])}",
            f"Anomalies: {'; '.join(analysis['anomalies']) or 'None detected'}",
            "",
            f"Reproduction attempts: {len(self.reproduction_attempts)}",
        ]
        for attempt in self.reproduction_attempts:
            word = "✅ Reproduced" if attempt["matches_original"] else "❌ Different"
            lines.append(f"  Attempt {attempt['attempt_number']}: {word} (recording {attempt['recording']})")
            lines += [
                f"    {key.title()}: {attempt[key]}" for key in ("divergence", "error") if key in attempt
            ]
        return "\n".join(lines)

    # -- within ----------------------------------------------------------------------------------------------

    def _read(self, given: str | os.PathLike[str]) -> dict[str, Any]:
        path = Path(given)
        if path.suffix == ".json":
            return asdict(SessionRecord.load(path))
        self._recording = recording = load(given, home=self._home)
        sealed = recording.logs[0].sealed
        if sealed is not None and "error" in sealed:
            self._error = error_line(sealed["error"])
        return asdict(SessionRecord.of(recording))

    def _departed(self, attempt: dict[str, Any], model: Any) -> None:
        """Note the point where the agent left the session, even if the error was caught."""
        divergence = getattr(model, "divergence", None)
        if divergence is None and attempt["success"] and hasattr(model, "missing"):
            divergence = model.missing()
        if divergence is not None:
            attempt["divergence"] = str(divergence)
            attempt["matches_original"] = False
            if attempt.get("error", "").startswith("DivergenceError"):
                # The error is the divergence.
                del attempt["error"]


def _short(value: Any) -> str:
    shown = text(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}..."
