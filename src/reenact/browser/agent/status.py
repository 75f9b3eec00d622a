"""An agent's request and status, while it runs and when it is done."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class AgentSettings(BaseModel):
    """The request of an agent.

    Attributes:
        max_steps: The most steps it may take.
        use_vision: True to show it pictures of the page, if its model accepts them.
        reasoning_model: The model's name, or None for the one of `REENACT_MODEL`.
        task: The task, in the user's words; None before it is started.
        url: The start address, or None for the session's current page.
        session_offset: The session's step from which on earlier actions are described to it, or None for none.
    """

    max_steps: int
    use_vision: bool
    reasoning_model: str | None = None
    task: str | None = None
    url: str | None = None
    session_offset: int | None = None


class AgentStatusResponse(BaseModel):
    """The status of an agent.

    Attributes:
        agent_id: The agent's id.
        session_id: The session that it works in.
        created_at: Its start.
        closed_at: Its end, or None.
        status: `active` while it works, then `closed`.
        task: Its task.
        url: Its start address, or None.
        success: True if it did the task; None while it works.
        answer: Its answer, or the reason that there is none; None while it works. With `response_format`, JSON text.
        steps: One dict for each step that it took: `action` (the action's type, or None for a useless answer),
            `success`, `message`, `url`, `reasoning`, `type` (`"agent_step"`) and `value` (the whole: the action with
            all its fields, `data`, times, durable `selectors`, and the facts `why` it failed).
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
    """Return one step, in both shapes that programs read."""
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
    """Format one step as a log line."""
    action = taken["value"]["action"]
    did = "no action" if action is None else call(action)
    mark = "ok" if taken["success"] else f"failed: {taken['message']}"
    return f"step {number}: {did} ({mark})"


def call(action: dict[str, Any]) -> str:
    """Format an action as a call: `click(id='B1')`."""
    given = ", ".join(f"{name}={_short(value)}" for name, value in action.items() if name != "type")
    return f"{action['type']}({given})"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else text[:118] + '…"'
