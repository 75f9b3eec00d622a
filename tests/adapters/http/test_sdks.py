"""The model providers' own SDKs, unchanged, against a server that speaks their wire format."""

import asyncio

import pytest

import reenact

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

ASKED = {"model": "gpt-test", "messages": [{"role": "user", "content": "hello there"}]}


def _openai(bench, path="/v1", **options):
    return openai.OpenAI(
        base_url=bench.server.url + path, api_key="sk-test-0123456789abcdefghijkl", **options
    )


def _aopenai(bench, path="/v1", **options):
    return openai.AsyncOpenAI(
        base_url=bench.server.url + path, api_key="sk-test-0123456789abcdefghijkl", **options
    )


def test_openai_chat(bench):
    def program():
        with _openai(bench) as client:
            return [client.chat.completions.create(**ASKED).model_dump() for _ in range(2)]

    live, again = bench.both(program)
    assert live == again
    assert live[0]["choices"][0]["message"]["content"] == "You said: hello there (answer 1)"
    assert live[0] != live[1]


def test_openai_streams(bench):
    def program():
        with _openai(bench) as client:
            return [chunk.model_dump() for chunk in client.chat.completions.create(**ASKED, stream=True)]

    live, again = bench.both(program)
    assert live == again
    assert len(live) == 7


def test_openai_async_chat_and_stream_at_once(bench):
    async def one(client):
        return (await client.chat.completions.create(**ASKED)).model_dump()

    async def streamed(client):
        return [
            chunk.model_dump() async for chunk in await client.chat.completions.create(**ASKED, stream=True)
        ]

    async def main():
        async with _aopenai(bench) as client:
            return await asyncio.gather(one(client), streamed(client), one(client), streamed(client))

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again


def test_the_order_in_which_streams_deliver_and_end_is_the_recorded_one(bench):
    async def main():
        order = []

        async def streamed(client, number):
            async for chunk in await client.chat.completions.create(**ASKED, stream=True):
                word = chunk.choices[0].delta.content
                order.append((number, word))
            order.append((number, "over"))

        async with _aopenai(bench) as client, asyncio.TaskGroup() as group:
            for number in range(5):
                group.create_task(streamed(client, number))
        return order

    live = bench.record(lambda: asyncio.run(main()))
    for _ in range(5):
        assert bench.replay(lambda: asyncio.run(main())) == live


@pytest.mark.parametrize("is_async", [False, True])
def test_openai_retries_and_each_attempt_is_an_exchange(bench, is_async):
    async def amain():
        async with _aopenai(bench, "/v1/flaky", max_retries=2) as client:
            return (await client.chat.completions.create(**ASKED)).model_dump()

    def main():
        with _openai(bench, "/v1/flaky", max_retries=2) as client:
            return client.chat.completions.create(**ASKED).model_dump()

    live, again = bench.both((lambda: asyncio.run(amain())) if is_async else main)
    assert live == again
    assert [step.output["status"] for step in bench.steps] == [500, 200]


def test_openai_errors_are_raised_by_the_sdk_itself(bench):
    def program():
        with (
            _openai(bench, "/status/429", max_retries=0) as client,
            pytest.raises(openai.RateLimitError) as info,
        ):
            client.chat.completions.create(**ASKED)
        return str(info.value), info.value.status_code, info.value.body

    live, again = bench.both(program)
    assert live == again


@pytest.mark.thorough
def test_openai_says_that_it_cannot_connect(bench):
    def program():
        with (
            _openai(bench, max_retries=1, timeout=0.3) as client,
            pytest.raises(openai.APITimeoutError) as info,
        ):
            client.get("../slow", cast_to=object)
        return str(info.value)

    live, again = bench.both(program)
    assert live == again
    assert len(bench.steps) == 2


def test_anthropic_messages(bench):
    asked = {**ASKED, "max_tokens": 50}

    def program():
        with anthropic.Anthropic(
            base_url=bench.server.url, api_key="sk-ant-0123456789abcdefghijkl"
        ) as client:
            return [client.messages.create(**asked).model_dump() for _ in range(2)]

    live, again = bench.both(program)
    assert live == again
    assert live[0]["content"][0]["text"] == "You said: hello there (answer 1)"


def test_anthropic_streams(bench):
    asked = {**ASKED, "max_tokens": 50}

    def program():
        with (
            anthropic.Anthropic(base_url=bench.server.url, api_key="sk-ant-0123456789abcdefghijkl") as client,
            client.messages.stream(**asked) as stream,
        ):
            return list(stream.text_stream), stream.get_final_message().model_dump()

    live, again = bench.both(program)
    assert live == again
    assert "".join(live[0]) == "You said: hello there (answer 1) "


def test_anthropic_streams_async(bench):
    asked = {**ASKED, "max_tokens": 50}

    async def main():
        async with (
            anthropic.AsyncAnthropic(
                base_url=bench.server.url, api_key="sk-ant-0123456789abcdefghijkl"
            ) as client,
            client.messages.stream(**asked) as stream,
        ):
            return [event.type async for event in stream]

    live, again = bench.both(lambda: asyncio.run(main()))
    assert live == again


def test_a_tool_let_through_gets_its_http_answers_from_the_recording(bench):
    import requests

    ran = []

    @reenact.tool
    def look_up(path):
        ran.append(path)
        return requests.get(bench.server.url + path, timeout=60).json()

    live = bench.record(lambda: look_up("/json"))
    bench.server.stop()
    with reenact.replay(bench.recording, live=["tool:look_up"]) as replay:
        again = look_up("/json")
    assert live == again
    assert len(ran) == 2
    assert replay.verdict.served == 1
