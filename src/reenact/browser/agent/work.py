"""One run of an agent: observe, ask for one step, do it, until it is complete or out of steps."""

from __future__ import annotations

import json
import threading
import time
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent as Asker
from pydantic_ai import BinaryContent, ModelRetry, capture_run_messages
from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelResponse, UserContent
from pydantic_ai.models import Model

from reenact.browser.agent import models, prompt, status
from reenact.browser.agent.decision import Decision, decision_of, formed, schema_of
from reenact.browser.agent.log import Log
from reenact.browser.agent.seen import Seen, executed, looked, told_before
from reenact.browser.agent.vault import Vault
from reenact.core import boundary
from reenact.core.model.event import Effect
from reenact.errors import ReenactError, SessionError

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

RETRIES = 2
"""So often an answer that is of no use is told back within one step."""

MOST_USELESS = 3
"""After so many steps in a row without an answer of use, the agent gives up."""


class Work:
    """One run of an agent.

    Args:
        session: Where it acts.
        model: Whom it asks.
        request: What it is to do.
        response_format: The form of its answer, or None for text.
        name: The agent's id where the user gave one: its stretch of the recording is named after it.
        vault: Secrets that it may fill in without knowing them.
        persona: Who the user is.
        trouble: At what a script got stuck, where the agent takes over from one.

    Attributes:
        response: How it stands, kept up to date.
        log: One line a step.
        cost: What its model cost so far, in US dollars; None where the price of an answer is not known.
        tokens: What that read and wrote so far.
    """

    def __init__(
        self,
        session: Session,
        model: Model[Any],
        request: status.AgentRequest,
        *,
        response_format: Any = None,
        name: str | None = None,
        vault: Vault,
        persona: str = "",
        trouble: str = "",
    ) -> None:
        self._session, self._model, self._request = session, model, request
        self._form = response_format
        self._name = name
        self._vault = vault
        self._persona = persona
        self._trouble = trouble
        self.cost: Decimal | None = Decimal(0)
        self.tokens = 0
        self._vision = request.use_vision and models.sees(model)
        self._seen: Seen | None = None
        self._before = ""
        self._useless = ""
        self._stopping = threading.Event()
        self.log = Log()
        self._asker = Asker(
            model,
            output_type=decision_of(response_format),
            instructions=prompt.INSTRUCTIONS,
            name="step",
            retries=RETRIES,
        )
        self._asker.output_validator(self._checked)
        self._scope = self._stretch()
        self.response = self._born()
        self.log.add(f"agent {self.response.agent_id}: {request.task}")

    @property
    def active(self) -> bool:
        """Whether it has not ended yet."""
        return self.response.status == "active"

    def snapshot(self) -> status.AgentStatusResponse:
        """How it stands now; what comes later does not change it."""
        return self.response.model_copy(update={"steps": list(self.response.steps)})

    def end(self) -> None:
        """It does not go on, whatever the reason."""
        if self.active:
            self.response.status, self.response.success = "closed", False
            self.response.answer = "interrupted before it was done"
        self.log.close()

    def stop(self) -> None:
        """End before the next step."""
        self._stopping.set()

    async def run(self) -> status.AgentStatusResponse:
        """Work until it is done. Whatever goes wrong is the answer; what is no error (a replay that departs) passes."""
        with boundary.entered(self._scope):
            try:
                success, answer = await self._worked()
            except Exception as error:
                success, answer = False, _in_words(error)
            return self._close(success, answer)

    def _stretch(self) -> boundary.Scope | None:
        """The stretch of the recording that is this run's, whichever thread or task then works in it.

        It is named after the agent only where the user named that: two runs of a program are compared by such names.
        """
        with self._session._crossing.inside():
            around = boundary.current()
            if around is None or around.hidden:
                return around
            return around.span(f"agent:{self._name or 'browser'}")

    def _born(self) -> status.AgentStatusResponse:
        """Name the run and what it is to do: a step of the recording, whose answer is the run's id."""
        request = self._request
        asked: dict[str, Any] = {"task": request.task, "url": request.url, "max_steps": request.max_steps}
        if self._form is not None:
            asked["response_format"] = dict(schema_of(self._form))

        def born() -> dict[str, Any]:
            return {"agent_id": self._name or uuid.uuid4().hex, "at": time.time()}

        with boundary.entered(self._scope):
            found = boundary.perform(Effect("agent", "start", asked, leaf=True), born)
        return status.AgentStatusResponse(
            agent_id=found["agent_id"],
            session_id=self._session.id,
            created_at=datetime.fromtimestamp(found["at"], UTC),
            task=request.task or "",
            url=request.url,
        )

    @property
    def _steps(self) -> list[dict[str, Any]]:
        return self.response.steps

    async def _worked(self) -> tuple[bool, str]:
        request = self._request
        self._before = told_before(self._session, request.session_offset)
        if request.url:
            _, went = await executed(self._session, {"type": "goto", "url": request.url})
            if not went["success"]:
                return False, f"{request.url} cannot be opened: {went['message']}"
        useless = 0
        for left in range(request.max_steps, 0, -1):
            # In a replay, and in a fork up to its step, the answer is the recorded one.
            if boundary.draw("agent:stop", self._stopping.is_set):
                return False, "stopped before it was done"
            taken = await self._step(left)
            self._steps.append(taken)
            self.log.add(status.line(len(self._steps), taken))
            if taken["action"] == "completion":
                return taken["success"], taken["value"]["action"]["answer"]
            if taken["action"] == "help":
                return False, f"it needs help: {taken['value']['action']['reason']}"
            useless = useless + 1 if taken["action"] is None else 0
            if useless == MOST_USELESS:
                return (
                    False,
                    f"the model gave {useless} answers in a row that were of no use: {self._useless}",
                )
        return False, f"not done after {request.max_steps} steps, as many as max_steps allows"

    async def _step(self, left: int) -> dict[str, Any]:
        self._seen = await looked(self._session)
        self._useless = ""
        try:
            decision = await self._asked(self._seen, left)
        except UnexpectedModelBehavior as error:
            message = self._useless or " ".join(str(error).split())
            self._useless = message
            return status.step("", None, {"success": False, "message": message, "url": self._seen.url})
        action = decision.action
        if action["type"] == "completion":
            action["answer"] = self._answer(action)
        shown, outcome = await executed(self._session, action, self._vault.filled(action))
        return status.step(decision.reasoning, shown, outcome)

    def _answer(self, action: dict[str, Any]) -> str:
        """What a completion answers: text, or JSON text of the form asked for."""
        if self._form is not None and action["success"]:
            return formed(action["answer"], self._form)
        return (
            action["answer"]
            if isinstance(action["answer"], str)
            else json.dumps(action["answer"], default=str)
        )

    async def _asked(self, seen: Seen, left: int) -> Decision:
        """The model's next step."""
        text = prompt.asked(
            task=self._request.task or "",
            page=seen.text,
            steps=self._steps,
            left=left,
            before=self._before,
            trouble=self._trouble,
            hint=prompt.hint(self._steps),
            form=None if self._form is None else schema_of(self._form),
            secrets=self._vault.names,
            persona=self._persona,
        )
        if not (self._vision and seen.picture):
            return await self._ask(text)
        pictured: list[UserContent] = [text, BinaryContent(seen.picture, media_type=seen.picture_type)]
        try:
            return await self._ask(pictured)
        except ModelHTTPError as error:
            if error.status_code not in {400, 404, 415, 422} or self._steps:
                raise
            # Nothing said that the model takes no pictures: it says so itself, at the first one.
            self._vision = False
            self.log.add(f"{self._model.model_name} refused the picture; it goes on without")
            return await self._ask(text)

    async def _ask(self, content: str | list[UserContent]) -> Decision:
        """The model's answer to that, its cost counted also where no answer was of use."""
        with capture_run_messages() as messages:
            try:
                return (await self._asker.run(content)).output
            finally:
                for message in messages:
                    if isinstance(message, ModelResponse):
                        self._count(message)

    def _count(self, answer: ModelResponse) -> None:
        self.tokens += answer.usage.input_tokens + answer.usage.output_tokens
        if self.cost is not None:
            price = models.price(answer)
            self.cost = None if price is None else self.cost + price

    def _checked(self, decision: Decision) -> Decision:
        """An answer that can be acted on; what is wrong with another one is told back to the model."""
        assert self._seen is not None
        action = decision.action
        try:
            if action["type"] == "completion":
                action["answer"] = self._answer(action)
            complaint = self._seen.complaint(action)
        except ValueError as error:
            complaint = str(error)
        if complaint:
            self._useless = complaint
            raise ModelRetry(complaint)
        return decision

    def _close(self, success: bool, answer: str) -> status.AgentStatusResponse:
        self.response.closed_at = datetime.fromtimestamp(boundary.draw("agent:clock", time.time), UTC)
        self.response.success, self.response.answer = success, answer
        self.response.status = "closed"
        self.log.add(f"{'done' if success else 'not done'}: {answer}")
        self.log.close()
        return self.response


def _in_words(error: Exception) -> str:
    """What ended the run, as its answer."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, SessionError):
        return f"the session has ended: {text}"
    if isinstance(error, ModelHTTPError):
        return f"the model {error.model_name} could not be asked (status {error.status_code}): {text}"
    if isinstance(error, AgentRunError):
        return f"the model could not be asked: {text}"
    return text if isinstance(error, ReenactError) else f"{type(error).__name__}: {text}"
