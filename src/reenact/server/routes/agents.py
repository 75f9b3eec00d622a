"""Routes of agents in the server's sessions: start, watch and stop them."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from reenact.browser.agent import Agent
from reenact.browser.page.session_options import MODEL
from reenact.browser.script.script import WorkflowCode
from reenact.errors import UsageError
from reenact.server.access import Reader, Writer
from reenact.server.refusals import refusals
from reenact.server.wire.requests import AgentRequest, check_address, fitted, model_of
from reenact.server.wire.responses import Json
from reenact.server.wire.routing import Asked, Foreign, Hosts, WireRoute

MOST_STEPS = 150
"""Most steps of an agent on a server."""

_LOOK = 0.05
"""Seconds between checks of an agent for which a request waits."""

router = APIRouter(
    prefix="/agents", tags=["agents"], route_class=WireRoute, responses=refusals(400, 401, 403, 404, 409)
)

_ID = r"^[\w .@:+-]{1,100}$"

AgentId = Annotated[str, Path(pattern=_ID, description="The agent's id.")]


class AgentResponse(BaseModel):
    """An agent's status: `active` while it works, then `closed`; `cost` in US dollars, as text."""

    agent_id: str
    session_id: str
    created_at: datetime
    closed_at: datetime | None
    status: str
    saved: bool = False
    task: str
    url: str | None
    success: bool | None
    answer: str | None
    steps: list[dict[str, Json]]
    cost: str | None
    tokens: int


@router.post("/start")
def start(access: Writer, hosts: Hosts, foreign: Foreign, body: Asked) -> AgentResponse:
    """Begin a task in a session, and answer at once."""
    given = {name: value for name, value in body.items() if value is not None}
    hosted = hosts.find(access.project, str(given.get("session_id")))
    for name in ("notifier_config", "vault_id", "persona_id"):
        if given.pop(name, None):
            raise UsageError(
                f"Agent({name.partition('_')[0]}=…) belongs to a hosted service and is not supported"
            )
    asked = fitted(AgentRequest, given)
    if not re.fullmatch(_ID, asked.agent_id or "agent"):
        raise UsageError(f"agent_id={asked.agent_id!r}: use letters, digits, spaces and .@:+-, at most 100")
    if asked.url is not None:
        check_address(asked.url)
    if asked.max_steps > MOST_STEPS:
        raise UsageError(f"max_steps={asked.max_steps}: an agent on a server takes at most {MOST_STEPS}")
    live = hosted.live()
    default = live.options.model or os.environ.get(MODEL)
    agent = Agent(
        live,
        reasoning_model=model_of(asked.reasoning_model, default, foreign=foreign),
        **asked.model_dump(include={"use_vision", "max_steps", "agent_id", "vault", "persona"}),
    )
    agent.trouble = asked.trouble
    agent.start(asked.task, asked.url, asked.response_format, asked.session_offset)
    hosted.agents[agent.agent_id] = agent
    return _response(agent, foreign=foreign)


@router.get("", include_in_schema=False)
@router.get("/")
def agents(
    access: Reader,
    hosts: Hosts,
    foreign: Foreign,
    *,
    only_active: bool = True,
    page: Annotated[int, Query(ge=1)] = 1,
    page_size: Annotated[int, Query(ge=1, le=200)] = 10,
) -> list[AgentResponse]:
    """Return the agents of this server's run, those of the newest session first."""
    found = [
        agent
        for hosted in hosts.of(access.project)
        for agent in hosted.agents.values()
        if agent.active or not only_active
    ]
    return [_response(agent, foreign=foreign) for agent in found[(page - 1) * page_size : page * page_size]]


@router.get("/{id}")
async def agent(
    access: Reader,
    hosts: Hosts,
    foreign: Foreign,
    *,
    id: AgentId,
    wait: Annotated[
        float, Query(ge=0, le=20, description="Seconds to wait for another step, or the end.")
    ] = 0,
    after: Annotated[int, Query(ge=0, description="The number of steps that the client already has.")] = 0,
) -> AgentResponse:
    """Return an agent's status, with the steps so far."""
    _, found = hosts.agent(access.project, id)
    await _until(lambda: not found.active or len(found.status().steps) > after, wait)
    if foreign and _completes(found):
        # That client takes the last step for the end, so wait until the agent has really ended.
        await _until(lambda: not found.active, 5)
    return _response(found, foreign=foreign)


@router.delete("/{id}/stop")
def stop(access: Writer, hosts: Hosts, foreign: Foreign, id: AgentId) -> AgentResponse:
    """End an agent before its next step, and wait for that."""
    _, found = hosts.agent(access.project, id)
    found.stop()
    return _response(found, foreign=foreign)


@router.get("/{id}/workflow/code")
def code(access: Reader, hosts: Hosts, id: AgentId) -> WorkflowCode:
    """Return the agent's actions, as a script and as data."""
    _, found = hosts.agent(access.project, id)
    return found.workflow.code()


# -- answers -------------------------------------------------------------------------------------------------------


def _response(agent: Agent, *, foreign: bool) -> AgentResponse:
    status = agent.status()
    steps = [_foreign(step, status.created_at) for step in status.steps] if foreign else status.steps
    return AgentResponse(
        agent_id=status.agent_id,
        session_id=status.session_id,
        created_at=status.created_at,
        closed_at=status.closed_at,
        status=status.status,
        task=status.task,
        url=status.url,
        success=status.success,
        answer=status.answer,
        steps=steps,
        cost=None if agent.cost is None else str(agent.cost),
        tokens=agent.tokens,
    )


def _foreign(step: Mapping[str, Any], since: datetime) -> dict[str, Any]:
    """Return a step in a form that `notte-sdk` accepts, too.

    Its `agent.wait()` requires a whole action and a state of mind.
    """
    value = step["value"]
    at = value.get("started_at") or since.isoformat()
    return {
        **step,
        "action": value["action"] or {"type": "help", "reason": step["message"]},
        "started_at": at,
        "ended_at": value.get("ended_at") or at,
        "state": {
            "previous_goal_status": "success" if step["success"] else "failure",
            "previous_goal_eval": step["message"],
            "page_summary": step["url"] or "",
            "relevant_interactions": [],
            "memory": "",
            "next_goal": step["reasoning"] or "",
        },
    }


def _completes(agent: Agent) -> bool:
    steps = agent.status().steps
    return bool(steps) and steps[-1]["action"] == "completion"


async def _until(so: Callable[[], bool], seconds: float) -> None:
    """Wait until a condition holds, at most for some seconds."""
    end = monotonic() + seconds
    while not so() and monotonic() < end:  # noqa: ASYNC110 - an agent's thread knows of no loop of ours
        await asyncio.sleep(_LOOK)
