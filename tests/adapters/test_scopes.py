"""The names of tasks, threads and jobs in addresses."""

from __future__ import annotations

import asyncio
import threading

import pytest

import reenact
from reenact.adapters.scopes import name_of, without_comprehensions


@reenact.tool
def ask(question):
    return question


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("program", "program"),
        ("program.<locals>.job", "program.<locals>.job"),
        ("program.<locals>.<listcomp>.<locals>.<lambda>", "program.<locals>.<lambda>"),
        ("program.<locals>.<listcomp>.<locals>.<dictcomp>.<locals>.<lambda>", "program.<locals>.<lambda>"),
        ("program.<locals>.<setcomp>", "program"),
        ("<listcomp>.<locals>.<lambda>", "<lambda>"),
        ("<listcomp>.<locals>.<listcomp>.<locals>.<lambda>", "<lambda>"),
        ("<dictcomp>", "<module>"),
        ("Agent.<listcomp>", "Agent"),
        ("program.<locals>.<genexpr>.<lambda>", "program.<locals>.<genexpr>.<lambda>"),
    ],
)
def test_a_name_of_python_311_is_that_of_later_pythons(older, newer):
    assert without_comprehensions(older) == newer


def test_a_lambda_in_a_comprehension_has_the_same_name_in_each_python():
    (made,) = [lambda: None for _ in range(1)]
    assert (
        name_of(made)
        == f"{test_a_lambda_in_a_comprehension_has_the_same_name_in_each_python.__name__}.<lambda>"
    )


def threads():
    for thread in [threading.Thread(target=lambda at=at: ask(at)) for at in range(2)]:
        thread.start()
        thread.join()


def tasks():
    async def asked(at):
        return ask(at)

    async def main():
        await asyncio.gather(*[asked(at) for at in range(2)])

    asyncio.run(main())


@pytest.mark.parametrize("program", [threads, tasks])
def test_no_address_of_a_recording_has_a_comprehension(home, program):
    with reenact.record() as recording:
        program()
    addresses = [step.call.address for step in recording.load()]
    assert len(addresses) == 2
    assert not any("comp>" in address for address in addresses)
    with reenact.replay(recording.id) as replay:
        program()
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_recording_of_the_older_rules_keeps_its_addresses(home, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr("reenact.core.boundary.scope.RULES", 3)
        older.setattr("reenact.run.api.recording.RULES", 3)
        with reenact.record() as recording:
            threads()
    with reenact.replay(recording.id) as replay:
        threads()
    assert replay.verdict.faithful, str(replay.verdict)
