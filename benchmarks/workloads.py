"""The work that is measured. Each function makes one batch of calls, in a worker process, and returns its sample."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import frameworks, material
from benchmarks.jobs import Body, Job, in_a_loop
from benchmarks.measure import Sample, Stopwatch, now
from benchmarks.server import reply
from benchmarks.subjects import Subject

_CANNED = 64


_transcripts: dict[Path, str] = {}


def run(subject: Subject, job: Job) -> Sample:
    """Do a job in this process."""
    watch = Stopwatch(job.warm)
    body = _BODIES[job.workload](subject, job, watch)
    if job.mode == "bare":
        answers = body()
    elif job.mode == "record":
        answers = subject.record(job.path, body)
    else:
        answers = subject.replay(job.path, body)
    sample = watch.finish()
    seen = hashlib.sha256(json.dumps(answers).encode()).hexdigest()
    if job.mode == "record":
        _transcripts[job.path] = seen
        sample.size = size_of(job.path)
    elif job.mode == "replay":
        sample.correct = seen == _transcripts[job.path]
    return sample


def size_of(path: Path) -> int:
    """The bytes of all files of a recording (cassetter insists on a suffix of its own)."""
    files = [*path.rglob("*"), *path.parent.glob(f"{path.name}*")]
    return sum(file.stat().st_size for file in files if file.is_file())


# -- a function of the program's -----------------------------------------------------------------------------


def _tool(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    total = job.calls + job.warm
    make = material.rows if job.shape == "rows" else material.text
    answers = [make(job.size, number) for number in range(total)]
    questions = [material.text(job.size, number) for number in range(total)]
    given = iter(answers)

    def look_up(question: str) -> Any:
        return next(given)

    tool = look_up if job.mode == "bare" else subject.tool(look_up)

    def body() -> list[Any]:
        return [watch.time(partial(tool, question)) for question in questions]

    return body


# -- the OpenAI SDK ------------------------------------------------------------------------------------------


def _chat(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    def body() -> list[Any]:
        client = subject.client(_client(job))
        model, answers = f"reply-{job.size}", [""]
        for number in range(job.calls + job.warm):
            # The last answer's beginning goes into the question: a wrong answer breaks all that follow.
            prompt = answers[-1][:20] + material.text(job.size, number)
            messages = [{"role": "user", "content": prompt}]
            done: Any = watch.time(partial(client.chat.completions.create, model=model, messages=messages))
            answers.append(done.choices[0].message.content)
        return answers

    return body


def _long_chat(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    """A chat over HTTP, without an SDK: one takes 58 ms for a request of 1 MB, in which our part would be lost."""
    import httpx2

    _network_in_memory(job.size)

    def body() -> list[Any]:
        client = httpx2.Client(base_url="http://memory.invalid/v1")
        messages: list[Any] = [{"role": "system", "content": material.text(1000, 0)}]
        for number in range(job.calls):
            messages.append({"role": "user", "content": material.text(job.size, number)})
            data = json.dumps({"model": f"reply-{job.size}", "messages": messages}).encode()
            headers = {"content-type": "application/json"}
            post = partial(client.post, "/chat/completions", content=data, headers=headers)
            done: Any = watch.time(post)
            messages.append({"role": "assistant", "content": done.json()["choices"][0]["message"]["content"]})
        return messages

    return body


def _stream(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    def body() -> list[Any]:
        client = subject.client(_client(job))
        answers: list[Any] = []
        for number in range(job.calls + job.warm):
            messages = [{"role": "user", "content": material.text(job.size, number)}]
            watch.start()
            begun = now()
            chunks = client.chat.completions.create(model="stream-10-0.02", messages=messages, stream=True)
            first = next(iter(chunks)).choices[0].delta.content
            watch.stop(begun)
            answers.append([first, *(chunk.choices[0].delta.content for chunk in chunks)])
        return answers

    return body


def _client(job: Job) -> Any:
    import openai

    if not job.url:
        _network_in_memory(job.size)
    # No real key, and none that looks like one to this project's own tests.
    return openai.OpenAI(base_url=f"{job.url or 'http://memory.invalid'}/v1", api_key="bench", max_retries=0)


_canned: Iterator[bytes] | None = None


def _network_in_memory(size: int) -> None:
    """Put canned answers in the place of the network, below every hook: what is left is the SDK's own work."""
    global _canned
    _canned = itertools.cycle([reply(f"reply-{size}", number) for number in range(_CANNED)])
    import httpx2

    if getattr(httpx2.HTTPTransport, "_in_memory", False):
        return
    if hasattr(httpx2.HTTPTransport.handle_request, "__wrapped__"):
        raise RuntimeError("the network goes to memory before any adapter is installed")

    class Body(httpx2.SyncByteStream):
        def __init__(self, data: bytes) -> None:
            self._data = data

        def __iter__(self) -> Iterator[bytes]:
            yield self._data

    def handle_request(transport: Any, request: Any) -> Any:
        assert _canned is not None
        data = next(_canned)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(data))]
        return httpx2.Response(
            200, headers=headers, stream=Body(data), extensions={"http_version": b"HTTP/1.1"}
        )

    transport: Any = httpx2.HTTPTransport
    transport.handle_request = handle_request
    transport._in_memory = True


