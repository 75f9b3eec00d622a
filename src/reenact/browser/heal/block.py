"""`client.AgentFallback`: a block of script steps that an agent finishes after a failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

from reenact.browser.actions import types as do
from reenact.browser.actions.results import ExecutionResult
from reenact.browser.effects.calls import AwaitedValue, Steps, arun, run
from reenact.browser.heal import expect as expecting
from reenact.browser.heal.caller import here, place
from reenact.browser.heal.helper import BlockHelper, begun, made, now, over, stuck
from reenact.browser.heal.mend import FailedStep
from reenact.browser.page.session_options import check_steps
from reenact.core import boundary
from reenact.core.model.event import Effect
from reenact.errors import UsageError

if TYPE_CHECKING:
    from reenact.browser.agent import Agent
    from reenact.browser.agent.status import AgentStatusResponse
    from reenact.browser.heal.heal_record import HealRecord as Record
    from reenact.browser.session.core import Asked
    from reenact.browser.session.remote.agent import RemoteAgent
    from reenact.browser.session.session import Session

Heal = Literal["agent", "auto", "off"]

AGENT_PARAMS = frozenset(
    {"reasoning_model", "use_vision", "max_steps", "agent_id", "vault", "persona", "notifier"}
)
"""Options passed on to the agent.

