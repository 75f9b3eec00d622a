"""The suites for authors of adapters, handlers and stores, run over our own; and broken ones fail them."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import reenact
from reenact.core import boundary
from reenact.core.boundary.current import current_scope
from reenact.core.model.event import Effect
from reenact.core.record.recorder import Recorder
from reenact.core.redact import Redactor
from reenact.core.replay.replayer import Replayer
from reenact.core.store.intake import LocalIntake
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.store.writer import Writer
from reenact.testing import AdapterConformance, HandlerConformance, IntakeConformance, StoreConformance, World
from tests.adapters.http import server as web
from tests.adapters.http.clients import ALL
from tests.conftest import BARE_PYTEST

WORLD = World()


class Ours(AdapterConformance):
    """Adapters around the world above."""

    def touched(self):
        return WORLD.asked

    def sent(self):
        return WORLD.sent


# -- tools ---------------------------------------------------------------------------------------------------


@reenact.tool
def ask(question):
    return WORLD.answer(question)


@reenact.tool
def fail(question):
    return WORLD.fail(question)


@reenact.tool
def drip(question):
    yield from WORLD.chunks(question)


@reenact.tool(name="ask")
async def aask(question):
    await asyncio.sleep(0)
    return WORLD.answer(question)


@reenact.tool
async def afail(question):
    return WORLD.fail(question)


@reenact.tool
async def adrip(question):
    async for chunk in WORLD.achunks(question):
        yield chunk


@reenact.tool
async def never(question):
    return await WORLD.never(question)


class TestATool(Ours):
    label = "tool:ask"

    def call(self, question):
        return ask(question)

    def fail(self, question):
        return fail(question)

    def stream(self, question):
        return drip(question)


class TestAnAsyncTool(Ours):
    label = "tool:ask"

    async def call(self, question):
        return await aask(question)

    async def fail(self, question):
        return await afail(question)

    def stream(self, question):
        return _gently(adrip, question)

    async def slow(self, question):
        return await never(question)


async def _gently(function, question):
    # Made where it is read: an effect gets its address when it is called.
    async for chunk in function(question):
        yield chunk


class TestAnEffect(Ours):
    label = "db:orders"

    def call(self, question):
        return self._effect(question).perform(partial(WORLD.answer, question))

    def fail(self, question):
        return self._effect(question).perform(partial(WORLD.fail, question))

    def stream(self, question):
        return self._effect(question).stream(partial(WORLD.chunks, question))

    def _effect(self, question):
        return reenact.effect("db", "orders", sql=question)


class TestAnAsyncEffect(Ours):
    label = "db:orders"

    async def call(self, question):
        async def live():
            return WORLD.answer(question)

        return await self._effect(question).aperform(live)

    async def fail(self, question):
        async def live():
            return WORLD.fail(question)

        return await self._effect(question).aperform(live)

    async def stream(self, question):
        async def live():
            async for chunk in WORLD.achunks(question):
                yield chunk

        async for chunk in self._effect(question).stream(live):
            yield chunk

    async def slow(self, question):
        return await self._effect(question).aperform(partial(WORLD.never, question))

    def _effect(self, question):
        return reenact.effect("db", "orders", sql=question)


# -- HTTP ----------------------------------------------------------------------------------------------------


class Answers(web._Handler):
    """A number that counts, an error that no client raises for by itself, and a stream."""

    numbers = itertools.count()

    def on_ask(self, *_):
        # Requests at the same time have each a number of its own.
        self.answer({"asked": self.query["q"], "n": next(self.numbers)})

    def on_drip(self, *_):
        self.begin_chunked()
        for part in range(4):
            self.owner.sent.append(part)
            self.chunk(f"data: part {part}\n\n".encode())
            time.sleep(0.02)
        self.wfile.write(b"0\r\n\r\n")

    def on_gone(self, *_):
        self.owner.requests[-1] = (self.command, "/gone")
        self.close_connection = True


@pytest.fixture(scope="module")
def server():
    server = web.Server(Answers)
    yield server
    server.stop()


class Http(AdapterConformance):
    label = "http:GET *"
    client = ALL[0]

    @pytest.fixture(autouse=True)
    def _server(self, server):
        self.server = server

    def touched(self):
        return len(self.server.requests)

    def sent(self):
        return len(self.server.sent)

    def url(self, path, question):
        return f"{self.server.url}/{path}?q={question}"


class HttpSync(Http):
    def call(self, question):
        return self.client.get(self.url("ask", question)).body

    def fail(self, question):
        return self.client.get(self.url("gone", question))

    def stream(self, question):
        return iter_of(self.client.get(self.url("drip", question)).chunks)


class HttpAsync(Http):
    async def call(self, question):
        return (await self.client.aask("GET", self.url("ask", question))).body

    async def fail(self, question):
        return await self.client.aask("GET", self.url("gone", question))

    async def stream(self, question):
        for chunk in (await self.client.aask("GET", self.url("drip", question))).chunks:
            yield chunk

    async def slow(self, question):
        return await self.client.aask("GET", self.url("slow", question))


def iter_of(chunks):
    yield from chunks


def _suite(client):
    base = HttpAsync if client.is_async else HttpSync
    # These clients collect their chunks: how soon the first one comes is measured in tests/adapters/http.
    return type(
        f"Test{client.name.title().replace('-', '')}",
        (base,),
        {"client": client, "sent": AdapterConformance.sent},
    )


for _client in ALL:
    _made = _suite(_client)
    globals()[_made.__name__] = _made


# -- Pydantic AI ---------------------------------------------------------------------------------------------

pydantic_ai = pytest.importorskip("pydantic_ai")
from pydantic_ai.messages import ModelResponse, TextPart  # noqa: E402
from pydantic_ai.models.function import FunctionModel  # noqa: E402


class TestAPydanticAiModel(Ours):
    label = "model:*"

    async def call(self, question):
        return (await self._agent(self._answer).run(question)).output

    async def fail(self, question):
        return (await self._agent(self._fail).run(question)).output

    async def stream(self, question):
        async with self._agent(None).run_stream(question) as result:
            async for text in result.stream_text(delta=True, debounce_by=None):
                yield text

    async def slow(self, question):
        return (await self._agent(self._never).run(question)).output

    def _agent(self, function):
        return pydantic_ai.Agent(FunctionModel(function, stream_function=self._stream), retries=0)

    def _answer(self, messages, info):
        return ModelResponse(parts=[TextPart(WORLD.answer(_question(messages)))])

    def _fail(self, messages, info):
        return WORLD.fail(_question(messages))

    async def _never(self, messages, info):
        return await WORLD.never(_question(messages))

    async def _stream(self, messages, info):
        async for chunk in WORLD.achunks(_question(messages)):
            yield chunk


def _question(messages):
    return messages[0].parts[0].content


# -- handlers and stores -------------------------------------------------------------------------------------


class TestTheRecorder(HandlerConformance):
    def handler(self, tmp_path):
        return Recorder(Writer(tmp_path / "r" / EVENTS), Redactor(salt=b"salt"))


class TestTheReplayer(HandlerConformance):
    def handler(self, tmp_path):
        with reenact.record(home=tmp_path) as run:
            for number in range(400):
                reenact.effect("tool", "t", n=number).perform(lambda: 1)
        recording = run.load()
        steps = {step.call.number: step.number for step in recording}
        return Replayer(recording.logs[0], Redactor(salt=b"salt"), steps=steps)

    def turnstile(self, handler):
        return handler.turnstile


class TestTheLocalStore(StoreConformance):
    def store(self, tmp_path):
        return LocalStore(tmp_path)

    def write(self, store, id, events, blobs):
        folder = store.folder(id)
        folder.mkdir(parents=True)
        (folder / EVENTS).write_bytes(events)
        # Several within one tick of the file system's clock would have no order.
        self.clock = getattr(self, "clock", 10**18) + 10**9
        os.utime(folder / EVENTS, ns=(self.clock, self.clock))
        for digest, data in blobs.items():
            path = folder / "blobs" / digest[:2] / digest
            path.parent.mkdir(parents=True)
            path.write_bytes(data)


class TestTheLocalIntake(IntakeConformance):
    def intake(self, tmp_path):
        store = LocalStore(tmp_path)
        return LocalIntake(store), store


# -- the suites find what is wrong ---------------------------------------------------------------------------


class Careless(Ours):
    """An adapter that goes around the boundary in a replay, and swallows what it should let pass."""

    label = "tool:ask"

    def call(self, question):
        try:
            boundary.perform(Effect("tool", "ask", {}), lambda: None)
        except BaseException:
            return "swallowed"
        if boundary.current() is not None:
            current_scope.set(boundary.current().child("left behind"))
        return WORLD.answer(question)


class Collecting(Ours):
    """An adapter that hands on a stream only when it has the whole."""

    def call(self, question):
        return ask(question)

    def stream(self, question):
        yield from list(drip(question))


@pytest.mark.parametrize(
    "test",
    [
        "test_what_was_recorded_is_replayed_without_touching_the_world",
        "test_equal_calls_get_each_its_own_answer",
        "test_a_changed_question_is_a_departure",
        "test_a_departure_passes_code_that_catches_exceptions",
        "test_no_scope_is_left_behind",
    ],
)
def test_a_careless_adapter_fails(test, tmp_path):
    with pytest.raises(AssertionError):
        getattr(Careless(), test)(tmp_path)


def test_an_adapter_that_collects_streams_fails(tmp_path):
    with pytest.raises(AssertionError, match="before the program got the first"):
        Collecting().test_the_first_chunk_is_not_held_back(tmp_path)


@pytest.mark.thorough
def test_the_example_of_the_documentation_passes_its_own_suite(tmp_path):
    """docs/adapters.md holds a whole adapter and its test: as it stands there, it works."""
    page = Path(__file__).parents[2].joinpath("docs", "adapters.md").read_text()
    blocks = [block.split("```", 1)[0] for block in page.split("```python\n")[1:]]
    adapter, suite = (
        next(b for b in blocks if b.startswith(f"# {name}"))
        for name in ("weather_adapter.py", "test_weather")
    )
    (tmp_path / "weather_adapter.py").write_text(adapter)
    (tmp_path / "test_weather.py").write_text(suite)
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "REENACT"))} | BARE_PYTEST
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_weather.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
