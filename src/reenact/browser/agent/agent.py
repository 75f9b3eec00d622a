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
from reenact.browser.effects.calls import AwaitedValue, Steps, in_a_loop
from reenact.browser.script.script import Workflow
from reenact.errors import UsageError


class Agent(AgentInterface):
    """Does a task in a browser session.

        agent = client.Agent(session, reasoning_model="openai:gpt-5", max_steps=15)
        result = agent.run("Find the cheapest flight to Lisbon", url="https://flights.example")
        result.success, result.answer, result.steps

    Its arguments are those of `AgentInterface`.
    """

    _loop: AgentLoop | None = None
    _thread: threading.Thread | None = None
    _task: asyncio.Task[Any] | None = None
    _broken: BaseException | None = None

    # -- start and wait -------------------------------------------------------------------------------------

    def _running(self, task: AgentTask) -> Steps[AgentStatusResponse]:
        loop = self._prepared(task)
        last: AgentStatusResponse = yield AwaitedValue(
            lambda: self._run_here(loop), lambda: self._through(loop)
        )
        return last

    def _run_here(self, loop: AgentLoop) -> AgentStatusResponse:
        if not in_a_loop():
            return asyncio.run(self._through(loop))
        # In a notebook, this cell blocks the running loop, so the agent gets its own thread and loop.
        self._start_thread(loop)
        return self.wait()

    def _starting(self, task: AgentTask) -> Steps[AgentStatusResponse]:
        loop = self._prepared(task)
        yield AwaitedValue(lambda: self._start_thread(loop), lambda: self._start_task(loop))
        return loop.snapshot()

    def _waiting(self) -> Steps[AgentStatusResponse]:
        loop = self._started()
        yield AwaitedValue(self._join, lambda: self._ajoin(loop))
        if self._broken is not None:
            raise self._broken
        return loop.snapshot()

    def _join(self) -> None:
        if self._thread is not None:
            with self._session.core.recording.inside():
                self._thread.join()
        elif self._task is not None and not self._task.done():
            raise UsageError("the agent works in this very loop: `await agent.await_()`")

    async def _ajoin(self, loop: AgentLoop) -> None:
        if self._task is not None:
            await asyncio.shield(self._task)
        elif self._thread is not None:
            async for _ in loop.log:
                pass
            self._join()

    def _reporting(self) -> Steps[AgentStatusResponse]:
        yield from ()
        return self._started().snapshot()

    def _stopping(self) -> Steps[AgentStatusResponse]:
        loop = self._started()
        loop.stop()
        last: AgentStatusResponse = yield AwaitedValue(lambda: self._stop_here(loop), self.await_)
        return last

    def _stop_here(self, loop: AgentLoop) -> AgentStatusResponse:
        mine = self._thread is threading.current_thread()
        return loop.snapshot() if mine or self._thread is None else self.wait()

    def halt(self) -> None:
        """Stop before the next step, without waiting. Does nothing if no run is active."""
        if self._loop is not None:
            self._loop.stop()

    def watch_logs(self) -> LogStream:
        """Return the live log: iterate with `for` or `async for`, or await it to print it.

        Raises UsageError if it was not started.
        """
        loop = self._started()
        return LogStream(loop.log, loop.snapshot)

    # -- results --------------------------------------------------------------------------------------------

    @property
    def cost(self) -> Decimal | None:
        """Cost of its model in its last run, in US dollars; None where a price is unknown."""
        return Decimal(0) if self._loop is None else self._loop.cost

    @property
    def tokens(self) -> int:
        """Tokens that its model read and wrote in its last run."""
        return 0 if self._loop is None else self._loop.tokens

    @property
    def active(self) -> bool:
        """True while a run is active."""
        return self._loop is not None and self._loop.active

    @property
    def workflow(self) -> Workflow:
        """Its actions as a script: `agent.workflow.code()`."""
        return Workflow(self._session, self._started().response.agent_id)

    # -- inside ---------------------------------------------------------------------------------------------

    @property
    def _id(self) -> str | None:
        return None if self._loop is None else self._loop.response.agent_id

    def _named(self, model: Any) -> str | None:
        return model if model is None or isinstance(model, str) else _name_of(model)

    def _equip(self, vault: Mapping[str, str] | None, persona: Mapping[str, Any] | str | None) -> None:
        self._vault = Vault(vault)
        self._persona = _words(persona)

    def _prepared(self, task: AgentTask) -> AgentLoop:
        model = models.chosen(self._model or self._session.options.model)
        self.request = self.request.model_copy(update={**task.fields(), "reasoning_model": _name_of(model)})
        self._loop = AgentLoop(
            self._session,
            model,
            self.request,
            response_format=task.response_format,
            name=self._name,
            vault=self._vault,
            persona=self._persona,
            trouble=self.trouble,
        )
        self._thread, self._task, self._broken = None, None, None
        return self._loop

    async def _start_task(self, loop: AgentLoop) -> None:
        self._task = asyncio.create_task(self._through(loop), name="agent")

    def _start_thread(self, loop: AgentLoop) -> None:
        def agent() -> None:
            try:
                asyncio.run(self._through(loop))
            except BaseException as error:
                # `wait` raises it.
                self._broken = error

        self._thread = threading.Thread(target=agent, name="agent", daemon=True)
        with self._session.core.recording.inside():
            self._thread.start()

    async def _through(self, loop: AgentLoop) -> AgentStatusResponse:
        try:
            await loop.run()
        finally:
            loop.end()
        last = loop.snapshot()
        self._notify(last)
        return last

    def _started(self) -> AgentLoop:
        if self._loop is None:
            raise not_started()
        return self._loop


def _name_of(model: Any) -> str:
    return str(getattr(model, "model_name", None) or type(model).__name__)


def _words(persona: Mapping[str, Any] | str | None) -> str:
    if persona is None or isinstance(persona, str):
        return persona or ""
    if isinstance(persona, Mapping):
        return "\n".join(f"{name}: {value}" for name, value in persona.items())
    raise UsageError(f"persona={type(persona).__name__}: it is a mapping of names to values, or text")
