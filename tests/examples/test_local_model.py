"""A real language model on this machine, and the example agents that talk to it.

The tests marked `live` skip with a word where the model's packages are not installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local_model import SERVER, local_model

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENTS = EXAMPLES / "order_agent"

CANCEL = {
    "type": "function",
    "function": {
        "name": "cancel_order",
        "description": "cancel an order",
        "parameters": {
            "type": "object",
            "properties": {
                "order_id": {"type": "string", "pattern": "^ORD-[0-9]{4}$"},
                "reason": {"type": "string", "enum": ["late", "broken"]},
            },
            "required": ["order_id", "reason"],
            "additionalProperties": False,
        },
    },
}


def _actions():
    spec = importlib.util.spec_from_file_location("local_model_actions", SERVER.with_name("actions.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


actions = _actions()

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


class TestActionStream:
    """Constrained JSON becomes the deltas of a stream."""

    @staticmethod
    def deltas(text, cuts):
        stream = actions.ActionStream()
        edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
        pieces = [text[start:end] for start, end in pairwise(edges)]
        return [delta for piece in pieces for delta in stream.feed(piece)]

    @given(st.text(), st.lists(st.integers(0, 500)), st.booleans())
    def test_a_reply_arrives_whole_however_it_is_cut(self, text, cuts, ascii_only):
        """The deltas of a reply are its text, wherever a token ended: in an escape, or amid a surrogate pair."""
        action = json.dumps({"name": "reply", "arguments": {"text": text}}, ensure_ascii=ascii_only)
        assert "".join(delta["content"] for delta in self.deltas(action, cuts)) == text

    @given(
        st.dictionaries(st.text(), json_values, max_size=3),
        st.lists(st.integers(0, 500)),
        st.sampled_from([None, 2]),
    )
    def test_a_call_arrives_whole_however_it_is_cut(self, arguments, cuts, indent):
        """The deltas of a call name the tool once, and its arguments without the braces of the action around them."""
        action = json.dumps({"name": "cancel_order", "arguments": arguments}, indent=indent)
        first, *rest = [delta["tool_calls"][0] for delta in self.deltas(action, cuts)]
        assert first["function"] == {"name": "cancel_order", "arguments": ""}
        assert json.loads("".join(delta["function"]["arguments"] for delta in rest)) == arguments

    def test_what_was_cut_off_is_passed_on_as_it_is(self):
        """Arguments that stopped in the middle go out unfinished, as a provider's do when tokens run out."""
        first, *rest = self.deltas('{"name": "f", "arguments": {"a": "b', [30, 33])
        assert first["tool_calls"][0]["function"]["name"] == "f"
        assert "".join(delta["tool_calls"][0]["function"]["arguments"] for delta in rest) == '{"a": "b'


class TestOfferedTools:
    """Which tools the model may choose from."""

    messages = (
        {"role": "user", "content": "cancel it"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "cancel_order"}}]},
    )

    def offered(self, **request):
        once = request.pop("each_once", False)
        offered = actions.offered_tools(
            {"messages": self.messages, "tools": [CANCEL], **request}, each_once=once
        )
        return [tool["name"] for tool in offered]

    def test_a_plain_answer_is_one_of_the_choices(self):
        """Unless a call is demanded, the model may reply."""
        assert self.offered() == ["cancel_order", "reply"]
        assert self.offered(tool_choice="required") == ["cancel_order"]
        assert self.offered(tool_choice="none") == []
        assert self.offered(tools=[]) == []

    def test_a_tool_is_offered_once_a_turn_if_asked(self):
        """A called tool is withheld until the user speaks again, and the model can still reply."""
        assert self.offered(each_once=True) == ["reply"]
        spoken = [*self.messages, {"role": "user", "content": "and again"}]
        assert self.offered(each_once=True, messages=spoken) == ["cancel_order", "reply"]


@pytest.fixture(scope="module")
def base_url():
    with local_model() as url:
        yield url


