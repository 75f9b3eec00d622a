"""Whole programs with the providers' own SDKs: recorded, read as model calls, replayed alone, a changed prompt named."""

from __future__ import annotations

import asyncio
import json

import pytest

import reenact
from reenact.core import messages as reading
from reenact.errors import Departure, DivergenceError

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
genai = pytest.importorskip("google.genai")

KEY = "sk-test-0123456789abcdefghijklmnopqr"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def departs(bench, program):
    """Where a changed program leaves the recording, with the provider gone."""
    bench.server.stop()
    with pytest.raises(DivergenceError) as info, reenact.replay(bench.recording):
        program()
    found = info.value.divergence
    assert found.kind == Departure.CHANGED
    return [(mismatch.path, mismatch.recorded, mismatch.actual) for mismatch in found.mismatches]


# -- OpenAI ----------------------------------------------------------------------------------------------------


def ask_openai(url, prompt="What is the weather?"):
    """Tools in parallel, streamed, and the answer in the end, by the chat API."""
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    messages = [{"role": "user", "content": prompt}]
    chunks = []
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        asked = {"model": "caller", "tools": [tool], "stream_options": {"include_usage": True}}
        with client.chat.completions.stream(**asked, messages=messages) as stream:
            chunks += [event.type for event in stream]
            answer = stream.get_final_completion().choices[0].message
        messages.append(answer.model_dump(exclude_none=True, exclude={"parsed"}))
        for call in answer.tool_calls:
            result = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        final = client.chat.completions.create(model="caller", messages=messages, tools=[tool])
    return chunks, final.model_dump()


def test_openai_chat_with_streamed_parallel_tools(bench):
    url = bench.server.url
    live, again = bench.both(lambda: ask_openai(url))
    assert live == again
    assert len(live[0]) > 5
    first, last = bench.calls
    assert [call.name for call in first.answer.calls] == ["weather", "weather"]
    assert (first.usage, first.tools, first.streamed) == (reading.Usage(11, 5), ("weather",), True)
    assert [message.role for message in last.messages] == ["user", "assistant", "tool", "tool"]
    assert last.messages[-1].text == "rain in Bern"
    assert last.answer.text == live[1]["choices"][0]["message"]["content"]
    assert departs(bench, lambda: ask_openai(url, "Whose weather?")) == [
        ("args.body.messages[0].content", "What is the weather?", "Whose weather?")
    ]


@pytest.mark.thorough
def test_openai_responses_with_reasoning_and_tools_streamed_and_whole(bench):
    url = bench.server.url

    def main(prompt="Weather?"):
        tool = {"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}
        events = []
        with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
            items = [{"role": "user", "content": prompt}]
            with client.responses.stream(model="gpt-5", input=items, tools=[tool]) as stream:
                events += [event.type for event in stream]
                first = stream.get_final_response()
            for item in first.output:
                items.append(item.model_dump(exclude_none=True, exclude={"parsed_arguments"}))
                if item.type == "function_call":
                    result = weather(**json.loads(item.arguments))
                    items.append({"type": "function_call_output", "call_id": item.call_id, "output": result})
            final = client.responses.create(model="gpt-5", instructions="Short.", input=items, tools=[tool])
        return events, final.output_text

    live, again = bench.both(main)
    assert live == again
    first, last = bench.calls
    assert first.answer.thinking.startswith("hm ")
    assert [(call.name, call.args) for call in first.answer.calls] == [("weather", {"city": "Bern"})]
    assert (last.usage, last.answer.text) == (reading.Usage(31, 9, 16), live[1])
    assert [message.text for message in last.messages if message.role == "tool"] == ["rain in Bern"]
    assert reading.cost(last) > 0
    assert departs(bench, lambda: main("Wind?")) == [("args.body.input[0].content", "Weather?", "Wind?")]


def test_openai_embeddings_at_once(bench):
    url = bench.server.url

    async def main():
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
            texts = ["one", "two", "three"]
            asked = (client.embeddings.create(model="text-embedding-3-small", input=[text]) for text in texts)
            return [found.data[0].embedding for found in await asyncio.gather(*asked)]

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert [call.embedded for call in bench.calls] == [reading.Embedded(1, 1, 8)] * 3
    assert [call.usage for call in bench.calls] == [reading.Usage(7)] * 3


def test_a_provider_out_of_order_is_a_model_call_that_failed(bench):
    url = bench.server.url

    def main():
        with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=1) as client:
            with pytest.raises(openai.InternalServerError) as info:
                client.responses.create(model="broken", input="hello")
        return str(info.value)

    live, again = bench.both(main)
    assert live == again
    assert [(call.answer, call.problem[:12]) for call in bench.calls] == [(None, "out of order")] * 2


# -- Anthropic -------------------------------------------------------------------------------------------------


