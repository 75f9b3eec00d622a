"""Graphs: parallel branches, a subgraph, interrupts, retries, tasks that are sent; their state, and their savers."""

from __future__ import annotations

from typing import TypedDict

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

import reenact
from reenact.errors import DivergenceError
from tests.adapters.langchain.chains import ask, chat, faithful, graph, record, replay

THREAD = {"configurable": {"thread_id": "1"}}
BEGIN = {"notes": ["begin"]}


def _sync(provider, saver, answers=("bob", "yes")):
    app = graph(provider).compile(checkpointer=saver)
    told = [list(app.stream(BEGIN, THREAD, stream_mode="updates"))]
    told.append(app.get_state(THREAD).interrupts)
    told.append(list(app.stream(Command(resume=answers[0]), THREAD, stream_mode="updates", subgraphs=True)))
    told.append(app.invoke(Command(resume=answers[1]), THREAD))
    told.append([(state.config, state.next) for state in app.get_state_history(THREAD)])
    return told


async def _async(provider, saver):
    app = graph(provider).compile(checkpointer=saver)
    told = [[chunk async for chunk in app.astream(BEGIN, THREAD, stream_mode="updates")]]
    told.append(await app.ainvoke(Command(resume="bob"), THREAD))
    told.append(await app.ainvoke(Command(resume="yes"), THREAD))
    return told


def test_a_graph_gives_the_same_to_the_last_checkpoint(provider):
    told, recording = faithful(lambda: _sync(provider, InMemorySaver()), provider)
    assert told[3]["approved"] is True
    assert [found.value for found in told[1]] == [{"about": "Bern"}]
    scopes = {step.call.scope for step in recording if step.call.kind == "model"}
    for name in ("a", "b", "c", "inside/graph:inner/node:deep"):
        assert f"main/graph:LangGraph/node:{name}" in scopes
    assert {f"main/graph:LangGraph~2/node:worker[{n}]" for n in range(3)} <= scopes


def test_a_graph_in_an_event_loop(provider):
    async def program():
        return await _async(provider, InMemorySaver())

    faithful(program, provider)


def test_another_answer_of_the_persons_is_a_departure(provider):
    _, recording = record(lambda: _sync(provider, InMemorySaver()))
    provider.stop()
    with pytest.raises(DivergenceError) as departed:
        replay(lambda: _sync(provider, InMemorySaver(), ("eve", "yes")), recording)
    assert "tool:ask#" in str(departed.value)
    assert [str(found.path) for found in departed.value.divergence.mismatches] == ["args.__resume__[0]"]


def test_an_answer_goes_to_the_one_who_asked_for_it(provider):
    # The tool takes the first answer; where a recording answers for the tool, the node must still get the second.
    class State(TypedDict, total=False):
        first: str
        second: str

    def node(state):
        first = ask.invoke({"city": "Bern"})
        return {"first": first, "second": interrupt("and then?")}

    def program():
        builder = StateGraph(State)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        app = builder.compile(checkpointer=InMemorySaver())
        return [app.invoke(value, THREAD) for value in ({}, Command(resume="one"), Command(resume="two"))]

    told, recording = faithful(program, provider)
    assert told[-1]["first"].startswith("one ")
    assert told[-1]["second"] == "two"
    assert [step.call.status for step in recording] == ["error", "ok", "ok"]


def test_a_branch_that_departs_ends_the_graph(provider):
    asked = ["same"]

    def program():
        model = chat(provider, "teller")

        def node(name):
            def run(state):
                return (
                    {"text": model.invoke(asked[0] if name == "b" else "same").content}
                    if name == "b"
                    else (model.invoke("same") and {})
                )

            return run

        builder = StateGraph(TypedDict("State", {"text": str}))
        for name in "abc":
            builder.add_node(name, node(name))
            builder.add_edge(START, name)
        try:
            return builder.compile().invoke({"text": ""})
        except Exception as error:
            return error

    _, recording = record(program)
    provider.stop()
    asked[0] = "other"
    with pytest.raises(DivergenceError) as departed:
        replay(program, recording)
    assert "node:b" in str(departed.value)


def test_the_graphs_state_is_in_the_recording(provider):
    _, recording = record(lambda: _sync(provider, InMemorySaver()))
    asked = next(step.number for step in recording if step.call.label == "tool:ask")
    state = recording.state(asked)
    assert state.of("langgraph.state").exact
    assert [note.partition(":")[0] for note in state["langgraph.state"]["notes"]].count("begin") == 2
    assert recording.state()["langgraph.state"]["approved"] is True


class Database(BaseCheckpointSaver):
    """A saver as those of databases are: what it keeps outlives the run, and others write there too."""

    def __init__(self):
        super().__init__()
        self.threads = InMemorySaver()
        self.written = 0

    def get_tuple(self, config):
        return self.threads.get_tuple(config)

    def list(self, config, **options):
        yield from self.threads.list(config, **options)

    def put(self, *args):
        self.written += 1
        return self.threads.put(*args)

    def put_writes(self, *args):
        self.written += 1
        self.threads.put_writes(*args)


def test_a_replay_reads_what_a_saver_gave_and_writes_nothing(provider):
    saver = Database()

    def program(begin):
        builder = StateGraph(TypedDict("State", {"text": str, "before": str}))
        model = chat(provider, "teller")
        builder.add_node("node", lambda state: {"before": state["text"], "text": model.invoke("hi").content})
        builder.add_edge(START, "node")
        return builder.compile(checkpointer=saver).invoke(begin, THREAD)

    earlier = program({"text": "first"})
    # What an earlier run left behind is read, and answered, in the recording.
    given, recording = record(lambda: program({"before": "?"}))
    assert given["before"] == earlier["text"]
    labels = {step.call.label for step in recording}
    assert {"checkpoint:get_tuple", "checkpoint:put", "checkpoint:put_writes"} <= labels
    # By the time of the replay the thread has moved on.
    program({"text": "later"})
    written = saver.written
    provider.stop()
    again, verdict = replay(lambda: program({"before": "?"}), recording)
    assert verdict.faithful, verdict
    assert again == given
    assert saver.written == written


def test_what_else_is_tracked_is_restored_beside_a_graphs_state(provider, capsys):
    memory = {"runs": 0}

    def program():
        reenact.track("memory", memory, every=1)
        memory["runs"] += 1
        _sync(provider, InMemorySaver())
        memory["runs"] += 1

    _, recording = record(program)
    assert memory == {"runs": 2}
    recording.restore(3)
    assert memory == {"runs": 1}
    assert "langgraph.state is not restored: use graph.update_state()" in capsys.readouterr().err
