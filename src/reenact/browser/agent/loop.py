"""One run of an agent: observe, ask for one step, do it, until completion or the step limit."""

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
from reenact.browser.agent.interaction import ShownPage, executed, looked, told_before
from reenact.browser.agent.step_log import StepLog
from reenact.browser.agent.vault import Vault
from reenact.core import boundary
from reenact.core.model.event import Effect
from reenact.errors import ReenactError, SessionError

if TYPE_CHECKING:
    from reenact.browser.effects.open_session import OpenSession

RETRIES = 2
"""Most unusable answers that are returned to the model within one step."""

MOST_USELESS = 3
"""Consecutive steps without a usable answer after which the agent gives up."""


class AgentLoop:
    """One run of an agent.

    Args:
        session: The session it acts in.
        model: The model it asks.
        request: Its request.
        response_format: The form of its answer, or None for text.
        name: The agent's id if the user gave one: its span in the recording is named after it.
        vault: Secrets that it may fill in without knowing them.
        persona: Facts about the user.
        trouble: The failure of the script from which the agent takes over.

    Attributes:
        response: Its status, kept up to date.
        log: One line for each step.
        cost: Cost of its model so far, in US dollars; None where a price is unknown.
        tokens: Tokens that the model read and wrote so far.
    """

    def __init__(
        self,
        session: OpenSession,
        model: Model[Any],
        request: status.AgentSettings,
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
        self._seen: ShownPage | None = None
        self._before = ""
        self._useless = ""
        self._stopping = threading.Event()
        self.log = StepLog()
        self._asker = Asker(
            model,
            output_type=decision_of(response_format),
            instructions=prompt.INSTRUCTIONS,
            name="step",
            retries=RETRIES,
        )
        self._asker.output_validator(self._checked)
        self._scope = self._span()
        self.response = self._record_start()
        self.log.add(f"agent {self.response.agent_id}: {request.task}")

    @property
    def active(self) -> bool:
        """True until it has ended."""
        return self.response.status == "active"

    def snapshot(self) -> status.AgentStatusResponse:
        """Return a copy of the current status."""
        return self.response.model_copy(update={"steps": list(self.response.steps)})

    def end(self) -> None:
        """Close the run as interrupted if it is still active, and close its log."""
        if self.active:
            self.response.status, self.response.success = "closed", False
            self.response.answer = "interrupted before it was done"
        self.log.close()

    def stop(self) -> None:
        """Stop before the next step."""
        self._stopping.set()

    async def run(self) -> status.AgentStatusResponse:
        """Work until the task is done; report a failure as the answer.

        Raises only a `BaseException` that is no `Exception`, such as the divergence of a replay.
        """
        with boundary.entered(self._scope):
            try:
                success, answer = await self._work()
            except Exception as error:
                success, answer = False, _in_words(error)
            return self._close(success, answer)

    def _span(self) -> boundary.Scope | None:
        """Return the span of the recording for this run, in any thread or task.

        It has the agent's name only if the user gave one, because generated ids would differ between two runs that are
        compared.
        """
        with self._session.core.recording.inside():
            around = boundary.current()
            if around is None or around.hidden:
                return around
            return around.span(f"agent:{self._name or 'browser'}")

    def _record_start(self) -> status.AgentStatusResponse:
        """Record the start of the run with its task; the recorded value is the run's id and time."""
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

    async def _work(self) -> tuple[bool, str]:
        request = self._request
        self._before = told_before(self._session, request.session_offset)
        if request.url:
            _, went = await executed(self._session, {"type": "goto", "url": request.url})
            if not went["success"]:
                return False, f"{request.url} cannot be opened: {went['message']}"
        useless = 0
        for left in range(request.max_steps, 0, -1):
            # In a replay, and in a fork up to its step, the value is the recorded one.
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
            decision = await self._decide(self._seen, left)
        except UnexpectedModelBehavior as error:
            message = self._useless or " ".join(str(error).split())
            self._useless = message
            return status.step("", None, {"success": False, "message": message, "url": self._seen.url})
        action = decision.action
        if action["type"] == "completion":
            action["answer"] = self._formatted(action)
        shown, outcome = await executed(self._session, action, self._vault.filled(action))
        return status.step(decision.reasoning, shown, outcome)

    def _formatted(self, action: dict[str, Any]) -> str:
        """Return a completion's answer: text, or JSON text of the requested form."""
        if self._form is not None and action["success"]:
            return formed(action["answer"], self._form)
        return (
            action["answer"]
            if isinstance(action["answer"], str)
            else json.dumps(action["answer"], default=str)
        )

    async def _decide(self, seen: ShownPage, left: int) -> Decision:
        """Ask the model for its next step."""
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
            # Pydantic AI did not know that the model takes no pictures.
            self._vision = False
            self.log.add(f"{self._model.model_name} refused the picture; it goes on without")
            return await self._ask(text)

    async def _ask(self, content: str | list[UserContent]) -> Decision:
        """Ask the model; count the cost of unusable answers, too."""
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
        """Return a decision that can be executed; report the error of any other to the model."""
        assert self._seen is not None
        action = decision.action
        try:
            if action["type"] == "completion":
                action["answer"] = self._formatted(action)
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
    """Describe the error that ended the run, as its answer."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, SessionError):
        return f"the session has ended: {text}"
    if isinstance(error, ModelHTTPError):
        return f"the model {error.model_name} could not be asked (status {error.status_code}): {text}"
    if isinstance(error, AgentRunError):
        return f"the model could not be asked: {text}"
    return text if isinstance(error, ReenactError) else f"{type(error).__name__}: {text}"
