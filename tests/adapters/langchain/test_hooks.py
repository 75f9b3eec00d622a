"""Installing: nothing by halves; and a program from the terminal: recorded, replayed, forked, compared."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import pytest
from langchain_core.language_models import BaseChatModel, chat_models
from langchain_core.tools import BaseTool
from langgraph.pregel import main as pregel
from langsmith import Client
from langsmith.run_helpers import tracing_context

import reenact
from reenact import adapters
from reenact.adapters import langchain, langgraph
from reenact.adapters.hooks import HookMissing
from reenact.adapters.langgraph import checkpoints
from tests.adapters.langchain.chains import chat, record, replay

PROGRAM = """
    import sys
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    def weather(city: str) -> str:
        "Look at the sky."
        return f"sunny in {city}"

    @tool
    def traffic(city: str) -> str:
        "Look at the street."
        raise ValueError(f"no street in {city}")

    agent = create_agent(ChatOpenAI(model="caller", base_url=sys.argv[1], api_key="sk-test"), [weather, traffic])
    try:
        agent.invoke({"messages": [("user", "Hi")]})
    except ValueError as error:
        print(error)
    agent = create_agent(ChatOpenAI(model="caller", base_url=sys.argv[1], api_key="sk-test"), [weather])
    for part, about in agent.stream({"messages": [("user", "Hi")]}, stream_mode="messages"):
        print(part.content)
"""


def test_installed_twice_is_installed_once():
    adapters.install()
    before = BaseChatModel.agenerate, BaseTool.run, pregel.Pregel.stream
    langchain.install(chat_models)
    langgraph.install(pregel)
    assert before == (BaseChatModel.agenerate, BaseTool.run, pregel.Pregel.stream)


def test_a_version_that_is_not_known_is_refused_whole():
    class Changed:
        def _generate(self):
            """All that is left."""

    with pytest.raises(HookMissing, match=r"LangChain .* is not known .*Changed has no _agenerate"):
        langchain._check(Changed, BaseTool)
    assert not hasattr(Changed._generate, "_reenact")


def test_another_langgraph_is_refused_whole():
    other = ModuleType("langgraph.pregel.main")
    other.Pregel = SimpleNamespace(stream=lambda: None)
    with pytest.raises(HookMissing, match=r"LangGraph .* is not known .*Pregel.stream"):
        langgraph.install(other)
    other.BaseCheckpointSaver = object
    with pytest.raises(HookMissing, match="BaseCheckpointSaver has no get_tuple"):
        checkpoints.install(other)


@pytest.mark.thorough
def test_a_program_from_the_terminal(shell, provider):
    program = shell.write("agent.py", PROGRAM)
    recorded, recording = shell.record(program, f"{provider.url}/v1")
    assert recorded.status == 0, recorded.err
    assert recorded.out.startswith("no street in Bern\n")
    provider.stop()
    replayed = shell.replay()
    assert replayed.status == 0, replayed.err
    assert recorded.out in replayed.out
    last = recording.steps[-1].number
    forked = shell.run("fork", recording.id, "--at", last, "--set", "text = rain")
    assert forked.status == 0, forked.err
    assert "rain" in forked.out
    told = reenact.diff(recording, shell.last())
    assert told.parting.a.number == told.parting.b.number == last


class Traces(BaseHTTPRequestHandler):
    """Takes whatever is reported."""

    got: ClassVar[list] = []

    def do_POST(self):
        self.got.append(self.path)
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(202)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        """Stay silent."""


@pytest.fixture
def traces():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Traces)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_tracing_to_langsmith_takes_no_part_in_the_run(provider, traces):
    clients = []

    def program():
        clients.append(Client(api_url=traces, api_key="lsv2_pt_test", info={}))
        with tracing_context(enabled=True, client=clients[-1]):
            return chat(provider, "teller").invoke("Hi")

    first, recording = record(program)
    clients[0].flush()
    assert Traces.got
    provider.stop()
    second, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert second == first
    assert [step.call.label for step in recording] == ["model:teller"]
    for client in clients:
        client.flush()
        client.cleanup()
