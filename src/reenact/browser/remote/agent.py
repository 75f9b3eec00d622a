"""An agent of a server's: it works where the browser is, and asks the models that the server knows."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reenact.browser.agent.decision import schema_of
from reenact.browser.agent.log import Log, Watched
from reenact.browser.agent.status import AgentRequest, AgentStatusResponse, line
from reenact.browser.options import check_steps
from reenact.browser.script import WorkflowCode
from reenact.browser.steps import Link, Step
from reenact.errors import SessionError, UsageError
from reenact.store.writer import warn

if TYPE_CHECKING:
    from reenact.browser.session import Session

PATIENCE = 20
"""Seconds that the server holds a question before it says that nothing has changed."""


class RemoteAgent:
    """Does a task in a session of a server's. The same calls as `reenact.browser.agent.Agent` has.

    Args:
        session: Where it works.
        reasoning_model: The name of a model; by default the one that the session or the server names.
        use_vision: Show it a picture of the page too, where its model takes pictures.
        max_steps: So many steps it may take, 1 or more.
        agent_id: A name of your own; by default each run gets an id.
        vault: Secrets by name. They are sent to the server, and its model is told the names alone.
        persona: Who the user is (a mapping or text), for forms.
        notifier: Called here with the last status when a run has ended.

    Attributes:
        request: What it was asked for: `max_steps`, `task` and the rest.

    Raises:
        UsageError: An argument that cannot be.
    """

    def __init__(
        self,
        session: Session,
        *,
        reasoning_model: Any = None,
        use_vision: bool = True,
        max_steps: int = 20,
        agent_id: str | None = None,
        vault: Mapping[str, str] | None = None,
        persona: Mapping[str, Any] | str | None = None,
        notifier: Callable[[AgentStatusResponse], Any] | None = None,
    ) -> None:
        check_steps(max_steps)
        if reasoning_model is not None and not isinstance(reasoning_model, str):
            raise UsageError(
                f"reasoning_model={type(reasoning_model).__name__}: a server knows models by name, such as "
                "'openai:gpt-5'"
            )
        if vault is not None and not isinstance(vault, Mapping):
            raise UsageError(f"vault={type(vault).__name__}: it is a mapping of names to secrets")
        self._session = session
        self._name = agent_id
        self._vault = vault
        self._persona = persona
        self._notifier = notifier
        self._trouble = ""
        """Why it is called in, where a script got stuck."""
        self._last: AgentStatusResponse | None = None
        self._told = False
        self.cost: Decimal | None = Decimal(0)
        self.tokens = 0
        self.request = AgentRequest(
            max_steps=max_steps, use_vision=use_vision, reasoning_model=reasoning_model
        )

    # -- to start, and to wait ------------------------------------------------------------------------------

    def run(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """Do a task, and wait until it is done. As `Agent.run`."""
        self.start(task, url, response_format, session_offset)
        return self.wait()

    def start(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """Begin a task, and come back at once. As `Agent.start`."""
        return self._heard(self._session._run(self._starting(task, url, response_format, session_offset)))

    def wait(self) -> AgentStatusResponse:
        """Wait until it has ended. Raises UsageError where it was not started."""
        return self._asked("wait")

    def status(self) -> AgentStatusResponse:
        """How it stands. Raises UsageError where it was not started."""
        return self._asked("status")

    def stop(self) -> AgentStatusResponse:
        """End before the next step, and wait for that."""
        return self._asked("stop")

    def watch_logs(self) -> Watched:
        """Its log while it works: iterate over it with `for` or `async for`, or await it to have it printed.

        Raises UsageError where it was not started.
        """
        first, log = self._begun(), Log()
        log.add(f"agent {first.agent_id}: {first.task}")
        threading.Thread(target=self._follow, args=(log,), name="agent-log", daemon=True).start()
        return Watched(log, self._begun)

    # -- the same in a loop ---------------------------------------------------------------------------------

    async def arun(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """`run` in a loop."""
        await self.astart(task, url, response_format, session_offset)
        return await self.await_()

    async def astart(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """`start` in a loop."""
        step = self._starting(task, url, response_format, session_offset)
        return self._heard(await self._session._arun(step))

    async def await_(self) -> AgentStatusResponse:
        """`wait` in a loop."""
        return await self._aasked("wait")

    async def astatus(self) -> AgentStatusResponse:
        """`status` in a loop."""
        return await self._aasked("status")

    async def astop(self) -> AgentStatusResponse:
        """`stop` in a loop."""
        return await self._aasked("stop")

    # -- what it left ---------------------------------------------------------------------------------------

    @property
    def agent_id(self) -> str:
        """The id of its last run, or the one that it was given. Raises UsageError before it was started without one."""
        if self._last is not None:
            return self._last.agent_id
        if self._name is None:
            raise UsageError("the agent gets its id when it is started: run or start it first")
        return self._name

    @property
    def session_id(self) -> str:
        """The session that it works in."""
        return self._session.id

    @property
    def workflow(self) -> RemoteWorkflow:
        """What it did as a script: `agent.workflow.code()`."""
        return RemoteWorkflow(self._session, self._begun().agent_id)

    # -- inside ---------------------------------------------------------------------------------------------

    def _starting(self, task: str, url: str | None, form: Any, session_offset: int | None) -> Step:
        if not str(task or "").strip():
            raise UsageError("the agent needs a task: what to do, in plain words")
        if self._last is not None and self._last.status == "active":
            raise UsageError(f"agent {self.agent_id} is at work: wait for it, or stop it")
        self.request = self.request.model_copy(
            update={"task": task, "url": url, "session_offset": session_offset}
        )
        asked = self.request.model_dump(exclude_none=True)
        if form is not None:
            asked["response_format"] = dict(schema_of(form))
        besides = {
            "agent_id": self._name,
            "vault": None if self._vault is None else dict(self._vault),
            "persona": self._persona,
            "trouble": self._trouble or None,
        }
        sent = {**asked, **{name: value for name, value in besides.items() if value is not None}}

        async def wire(link: Link) -> Any:
            sent["session_id"] = self._session.id
            return {"status": await link.request("POST", "agents/start", sent), "outcomes": []}

        self._told = False
        return Step("agent.start", _nowhere, lambda _: asked, kind="remote", wire=wire)

    def _asked(self, what: str) -> AgentStatusResponse:
        last = self._begun()
        # What has ended stays as it is, also behind the session's end.
        return last if last.status == "closed" else self._heard(self._session._run(self._asking(what)))

    async def _aasked(self, what: str) -> AgentStatusResponse:
        last = self._begun()
        return last if last.status == "closed" else self._heard(await self._session._arun(self._asking(what)))

    def _asking(self, what: str) -> Step:
        """A question about the agent; what it has done in the session by then comes along."""
        id = self._begun().agent_id
        known = self._session.offset()

        async def wire(link: Link) -> Any:
            if what == "stop":
                await link.request("DELETE", f"agents/{id}/stop")
            told = await _closed(link, id) if what != "status" else await link.request("GET", f"agents/{id}")
            steps = await link.ask("GET", f"steps?offset={known}")
            return {"status": told, "outcomes": steps["steps"]}

        return Step(f"agent.{what}", _nowhere, kind="remote", wire=wire)

    def _heard(self, outcome: Mapping[str, Any]) -> AgentStatusResponse:
        told = outcome["status"]
        self._session._caught_up(outcome["outcomes"])
        self.cost = None if told["cost"] is None else Decimal(told["cost"])
        self.tokens = told["tokens"]
        last = self._last = AgentStatusResponse.model_validate(told)
        if last.status == "closed" and not self._told:
            self._told = True
            self._notify(last)
        return last

    def _notify(self, last: AgentStatusResponse) -> None:
        if self._notifier is None:
            return
        try:
            self._notifier(last)
        except Exception as error:
            # The work is done: that nobody heard of it is no reason to lose it.
            warn(f"the agent's notifier failed: {type(error).__name__}: {error}")

    def _follow(self, log: Log) -> None:
        """Write each step into a log as it comes, until the agent has ended. Nothing of it is recorded."""
        there, seen = self._session._there, 0
        try:
            while there is not None and there.up:
                path = f"agents/{self.agent_id}?wait={PATIENCE}&after={seen}"
                told = self._session._driver.call(functools.partial(there.request, "GET", path))
                for number, taken in enumerate(told["steps"][seen:], seen + 1):
                    log.add(line(number, taken))
                seen = len(told["steps"])
                if told["status"] == "closed":
                    log.add(f"{'done' if told['success'] else 'not done'}: {told['answer']}")
                    return
        except SessionError as error:
            log.add(f"no more is known: {error}")
        finally:
            log.close()

    def _begun(self) -> AgentStatusResponse:
        if self._last is None:
            raise UsageError("the agent was not started: run or start it first")
        return self._last


class RemoteWorkflow:
    """What an agent of a server's did, as a script.

    Args:
        session: Where it worked.
        agent_id: The agent.
    """

    def __init__(self, session: Session, agent_id: str) -> None:
        self._session, self._path = session, f"agents/{agent_id}/workflow/code"

    def code(self) -> WorkflowCode:
        """The script."""
        return WorkflowCode.model_validate(self._session._run(self._step()))

    async def acode(self) -> WorkflowCode:
        """`code`, awaited."""
        return WorkflowCode.model_validate(await self._session._arun(self._step()))

    def _step(self) -> Step:
        async def wire(link: Link) -> Any:
            return await link.request("GET", self._path)

        return Step("agent.code", _nowhere, kind="remote", wire=wire)


async def _closed(link: Link, id: str) -> Any:
    """The last status, once there is one."""
    seen = 0
    while True:
        told = await link.request("GET", f"agents/{id}?wait={PATIENCE}&after={seen}")
        if told["status"] == "closed":
            return told
        seen = len(told["steps"])
        await asyncio.sleep(0)


async def _nowhere(live: Any, call: int | None) -> Any:
    raise SessionError("an agent of a server's is asked there")
