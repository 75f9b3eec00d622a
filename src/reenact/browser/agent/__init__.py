"""An agent that does a task in a browser session: observe, ask a model, act, repeat."""

from reenact.browser.agent.agent import Agent
from reenact.browser.agent.status import AgentRequest, AgentStatusResponse

__all__ = ["Agent", "AgentRequest", "AgentStatusResponse"]