@pytest.fixture
def client(base_url):
    from openai import OpenAI

    with OpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
        yield client


@pytest.mark.thorough
@pytest.mark.live
class TestServer:
    """The server answers the OpenAI SDK with what a real model sampled."""

    def ask(self, client, text="Tell me about Rome.", **options):
        options = {"model": "local", "temperature": 1, "max_tokens": 24} | options
        return client.chat.completions.create(messages=[{"role": "user", "content": text}], **options)

    def test_it_names_its_model(self, client):
        """The list of models says which file answers."""
        assert [model.id for model in client.models.list()] == ["SmolLM2-135M-Instruct.Q4_1"]

    def test_it_really_samples(self, client):
        """Two answers at temperature 1 differ; with a seed they are equal."""
        free = {self.ask(client).choices[0].message.content for _ in range(2)}
        seeded = {self.ask(client, seed=7).choices[0].message.content for _ in range(2)}
        assert (len(free), len(seeded)) == (2, 1)

    def test_it_streams_token_by_token(self, client):
        """Tokens arrive as they are sampled: the first long before the last."""
        stream = self.ask(client, stream=True, stream_options={"include_usage": True})
        arrived = [(monotonic(), chunk) for chunk in stream]
        times = [when for when, chunk in arrived if chunk.choices and chunk.choices[0].delta.content]
        assert len(times) > 4
        assert times[-1] - times[0] > 0.05
        assert arrived[-2][1].choices[0].finish_reason in {"length", "stop"}
        assert 4 < arrived[-1][1].usage.completion_tokens <= 24

    @pytest.mark.thorough
    @pytest.mark.parametrize("stream", [False, True])
    def test_a_tool_call_obeys_its_schema(self, client, stream):
        """A demanded call names the tool, and its arguments match pattern and enum."""
        options = {"tools": [CANCEL], "tool_choice": "required", "max_tokens": 100}
        question = "Cancel order ORD-1234, it is broken."
        if stream:
            with client.chat.completions.stream(
                model="local",
                messages=[{"role": "user", "content": question}],
                tools=[{"type": "function", "function": {**CANCEL["function"], "strict": True}}],
                tool_choice="required",
            ) as events:
                choice = events.get_final_completion().choices[0]
        else:
            choice = self.ask(client, question, **options).choices[0]
        (call,) = choice.message.tool_calls
        arguments = json.loads(call.function.arguments)
        assert choice.finish_reason == "tool_calls"
        assert call.function.name == "cancel_order"
        assert arguments["order_id"].startswith("ORD-")
        assert arguments["reason"] in {"late", "broken"}

    def test_a_stream_left_early_frees_the_model(self, client):
        """Who stops listening stops the sampling, so the next question is not kept waiting."""
        with self.ask(client, stream=True, max_tokens=2000) as stream:
            next(iter(stream))
        begun = monotonic()
        self.ask(client, max_tokens=1)
        assert monotonic() - begun < 5

    def test_a_bad_request_is_refused_with_a_word(self, client):
        """A question longer than the model's memory is a 400 that says so, streamed or not."""
        from openai import BadRequestError

        for stream in (False, True):
            with pytest.raises(BadRequestError, match="exceeds the available context size"):
                self.ask(client, "word " * 9000, stream=stream)


@pytest.mark.thorough
@pytest.mark.live
@pytest.mark.parametrize("program", ["agent.py", "plain.py"])
def test_an_agent_talks_to_it_and_no_two_runs_are_equal(base_url, program):
    """The example agents run to their end against the real model, and differ from run to run."""
    if importlib.util.find_spec("pydantic_ai") is None:
        pytest.skip("Pydantic AI is not installed (make setup-demo)")
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": base_url,
        "OPENAI_API_KEY": "none",
        "OPENAI_MODEL": "local",
    }
    command = [sys.executable, str(AGENTS / program)]
    runs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert all("agent:" in run for run in runs)
    assert runs[0] != runs[1]
