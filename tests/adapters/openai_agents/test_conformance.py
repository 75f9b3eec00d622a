"""What every adapter must do, for the SDK's tools and for its models."""

from __future__ import annotations

import json

from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.models.interface import Model, ModelTracing
from agents.run_internal import run_loop
from agents.tool_context import ToolContext
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from reenact.testing import AdapterConformance, World

WORLD = World()


@function_tool(failure_error_function=None)
def sync_ask(question: str) -> str:
    """Ask in a thread."""
    return WORLD.fail(question) if question == "bad" else WORLD.answer(question)


@function_tool(failure_error_function=None)
async def ask(question: str) -> str:
    """Ask."""
    if question == "slow":
        return await WORLD.never(question)
    return WORLD.fail(question) if question == "bad" else WORLD.answer(question)


async def invoked(tool, question):
    arguments = json.dumps({"question": question})
    context = ToolContext(
        None, tool_name=tool.name, tool_call_id=f"call_{question}", tool_arguments=arguments
    )
    return await tool.on_invoke_tool(context, arguments)


class Asking:
    label = "tool:*"

    def touched(self):
        return WORLD.asked


class TestTools(Asking, AdapterConformance):
    async def call(self, question):
        return await invoked(ask, question)

    fail = slow = call


class TestSyncTools(Asking, AdapterConformance):
    async def call(self, question):
        return await invoked(sync_ask, question)

    fail = call


def message(text):
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="msg", content=[part], role="assistant", status="completed", type="message"
    )


class WorldModel(Model):
    """A model of the program's own."""

    async def get_response(self, system_instructions, input, *args, **options):  # noqa: A002
        question = input[-1]["content"]
        if question == "slow":
            await WORLD.never(question)
        text = WORLD.fail(question) if question == "bad" else WORLD.answer(question)
        return ModelResponse([message(text)], Usage(requests=1, input_tokens=1), "resp")

    async def stream_response(self, system_instructions, input, *args, **options):  # noqa: A002
        place = {"content_index": 0, "item_id": "msg", "output_index": 0, "logprobs": []}
        texts = []
        async for chunk in WORLD.achunks(input[-1]["content"]):
            texts.append(chunk)
            yield ResponseTextDeltaEvent(
                delta=chunk, sequence_number=0, type="response.output_text.delta", **place
            )
        response = Response(
            id="resp", created_at=1, model="m", object="response", output=[message(" ".join(texts))],
            tool_choice="auto", tools=[], parallel_tool_calls=False,
        )  # fmt: skip
        yield ResponseCompletedEvent(response=response, sequence_number=1, type="response.completed")


class TestModels(AdapterConformance):
    label = "model:WorldModel"

    async def call(self, question):
        result = await Runner.run(Agent("asker", model=WorldModel()), question)
        return result.final_output, result.raw_responses

    fail = slow = call

    async def stream(self, question):
        # As a run does it, which reads each stream to its end.
        model = run_loop.get_model(Agent("asker", model=WorldModel()), RunConfig())
        asked = [{"role": "user", "content": question}]
        given = {"model_settings": None, "tools": [], "output_schema": None, "handoffs": []}
        more = {"tracing": ModelTracing.DISABLED, "previous_response_id": None, "conversation_id": None}
        async for event in model.stream_response(
            None, asked, *given.values(), more.pop("tracing"), **more, prompt=None
        ):
            yield event

    def touched(self):
        return WORLD.asked

    def sent(self):
        return WORLD.sent
