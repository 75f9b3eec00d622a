"""An agent as a program sees it, wherever it works: in this process, or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reenact.browser.agent.log import Watched
from reenact.browser.agent.status import AgentRequest, AgentStatusResponse
from reenact.browser.page.options import check_steps
from reenact.core.store.writer import warn
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.browser.session.session import Session


@dataclass(frozen=True)
class Errand:
    """One run's task: in plain words, where it begins, the answer's form, from which step of the session it is told."""

    task: str
    url: str | None = None
    response_format: Any = None
    session_offset: int | None = None

    def told(self) -> dict[str, Any]:
        """It as a request has it."""
        return {"task": self.task, "url": self.url, "session_offset": self.session_offset}


class AgentFace(ABC):
    """Does a task in a browser session.

    Args:
        session: Where it works; it must have been started when the agent is.
        reasoning_model: A model of Pydantic AI, or the name of one; by default the session's `model`, or what
            `REENACT_MODEL` names where the agent works. A server knows models by name alone.
        use_vision: Show it a picture of the page too, where its model takes pictures.
        max_steps: So many steps it may take, 1 or more.
        agent_id: A name of your own; by default each run gets an id.
        vault: Secrets by name. The model is told the names alone, and fills in `{{NAME}}`.
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
        self._session = session
        self._model = reasoning_model
        self._name = agent_id
        self._notifier = notifier
        self._trouble = ""
        """Why it is called in, where a script got stuck."""
        self.request = AgentRequest(
            max_steps=max_steps, use_vision=use_vision, reasoning_model=self._named(reasoning_model)
        )
        self._equip(vault, persona)

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
        return self._run(self._sent(Errand(task, url, response_format, session_offset)))

    def start(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """Begin a task, and come back at once. Arguments and errors as for `run`."""
        return self._start(self._sent(Errand(task, url, response_format, session_offset)))

    async def arun(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """`run` in a loop."""
        return await self._arun(self._sent(Errand(task, url, response_format, session_offset)))

    async def astart(
        self,
        task: str,
        url: str | None = None,
        response_format: Any = None,
        session_offset: int | None = None,
    ) -> AgentStatusResponse:
        """`start` in a loop."""
        return await self._astart(self._sent(Errand(task, url, response_format, session_offset)))

    @abstractmethod
    def wait(self) -> AgentStatusResponse:
        """Wait until it has ended. Raises UsageError where it was not started."""

    @abstractmethod
    def status(self) -> AgentStatusResponse:
        """How it stands. Raises UsageError where it was not started."""

    @abstractmethod
    def stop(self) -> AgentStatusResponse:
        """End before the next step, and wait for that: a step that is under way is finished first."""

    @abstractmethod
    def watch_logs(self) -> Watched:
        """Its log while it works: iterate over it with `for` or `async for`, or await it to have it printed.

        Raises UsageError where it was not started.
        """

    @abstractmethod
    async def await_(self) -> AgentStatusResponse:
        """`wait` in a loop."""

    @abstractmethod
    async def astatus(self) -> AgentStatusResponse:
        """`status` in a loop."""

    @abstractmethod
    async def astop(self) -> AgentStatusResponse:
        """`stop` in a loop."""

    # -- what it left ---------------------------------------------------------------------------------------

    @property
    def agent_id(self) -> str:
        """The id of its last run, or the one that it was given. Raises UsageError before it was started without one."""
        known = self._id or self._name
        if known is None:
            raise UsageError("the agent gets its id when it is started: run or start it first")
        return known

    @property
    @abstractmethod
    def cost(self) -> Decimal | None:
        """What its model cost in its last run, in US dollars; None where the price of an answer is not known."""

    @property
    @abstractmethod
    def tokens(self) -> int:
        """What its model read and wrote in its last run."""

    @property
    def session_id(self) -> str:
        """The session that it works in."""
        return self._session.id

    @property
    @abstractmethod
    def active(self) -> bool:
        """Whether it is at work, as far as is known here."""

    @property
    @abstractmethod
    def workflow(self) -> Any:
        """What it did as a script: `agent.workflow.code()`."""

    # -- inside ---------------------------------------------------------------------------------------------

    def _sent(self, errand: Errand) -> Errand:
        """The errand, if it can be run now."""
        if not str(errand.task or "").strip():
            raise UsageError("the agent needs a task: what to do, in plain words")
        if self.active:
            raise UsageError(f"agent {self.agent_id} is at work: wait for it, or stop it")
        return errand

    def _notify(self, last: AgentStatusResponse) -> None:
        if self._notifier is None:
            return
        try:
            self._notifier(last)
        except Exception as error:
            # The work is done: that nobody heard of it is no reason to lose it.
            warn(f"the agent's notifier failed: {type(error).__name__}: {error}")

    @property
    @abstractmethod
    def _id(self) -> str | None:
        """The id of its last run, if there was one."""

    @abstractmethod
    def _named(self, model: Any) -> str | None:
        """What a model is called."""

    @abstractmethod
    def _equip(self, vault: Mapping[str, str] | None, persona: Mapping[str, Any] | str | None) -> None:
        """Take what it is given."""

    @abstractmethod
    def _run(self, errand: Errand) -> AgentStatusResponse: ...

    @abstractmethod
    def _start(self, errand: Errand) -> AgentStatusResponse: ...

    @abstractmethod
    async def _arun(self, errand: Errand) -> AgentStatusResponse: ...

    @abstractmethod
    async def _astart(self, errand: Errand) -> AgentStatusResponse: ...


def not_started() -> UsageError:
    """What is said to who asks an agent that was never started."""
    return UsageError("the agent was not started: run or start it first")
