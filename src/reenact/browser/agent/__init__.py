"""An agent that does a task in a browser session: observe, ask a model, act, repeat."""

from reenact.browser.agent.agent import Agent
from reenact.browser.agent.status import AgentSettings, AgentStatusResponse

__all__ = ["Agent", "AgentSettings", "AgentStatusResponse"]
