"""Every way to run an agent: recorded against a provider, replayed without it, with equal results."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from uuid import uuid4

import pytest
from agents import (
    Agent,
    ApplyPatchTool,
    Computer,
    ComputerTool,
    CustomTool,
    FunctionTool,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    LocalShellTool,
    ModelSettings,
    RunConfig,
    RunContextWrapper,
    Runner,
    ShellCommandOutput,
    ShellResult,
    ShellTool,
    function_tool,
    input_guardrail,
    output_guardrail,
)
from agents.editor import ApplyPatchResult
from pydantic import BaseModel

from reenact.core import messages as reading
from tests.adapters.openai_agents.sdk_runs import chat, faithful, labels, record, replay, responses, said
from tests.adapters.pydantic_agents import fake_provider

MODELS = [responses, chat]


@dataclass
class Desk:
    seen: list[str] = field(default_factory=list)


class Found(BaseModel):
    city: str
    degrees: float


@function_tool
async def traffic(ctx: RunContextWrapper[Desk], city: str) -> str:
    """Look at the street, for a while that nobody foresees."""
    await asyncio.sleep(random.random() * 0.01)
    if ctx.context is not None:
        ctx.context.seen.append(city)
    return f"{city}: {uuid4()}"


@function_tool
def weather(city: str) -> str:
    """Look at the sky."""
    return f"{city}: {random.random()}"


def absent(city: str) -> str:
    """Look for what is not there."""
    raise LookupError(f"no {city} {random.random()}")


def make(model, provider, name="caller", **options):
    options.setdefault("tools", [traffic, weather])
    return Agent("Scout", instructions="Be brief.", model=model(provider, name), **options)


async def streamed(agent, prompt, **options):
    """A streamed run's events and its output."""
    result = Runner.run_streamed(agent, prompt, **options)
    seen = []
    async for event in result.stream_events():
        seen.append(
            event.data if event.type == "raw_response_event" else (event.type, getattr(event, "name", ""))
        )
    return seen, result.final_output, said(result), result.context_wrapper.usage


@pytest.mark.parametrize("model", MODELS)
def test_run_sync_gives_the_same_items_responses_and_usage(model, provider):
    def program():
        result = Runner.run_sync(make(model, provider), "Hot?")
        return result.final_output, said(result), result.raw_responses, result.context_wrapper.usage

    first, recording = faithful(program, provider)
    assert first[0].startswith("answer ")
    assert labels(recording) == ["model:caller", *["tool:traffic"] * 2, *["tool:weather"] * 2, "model:caller"]
    assert all("/agent:Scout" in step.call.scope for step in recording)


@pytest.mark.thorough
@pytest.mark.parametrize("model", MODELS)
def test_a_streamed_run_gives_the_same_events(model, provider):
    async def program():
        return await streamed(make(model, provider), "Hot?")

    first, recording = faithful(program, provider)
    assert len(first[0]) > 20
    assert recording.step(1).call.pieces


@pytest.mark.parametrize("model", MODELS)
def test_a_model_call_reads_as_any_other(model, provider):
    _, recording = record(lambda: Runner.run_sync(make(model, provider), "Hot?").final_output)
    first, last = (reading.read(step.log, step.call) for step in (recording.steps[0], recording.steps[-1]))
    assert [message.text for message in first.messages] == ["Be brief.", "Hot?"]
    assert first.tools == ("traffic", "weather")
    assert next((call.name, call.args) for call in first.answer.calls) == ("traffic", {"city": "Bern"})
    assert {message.name for message in last.messages if message.role == "tool"} == {"traffic", "weather"}
    assert last.answer.text.startswith("answer ")
    assert last.usage.input in (11, 17)
    assert first.schemas["weather"]["properties"].keys() == {"city"}


def test_a_streamed_call_reads_as_any_other(provider):
    (_, output, *_), recording = record(lambda: asyncio.run(streamed(make(responses, provider), "Hot?")))
    call = reading.read(recording.steps[-1].log, recording.steps[-1].call)
    assert (call.answer.text, call.streamed, call.usage.input) == (output, True, 17)


def test_equal_parallel_tool_calls_each_get_their_own_answer_in_the_recorded_order(provider):
    finished = []

    @function_tool
    async def ask(city: str) -> str:
        """Take a while."""
        await asyncio.sleep(random.random() * 0.02)
        finished.append(answer := str(uuid4()))
        return answer

    async def program():
        finished.clear()
        runs = [Runner.run(make(responses, provider, tools=[ask]), "x") for _ in range(3)]
        return [said(each) for each in await asyncio.gather(*runs)], list(finished)

    first, recording = record(program)
    provider.stop()
    second, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert second[0] == first[0]
    third, verdict = replay(program, recording, live=["tool"])
    assert third == first
    assert verdict.live == {"tool:ask": 6}


