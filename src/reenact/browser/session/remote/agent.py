"""An agent on a server: it works beside the browser, and uses the server's models."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reenact.browser.agent.decision import schema_of
from reenact.browser.agent.interface import AgentInterface, AgentTask, not_started
from reenact.browser.agent.status import AgentStatusResponse, line
from reenact.browser.agent.step_log import LogStream, StepLog
from reenact.browser.effects.calls import Steps, arun, run
from reenact.browser.effects.operations import Operation, ServerSession
from reenact.browser.script.script import WorkflowCode
from reenact.errors import SessionError, UsageError

if TYPE_CHECKING:
    from reenact.browser.effects.open_session import OpenSession

PATIENCE = 20
"""Seconds after which the server answers a status request even without a change."""


class RemoteAgent(AgentInterface):
    """Does a task in a session on a server.

    Its arguments are those of `AgentInterface`; a vault is sent to the server.
    """

    _last: AgentStatusResponse | None = None
    _notified = False
    _cost: Decimal | None = Decimal(0)
    _tokens = 0

    # -- start and wait -------------------------------------------------------------------------------------

    def _running(self, task: AgentTask) -> Steps[AgentStatusResponse]:
        yield from self._starting(task)
        return (yield from self._waiting())

    def _starting(self, task: AgentTask) -> Steps[AgentStatusResponse]:
        return self._received((yield from self._session.core.ask(self._start_step(task))))

    def _waiting(self) -> Steps[AgentStatusResponse]:
        return self._ask("wait")

    def _reporting(self) -> Steps[AgentStatusResponse]:
        return self._ask("status")

    def _stopping(self) -> Steps[AgentStatusResponse]:
        return self._ask("stop")

    def watch_logs(self) -> LogStream:
        """Return the live log: iterate with `for` or `async for`, or await it to print it.

        Raises UsageError if it was not started.
        """
        first, log = self._started(), StepLog()
        log.add(f"agent {first.agent_id}: {first.task}")
        threading.Thread(target=self._follow, args=(log,), name="agent-log", daemon=True).start()
        return LogStream(log, self._started)

    # -- results --------------------------------------------------------------------------------------------

    @property
    def cost(self) -> Decimal | None:
        """Cost of its model in its last run, in US dollars; None where a price is unknown."""
        return self._cost

    @property
    def tokens(self) -> int:
        """Tokens that its model read and wrote in its last run."""
        return self._tokens

    @property
    def active(self) -> bool:
        """True if it works, according to the last status received."""
        return self._last is not None and self._last.status == "active"

    @property
    def workflow(self) -> RemoteWorkflow:
        """Its actions as a script: `agent.workflow.code()`."""
        return RemoteWorkflow(self._session, self._started().agent_id)

    # -- inside ---------------------------------------------------------------------------------------------

    @property
    def _id(self) -> str | None:
        return None if self._last is None else self._last.agent_id

    def _named(self, model: Any) -> str | None:
        if model is not None and not isinstance(model, str):
            raise UsageError(
                f"reasoning_model={type(model).__name__}: a server knows models by name, such as 'openai:gpt-5'"
            )
        return model

    def _equip(self, vault: Mapping[str, str] | None, persona: Mapping[str, Any] | str | None) -> None:
        if vault is not None and not isinstance(vault, Mapping):
            raise UsageError(f"vault={type(vault).__name__}: it is a mapping of names to secrets")
        self._vault, self._persona = vault, persona

    def _start_step(self, task: AgentTask) -> Operation:
        self.request = self.request.model_copy(update=task.fields())
        asked = self.request.model_dump(exclude_none=True)
        if task.response_format is not None:
            asked["response_format"] = dict(schema_of(task.response_format))
        besides = {
            "agent_id": self._name,
            "vault": None if self._vault is None else dict(self._vault),
            "persona": self._persona,
            "trouble": self.trouble or None,
        }
        sent = {**asked, **{name: value for name, value in besides.items() if value is not None}}

        async def wire(link: ServerSession) -> Any:
            sent["session_id"] = self._session.id
            return {"status": await link.request("POST", "agents/start", sent), "outcomes": []}

        self._notified = False
        return Operation("agent.start", _nowhere, lambda _: asked, kind="remote", wire=wire)

    def _ask(self, what: str) -> Steps[AgentStatusResponse]:
        last = self._started()
        # An ended agent stays as it is, also after the session's end.
        if last.status == "closed":
            return last
        return self._received((yield from self._session.core.ask(self._asking(what))))

    def _asking(self, what: str) -> Operation:
        """Return the request about the agent; the answer includes its new actions in the session."""
        id = self._started().agent_id
        known = self._session.offset()

        async def wire(link: ServerSession) -> Any:
            if what == "stop":
                await link.request("DELETE", f"agents/{id}/stop")
            answer = (
                await _closed(link, id) if what != "status" else await link.request("GET", f"agents/{id}")
            )
            steps = await link.ask("GET", f"steps?offset={known}")
            return {"status": answer, "outcomes": steps["steps"]}

        return Operation(f"agent.{what}", _nowhere, kind="remote", wire=wire)

    def _received(self, outcome: Mapping[str, Any]) -> AgentStatusResponse:
        answer = outcome["status"]
        self._session.core.adopt(outcome["outcomes"])
        self._cost = None if answer["cost"] is None else Decimal(answer["cost"])
        self._tokens = answer["tokens"]
        last = self._last = AgentStatusResponse.model_validate(answer)
        if last.status == "closed" and not self._notified:
            self._notified = True
            self._notify(last)
        return last

    def _follow(self, log: StepLog) -> None:
        """Write each new step into a log, until the agent has ended. This is not recorded."""
        there, seen = self._session.core.remote, 0
        try:
            while there is not None and there.up:
                path = f"agents/{self.agent_id}?wait={PATIENCE}&after={seen}"
                answer = self._session.core.driver.call(functools.partial(there.request, "GET", path)).block()
                for number, taken in enumerate(answer["steps"][seen:], seen + 1):
                    log.add(line(number, taken))
                seen = len(answer["steps"])
                if answer["status"] == "closed":
                    log.add(f"{'done' if answer['success'] else 'not done'}: {answer['answer']}")
                    return
        except SessionError as error:
            log.add(f"no more is known: {error}")
        finally:
            log.close()

    def _started(self) -> AgentStatusResponse:
        if self._last is None:
            raise not_started()
        return self._last


class RemoteWorkflow:
    """The actions of an agent on a server, as a script.

    Args:
        session: The agent's session.
        agent_id: The agent.
    """

    def __init__(self, session: OpenSession, agent_id: str) -> None:
        self._session, self._path = session, f"agents/{agent_id}/workflow/code"

    def code(self) -> WorkflowCode:
        """Return the script."""
        return WorkflowCode.model_validate(run(self._session.core.ask(self._step())))

    async def acode(self) -> WorkflowCode:
        """`code`, awaited."""
        return WorkflowCode.model_validate(await arun(self._session.core.ask(self._step())))

    def _step(self) -> Operation:
        async def wire(link: ServerSession) -> Any:
            return await link.request("GET", self._path)

        return Operation("agent.code", _nowhere, kind="remote", wire=wire)


async def _closed(link: ServerSession, id: str) -> Any:
    """Wait for the last status and return it."""
    seen = 0
    while True:
        answer = await link.request("GET", f"agents/{id}?wait={PATIENCE}&after={seen}")
        if answer["status"] == "closed":
            return answer
        seen = len(answer["steps"])
        await asyncio.sleep(0)


async def _nowhere(live: Any, call: int | None) -> Any:
    raise SessionError("an agent of a server's is asked there")