The agent is imported only when it is needed, so that a script without failures starts fast.
"""


class AgentFallback:
    """A block of steps in a script; after the first failure an agent finishes the task.

        with client.AgentFallback(session, task="Add the cheapest tea to the cart", max_steps=8) as fb:
            session.execute(type="click", selector="text=Tea")
            session.execute(type="click", selector="#add-to-cart")
        fb.success, fb.agent_invoked

    Within the block no step raises because of a failure on the page. The first step that fails returns its own failed
    result after the agent has finished. Later steps are not executed: each returns a result with `success` True and a
    message that says so, and is listed in `skipped`. A block calls at most one agent.

    Args:
        session: The session; its calls pass through the block until the block ends.
        task: The purpose of the block in plain words: the agent's task.
        response_format: The form of the agent's answer, as for `Agent.run`.
        heal: `"agent"`: an agent takes over at once. `"auto"`: cheaper means first try to repair the failed step, so
            that the script goes on. `"off"`: no help; the block reports the failure and stops at that step.
        expect: A condition on the final state: an address, a text, a selector, or a function of the session. If it is
            not met, or cannot be checked, the block has failed, whatever its steps and the agent report.
        agent_params: The agent's own options: `reasoning_model`, `max_steps`, `vault` and so on.

    Attributes:
        steps: The results of the block's own executed steps; the agent's steps are in `agent_response`.
        skipped: The actions that were skipped, as dicts.
        success: True if the block reached its purpose.
        error: The first failure, and that of the agent; None if nothing failed, or the step was repaired.
        agent_invoked: True if an agent was called.
        agent_response: The agent's last status, or None.
        heals: The records of each repair and of the agent's takeover: failed step, rung, verification.
        asking: True while the block itself uses the session.
        mends: True if a failed step is mended.

    Raises:
        UsageError: (a ValueError) An invalid argument, a block within a block of the same session, `scrape()`
            or `raise_on_failure=True` within one.
    """

    def __init__(
        self,
        session: Session,
        task: str,
        response_format: Any = None,
        *,
        heal: Heal = "agent",
        expect: Any = None,
        **agent_params: Any,
    ) -> None:
        _check(task, heal, agent_params)
        self._session = session
        self.task = task
        self.heal = heal
        self.mends = heal == "auto"
        self._format = response_format
        self._expected = None if expect is None else expecting.expected(expect)
        self._helper = BlockHelper(session, heal, agent_params)
        self._offset: int | None = None
        self._began: float | None = None
        self._took: float | None = None
        self._over = self.asking = False
        self._verdict: expecting.ExpectationVerdict | None = None
        self.steps: list[ExecutionResult] = []
        self.skipped: list[dict[str, Any]] = []
        self.success = True
        self.error: str | None = None
        self.agent_response: AgentStatusResponse | None = None

    # -- the block -------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self._enter()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        run(self._exit(error))

    async def __aenter__(self) -> Self:
        self._enter()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        await arun(self._exit(error))

    def _exit(self, error: BaseException | None) -> Steps[None]:
        try:
            if error is None:
                yield from self._finish()
        finally:
            self._leave(error)

    # -- properties ------------------------------------------------------------------------------------------

    @property
    def agent_invoked(self) -> bool:
        """True if an agent was called."""
        return self._helper.agent is not None

    @property
    def duration(self) -> float:
        """Seconds of the block, with all help; while it runs, the seconds so far."""
        if self._began is None:
            return 0.0
        return now(self._session) - self._began if self._took is None else self._took

    @property
    def cost(self) -> Decimal | None:
        """Cost of the block's models in US dollars; 0 without a model call, None if unknown."""
        return self._helper.cost

    @property
    def heals(self) -> list[Record]:
        """The records of each repair and of the agent's takeover."""
        return self._helper.heals

    def suggested_patch(self) -> str:
        """Return the verified selectors as a unified diff of the script, for review.

        After the session has ended, they are first tried on its recorded pages, in another browser. Empty if there are
        none. Raises UsageError if the script cannot be parsed as Python.
        """
        from reenact.browser.heal import patch, patch_trial  # noqa: PLC0415 - only a mended block reads Python

        heals, folder = self.heals, self._session.recording
        if not heals:
            return ""
        if folder is None or boundary.current() is not None:
            trials = patch_trial.untried(
                heals
            )  # a recorded program must not start a browser that is not in its recording
        else:
            trials = patch_trial.trials((Path(folder), one) for one in heals)
        return patch.suggested(heals, trials=trials)

    # -- the calls of the session ----------------------------------------------------------------------------

    def execute(
        self, action: Asked = None, *, raise_on_failure: bool | None = None, **fields: Any
    ) -> ExecutionResult:
        """Execute an action within the block: a failure on the page is returned and calls for help."""
        return self._session.execute(action, raise_on_failure=raise_on_failure, **fields)

    async def aexecute(
        self, action: Asked = None, *, raise_on_failure: bool | None = None, **fields: Any
    ) -> ExecutionResult:
        """`execute`, awaited."""
        return await self._session.aexecute(action, raise_on_failure=raise_on_failure, **fields)

    def executed(
        self, action: Asked, raise_on_failure: bool | None, fields: Mapping[str, Any]
    ) -> Steps[ExecutionResult]:
        """Execute an action of the script, unless an earlier one failed; call for help if it fails."""
        asked = _action_of(action, raise_on_failure, fields)
        if self._over:
            return self._skip(asked)
        result = yield from self._session.core.perform(asked)
        if not result.success:
            failed = FailedStep.of(self._session, asked, result, place())
            mend = (yield from self._mended(failed)) if self.heal == "auto" else None
            if mend is None:
                self.steps.append(result)
                yield from self._take_over(failed)
                return result
            result = mend
        self.steps.append(result)
        return result

    def refuse_scrape(self) -> NoReturn:
        """Raise UsageError: the values that a block reads would be lost if an agent takes over."""
        raise UsageError(
            "scrape() does not go with AgentFallback: read the page behind the block, or give it a response_format "
            "for the agent's answer"
        )

    def page_failed(self, name: str, args: Mapping[str, Any], error: Exception) -> Steps[None]:
        """Call for help after a failed call of `session.page`.

        The program then gets the error as usual.
        """
        if self._over or self.asking:
            return
        said = f"session.{args.get('on', 'page')}.{name.removeprefix('page.')}: {_first_line(error)}"
        first = next(iter(args.get("args") or ()), None)
        aim = args.get("on") or (first if isinstance(first, str) else None)
        action = {"type": name, **({"selector": aim} if aim else {})}
        yield from self._take_over(stuck(self._session, action, said))

    def page_skipped(self, name: str, args: Callable[[], Mapping[str, Any]]) -> bool:
        """Return True, and note it as skipped, if a `session.page` call comes after a failure."""
        if not self._over or self.asking:
            return False
        self._note({"type": name, **args()})
        return True

    # -- help ------------------------------------------------------------------------------------------------

    def _take_over(self, failed: FailedStep) -> Steps[None]:
        if (agent := self._called(failed)) is not None:
            asked = {"response_format": self._format, "session_offset": self._offset}
            answer = yield AwaitedValue(
                lambda: agent.run(self.task, **asked), lambda: agent.arun(self.task, **asked)
            )
            self._apply_answer(answer)
            yield from self._judge()
            self._wrote(failed)

    def _called(self, failed: FailedStep) -> Agent | RemoteAgent | None:
        """Return the agent that takes over here, or None."""
        self.success, self._over = False, True
        self.error = f"{failed.result.message} {self._helper.left}".strip()
        return self._helper.called(failed)

    def _apply_answer(self, answer: AgentStatusResponse) -> None:
        self.agent_response = answer
        self.success = bool(answer.success)
        if not self.success and answer.answer:
            why = " ".join(str(answer.answer).split())[:500]
            self.error = f"{(self.error or '').rstrip('.')}; the agent failed: {why}"

    def _wrote(self, failed: FailedStep) -> None:
        assert self.agent_response is not None
        by = self._verdict.by if self._verdict is not None and self._verdict.met else ""
        self._helper.wrote(failed, self.agent_response, healed=self.success, by=by)

    def _mended(self, failed: FailedStep) -> Steps[ExecutionResult | None]:
        def mended() -> Coroutine[Any, Any, ExecutionResult | None]:
            return self._helper.mended(failed, self._expected)

        self.asking = True
        try:
            mend: ExecutionResult | None = yield AwaitedValue(lambda: here(self._session, mended), mended)
            return mend
        finally:
            self.asking = False

    # -- the end ---------------------------------------------------------------------------------------------

    def _finish(self) -> Steps[None]:
        if self._open_end():
            yield from self._judge()
            if not self.success:
                yield from self._take_over(stuck(self._session, {"type": "expect"}, self.error or ""))

    def _open_end(self) -> bool:
        """Return True if the expectation still has to be checked."""
        if self._over or self._expected is None:
            return False
        status = self._session.status()
        if status.status == "closed":
            self.success, self.error, self._over = False, f"the session is closed: {status.reason}", True
        return not self._over

    def _judge(self) -> Steps[None]:
        """Check the expectation, unless the block has failed already."""
        if self._expected is None or not self.success:
            return
        self.asking = True
        try:
            self._ruled((yield from expecting.judged(self._session, self._expected)))
        finally:
            self.asking = False

    def _ruled(self, verdict: expecting.ExpectationVerdict) -> None:
        self._verdict = verdict
        if not verdict.met:
            self.success, self.error = False, f"not as expected: {verdict.by}"

    # -- within ----------------------------------------------------------------------------------------------

    def _enter(self) -> None:
        if self._offset is not None:
            raise UsageError("this block was used before: make another AgentFallback")
        if (other := self._session.core.block) is not None:
            raise UsageError(
                f"this session is within an AgentFallback already, {other.task!r}: let one block end before the next "
                "begins"
            )
        self._session.core.block = self
        self._offset = self._session.offset()
        self._began = begun(self._session, self.task, self.heal)

    def _leave(self, error: BaseException | None) -> None:
        if self._session.core.block is self:
            self._session.core.block = None
        if error is not None and not isinstance(error, Exception):
            return  # the program is ending: make no more effects
        if self._began is not None:
            self._took = over(self._session) - self._began
        if error is not None and not self._over:
            self.success = False
            self.error = self.error or f"the block was left by {type(error).__name__}: {_first_line(error)}"

    def _skip(self, action: do.Action) -> ExecutionResult:
        """Return the result of a skipped action."""
        shown = _shown(action)
        at = self._note({"type": shown.type, **shown.args})
        who = "an agent has taken over" if self.agent_invoked else "it was not repaired"
        message = f"skipped: an earlier step of this block failed, and {who}"
        return made(shown, at, self._session.status().url, success=True, message=message)

    def _note(self, action: dict[str, Any]) -> datetime:
        self.skipped.append(action)
        with self._session.core.recording.inside():
            effect = Effect("heal", "skip", {"action": action}, leaf=True)
            return datetime.fromtimestamp(boundary.perform(effect, time.time), UTC)


