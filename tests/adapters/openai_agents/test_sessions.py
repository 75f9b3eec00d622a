"""Sessions: read from the recording, never written to in a replay, and copied in a fork."""

from __future__ import annotations

import sqlite3
from uuid import uuid4

import pytest
from agents import Agent, Runner, SQLiteSession
from agents.memory import SessionABC

import reenact
from tests.adapters.openai_agents.sdk_runs import faithful, labels, record, replay, responses


def stored(path):
    """What the session's database holds."""
    with sqlite3.connect(path) as database:
        found = database.execute("select message_data from agent_messages order by id").fetchall()
    database.close()
    return [row[0] for row in found]


def two_turns(provider, path):
    """A program that has a chat of two turns in a database."""

    def program():
        agent = Agent("Scout", model=responses(provider, "teller"))
        said = [
            Runner.run_sync(agent, text, session=SQLiteSession("chat", path)).to_input_list()
            for text in ("Hot?", "And cold?")
        ]
        return said, len(said[-1])

    return program


def test_a_replay_reads_the_recorded_items_and_writes_none(provider, tmp_path, capsys):
    path = tmp_path / "chat.db"
    program = two_turns(provider, path)
    first, recording = record(program)
    provider.stop()
    before = stored(path)
    assert len(before) == 4
    second, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert second == first
    assert stored(path) == before
    path.unlink()
    assert replay(program, recording)[1].faithful
    assert not path.exists()
    assert "database" not in capsys.readouterr().err


def test_what_is_written_is_compared(provider, tmp_path):
    _, recording = record(two_turns(provider, tmp_path / "chat.db"))
    found = [step for step in recording if step.call.kind == "memory"]
    assert labels(recording)[:3] == ["memory:get_items", "memory:add_items", "model:teller"]
    assert found[1].args["items"] == [{"content": "Hot?", "role": "user"}]
    assert all(step.call.within is None for step in found)


def test_what_a_program_asks_its_session_itself(provider):
    import asyncio

    async def program():
        session = SQLiteSession(str(uuid4()))
        await session.add_items([{"role": "user", "content": "I am Ann."}])
        await Runner.run(Agent("Scout", model=responses(provider, "teller")), "Who am I?", session=session)
        last = await session.pop_item()
        return last, await session.get_items(), await session.get_items(limit=1)

    first, _ = faithful(lambda: asyncio.run(program()), provider)
    assert len(first[1]) == 2


class Notebook:
    """A session of the program's own, which is one by its methods only."""

    session_id = "notebook"
    session_settings = None
    asked = 0

    def __init__(self):
        self.kept = []

    async def get_items(self, limit=None):
        Notebook.asked += 1
        return list(self.kept)

    async def add_items(self, items):
        Notebook.asked += 1
        self.kept += items

    async def pop_item(self):
        return self.kept.pop()

    async def clear_session(self):
        self.kept.clear()


class Derived(Notebook, SessionABC):
    """One that says so."""


@pytest.mark.parametrize("kind", [Notebook, Derived])
def test_sessions_of_the_programs_own(kind, provider):
    def program():
        session = kind()
        agent = Agent("Scout", model=responses(provider, "teller"))
        return [Runner.run_sync(agent, text, session=session).to_input_list() for text in ("a", "b")]

    asked = Notebook.asked
    _, recording = record(program)
    assert Notebook.asked - asked >= 6
    asked = Notebook.asked
    provider.stop()
    _, verdict = replay(program, recording)
    assert verdict.faithful, verdict
    assert Notebook.asked == asked


@pytest.mark.thorough
def test_a_fork_goes_on_with_a_copy_of_the_session(provider, tmp_path):
    path = tmp_path / "chat.db"
    program = two_turns(provider, path)
    _, recording = record(program)
    before = stored(path)
    step = next(step for step in recording if step.number > 4 and step.call.label == "memory:get_items")
    with reenact.fork(recording, at=step.number) as fork:
        said, count = program()
    assert count == len(before) == 4
    assert said[1][:2] == said[0]
    assert stored(path) == before
    assert [s.call.label for s in fork.recording] == [s.call.label for s in recording]


@pytest.mark.thorough
def test_let_through_a_session_is_asked_for_real(provider, tmp_path):
    path = tmp_path / "chat.db"
    program = two_turns(provider, path)
    _, recording = record(program)
    path.unlink()
    _, verdict = replay(program, recording, live=["memory"])
    assert sum(verdict.live.values()) == 6
    # It is asked on the disk of the replay.
    assert not path.exists()
