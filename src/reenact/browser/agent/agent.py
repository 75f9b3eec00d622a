"""`client.Agent`: a task, and a browser session to do it in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reenact.browser.agent import models
from reenact.browser.agent.log import Watched
from reenact.browser.agent.status import AgentRequest, AgentStatusResponse
from reenact.browser.agent.vault import Vault
from reenact.browser.agent.work import Work
from reenact.browser.options import check_steps
from reenact.browser.script import Workflow
from reenact.errors import UsageError
from reenact.store.writer import warn

if TYPE_CHECKING:
    from reenact.browser.session import Session


class Agent:
    """Does a task in a browser session.

        agent = client.Agent(session, reasoning_model="openai:gpt-5", max_steps=15)
        result = agent.run("Find the cheapest flight to Lisbon", url="https://flights.example")
        result.success, result.answer, result.steps

    Args:
        session: Where it works; it must have been started when the agent is.
        reasoning_model: A model of Pydantic AI, or the name of one; by default the session's `model`, or what
            `REENACT_MODEL` names.
        use_vision: Show it a picture of the page too, where its model takes pictures.
        max_steps: So many steps it may take, 1 or more.
        agent_id: A name of your own; by default each run gets an id.
        vault: Secrets by name. The model is told the names alone, and fills in `{{NAME}}`.
        persona: Who the user is (a mapping or text), for forms.
        notifier: Called with the last status when a run has ended.

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
        self._session = session
        self._asked = reasoning_model
        self._name = agent_id
        self._vault = Vault(vault)
        self._persona = _words(persona)
        self._notifier = notifier
        self._work: Work | None = None
        self._thread: threading.Thread | None = None
        self._task: asyncio.Task[Any] | None = None
        self._broken: BaseException | None = None
        self._trouble = ""
        """Why it is called in, where a script got stuck."""
        named = (
            reasoning_model
            if reasoning_model is None or isinstance(reasoning_model, str)
            else _name_of(reasoning_model)
        )
        self.request = AgentRequest(max_steps=max_steps, use_vision=use_vision, reasoning_model=named)

    # -- to start, and to wait ------------------------------------------------------------------------------

    def run(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """Do a task, and wait until it is done.

        Args:
            task: What to do, in plain words.
            url: Where to begin; by default the page that the session is at.
            response_format: The form of the answer: a pydantic model, or a JSON schema. `answer` is then JSON text.
            session_offset: Tell it what the session did from this step on (see `session.offset()`); by default it is
                told nothing.

        Returns:
            The last status. What went wrong is in its `answer`, with `success` False; nothing is raised for that.

        Raises:
            UsageError: No model, no task, or the agent is at work already.
        """
        work = self._prepared(task, url, response_format, session_offset)
        if not _in_a_loop():
            return asyncio.run(self._through(work))
        # A notebook: its loop is busy with this very cell, so the work gets a thread and a loop of its own.
        self._begin(work)
        return self.wait()

    def start(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """Begin a task, and come back at once. Arguments and errors as for `run`."""
        work = self._prepared(task, url, response_format, session_offset)
        self._begin(work)
        return work.snapshot()

    def wait(self) -> AgentStatusResponse:
        """Wait until it has ended. Raises UsageError where it was not started."""
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
        """How it stands. Raises UsageError where it was not started."""
        return self._begun().snapshot()

    def stop(self) -> AgentStatusResponse:
        """End before the next step, and wait for that: a step that is under way is finished first."""
        work = self._begun()
        work.stop()
        mine = self._thread is threading.current_thread()
        return work.snapshot() if mine or self._thread is None else self.wait()

    def halt(self) -> None:
        """End before the next step, and do not wait for that. Harmless where it is not at work."""
        if self._work is not None:
            self._work.stop()

    def watch_logs(self) -> Watched:
        """Its log while it works: iterate over it with `for` or `async for`, or await it to have it printed.

        Raises UsageError where it was not started.
        """
        work = self._begun()
        return Watched(work.log, work.snapshot)

    # -- the same in a loop ---------------------------------------------------------------------------------

    async def arun(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """`run` in a loop."""
        return await self._through(self._prepared(task, url, response_format, session_offset))

    async def astart(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """`start` in a loop, as a task of it."""
        work = self._prepared(task, url, response_format, session_offset)
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

    # -- what it left ---------------------------------------------------------------------------------------

    @property
    def agent_id(self) -> str:
        """The id of its last run, or the one that it was given. Raises UsageError before it was started without one."""
        if self._work is not None:
            return self._work.response.agent_id
        if self._name is None:
            raise UsageError("the agent gets its id when it is started: run or start it first")
        return self._name

    @property
    def cost(self) -> Decimal | None:
        """What its model cost in its last run, in US dollars; None where the price of an answer is not known."""
        return Decimal(0) if self._work is None else self._work.cost

    @property
    def tokens(self) -> int:
        """What its model read and wrote in its last run."""
        return 0 if self._work is None else self._work.tokens

    @property
    def active(self) -> bool:
        """Whether it is at work."""
        return self._work is not None and self._work.active

    @property
    def session_id(self) -> str:
        """The session that it works in."""
        return self._session.id

    @property
    def workflow(self) -> Workflow:
        """What it did as a script: `agent.workflow.code()`."""
        return Workflow(self._session, self._begun().response.agent_id)

    # -- inside ---------------------------------------------------------------------------------------------

    def _prepared(self, task: str, url: str | None, response_format: Any, session_offset: int | None) -> Work:
        if not str(task or "").strip():
            raise UsageError("the agent needs a task: what to do, in plain words")
        if self._work is not None and self._work.active:
            raise UsageError(f"agent {self.agent_id} is at work: wait for it, or stop it")
        model = models.chosen(self._asked or self._session.options.model)
        self.request = self.request.model_copy(
            update={
                "task": task,
                "url": url,
                "session_offset": session_offset,
                "reasoning_model": _name_of(model),
            }
        )
        self._work = Work(
            self._session,
            model,
            self.request,
            response_format=response_format,
            name=self._name,
            vault=self._vault,
            persona=self._persona,
            trouble=self._trouble,
        )
        self._thread, self._task, self._broken = None, None, None
        return self._work

    def _begin(self, work: Work) -> None:
        def agent() -> None:
            try:
                asyncio.run(self._through(work))
            except BaseException as error:
                # Whoever waits for the agent hears of it.
                self._broken = error

        self._thread = threading.Thread(target=agent, name="agent", daemon=True)
        with self._session._crossing.inside():
            self._thread.start()

    async def _through(self, work: Work) -> AgentStatusResponse:
        try:
            await work.run()
        finally:
            work.end()
        last = work.snapshot()
        if self._notifier is not None:
            try:
                self._notifier(last)
            except Exception as error:
                # The work is done: that nobody heard of it is no reason to lose it.
                warn(f"the agent's notifier failed: {type(error).__name__}: {error}")
        return last

    def _begun(self) -> Work:
        if self._work is None:
            raise UsageError("the agent was not started: run or start it first")
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
