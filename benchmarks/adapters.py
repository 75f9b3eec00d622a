"""Recording through the frameworks' adapters: what an effect costs on top of the framework's own work."""

from __future__ import annotations

from benchmarks import recording, subjects
from benchmarks.frameworks import NODES
from benchmarks.plan import Plan
from benchmarks.recording import Load
from benchmarks.report import Section
from benchmarks.workers import working

_HOW = (
    "The framework's own call, with a model, a tool or a server that answers at once; all that is between is run. Bare "
    "and recorded batches alternate in one process, as above. Each text, asked and answered, is 10 KB, or 1 KB where "
    "it says so. A run of an agent is two model requests and a tool call; a graph has {nodes} nodes, one after the "
    "other, that ask nobody: what is added there is the graph's state, which is tracked."
)

_LOADS = (
    ("OpenAI Agents SDK, a run, for each effect", Load("Agents SDK", "agents", {}, effects=3, calls=20)),
    ("MCP, a tool call, in memory", Load("MCP", "mcp", {"options": {"mode": "auto"}})),
    ("MCP, a tool call, as messages", Load("MCP, messages", "mcp", {"options": {"mode": "legacy"}})),
    ("LangChain, a tool", Load("LangChain tool", "langchain_tool", {})),
    ("LangChain, a model call", Load("LangChain model", "langchain_model", {})),
    ("LangGraph, a node", Load("LangGraph", "langgraph", {}, effects=NODES, calls=25)),
)


def measure(plan: Plan) -> Section:
    """Each framework, in a process of its own."""
    section = Section("11. Recording by the frameworks' adapters", _HOW.format(nodes=NODES))
    ours = [subject for subject in subjects.chosen() if subject.name == "reenact"]
    for name, load in _LOADS:
        with working(ours) as workers:
            for size, said in ((10240, ""), (1024, ", 1 KB")):
                found = recording.alternate(plan, workers, load.sized(size))[0]
                recording.figures(section, name + said, found, load.effects)
    return section