@pytest.mark.parametrize("model", MODELS)
def test_a_failing_tool_is_recorded_as_what_it_raised(model, provider):
    told = []

    def explain(ctx, error):
        told.append(type(error))
        return f"sorry: {error}"

    mine = function_tool(absent, name_override="mine", failure_error_function=explain)

    def program():
        return said(Runner.run_sync(make(model, provider, tools=[function_tool(absent), mine]), "Hot?"))

    first, recording = faithful(program, provider)
    errors = [step for step in recording if step.call.kind == "tool"]
    assert len(errors) == 4
    assert all(isinstance(step.error, LookupError) for step in errors)
    assert "sorry: no Bern" in str(first)
    # The handler is the program's own code: it runs in a replay too.
    assert told == [LookupError] * 4


def test_a_tool_without_a_handler_ends_the_run_with_the_same_error(provider):
    mine = function_tool(absent, failure_error_function=None)

    def program():
        try:
            Runner.run_sync(make(responses, provider, "call:absent", tools=[mine]), "Hot?")
        except Exception as error:
            return type(error), str(error), type(error.__cause__)
        raise AssertionError("nothing was raised")

    (kind, text, _), _ = faithful(program, provider)
    assert "no Bern" in text, kind


def test_a_tool_that_is_made_by_hand(provider):
    async def invoke(ctx, arguments):
        return {"given": arguments, "id": str(uuid4())}

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = FunctionTool("by_hand", "Made by hand.", schema, invoke, strict_json_schema=False)

    def program():
        return said(Runner.run_sync(make(responses, provider, tools=[tool]), "Hot?"))

    _, recording = faithful(program, provider)
    assert labels(recording) == ["model:caller", "tool:by_hand", "tool:by_hand", "model:caller"]
    assert recording.step(2).args == {"city": "Bern"}


def test_a_tool_that_takes_too_long_takes_too_long_again(provider):
    @function_tool(timeout=0.05)
    async def never(city: str) -> str:
        """Take too long."""
        await asyncio.sleep(60)
        return "done"

    def program():
        return said(Runner.run_sync(make(responses, provider, tools=[never]), "Hot?"))

    first, recording = faithful(program, provider)
    assert "timed out" in str(first)
    assert labels(recording).count("tool:never") == 2


class Machine(Computer):
    """What tools act on; it notes what they did. The computer of one, the editor of another."""

    environment = "browser"
    dimensions = (800, 600)

    def __init__(self):
        self.done = []

    def screenshot(self):
        return f"picture {uuid4()}"

    def click(self, x, y, button, **more):
        self.done.append((x, y))

    async def shell(self, request):
        self.done.append(request.data.action.commands)
        return ShellResult(output=[ShellCommandOutput(stdout=str(uuid4()))])

    def local_shell(self, request):
        self.done.append(request.data.action.command)
        return str(uuid4())

    async def custom(self, ctx, given):
        self.done.append(given)
        return str(uuid4())

    def create_file(self, operation):
        self.done.append(operation.path)
        return ApplyPatchResult(status="completed", output=str(uuid4()))

    update_file = delete_file = create_file

    double_click = scroll = type = wait = move = keypress = drag = click


