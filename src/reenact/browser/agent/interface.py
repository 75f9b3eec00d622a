"""The interface of an agent, in this process or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reenact.browser.agent.status import AgentSettings, AgentStatusResponse
from reenact.browser.agent.step_log import LogStream
from reenact.browser.effects.calls import Steps, arun, run
from reenact.browser.page.session_options import check_steps
from reenact.core.store.writer import warn
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.browser.effects.open_session import OpenSession


@dataclass(frozen=True)
class AgentTask:
    """The task of one run: words, start address, form of the answer, first step of the history."""

    task: str
    url: str | None = None
    response_format: Any = None
    session_offset: int | None = None

    def fields(self) -> dict[str, Any]:
        """Return it as the fields of a request."""
        return {"task": self.task, "url": self.url, "session_offset": self.session_offset}


class AgentInterface(ABC):
    """Does a task in a browser session.

    Args:
        session: The session; it must be started first.
        reasoning_model: A model of Pydantic AI, or the name of one; by default the session's `model`, or the value of
            `REENACT_MODEL` on the agent's machine. A server knows models by name alone.
        use_vision: Show it a picture of the page too, if its model accepts pictures.
        max_steps: The most steps it may take, 1 or more.
        agent_id: A name of your own; by default each run gets an id.
        vault: Secrets by name. The model gets only the names, and fills in `{{NAME}}`.
        persona: Facts about the user (a mapping or text), for forms.
        notifier: Called in this process with the last status when a run has ended.

    Attributes:
        request: Its request: `max_steps`, `task` and the rest.
        trouble: The failure of a script from which the agent takes over, or empty.

    Raises:
        UsageError: An invalid argument.
    """

    def __init__(
        self,
        session: OpenSession,
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
        self._model = reasoning_model
        self._name = agent_id
        self._notifier = notifier
        self.trouble = ""
        self.request = AgentSettings(
            max_steps=max_steps, use_vision=use_vision, reasoning_model=self._named(reasoning_model)
        )
        self._equip(vault, persona)

    # -- start and wait -------------------------------------------------------------------------------------

    def run(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """Do a task, and wait until it is done.

        Args:
            task: The task, in plain words.
            url: The start address; by default the session's current page.
            response_format: The form of the answer: a pydantic model, or a JSON schema. `answer` is then JSON text.
            session_offset: Describe the session's actions from this step on to it (see `session.offset()`); by default
                none.

        Returns:
            The last status. A failure is in its `answer`, with `success` False; it raises nothing.

        Raises:
            UsageError: No model, no task, or the agent is at work already.
        """
        return run(self._running(self._sent(AgentTask(task, url, response_format, session_offset))))

    def start(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """Start a task, and return at once. Arguments and errors as for `run`."""
        return run(self._starting(self._sent(AgentTask(task, url, response_format, session_offset))))

    async def arun(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """`run` in a loop."""
        return await arun(self._running(self._sent(AgentTask(task, url, response_format, session_offset))))

    async def astart(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """`start` in a loop."""
        return await arun(self._starting(self._sent(AgentTask(task, url, response_format, session_offset))))

    def wait(self) -> AgentStatusResponse:
        """Wait until the run has ended. Raises UsageError where it was not started."""
        return run(self._waiting())

    async def await_(self) -> AgentStatusResponse:
        """`wait` in a loop."""
        return await arun(self._waiting())

    def status(self) -> AgentStatusResponse:
        """Return the current status. Raises UsageError where it was not started."""
        return run(self._reporting())

    async def astatus(self) -> AgentStatusResponse:
        """`status` in a loop."""
        return await arun(self._reporting())

    def stop(self) -> AgentStatusResponse:
        """Stop before the next step, and wait for the end; a step in progress is finished first."""
        return run(self._stopping())

    async def astop(self) -> AgentStatusResponse:
        """`stop` in a loop."""
        return await arun(self._stopping())

    @abstractmethod
    def watch_logs(self) -> LogStream:
        """Return the live log: iterate with `for` or `async for`, or await it to print it.

        Raises UsageError where it was not started.
        """

    # -- results --------------------------------------------------------------------------------------------

    @property
    def agent_id(self) -> str:
        """The id of its last run, or the given one.

        Raises UsageError before the start where no id was given.
        """
        known = self._id or self._name
        if known is None:
            raise UsageError("the agent gets its id when it is started: run or start it first")
        return known

    @property
    @abstractmethod
    def cost(self) -> Decimal | None:
        """Cost of its model in its last run, in US dollars; None where a price is unknown."""

    @property
    @abstractmethod
    def tokens(self) -> int:
        """Tokens that its model read and wrote in its last run."""

    @property
    def session_id(self) -> str:
        """The id of its session."""
        return self._session.id

    @property
    @abstractmethod
    def active(self) -> bool:
        """True while a run is active, by the last status received."""

    @property
    @abstractmethod
    def workflow(self) -> Any:
        """Its actions as a script: `agent.workflow.code()`."""

    # -- inside ---------------------------------------------------------------------------------------------

    def _sent(self, task: AgentTask) -> AgentTask:
        """Return the task if it can be run now. Raises UsageError."""
        if not str(task.task or "").strip():
            raise UsageError("the agent needs a task: what to do, in plain words")
        if self.active:
            raise UsageError(f"agent {self.agent_id} is at work: wait for it, or stop it")
        return task

    def _notify(self, last: AgentStatusResponse) -> None:
        if self._notifier is None:
            return
        try:
            self._notifier(last)
        except Exception as error:
            # A failing notifier must not lose the finished work.
            warn(f"the agent's notifier failed: {type(error).__name__}: {error}")

    @property
    @abstractmethod
    def _id(self) -> str | None:
        """The id of its last run, or None."""

    @abstractmethod
    def _named(self, model: Any) -> str | None:
        """Return a model's name."""

    @abstractmethod
    def _equip(self, vault: Mapping[str, str] | None, persona: Mapping[str, Any] | str | None) -> None:
        """Store the vault and the persona."""

    @abstractmethod
    def _running(self, task: AgentTask) -> Steps[AgentStatusResponse]:
        """Do a task, and wait until it is done."""

    @abstractmethod
    def _starting(self, task: AgentTask) -> Steps[AgentStatusResponse]:
        """Start a task."""

    @abstractmethod
    def _waiting(self) -> Steps[AgentStatusResponse]:
        """Wait until the run has ended."""

    @abstractmethod
    def _reporting(self) -> Steps[AgentStatusResponse]:
        """Return the current status."""

    @abstractmethod
    def _stopping(self) -> Steps[AgentStatusResponse]:
        """Stop before the next step."""


def not_started() -> UsageError:
    """Return the error for a call that needs a started agent."""
    return UsageError("the agent was not started: run or start it first")
