"""Callbacks of futures between threads: their effects are recorded, wherever the callback runs."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

import reenact
from reenact.errors import Departure, DivergenceError


@reenact.tool
def ask(what: str) -> str:
    """An answer at once."""
    return what


def program(told: str = "told", late: bool = True) -> list[str]:
    """Ask in callbacks: of a job that has ended, and of one that ends after the callback is added."""
    said: list[str] = []
    go = threading.Event()

    def over(job: Future[str]) -> None:
        said.append(ask(told) + job.result())

    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(ask, "early")
        ended.result()
        ended.add_done_callback(over)
        job = pool.submit(lambda: go.wait() and ask("late"))
        if late:
            job.add_done_callback(over)
        go.set()
    return said


def test_effects_of_a_callback_have_an_address_of_their_own(home):
    with reenact.record() as recording:
        said = program()
    assert [step.call.address for step in recording.load()] == [
        "main/thread:ask.0/tool:ask#0",
        "main/thread:callback:program.over.0/tool:ask#0",
        "main/thread:program.<lambda>.0/tool:ask#0",
        "main/thread:callback:program.over.1/tool:ask#0",
    ]
    with reenact.replay(recording.id) as replay:
        assert program() == said
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_changed_question_of_a_callback_is_found_at_its_step(home):
    with reenact.record() as recording:
        program()
    with pytest.raises(DivergenceError) as found, reenact.replay(recording.id):
        program(told="changed")
    assert (found.value.divergence.kind, found.value.divergence.step) == (Departure.CHANGED, 2)


def test_a_callback_that_is_no_longer_added_is_missed(home):
    with reenact.record() as recording:
        program()
    with pytest.raises(DivergenceError) as found, reenact.replay(recording.id):
        program(late=False)
    assert (found.value.divergence.kind, found.value.divergence.step) == (Departure.MISSING, 4)


def test_a_recording_of_the_older_rules_keeps_its_addresses(home, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr("reenact.core.boundary.scope.RULES", 2)
        older.setattr("reenact.run.api.recording.RULES", 2)
        with reenact.record() as recording:
            program()
    addresses = [step.call.address for step in recording.load()]
    assert addresses[1] == "main/tool:ask#0"
    with reenact.replay(recording.id) as replay:
        program()
    assert replay.verdict.faithful, str(replay.verdict)