SHELL = {"commands": ["rm -r build"], "timeout_ms": None, "max_output_length": None}
LOCAL = {"type": "exec", "command": ["ls"], "env": {}}
CLICK = {"type": "click", "x": 1, "y": 2, "button": "left"}
ACTS = {
    "shell": (lambda on: ShellTool(executor=on.shell), {"type": "shell_call", "action": SHELL}),
    "local_shell": (
        lambda on: LocalShellTool(executor=on.local_shell),
        {"type": "local_shell_call", "action": LOCAL},
    ),
    "apply_patch": (
        lambda on: ApplyPatchTool(editor=on),
        {
            "type": "apply_patch_call",
            "operation": {"type": "create_file", "path": "a.txt", "diff": "+hi"},
        },
    ),
    "computer": (
        lambda on: ComputerTool(computer=on),
        {"type": "computer_call", "action": CLICK, "pending_safety_checks": []},
    ),
    "note": (
        lambda on: CustomTool(name="note", description="Note it.", on_invoke_tool=on.custom),
        {"type": "custom_tool_call", "name": "note", "input": "milk"},
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", ACTS)
def test_what_acts_on_this_machine_does_not_act_in_a_replay(name, provider, monkeypatch):
    machine = Machine()
    make_tool, call = ACTS[name]
    call = {"id": "x_1", "call_id": "call_1", "status": "completed", **call}
    items = fake_provider._Responses._items
    asked = iter([[call]])
    monkeypatch.setattr(
        fake_provider._Responses,
        "_items",
        staticmethod(lambda text, calls: next(asked, None) or items(text, calls)),
    )

    def program():
        tools = [make_tool(machine)]
        return said(Runner.run_sync(make(responses, provider, "teller", tools=tools), "Do it"))

    _, recording = faithful(program, provider)
    assert labels(recording) == ["model:teller", f"tool:{name}", "model:teller"]
    assert len(machine.done) == 1
    if name == "apply_patch":
        assert recording.step(2).args["operation"]["path"] == "a.txt"


@pytest.mark.parametrize("model", MODELS)
def test_a_handoff_goes_on_in_the_other_agents_scope(model, provider):
    def program():
        refunds = Agent("Refunds", model=model(provider, "teller"))
        router = make(model, provider, "call:transfer_to_refunds", handoffs=[refunds], tools=[])
        result = Runner.run_sync(router, "My money")
        return result.last_agent.name, result.final_output, said(result)

    first, recording = faithful(program, provider)
    assert first[0] == "Refunds"
    assert [step.call.scope.rpartition("/")[2] for step in recording] == ["agent:Scout", "agent:Refunds"]


def test_an_agent_as_a_tool_answers_as_the_tool_and_runs_again_where_it_is_let_through(provider):
    def program():
        inner = make(responses, provider)
        tool = inner.as_tool("scout", "Ask the scout.")
        return said(Runner.run_sync(Agent("Boss", model=responses(provider, "caller"), tools=[tool]), "Hot?"))

    first, recording = faithful(program, provider)
    assert labels(recording) == ["model:caller", "tool:scout", "tool:scout", "model:caller"]
    assert replay(program, recording)[1].again["tool:scout"] == 2
    assert any("agent:Scout" in step.call.scope for step in recording if step.call.within is not None)
    second, verdict = replay(program, recording, live=["tool:scout"])
    assert second == first
    assert verdict.live == {"tool:scout": 2}


AGENT_AS_A_TOOL = """
    import asyncio, json
    from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)

    class Scripted(Model):
        async def get_response(self, system_instructions, input, *args, **options):
            tool = {"boss": "scout", "scout": "warm"}[system_instructions.split()[0]]
            if isinstance(input, str) or "output" not in input[-1]:
                said = ResponseFunctionToolCall(
                    arguments=json.dumps({"input": "here"}), call_id=tool, name=tool, type="function_call"
                )
            else:
                text = ResponseOutputText(annotations=[], text=f"so: {input[-1]['output']}", type="output_text")
                said = ResponseOutputMessage(
                    id="m", content=[text], role="assistant", status="completed", type="message"
                )
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *args, **options):
            raise NotImplementedError

    @function_tool
    def warm(input: str) -> str:
        return f"warm {input}"

    async def shortened(result):
        return result.final_output[:20]

    scout = Agent("Scout", instructions="scout the place", model=Scripted(), tools=[warm])
    tool = scout.as_tool("scout", "Ask the scout.", custom_output_extractor=shortened)
    boss = Agent("Boss", instructions="boss", model=Scripted(), tools=[tool])
    print(Runner.run_sync(boss, "Is it warm?").final_output)
"""


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("scout the place", "scout well", "/tool:scout#0/agent:Scout/model:"),
        ("warm {input}", "hot {input}", "/tool:warm#0"),
        ("[:20]", "[:3]", "/tool:scout#0"),
    ],
    ids=["its instructions", "its tool", "its output"],
)
def test_a_change_of_an_agent_that_is_a_tool_is_found(before, after, place, shell):
    shell.write("agent.py", AGENT_AS_A_TOOL)
    done, _ = shell.record("agent.py")
    assert done.out == "so: so: warm here\n", done.err
    assert shell.replay("--json").json["verdict"]["again"] == {"tool:scout": 1, "tool:warm": 1}
    assert before in AGENT_AS_A_TOOL
    shell.write("agent.py", AGENT_AS_A_TOOL.replace(before, after))
    (found,) = shell.replay("--json").json["verdict"]["divergences"]
    assert found["kind"] == "CHANGED"
    assert place in found["address"]


