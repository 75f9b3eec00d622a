"""Scenes of libraries and other languages, and of what other tools recorded."""

from __future__ import annotations

import shutil

from tests.docs.provider import QuickstartProvider
from tests.docs.scenes.stage import (
    ROOT,
    Weather,
    provider_of,
    put,
    put_agent,
    put_page,
    put_pytest,
    reached_by_names,
    scene,
    serving,
)

TRACES = ROOT / "tests" / "analysis" / "interchange" / "importers" / "traces"


@scene
def proxy(terminal):
    put(terminal, "agent.js")
    provider = QuickstartProvider()
    terminal.environ |= provider.environ
    terminal.run("mv agent.js agent.mjs", shown=False)
    terminal.run("reenact record --proxy -- node agent.mjs")
    provider.stop()
    terminal.comment("The provider is stopped.")
    terminal.run("reenact replay last")
    terminal.run("reenact show last")


@scene
def traces(terminal):
    put_agent(terminal)
    shutil.copy(TRACES / "openinference.jsonl", terminal.folder / "spans.jsonl")
    terminal.run("reenact import spans.jsonl")
    terminal.run("reenact list")
    terminal.run("reenact show last --filter 'step < 4'")


@scene
def frameworks(terminal):
    terminal.widen(110)
    pages = {
        "sdk": "OpenAI SDK",
        "pydantic-ai": "Pydantic AI",
        "langgraph": "LangGraph",
        "openai-agents": "Agents SDK",
    }
    with provider_of(terminal):
        for page, name in pages.items():
            program = f"with_{page.replace('-', '_')}.py"
            put_page(terminal, f"quickstart/{page}.md", program)
            terminal.run(f"reenact record --name '{name}' -- python {program}", shown=False)
        terminal.run("reenact list")
    terminal.run("reenact verify")


@scene
def pydantic_ai(terminal):
    put_page(terminal, "quickstart/pydantic-ai.md")
    with provider_of(terminal):
        terminal.run("reenact record -- python agent.py")
        terminal.run("reenact show last")
    terminal.run("reenact replay last")


@scene
def openai_agents(terminal):
    put_page(terminal, "quickstart/openai-agents.md")
    with provider_of(terminal):
        terminal.run("reenact record -- python agent.py")
        terminal.comment("And if the tool had answered something else?")
        terminal.run("reenact fork last --at 2 --set 'output = \"lost\"'")
        terminal.run("reenact show last --filter 'scope ~ \"agent:Orders\"'")
    terminal.run("reenact replay last")


@scene
def langgraph(terminal):
    put_page(terminal, "quickstart/langgraph.md")
    with provider_of(terminal):
        terminal.run("reenact record -- python agent.py", shown=False)
        terminal.run("reenact show last")
        terminal.run("reenact show last 2 --state", lines=30)
    terminal.run("reenact replay last")


@scene
def sdks(terminal):
    terminal.widen(110)
    put_page(terminal, "quickstart/sdk.md")
    with provider_of(terminal):
        terminal.run("reenact record -- python agent.py")
        terminal.run("reenact show last")
    terminal.run("reenact replay last")


@scene
def mcp(terminal):
    put(terminal, "travel.py", "server.py")
    terminal.run("reenact record -- python travel.py")
    terminal.run("reenact show last --filter tool")
    terminal.run("rm server.py", shown=False)
    terminal.comment("The server is deleted.")
    terminal.run("reenact replay last")


@scene
def adapters(terminal):
    put(terminal, "weather.py", "trip.py")
    put_page(terminal, "adapters.md")
    put_pytest(terminal)
    with serving(Weather) as address:
        reached_by_names(terminal, address)
        terminal.run("reenact record -- python trip.py")
        terminal.run("reenact show last")
    terminal.comment("The service is stopped.")
    terminal.run("reenact replay last")
    terminal.run("pytest -q --no-header test_weather.py")


@scene
def lesson(terminal):
    put(terminal, "bug.py", "support.py", "shop.py")
    terminal.run("python bug.py")
    terminal.run("reenact import sessions/cancel.json")
    terminal.run("reenact show last")