def _shown(action: do.Action) -> do.Action:
    """Return an action without the value that it writes.

    The value may be secret, and nothing asks the page about it.
    """
    if isinstance(action, (do.Fill, do.FallbackFill)):
        return action.model_copy(update={"value": do.MASK})
    if isinstance(action, do.FormFill):
        return action.model_copy(update={"value": dict.fromkeys(action.value, do.MASK)})
    return action


def _check(task: Any, heal: Any, params: Mapping[str, Any]) -> None:
    if not isinstance(task, str) or not task.strip():
        raise UsageError("AgentFallback needs a task: what the block is for, in plain words")
    if heal not in ("agent", "auto", "off"):
        raise UsageError(f"AgentFallback(heal={heal!r}): it is one of 'agent', 'auto', 'off'")
    if unknown := sorted(params.keys() - AGENT_PARAMS):
        raise UsageError(
            f"AgentFallback has no option {unknown[0]!r}; there are response_format, heal, expect, and the agent's "
            f"{', '.join(sorted(AGENT_PARAMS))}"
        )
    check_steps(params.get("max_steps", 1))


def _action_of(action: Asked, raise_on_failure: bool | None, fields: Mapping[str, Any]) -> do.Action:
    if raise_on_failure:
        raise UsageError(
            "raise_on_failure=True does not go with AgentFallback: a step that fails calls the agent instead"
        )
    return do.action_of(action, **fields)


def _first_line(error: BaseException) -> str:
    """Return an error's first line.

    Playwright appends a log that contains filled-in values.
    """
    lines = str(getattr(error, "message", None) or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
