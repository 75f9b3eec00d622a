"""A travel agent on LangChain's chat model alone: tools bound to it, run by a batch in threads, answers streamed.

# /// framework
# title = "LangChain, chat models"
# package = "langchain-core"
# wire = "chat"
# page = "langgraph.md"
# hook = "the methods of chat models and tools"
# model = "model:gpt-4o-mini"
# tool = "tool:{name}"
# edit = "output.degrees = -40"
# thorough = true
# [absent]
# state = "keeps no state of its own; `reenact.track` keeps the program's"
# ///
"""

from __future__ import annotations

import json

import travel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import ToolException, tool
from langchain_openai import ChatOpenAI


@tool
def weather(city: str) -> dict:
    """The temperature in a city, in degrees Celsius."""
    return json.loads(travel.call_sync("weather", {"city": city}))


@tool
def rate(currency: str) -> dict:
    """How much of a currency one euro buys."""
    found = travel.call_sync("rate", {"currency": currency})
    if found.startswith("error"):
        raise ToolException(found)
    return json.loads(found)


rate.handle_tool_error = True
TOOLS = {"weather": weather, "rate": rate}


def answer(model, messages):
    """One streamed answer, printed as it comes."""
    whole = None
    for chunk in model.stream(messages):
        if chunk.text:
            print(chunk.text, end="|", flush=True)
        whole = chunk if whole is None else whole + chunk
    return whole


def main():
    model = ChatOpenAI(model="gpt-4o-mini", max_tokens=200)
    with_tools = model.bind_tools([*TOOLS.values()])
    run = RunnableLambda(lambda asked: TOOLS[asked["name"]].invoke(asked))
    messages = [HumanMessage(travel.QUESTION)]
    for _ in range(8):
        message = answer(with_tools, messages)
        messages.append(message)
        if not message.tool_calls:
            break
        results = run.batch(message.tool_calls)
        for found in results:
            print(found.name, "gave", found.content)
        messages += results
    last = model.invoke([*messages, HumanMessage(travel.THEN)])
    print(f"\n{last.text}")


if __name__ == "__main__":
    main()