@input_guardrail
async def careful(ctx, agent, given):
    """Ask another agent, beside the first turn."""
    result = await Runner.run(ctx.context, given)
    return GuardrailFunctionOutput(result.final_output, tripwire_triggered=given == "bad")


@output_guardrail
async def polite(ctx, agent, output):
    """Look at the output."""
    return GuardrailFunctionOutput(str(uuid4()), tripwire_triggered=False)


def test_guardrails_run_beside_the_agent_and_trip_again(provider):
    def program():
        guard = Agent("Guard", model=responses(provider, "teller"))
        agent = make(responses, provider, input_guardrails=[careful], output_guardrails=[polite])
        fine = Runner.run_sync(agent, "fine", context=guard)
        try:
            Runner.run_sync(agent, "bad", context=guard)
        except InputGuardrailTripwireTriggered as error:
            return said(fine), error.guardrail_result.output.output_info
        raise AssertionError("nothing was triggered")

    _, recording = faithful(program, provider)
    assert any("agent:Guard" in step.call.scope for step in recording)


@pytest.mark.parametrize("model", MODELS)
def test_structured_output_comes_back_as_its_type(model, provider):
    def program():
        return Runner.run_sync(
            make(model, provider, "teller", output_type=Found, tools=[]), "Where?"
        ).final_output

    first, recording = faithful(program, provider)
    assert isinstance(first, Found)
    assert recording.step(1).args["output"]["schema"]["properties"].keys() == {"city", "degrees"}


@pytest.mark.parametrize("way", ["whole", "streamed"])
def test_a_tool_waits_for_approval_and_goes_on(way, provider):
    @function_tool(needs_approval=True)
    async def cancel(city: str) -> str:
        """Cancel it."""
        return f"cancelled {city} {uuid4()}"

    async def program():
        agent = make(responses, provider, tools=[cancel])

        async def go(given):
            if way == "whole":
                return await Runner.run(agent, given)
            result = Runner.run_streamed(agent, given)
            _ = [event async for event in result.stream_events()]
            return result

        result = await go("Cancel it")
        state = result.to_state()
        for place, interruption in enumerate(result.interruptions):
            state.approve(interruption) if place else state.reject(interruption)
        return (await go(state)).to_input_list()

    first, recording = faithful(program, provider)
    assert labels(recording) == ["model:caller", "tool:cancel", "model:caller"]
    assert "cancelled Bern" in str(first)


def test_a_changed_prompt_is_named_by_its_path(provider):
    _, recording = record(lambda: Runner.run_sync(make(responses, provider), "Hot?"))
    with pytest.raises(Exception, match=r"args\.input\[0\]\.content"):
        replay(lambda: Runner.run_sync(make(responses, provider), "Cold?"), recording)


@pytest.mark.thorough
@pytest.mark.parametrize("streaming", [False, True])
def test_a_departure_passes_the_handlers_of_the_sdk(streaming, provider):
    caught = []

    def note(ctx, error):
        caught.append(error)
        return "sorry"

    def program(city):
        @function_tool(name_override="traffic", failure_error_function=note)
        async def asks(city_: str) -> str:
            """Ask another agent."""
            inner = make(responses, provider, "teller", tools=[])
            return (await Runner.run(inner, city)).final_output

        agent = make(responses, provider, "call:traffic", tools=[asks])
        if not streaming:
            return lambda: said(Runner.run_sync(agent, "Hot?"))
        return lambda: asyncio.run(streamed(agent, "Hot?"))

    _, recording = record(program("Bern"))
    with pytest.raises(Exception, match="CHANGED|changed") as departed:
        replay(program("Rome"), recording, live=["tool"])
    assert "args.input" in str(departed.value)
    assert not caught


def test_settings_of_the_run_are_part_of_the_question(provider):
    def program(temperature):
        settings = ModelSettings(temperature=temperature, max_tokens=100)
        config = RunConfig(model_settings=settings)
        return lambda: (
            Runner.run_sync(make(responses, provider, "teller"), "Hot?", run_config=config).final_output
        )

    _, recording = record(program(0.5))
    assert recording.step(1).args["settings"] == {"temperature": 0.5, "max_tokens": 100}
    with pytest.raises(Exception, match=r"args\.settings\.temperature"):
        replay(program(0.7), recording)
