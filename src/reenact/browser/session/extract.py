"""Let a language model read a page: `scrape` with instructions or a response format.

The call of the model is an effect, after the effect that reads the page.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pydantic import TypeAdapter, ValidationError

from reenact.browser.actions.results import ExecutionResult
from reenact.browser.actions.types import Action, Scrape
from reenact.browser.effects.calls import AwaitedValue, Steps, in_a_loop
from reenact.errors import ActionError

_TASK = "Extract what is asked for from the page below. Use only what it says."


def wanted(result: ExecutionResult, action: Action) -> bool:
    """Return True if a model must read the scraped page."""
    if not isinstance(action, Scrape) or not result.success:
        return False
    return action.instructions is not None or action.response_format is not None


def read(result: ExecutionResult, action: Action, model: Any) -> Steps[ExecutionResult]:
    """Return the result with the model's answer as its data."""
    agent, prompt = _agent(result, action, model)
    try:
        answer = yield AwaitedValue(lambda: _asked_here(agent, prompt), lambda: agent.run(prompt))
        result.data = answer.output
    except Exception as error:
        _unread(result, error)
    return result


def formed(result: ExecutionResult, action: Action) -> ExecutionResult:
    """Return the result of a server's model, converted to the requested form."""
    assert isinstance(action, Scrape)
    form = action.response_format
    if form is not None and not isinstance(form, Mapping):
        try:
            result.data = TypeAdapter(form).validate_python(result.data)
        except ValidationError as error:
            _unread(result, error)
    return result


def _agent(result: ExecutionResult, action: Action, model: Any) -> tuple[Any, str]:
    import pydantic_ai  # noqa: PLC0415 - it takes a second, and only this needs it

    from reenact.browser.agent import models  # noqa: PLC0415 - as above

    assert isinstance(action, Scrape)
    asked: Any = action.response_format or str
    if isinstance(asked, Mapping):
        asked = pydantic_ai.StructuredDict(dict(asked))
    agent: Any = pydantic_ai.Agent(
        models.chosen(model, option="model"), output_type=asked, instructions=_TASK
    )
    return agent, f"{action.instructions or 'Fill the format from the page.'}\n\n# The page\n{result.data}"


_runner: asyncio.Runner | None = None


def _asked_here(agent: Any, prompt: str) -> Any:
    global _runner
    if in_a_loop():
        # In a notebook, a loop runs in this thread, so another thread waits for the model.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(agent.run(prompt))).result()
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(agent.run(prompt))
    if _runner is None:
        _runner = asyncio.Runner()
        atexit.register(_runner.close)
    # Without a copy of the context, the runner would stay in the scope of its first use.
    return _runner.run(agent.run(prompt), context=contextvars.copy_context())


def _unread(result: ExecutionResult, error: Exception) -> None:
    result.success = False
    result.message = f"the page was read, but not by the model: {error}"
    result.exception = ActionError(result.message, result)
