"""Programs of LangChain and LangGraph, recorded against a provider and replayed without it."""

from __future__ import annotations

import asyncio
import operator
import random
import time
from typing import Annotated, TypedDict

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, Send, interrupt

from tests.adapters.pydantic_agents.agent_runs import record, replay


def chat(provider, name, **options):
    """A chat-completions model of the provider's."""
    return ChatOpenAI(
        model=name,
        base_url=f"{provider.url}/v1",
        api_key="sk-test",
        max_retries=0,
        stream_usage=True,
        **options,
    )


@tool
def weather(city: str) -> str:
    """Look at the sky, for a while that nobody foresees."""
    time.sleep(random.random() * 0.01)
    return f"{city}: {random.random()}"


@tool
def traffic(city: str) -> dict:
    """Look at the street."""
    return {"city": city, "cars": random.random()}


@tool
async def traffic_later(city: str) -> dict:
    """Look at the street, for a while that nobody foresees."""
    await asyncio.sleep(random.random() * 0.01)
    return {"city": city, "cars": random.random()}


@tool
def ask(city: str) -> str:
    """Ask a person."""
    return f"{interrupt({'about': city})} {random.random()}"


class Notes(TypedDict):
    notes: Annotated[list, operator.add]
    approved: bool


def graph(provider):
    """Three branches beside each other, a subgraph, a tool and a node that both ask a person, a node that fails twice,
    and one that is sent three tasks.
    """
    model = chat(provider, "teller")

    def branch(name):
        def node(state):
            time.sleep(random.random() * 0.005)
            return {"notes": [f"{name}: {model.invoke('same').content}"]}

        return node

    def approve(state):
        found = ask.invoke({"city": "Bern"})
        return {"approved": interrupt("sure?") == "yes", "notes": [found]}

    tried = []

    def flaky(state):
        tried.append(model.invoke("again").content)
        if len(tried) < 3:
            raise ValueError(tried[-1])
        return {"notes": [*tried]}

    inner = StateGraph(Notes)
    inner.add_node("deep", branch("deep"))
    inner.add_edge(START, "deep")
    outer = StateGraph(Notes)
    for name in "abc":
        outer.add_node(name, branch(name))
        outer.add_edge(START, name)
        outer.add_edge(name, "inside")
    outer.add_node("inside", inner.compile(name="inner"))
    outer.add_node("approve", approve)
    again = RetryPolicy(max_attempts=3, initial_interval=0.02, jitter=False, retry_on=ValueError)
    outer.add_node("flaky", flaky, retry_policy=again)
    outer.add_node("worker", branch("worker"))
    outer.add_edge("inside", "approve")
    outer.add_edge("approve", "flaky")
    outer.add_conditional_edges("flaky", lambda _: [Send("worker", {}) for _ in range(3)], ["worker"])
    outer.add_edge("worker", END)
    return outer


def faithful(program, provider):
    """Record a program, stop its provider, and replay it: the results must be equal to the last id."""
    first, recording = record(program)
    provider.stop()
    second, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert second == first
    return first, recording
