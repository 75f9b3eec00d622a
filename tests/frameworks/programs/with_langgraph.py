"""A travel agent on LangGraph, by LangChain's create_agent: tools that run side by side, streamed answers, a thread.

# /// framework
# title = "LangGraph, create_agent"
# package = "langgraph"
# wire = "chat"
# page = "langgraph.md"
# hook = "the methods of chat models and tools; the state of the graph"
# model = "model:gpt-4o-mini"
# tool = "tool:{name}"
# edit = "output.degrees = -40"
# state = ["langgraph.state"]
# ///
"""

from __future__ import annotations

import asyncio

import httpx
import travel
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.messages import ToolMessage
from langchain.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver


@wrap_tool_call
async def tell_the_model(request, handler):
    """Say what a tool could not do, instead of ending the run."""
    try:
        return await handler(request)
    except httpx.HTTPStatusError as error:
        said = f"error: the service said {error.response.status_code}"
        return ToolMessage(said, tool_call_id=request.tool_call["id"], status="error")


agent = create_agent(
    ChatOpenAI(model="gpt-4o-mini", max_tokens=200),
    tools=[tool(travel.weather), tool(travel.rate)],
    system_prompt="You help travellers.",
    middleware=[tell_the_model],
    checkpointer=InMemorySaver(),
)


async def main():
    thread = {"configurable": {"thread_id": "trip"}}
    asked = {"messages": [{"role": "user", "content": travel.QUESTION}]}
    async for message, _ in agent.astream(asked, thread, stream_mode="messages"):
        if isinstance(message, ToolMessage):
            print("a tool gave", message.content)
        elif message.text:
            print(message.text, end="|", flush=True)
    last = await agent.ainvoke({"messages": [{"role": "user", "content": travel.THEN}]}, thread)
    print(f"\n{last['messages'][-1].text}")


if __name__ == "__main__":
    asyncio.run(main())