def test_anthropic_with_thinking_tools_and_a_stream(bench):
    url = bench.server.url

    async def main(prompt="Weather?"):
        tool = {"name": "weather", "input_schema": SCHEMA}
        asked = {"model": "thinker", "max_tokens": 50, "tools": [tool], "system": "Short."}
        messages = [{"role": "user", "content": prompt}]
        async with anthropic.AsyncAnthropic(base_url=url, api_key=KEY) as client:
            async with client.messages.stream(**asked, messages=messages) as stream:
                events = [event.type async for event in stream]
                answer = await stream.get_final_message()
            messages.append(
                {"role": "assistant", "content": [block.model_dump() for block in answer.content]}
            )
            used = [block for block in answer.content if block.type == "tool_use"]
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": weather(**block.input)}
                for block in used
            ]
            messages.append({"role": "user", "content": results})
            final = await client.messages.create(**asked, messages=messages)
        return events, final.model_dump()

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    first, last = bench.calls
    assert first.answer.thinking.startswith("hm ")
    assert [call.name for call in first.answer.calls] == ["weather", "weather"]
    assert (first.usage, first.provider) == (reading.Usage(13, 21), "anthropic")
    assert [message.role for message in last.messages] == ["system", "user", "assistant", "tool", "tool"]
    assert last.answer.text == live[1]["content"][-1]["text"]
    assert departs(bench, lambda: asyncio.run(main("Wind?"))) == [
        ("args.body.messages[0].content", "Weather?", "Wind?")
    ]


# -- Gemini ----------------------------------------------------------------------------------------------------


def gemini(url):
    return genai.Client(
        api_key="AIza" + "0123456789abcdefghijklmnopqrstuvwxy", http_options={"base_url": url}
    )


def test_gemini_calls_functions_by_itself_and_streams(bench):
    url = bench.server.url

    def main(prompt="Weather in Bern?"):
        client = gemini(url)
        config = {"tools": [weather], "system_instruction": "Short."}
        answer = client.models.generate_content(model="gemini-2.5-flash", contents=prompt, config=config)
        pieces = [
            piece.text
            for piece in client.models.generate_content_stream(model="gemini-2.5-flash", contents="And then?")
        ]
        return answer.text, pieces

    live, again = bench.both(main)
    assert live == again
    assert len(live[1]) > 3
    first, second, streamed = bench.calls
    assert [(call.name, call.args) for call in first.answer.calls] == [("weather", {"city": "Bern"})]
    assert first.answer.thinking.startswith("hm ")
    assert (first.usage, first.tools) == (reading.Usage(23, 11), ("weather",))
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "tool"]
    assert second.messages[-1].text == "rain in Bern"
    assert (streamed.streamed, streamed.answer.text) == (True, "".join(filter(None, live[1])))
    assert all(reading.cost(call) > 0 for call in bench.calls)
    assert departs(bench, lambda: main("Wind in Bern?")) == [
        ("args.body.contents[0].parts[0].text", "Weather in Bern?", "Wind in Bern?")
    ]


def test_gemini_async_and_refused(bench):
    url = bench.server.url

    async def main():
        client = gemini(url).aio
        stream = await client.models.generate_content_stream(model="gemini-2.5-flash", contents="Well?")
        pieces = [piece.text async for piece in stream]
        with pytest.raises(genai.errors.ServerError) as info:
            await client.models.generate_content(model="broken", contents="Well?")
        return pieces, str(info.value)

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again
    assert bench.calls[-1].problem.startswith("busy ")


# -- realtime --------------------------------------------------------------------------------------------------


def look_up(order: int) -> str:
    """An order's place."""
    return f"order {order} is in Basel"


def test_openai_realtime_with_a_tool(realtime):
    url = realtime.server.url

    async def main(prompt="Where is order 7?"):
        events, said = [], []
        client = openai.AsyncOpenAI(api_key=KEY, websocket_base_url=f"{url}/v1")
        async with client.realtime.connect(model="gpt-realtime") as session:
            await session.session.update(session={"type": "realtime", "instructions": "Short."})
            part = {"type": "input_text", "text": prompt}
            await session.conversation.item.create(
                item={"type": "message", "role": "user", "content": [part]}
            )
            await session.response.create()
            async for event in session:
                events.append(event.type)
                if event.type == "response.function_call_arguments.done":
                    output = look_up(**json.loads(event.arguments))
                    item = {"type": "function_call_output", "call_id": event.call_id, "output": output}
                    await session.conversation.item.create(item=item)
                    await session.response.create()
                elif event.type == "response.output_text.delta":
                    said.append(event.delta)
                elif event.type == "response.done" and said:
                    break
        await client.close()
        return events, said

    live, again = realtime.both(lambda: asyncio.run(main()))
    assert live == again
    assert len(live[1]) == 3
    assert departs(realtime, lambda: asyncio.run(main("Where is order 8?"))) == [
        ("args.message.item.content[0].text", "Where is order 7?", "Where is order 8?")
    ]


def test_openai_realtime_in_threads(realtime):
    url = realtime.server.url

    def main():
        with openai.OpenAI(api_key=KEY, websocket_base_url=f"{url}/v1") as client:
            with client.realtime.connect(model="gpt-realtime") as session:
                first = session.recv()
                item = {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "Well?"}],
                }
                session.conversation.item.create(item=item)
                session.response.create()
                return first.type, [session.recv().type for _ in range(3)]

    live, again = realtime.both(main)
    assert live == again
    assert live[0] == "session.created"
