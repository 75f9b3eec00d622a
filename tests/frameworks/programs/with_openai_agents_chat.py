"""The travel agent of the OpenAI Agents SDK, by chat completions, as of a model that speaks nothing else.

# /// framework
# title = "OpenAI Agents SDK, chat completions"
# package = "openai-agents"
# wire = "chat"
# page = "openai-agents.md"
# hook = "the runner: its models, tools and sessions"
# model = "model:gpt-4o-mini"
# tool = "tool:{name}"
# edit = "output.degrees = -40"
# state = ["openai_agents.items", "openai_agents.context"]
# thorough = true
# ///
"""

from __future__ import annotations

import asyncio

from agents import set_default_openai_api
from with_openai_agents import main

if __name__ == "__main__":
    set_default_openai_api("chat_completions")
    asyncio.run(main())
