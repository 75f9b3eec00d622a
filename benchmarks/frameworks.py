"""The work of the frameworks that is measured: each with a model, a tool or a server that costs next to nothing."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict

from benchmarks import material
from benchmarks.jobs import Body, Job, in_a_loop, one_by_one
from benchmarks.measure import Stopwatch
from benchmarks.subjects import Subject

NODES = 4
"""How many nodes the graph has that is measured."""


# -- the OpenAI Agents SDK -----------------------------------------------------------------------------------


def _agents_run(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    """Runs of an agent with one tool: two model requests and a tool call each."""
    from agents import Agent, Runner, function_tool, set_trace_processors

    # The runs are traced, as by default, and nobody is told of them.
    set_trace_processors([])

    @function_tool
    async def look_up(order: str) -> str:
        return material.text(job.size, 1)

    agent = Agent("bench", model=_agents_model(job), tools=[look_up])

    async def ask(number: int, _: Any) -> Any:
        return (await Runner.run(agent, material.text(job.size, number))).final_output

    return in_a_loop(ask, job, watch)


def _agents_model(job: Job) -> Any:
    from agents import ModelResponse, Usage
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    numbers = itertools.count()

    def answer(given: Any) -> Any:
        if len(given) == 1:
            return ResponseFunctionToolCall(
                name="look_up", arguments='{"order":"ORD-1"}', call_id="call_1", type="function_call"
            )
        text = material.text(job.size, next(numbers))
        part = ResponseOutputText(text=text, type="output_text", annotations=[])
        return ResponseOutputMessage(
            id="msg", content=[part], role="assistant", status="completed", type="message"
        )

    class Canned(Model):
        async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> Any:  # noqa: A002
            usage = Usage(requests=1, input_tokens=2500, output_tokens=2500, total_tokens=5000)
            return ModelResponse([answer(input)], usage, "resp")

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    return Canned()


# -- MCP -----------------------------------------------------------------------------------------------------


def _mcp_call(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    """Calls of a tool of a server in the same process, one session for all of them."""
    from mcp.client.client import Client
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("bench", log_level="CRITICAL")

    @server.tool()
    async def look_up(question: str) -> str:
        return material.text(job.size, len(question))

    async def main() -> list[Any]:
        async with Client(server, mode=job.options["mode"]) as client:

            async def ask(number: int, _: Any) -> Any:
                question = material.text(job.size, number)
                answer: Any = (await client.call_tool("look_up", {"question": question})).content[0]
                return answer.text

            return await one_by_one(ask, job, watch)

    return lambda: asyncio.run(main())


# -- LangChain and LangGraph ---------------------------------------------------------------------------------


def _one_by_one(ask: Callable[[int], Any], job: Job, watch: Stopwatch) -> Body:
    return lambda: [watch.time(partial(ask, number)) for number in range(job.total)]


def _langchain_tool(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    from langchain_core.tools import tool

    numbers = itertools.count()

    @tool
    def look_up(question: str) -> str:
        """Look an order up."""
        return material.text(job.size, next(numbers))

    return _one_by_one(
        lambda number: look_up.invoke({"question": material.text(job.size, number)}), job, watch
    )


def _langchain_model(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    numbers = itertools.count()

    class Canned(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "canned"

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
            message = AIMessage(material.text(job.size, next(numbers)))
            return ChatResult(generations=[ChatGeneration(message=message)])

    model = Canned()
    return _one_by_one(lambda number: model.invoke(material.text(job.size, number)).content, job, watch)


class _State(TypedDict):
    text: str


def _langgraph_nodes(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    """Runs of a graph whose nodes come one after the other, and ask nobody."""
    from langgraph.graph import START, StateGraph

    numbers = itertools.count()

    def node(state: _State) -> Any:
        return {"text": material.text(job.size, next(numbers))}

    builder = StateGraph(_State)
    names = [START, *(f"node-{number}" for number in range(NODES))]
    for before, name in itertools.pairwise(names):
        builder.add_node(name, node)
        builder.add_edge(before, name)
    graph = builder.compile()
    return _one_by_one(lambda number: graph.invoke({"text": material.text(job.size, number)}), job, watch)


BODIES: dict[str, Callable[[Subject, Job, Stopwatch], Body]] = {
    "agents": _agents_run,
    "mcp": _mcp_call,
    "langchain_tool": _langchain_tool,
    "langchain_model": _langchain_model,
    "langgraph": _langgraph_nodes,
}
