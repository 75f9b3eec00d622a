"""An agent that does a task in a browser session: it looks, asks a model for one action, does it, and looks again."""

from reenact.browser.agent.agent import Agent
from reenact.browser.agent.status import AgentRequest, AgentStatusResponse

__all__ = ["Agent", "AgentRequest", "AgentStatusResponse"]