# -- Pydantic AI ---------------------------------------------------------------------------------------------


def _agent(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    """Runs of an agent with one tool: two model requests and a tool call each."""
    from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    numbers = itertools.count()

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if isinstance(messages[-1].parts[-1], UserPromptPart):
            return ModelResponse(parts=[ToolCallPart("look_up", {"order": "ORD-1"}, tool_call_id="call_1")])
        return ModelResponse(parts=[TextPart(material.text(job.size, next(numbers)))])

    agent: Agent[None, str] = Agent(FunctionModel(answer))

    @agent.tool_plain
    def look_up(order: str) -> str:
        return material.text(job.size, 1)

    async def ask(number: int, _: Any) -> Any:
        return (await agent.run(material.text(job.size, number))).output

    return in_a_loop(ask, job, watch)


def _model(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    """Single requests to a model that costs nothing, through our wrapper: all that is left is our own part."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    request = _requester(job)
    history: list[Any] = []
    growing = bool(job.options.get("growing"))

    async def ask(number: int, timed: Any) -> Any:
        if not growing:
            history.clear()
        history.append(ModelRequest(parts=[UserPromptPart(material.text(job.size, number))]))
        response = await timed(lambda: request(list(history)))
        history.append(ModelResponse(parts=[TextPart(response.parts[0].content)]))
        return response.parts[0].content

    return in_a_loop(ask, job, watch, inner=True)


def _requester(job: Job) -> Callable[[list[Any]], Awaitable[Any]]:
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.usage import RequestUsage

    from reenact.adapters.pydantic_ai.model import RecordedModel
    from reenact.core import boundary

    total = job.calls + job.warm
    usage = RequestUsage(input_tokens=2500, output_tokens=2500)
    parts = [TextPart(material.text(job.size, number)) for number in range(total)]
    canned = iter([ModelResponse(parts=[part], usage=usage, model_name="canned") for part in parts])

    class Canned(Model[Any]):
        model_name = "canned"
        system = "canned"

        async def request(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> Any:
            return next(canned)

    model, parameters = Canned(), ModelRequestParameters()
    made: list[Any] = []

    async def request(messages: list[Any]) -> Any:
        if not made:
            scope = boundary.current()
            made.append(model if scope is None else RecordedModel(model, scope))
        return await made[0].request(messages, None, parameters)

    return request


def _long_agent(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    """A chat of many turns with an agent, its history handed back to it each time."""
    from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    numbers = itertools.count()

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(material.text(job.size, next(numbers)))])

    agent: Agent[None, str] = Agent(FunctionModel(answer))
    history: list[ModelMessage] = []

    async def ask(number: int, _: Any) -> Any:
        nonlocal history
        result = await agent.run(material.text(job.size, number), message_history=history)
        history = result.all_messages()
        return result.output

    return in_a_loop(ask, job, watch)


def _block(subject: Subject, job: Job, watch: Stopwatch) -> Body:
    """Nothing: what a recording's beginning and end cost."""
    watch.start()

    def body() -> list[Any]:
        watch.sample.cpu.append(0.0)
        watch.sample.wall.append(0.0)
        return []

    return body


_BODIES: dict[str, Callable[[Subject, Job, Stopwatch], Body]] = {
    "tool": _tool,
    "chat": _chat,
    "stream": _stream,
    "long_chat": _long_chat,
    "agent": _agent,
    "model": _model,
    "long_agent": _long_agent,
    "block": _block,
    **frameworks.BODIES,
}
