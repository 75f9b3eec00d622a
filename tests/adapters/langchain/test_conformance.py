"""The suite that Reenact ships for adapters: chat models and tools, sync and async, whole and streamed."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool

from reenact.testing import AdapterConformance, World

WORLD = World()


def _asked(messages):
    return messages[-1].content


class Sync(BaseChatModel):
    """A provider's model with no async methods of its own."""

    @property
    def _llm_type(self):
        return "world"

    def _generate(self, messages, stop=None, run_manager=None, **options):
        asked = _asked(messages)
        answer = WORLD.fail(asked) if asked == "bad" else WORLD.answer(asked)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])

    def _stream(self, messages, stop=None, run_manager=None, **options):
        for part in WORLD.chunks(_asked(messages)):
            yield ChatGenerationChunk(message=AIMessageChunk(part))


class Async(Sync):
    """One with both."""

    async def _agenerate(self, messages, stop=None, run_manager=None, **options):
        if _asked(messages) == "slow":
            await WORLD.never("slow")
        return self._generate(messages)

    async def _astream(self, messages, stop=None, run_manager=None, **options):
        async for part in WORLD.achunks(_asked(messages)):
            yield ChatGenerationChunk(message=AIMessageChunk(part))


class _Conformance(AdapterConformance):
    def touched(self):
        return WORLD.asked

    def sent(self):
        return WORLD.sent


class TestModel(_Conformance):
    label = "model:Sync"

    def call(self, question):
        return Sync().invoke(question)

    def fail(self, question):
        return Sync().invoke("bad")

    def stream(self, question):
        return Sync().stream(question)


class TestAsyncModel(_Conformance):
    label = "model:Async"

    async def call(self, question):
        return await Async().ainvoke(question)

    async def fail(self, question):
        return await Async().ainvoke("bad")

    def stream(self, question):
        return Async().astream(question)

    async def slow(self, question):
        return await Async().ainvoke("slow")


class TestSyncModelInALoop(_Conformance):
    label = "model:Sync"

    async def call(self, question):
        return await Sync().ainvoke(question)

    def stream(self, question):
        return Sync().astream(question)


@tool
def look(question: str) -> str:
    """Look."""
    return WORLD.fail(question) if question == "bad" else WORLD.answer(question)


@tool
async def look_later(question: str) -> str:
    """Look."""
    if question == "slow":
        await WORLD.never("slow")
    return WORLD.fail(question) if question == "bad" else WORLD.answer(question)


class TestTool(_Conformance):
    label = "tool:look"

    def call(self, question):
        return look.invoke({"question": question})

    def fail(self, question):
        return look.invoke({"question": "bad"})


class TestAsyncTool(_Conformance):
    label = "tool:look_later"

    async def call(self, question):
        return await look_later.ainvoke({"question": question})

    async def fail(self, question):
        return await look_later.ainvoke({"question": "bad"})

    async def slow(self, question):
        return await look_later.ainvoke({"question": "slow"})


class TestSyncToolInALoop(_Conformance):
    label = "tool:look"

    async def call(self, question):
        return await look.ainvoke({"question": question})
