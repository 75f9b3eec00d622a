"""Streamed answers: the same events, at the same granularity, with the same state at each of them."""

from __future__ import annotations

import asyncio
import random

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import AgentStreamEvent
from pydantic_ai.models.function import FunctionModel

from tests.adapters.pydantic_agents.agent_runs import anthropic, faithful, openai, plain, record, replay

MAKERS = [openai, anthropic]


def degrees(city: str) -> float:
    """Measure."""
    return random.random()


def make(maker, provider, name="caller", **options):
    options.setdefault("tools", [degrees])
    return Agent(maker(provider, name), **options)


@pytest.mark.parametrize("maker", MAKERS)
def test_run_stream_text_chunk_by_chunk(maker, provider):
    async def program():
        async with make(maker, provider).run_stream("Hot?") as streamed:
            pieces = [piece async for piece in streamed.stream_text(delta=True, debounce_by=None)]
        return pieces, streamed.usage, streamed.all_messages(), streamed.timestamp

    (pieces, *_), _ = faithful(program, provider)
    assert len(pieces) > 3


@pytest.mark.parametrize("maker", MAKERS)
def test_debounced_text_is_grouped_as_it_was(maker, provider):
    async def program():
        async with make(maker, provider).run_stream("Hot?") as streamed:
            return [piece async for piece in streamed.stream_text()]

    faithful(program, provider)


@pytest.mark.thorough
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", ["caller", "thinker"])
def test_run_stream_events(maker, name, provider):
    async def program():
        events = []
        async with make(maker, provider, name).run_stream_events("Hot?") as stream:
            events += [event async for event in stream]
        return events[:-1], events[-1].result.output, events[-1].result.all_messages()

    (events, *_), _ = faithful(program, provider)
    assert len(events) > 10


@pytest.mark.thorough
@pytest.mark.parametrize("maker", MAKERS)
def test_event_stream_handler(maker, provider):
    async def program():
        seen: list[AgentStreamEvent] = []

        async def handle(ctx, events):
            seen.extend([event async for event in events])

        result = await make(maker, provider).run("Hot?", event_stream_handler=handle)
        return seen, result.output, result.all_messages()

    faithful(program, provider)


@pytest.mark.thorough
@pytest.mark.parametrize("maker", MAKERS)
def test_the_response_so_far_at_every_event(maker, provider):
    async def program():
        seen = []
        agent = make(maker, provider)
        async with agent.iter("Hot?") as running:
            async for node in running:
                if agent.is_model_request_node(node):
                    async with node.stream(running.ctx) as stream:
                        async for event in stream:
                            seen.append((plain(event), plain(stream.response), stream.usage))
        return seen, running.result.output

    faithful(program, provider)


@pytest.mark.sampled
@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("maker", MAKERS)
def test_reading_is_stopped_early(maker, count, provider):
    async def program():
        got = []
        async with make(maker, provider, "teller").run_stream("Hot?") as streamed:
            if count:
                async for piece in streamed.stream_text(delta=True, debounce_by=None):
                    got.append(piece)
                    if len(got) == count:
                        break
        messages = streamed.all_messages()
        after = await make(maker, provider, "teller").run("And?")
        return got, messages, after.output

    faithful(program, provider)


@pytest.mark.thorough
@pytest.mark.parametrize("maker", MAKERS)
def test_a_stream_is_cancelled_in_the_middle(maker, provider):
    async def program():
        try:
            async with make(maker, provider, "teller").run_stream("Hot?") as streamed:
                async for _ in streamed.stream_text(delta=True, debounce_by=None):
                    await streamed.cancel()
        except ModelAPIError as error:
            # Where the connection is torn down in mid-read, the OpenAI adapter reports it, recorded or not.
            return type(error), str(error)
        return streamed.response, streamed.cancelled

    faithful(program, provider)


def test_reading_on_where_the_recorded_program_stopped_is_a_divergence(provider):
    most = [2]

    async def program():
        got = []
        async with make(openai, provider, "teller").run_stream("Hot?") as streamed:
            async for piece in streamed.stream_text(delta=True, debounce_by=None):
                got.append(piece)
                if len(got) == most[0]:
                    break
        return got

    _, recording = record(program)
    most[0] = 4
    import reenact

    with pytest.raises(reenact.DivergenceError, match="more of the stream"):
        replay(program, recording)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_stream_that_breaks_off_breaks_off_again(maker, provider):
    async def program():
        got = []
        try:
            async with make(maker, provider, "cut").run_stream("Hot?") as streamed:
                async for piece in streamed.stream_text(delta=True, debounce_by=None):
                    got.append(piece)
        except Exception as error:
            return got, type(error), str(error)
        return got, streamed.response

    faithful(program, provider)


def test_a_program_error_while_streaming(provider):
    async def program():
        got = []

        async def read():
            async with make(openai, provider, "teller").run_stream("Hot?") as streamed:
                async for piece in streamed.stream_text(delta=True, debounce_by=None):
                    got.append(piece)
                    raise KeyError(piece)

        with pytest.raises(KeyError):
            await read()
        return got

    faithful(program, provider)


def test_a_task_is_cancelled_while_it_waits_for_an_event():
    gate: list[asyncio.Event] = []

    async def words(messages, info):
        yield "one "
        await gate[0].wait()
        yield "two"

    async def program():
        gate[:] = [asyncio.Event()]
        got = []
        begun = asyncio.Event()

        async def read():
            async with Agent(FunctionModel(stream_function=words)).run_stream("Go") as streamed:
                async for piece in streamed.stream_text(delta=True, debounce_by=None):
                    got.append(piece)
                    begun.set()

        task = asyncio.create_task(read())
        await begun.wait()
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return got, task.cancelled()

    faithful(program)


def test_two_streams_at_once_keep_their_own_events(provider):
    async def program():
        agent = make(openai, provider, "teller", tools=[])
        order = []

        async def one(name):
            async with agent.run_stream(f"I am {name}") as streamed:
                async for piece in streamed.stream_text(delta=True, debounce_by=None):
                    order.append((name, piece))

        await asyncio.gather(one("a"), one("b"))
        return order

    faithful(program, provider)


def test_the_first_event_is_not_held_back():
    begun = []

    async def slowly(messages, info):
        for word in ("first ", "second ", "third "):
            begun.append(word)
            yield word
            await asyncio.sleep(0.5)

    async def program():
        async with Agent(FunctionModel(stream_function=slowly)).run_stream("Go") as streamed:
            await anext(aiter(streamed.stream_text(delta=True, debounce_by=None)))
            return list(begun)

    assert record(program)[0] == ["first "]


def test_run_stream_sync(provider):
    def program():
        streamed = make(openai, provider).run_stream_sync("Hot?")
        return list(streamed.stream_text(delta=True, debounce_by=None)), streamed.all_messages()

    faithful(program, provider)
