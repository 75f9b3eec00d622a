"""Realigned, an edited program is followed: what it inserted, left out or changed is named, and every other call keeps
its own answer.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import reenact
from reenact import Departure, DivergenceError

ANSWERS = itertools.count()


@reenact.tool
def ask(
    question: str, *, context: str = "a long context that all questions share, word for word, for good"
) -> int:
    """A tool whose answer is never the same twice."""
    return next(ANSWERS)


@pytest.fixture
def recorded(home: str) -> tuple[str, dict[str, int]]:
    with reenact.record() as run:
        answers = {question: ask(question) for question in ("first", "second", "third", "fourth")}
    return run.id, answers


def kinds(replay: reenact.run.api.replaying.Replay) -> list[tuple[Departure, int | None]]:
    return [(divergence.kind, divergence.step) for divergence in replay.verdict.divergences]


def test_an_inserted_call_is_answered_live_and_all_others_keep_their_answers(recorded: Any) -> None:
    id, answers = recorded
    with reenact.replay(id, on_divergence="realign", inserted="live") as replay:
        again = {
            question: ask(question)
            for question in ("first", "quite another thing", "second", "third", "fourth")
        }
    assert again.pop("quite another thing") not in answers.values()
    assert again == answers
    assert kinds(replay) == [(Departure.EXTRA, None)]
    assert replay.verdict.live == {"tool:ask": 1}
    assert not replay.verdict.faithful


def test_an_inserted_call_is_refused_unless_asked_otherwise(recorded: Any) -> None:
    @reenact.tool
    def audit(order: int) -> None: ...

    with pytest.raises(DivergenceError) as caught, reenact.replay(recorded[0], on_divergence="realign"):
        ask("first")
        audit(7)
    assert caught.value.divergence.kind is Departure.EXTRA
    assert caught.value.divergence.step == 2


def test_a_removed_call_is_named_and_all_others_keep_their_answers(recorded: Any) -> None:
    id, answers = recorded
    with reenact.replay(id, on_divergence="realign") as replay:
        again = {question: ask(question) for question in ("first", "third", "fourth")}
    assert again == {question: answers[question] for question in again}
    assert kinds(replay) == [(Departure.MISSING, 2)]
    assert replay.verdict.missing


def test_a_changed_call_is_named_with_its_difference_and_keeps_its_place(recorded: Any) -> None:
    id, answers = recorded
    with reenact.replay(id, on_divergence="realign") as replay:
        again = [ask(question) for question in ("first", "second!", "third", "fourth")]
    assert again == list(answers.values())
    (found,) = replay.verdict.divergences
    assert (found.kind, found.step) == (Departure.CHANGED, 2)
    assert [(m.recorded, m.actual) for m in found.mismatches] == [("second", "second!")]


def test_a_changed_call_goes_live_where_inserted_ones_do(recorded: Any) -> None:
    id, answers = recorded
    with reenact.replay(id, on_divergence="realign", inserted="live") as replay:
        again = [ask(question) for question in ("first", "second!", "third", "fourth")]
    assert again[1] != answers["second"]
    assert [again[0], *again[2:]] == [answers["first"], answers["third"], answers["fourth"]]
    assert kinds(replay) == [(Departure.CHANGED, 2)]


def test_an_inserted_call_that_looked_like_a_change_is_found_out(recorded: Any) -> None:
    """It got the answer of the call that it resembled; that one gets its own answer all the same."""
    id, answers = recorded
    with reenact.replay(id, on_divergence="realign") as replay:
        again = {question: ask(question) for question in ("first", "second!", "second", "third", "fourth")}
    assert again.pop("second!") == answers["second"]
    assert again == answers
    assert kinds(replay) == [(Departure.EXTRA, 2)]
    assert "which got the answer of step 2" in replay.verdict.divergences[0].detail


@pytest.mark.parametrize(("inserted", "step"), [("refuse", 2), ("live", None)])
def test_one_inserted_turn_of_a_chat_is_named_and_the_other_turns_keep_their_answers(
    home: str, inserted: Any, step: int | None
) -> None:
    @reenact.tool(kind="chat")
    def reply(messages: list[str]) -> str:
        return f"{next(ANSWERS)} to {messages[-1]}"

    def chat(*turns: str) -> dict[str, str]:
        history: list[str] = []
        answers = {}
        for turn in turns:
            history.append(turn)
            answers[turn] = reply(list(history))
            history.append(answers[turn])
        return answers

    with reenact.record() as run:
        first = chat("a word of greeting", "tell me about tea", "what about milk", "thanks, goodbye")
    with reenact.replay(run.id, on_divergence="realign", inserted=inserted, policy=["chat=live"]) as replay:
        again = chat(
            "a word of greeting",
            "and what of coffee",
            "tell me about tea",
            "what about milk",
            "thanks, goodbye",
        )
    again.pop("and what of coffee")
    assert again == first
    changed = [(Departure.CHANGED, 2), (Departure.CHANGED, 3), (Departure.CHANGED, 4)]
    assert sorted(kinds(replay), key=str) == sorted([(Departure.EXTRA, step), *changed], key=str)


def test_moved_calls_keep_their_answers_and_are_named(recorded: Any) -> None:
    id, answers = recorded
    with reenact.replay(id, on_divergence="realign") as replay:
        again = {question: ask(question) for question in ("first", "third", "second", "fourth")}
    assert again == answers
    assert (Departure.REORDERED, 2) in kinds(replay)


def test_going_live_answers_everything_after_the_departure_live(recorded: Any) -> None:
    id, answers = recorded
    with reenact.replay(id, on_divergence="live") as replay:
        again = [ask(question) for question in ("first", "second!", "third", "fourth")]
    assert again[0] == answers["first"]
    assert not set(again[1:]) & set(answers.values())
    assert kinds(replay) == [(Departure.CHANGED, 2)]
    assert replay.verdict.live == {"tool:ask": 3}


def test_an_unknown_policy_is_refused(recorded: Any) -> None:
    with pytest.raises(reenact.ReenactError, match="on_divergence='guess' is not one of"):
        reenact.replay(recorded[0], on_divergence="guess").__enter__()  # type: ignore[arg-type]
