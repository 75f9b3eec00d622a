"""`client.Agent`: a task, and a browser session to do it in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from reenact.browser.agent import models
from reenact.browser.agent.interface import AgentInterface, AgentTask, not_started
from reenact.browser.agent.loop import AgentLoop
from reenact.browser.agent.status import AgentStatusResponse
from reenact.browser.agent.step_log import LogStream
from reenact.browser.agent.vault import Vault
from reenact.browser.script.script import Workflow
from reenact.errors import UsageError


class Agent(AgentInterface):
    """Does a task in a browser session.

        agent = client.Agent(session, reasoning_model="openai:gpt-5", max_steps=15)
        result = agent.run("Find the cheapest flight to Lisbon", url="https://flights.example")
        result.success, result.answer, result.steps

    Its arguments are those of `AgentInterface`.
    """

    _work: AgentLoop | None = None
    _thread: threading.Thread | None = None
    _task: asyncio.Task[Any] | None = None
    _broken: BaseException | None = None

    # -- start and wait -------------------------------------------------------------------------------------

    def _run(self, errand: AgentTask) -> AgentStatusResponse:
        work = self._prepared(errand)
        if not _in_a_loop():
            return asyncio.run(self._through(work))
        # In a notebook the running loop is busy with this cell, so the work gets its own thread and loop.
        self._begin(work)
        return self.wait()

    def _start(self, errand: AgentTask) -> AgentStatusResponse:
        work = self._prepared(errand)
        self._begin(work)
        return work.snapshot()

    def wait(self) -> AgentStatusResponse:
        """Wait until the run has ended. Raises UsageError where it was not started."""
        work = self._begun()
        if self._thread is not None:
            with self._session._crossing.inside():
                self._thread.join()
        elif self._task is not None and not self._task.done():
            raise UsageError("the agent works in this very loop: `await agent.await_()`")
        if self._broken is not None:
            raise self._broken
        return work.snapshot()

    def status(self) -> AgentStatusResponse:
        """Return the current status. Raises UsageError where it was not started."""
        return self._begun().snapshot()

    def stop(self) -> AgentStatusResponse:
        """Stop before the next step, and wait for the end; a step in progress is finished first."""
        work = self._begun()
        work.stop()
        mine = self._thread is threading.current_thread()
        return work.snapshot() if mine or self._thread is None else self.wait()

    def halt(self) -> None:
        """Stop before the next step, without waiting. Harmless where no run is active."""
        if self._work is not None:
            self._work.stop()

    def watch_logs(self) -> LogStream:
        """Return the live log: iterate with `for` or `async for`, or await it to print it.

        Raises UsageError where it was not started.
        """
        work = self._begun()
        return LogStream(work.log, work.snapshot)

    # -- the same in a loop ---------------------------------------------------------------------------------

    async def _arun(self, errand: AgentTask) -> AgentStatusResponse:
        return await self._through(self._prepared(errand))

    async def _astart(self, errand: AgentTask) -> AgentStatusResponse:
        work = self._prepared(errand)
        self._task = asyncio.create_task(self._through(work), name="agent")
        return work.snapshot()

    async def await_(self) -> AgentStatusResponse:
        """`wait` in a loop."""
        work = self._begun()
        if self._task is not None:
            await asyncio.shield(self._task)
        elif self._thread is not None:
            async for _ in work.log:
                pass
            with self._session._crossing.inside():
                self._thread.join()
        if self._broken is not None:
            raise self._broken
        return work.snapshot()

    async def astatus(self) -> AgentStatusResponse:
        """`status` in a loop."""
        return self.status()

    async def astop(self) -> AgentStatusResponse:
        """`stop` in a loop."""
        self._begun().stop()
        return await self.await_()

    # -- results --------------------------------------------------------------------------------------------

    @property
    def cost(self) -> Decimal | None:
        """Cost of its model in its last run, in US dollars; None where a price is unknown."""
        return Decimal(0) if self._work is None else self._work.cost

    @property
    def tokens(self) -> int:
        """Tokens that its model read and wrote in its last run."""
        return 0 if self._work is None else self._work.tokens

    @property
    def active(self) -> bool:
        """True while a run is active."""
        return self._work is not None and self._work.active

    @property
    def workflow(self) -> Workflow:
        """Its actions as a script: `agent.workflow.code()`."""
        return Workflow(self._session, self._begun().response.agent_id)

    # -- inside ---------------------------------------------------------------------------------------------

    @property
    def _id(self) -> str | None:
        return None if self._work is None else self._work.response.agent_id

    def _named(self, model: Any) -> str | None:
        return model if model is None or isinstance(model, str) else _name_of(model)

    def _equip(self, vault: Mapping[str, str] | None, persona: Mapping[str, Any] | str | None) -> None:
        self._vault = Vault(vault)
        self._persona = _words(persona)

    def _prepared(self, errand: AgentTask) -> AgentLoop:
        model = models.chosen(self._model or self._session.options.model)
        self.request = self.request.model_copy(update={**errand.told(), "reasoning_model": _name_of(model)})
        self._work = AgentLoop(
            self._session,
            model,
            self.request,
            response_format=errand.response_format,
            name=self._name,
            vault=self._vault,
            persona=self._persona,
            trouble=self._trouble,
        )
        self._thread, self._task, self._broken = None, None, None
        return self._work

    def _begin(self, work: AgentLoop) -> None:
        def agent() -> None:
            try:
                asyncio.run(self._through(work))
            except BaseException as error:
                # `wait` raises it.
                self._broken = error

        self._thread = threading.Thread(target=agent, name="agent", daemon=True)
        with self._session._crossing.inside():
            self._thread.start()

    async def _through(self, work: AgentLoop) -> AgentStatusResponse:
        try:
            await work.run()
        finally:
            work.end()
        last = work.snapshot()
        self._notify(last)
        return last

    def _begun(self) -> AgentLoop:
        if self._work is None:
            raise not_started()
        return self._work


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _name_of(model: Any) -> str:
    return str(getattr(model, "model_name", None) or type(model).__name__)


def _words(persona: Mapping[str, Any] | str | None) -> str:
    if persona is None or isinstance(persona, str):
        return persona or ""
    if isinstance(persona, Mapping):
        return "\n".join(f"{name}: {value}" for name, value in persona.items())
    raise UsageError(f"persona={type(persona).__name__}: it is a mapping of names to values, or text")
