"""What an agent says of itself, while it runs and when it is done."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class AgentRequest(BaseModel):
    """What an agent was asked for.

    Attributes:
        max_steps: So many steps it may take at most.
        use_vision: Whether it is shown pictures of the page, where its model takes them.
        reasoning_model: The model's name, or None for the one of `REENACT_MODEL`.
        task: What to do, in the user's words; None before it is started.
        url: Where it begins, or None for the page that the session is at.
        session_offset: From which of the session's steps on it is told what was done before it, or None for nothing.
    """

    max_steps: int
    use_vision: bool
    reasoning_model: str | None = None
    task: str | None = None
    url: str | None = None
    session_offset: int | None = None


class AgentStatusResponse(BaseModel):
    """How an agent stands.

    Attributes:
        agent_id: The agent's id.
        session_id: The session that it works in.
        created_at: When it began.
        closed_at: When it ended, or None.
        status: `active` while it works, then `closed`.
        task: What it was to do.
        url: Where it was to begin, or None.
        success: Whether it did it; None while it works.
        answer: What it answers, or why there is no answer; None while it works. With `response_format`, JSON text.
        steps: One dict for each step that it took: `action` (the type of what it did, or None where its answer was of
            no use), `success`, `message`, `url`, `reasoning`, `type` (`"agent_step"`) and `value` (the whole: the
            action with all its fields, `data`, times, durable `selectors`, and `why` it failed).
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    agent_id: str
    session_id: str
    created_at: datetime
    closed_at: datetime | None = None
    status: Literal["active", "closed"] = "active"
    task: str
    url: str | None = None
    success: bool | None = None
    answer: str | None = None
    steps: list[dict[str, Any]] = []


def step(reasoning: str, action: dict[str, Any] | None, outcome: dict[str, Any]) -> dict[str, Any]:
    """One step, in both shapes that programs read."""
    return {
        "action": None if action is None else action["type"],
        "success": outcome["success"],
        "message": outcome["message"],
        "url": outcome.get("url"),
        "reasoning": reasoning,
        "type": "agent_step",
        "value": {"reasoning": reasoning, "action": action, **outcome},
    }


def line(number: int, taken: dict[str, Any]) -> str:
    """One step as one line of a log."""
    action = taken["value"]["action"]
    did = "no action" if action is None else call(action)
    mark = "ok" if taken["success"] else f"failed: {taken['message']}"
    return f"step {number}: {did} ({mark})"


def call(action: dict[str, Any]) -> str:
    """An action as one writes it down: `click(id='B1')`."""
    given = ", ".join(f"{name}={_short(value)}" for name, value in action.items() if name != "type")
    return f"{action['type']}({given})"


def _short(value: Any, most: int = 120) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else text[: most - 2] + '…"'
