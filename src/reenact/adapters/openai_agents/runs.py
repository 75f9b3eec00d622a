"""One run of the SDK's, from its first agent to the last, and the scopes of its effects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agents import RunContextWrapper

from reenact.adapters import belongings
from reenact.adapters.openai_agents import memory
from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope, entered
from reenact.core.query.state import CONTEXT

_flight: ContextVar[Flight | None] = ContextVar("reenact_openai_agents", default=None)

flying = _flight.get
"""The run that the running code belongs to, or None."""


class Flight:
    """A run that is recorded or replayed.

    Args:
        around: The scope that started it.
        agent: Its first agent.

    Attributes:
        scope: The scope of the running agent: a handoff ends one and begins another.
        models: The wrapped models of the run, by the models themselves and their scopes.
    """

    def __init__(self, around: Scope, agent: Any) -> None:
        self._around = around
        self._name: str | None = None
        self.scope = around
        self.models: dict[tuple[int, str], Any] = {}
        self.at(agent)

    def at(self, agent: Any) -> Scope:
        """Set and return the scope of an agent that runs from now on."""
        name = str(getattr(agent, "name", None) or "agent")
        if name != self._name:
            self._name = name
            self.scope = self._around.span(f"agent:{name}")
        return self.scope


@contextmanager
def _aboard(flight: Flight) -> Iterator[None]:
    token = _flight.set(flight)
    try:
        with entered(flight.scope):
            yield
    finally:
        _flight.reset(token)


def hooked_run(original: Any) -> Any:
    """`AgentRunner.run`, within a scope of its agent's name."""

    async def run(self: Any, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002
        if (scope := listening()) is None:
            return await original(self, starting_agent, input, **options)
        flight = _begun(scope, starting_agent, input, options)
        with _aboard(flight), belongings.tracked(CONTEXT, _context(input, options), flight.scope):
            return await original(self, starting_agent, input, **options)

    return run


def hooked_run_streamed(original: Any) -> Any:
    """`AgentRunner.run_streamed`, whose task goes on in that scope when the call has returned."""

    def run_streamed(self: Any, starting_agent: Any, input: Any, **options: Any) -> Any:  # noqa: A002
        if (scope := listening()) is None:
            return original(self, starting_agent, input, **options)
        flight = _begun(scope, starting_agent, input, options)
        ends = belongings.track(CONTEXT, _context(input, options), flight.scope)
        try:
            with _aboard(flight):
                result = original(self, starting_agent, input, **options)
        except BaseException:
            ends()
            raise
        task = getattr(result, "run_loop_task", None) or getattr(result, "_run_impl_task", None)
        if task is not None:
            task.add_done_callback(lambda _: ends())
        return result

    return run_streamed


def _begun(scope: Scope, agent: Any, given: Any, options: dict[str, Any]) -> Flight:
    session = options.get("session")
    if session is not None:
        # A class without the base of sessions is found by its first use as one.
        memory.learn(type(session))
    # A run that goes on after an interruption begins with the interrupted agent.
    return Flight(scope, getattr(given, "_current_agent", None) or agent)


def _context(given: Any, options: dict[str, Any]) -> Any:
    """Return the program's own context object."""
    context = options.get("context")
    if context is None:
        context = getattr(given, "_context", None)
    return context.context if isinstance(context, RunContextWrapper) else context
