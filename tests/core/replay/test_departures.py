"""A replay stops at the first place where the program leaves its recording, and names it."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

import reenact
from reenact import Departure, DivergenceError
from reenact.core.replay import match

CALLS = 0


@reenact.tool
def lookup(order: str, detail: int = 0) -> dict[str, Any]:
    """A tool whose answer is never the same twice."""
    global CALLS
    CALLS += 1
    return {"order": order, "nonce": random.random()}


@reenact.tool
def cancel(order: str) -> float:
    """Another one."""
    return random.random()


def original() -> list[Any]:
    return [lookup("A"), cancel("A"), lookup("B"), lookup("C")]


@pytest.fixture
def recording(home: str) -> reenact.Recording:
    with reenact.record("orders") as run:
        original()
    return run.load()


def departure(recording: reenact.Recording, program: Callable[[], Any], **options: Any) -> reenact.Divergence:
    with pytest.raises(DivergenceError) as caught, reenact.replay(recording, **options):
        program()
    return caught.value.divergence


def test_the_same_program_gets_the_same_answers(home: str) -> None:
    with reenact.record() as run:
        first = original()
    with reenact.replay(run.id) as replay:
        second = original()
    assert first == second
    assert replay.verdict.faithful
    assert replay.verdict.served == 4


def test_a_replay_that_answers_tools_calls_nothing(recording: reenact.Recording) -> None:
    before = CALLS
    with reenact.replay(recording, tools="answer"):
        original()
    assert before == CALLS


def test_a_changed_argument_is_named_with_both_values(recording: reenact.Recording) -> None:
    found = departure(recording, lambda: [lookup("A"), cancel("A"), lookup("X"), lookup("C")])
    assert (found.kind, found.step) == (Departure.CHANGED, 3)
    assert [(m.path, m.recorded, m.actual) for m in found.mismatches] == [("args.order", "B", "X")]


def test_true_is_not_one(home: str) -> None:
    with reenact.record() as run:
        lookup("A", detail=1)
    assert departure(run.load(), lambda: lookup("A", detail=True)).kind is Departure.CHANGED


CHANGED_TYPES = [
    ((1, 2), [1, 2], "args.order.type"),
    ({1}, [1], "args.order.type"),
    (frozenset({1}), {1}, "args.order.type"),
    (date(2026, 1, 1), "2026-01-01", "args.order.type"),
    (Decimal(1), "1", "args.order.type"),
    (2**70, str(2**70), "args.order.type"),
    (float("inf"), "inf", "args.order.type"),
    ({"in": (1,)}, {"in": [1]}, "args.order.in.type"),
]


@pytest.mark.parametrize(("recorded", "actual", "path"), CHANGED_TYPES)
def test_the_same_value_of_another_type_is_a_changed_argument(home, recorded, actual, path):
    with reenact.record() as run:
        lookup(recorded)
    found = departure(run.load(), lambda: lookup(actual))
    (mismatch,) = found.mismatches
    assert mismatch.path == path
    assert mismatch.recorded != mismatch.actual


CHANGED_TEXTS = [
    ('{"a": [1, 2]}', '{"a":[1,2]}'),
    ("[1, 2]", "[1,2]"),
    ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
    ('{"a": 1, "a": 2}', '{"a": 2}'),
    ('{"id": 12345678901234567890123}', '{"id": 12345678901234567890124}'),
    ('{"id": 0.12345678901234567890}', '{"id": 0.12345678901234567891}'),
]


@pytest.mark.parametrize(("recorded", "actual"), CHANGED_TEXTS)
def test_a_text_with_the_same_json_is_a_changed_argument(home, recorded, actual):
    with reenact.record() as run:
        lookup(recorded)
    (mismatch,) = departure(run.load(), lambda: lookup(actual)).mismatches
    assert mismatch.recorded != mismatch.actual


REPEATED = [
    ('{"a": 1, "a": 2, "b": 1}', '{"a":9,"a":2,"b":1}'),
    ('{"a": 1, "a": 2, "b": 1}', '{"a":2,"b":1}'),
    ('[{"in": {"a": 1, "a": 2}, "b": 1}]', '[{"in":{"a":3,"a":2},"b":1}]'),
    ('{"a": 1, "a": 2, "b": 1}', '{"a":9,"a":2,"b":2}'),
    ('{"a": 1, "a": 12345678901234567890, "b": 1}', '{"a":2,"a":12345678901234567890,"b":1}'),
]


@pytest.mark.parametrize(("recorded", "actual"), REPEATED)
def test_a_json_body_that_repeats_a_name_is_compared_as_text(recorded, actual):
    rules = match.Rules(["args.body.b"])
    (mismatch,) = match.mismatches("http:POST x", {"body": recorded}, {"body": actual}, rules)
    assert (mismatch.recorded, mismatch.actual) == (recorded, actual)
    assert not rules.applied


def test_a_json_body_with_other_spaces_and_order_is_the_same():
    rules = match.Rules()
    bodies = {"body": '{"a": 1, "b": {"a": 2}}'}, {"body": '{"b":{"a":2},"a":1}'}
    assert not match.mismatches("http:POST x", *bodies, rules)
    assert list(rules.applied) == [match.SPELLING]


def test_an_argument_that_had_its_default_is_named(recording: reenact.Recording) -> None:
    found = departure(recording, lambda: [lookup("A", detail=2)])
    assert [(m.path, m.recorded, m.actual) for m in found.mismatches] == [("args.detail", 0, 2)]


def test_an_extra_call_at_the_end_is_named(recording: reenact.Recording) -> None:
    found = departure(recording, lambda: [*original(), cancel("B")])
    assert (found.kind, found.step) == (Departure.EXTRA, 5)


def test_an_extra_call_between_is_named_at_its_step(recording: reenact.Recording) -> None:
    found = departure(recording, lambda: [lookup("A"), cancel("A"), cancel("A"), lookup("B"), lookup("C")])
    assert (found.kind, found.step) == (Departure.EXTRA, 3)


@pytest.mark.parametrize("left_out", range(4))
def test_a_missing_call_is_named_at_its_step(recording: reenact.Recording, left_out: int) -> None:
    calls = [lambda: lookup("A"), lambda: cancel("A"), lambda: lookup("B"), lambda: lookup("C")]
    found = departure(recording, lambda: [call() for place, call in enumerate(calls) if place != left_out])
    assert (found.kind, found.step) == (Departure.MISSING, left_out + 1)


def test_two_calls_of_one_tool_in_the_other_order_are_named(recording: reenact.Recording) -> None:
    found = departure(recording, lambda: [lookup("A"), cancel("A"), lookup("C"), lookup("B")])
    assert (found.kind, found.step) == (Departure.REORDERED, 3)


def test_calls_of_two_tools_in_the_other_order_are_named(recording: reenact.Recording) -> None:
    found = departure(recording, lambda: [cancel("A"), lookup("A"), lookup("B"), lookup("C")])
    assert (found.kind, found.step) == (Departure.REORDERED, 1)


def test_a_program_that_stops_early_is_named(recording: reenact.Recording) -> None:
    found = departure(recording, lambda: [lookup("A")])
    assert (found.kind, found.step) == (Departure.MISSING, 2)


def test_user_code_that_catches_everything_cannot_hide_a_departure(recording: reenact.Recording) -> None:
    def stubborn() -> None:
        for question in ("X", "A", "B"):
            try:
                lookup(question)
            except BaseException:
                continue

    assert departure(recording, stubborn).kind is Departure.CHANGED


def test_user_code_that_catches_exceptions_does_not_see_a_departure(recording: reenact.Recording) -> None:
    seen = []

    def framework() -> None:
        try:
            lookup("X")
        except Exception as error:
            seen.append(error)

    departure(recording, framework)
    assert seen == []


def test_an_ignored_part_need_not_match_and_the_verdict_says_so(recording: reenact.Recording) -> None:
    with reenact.replay(recording, ignore=["tool:lookup args.order"]) as replay:
        [lookup("A"), cancel("A"), lookup("X"), lookup("C")]
    assert replay.verdict.faithful
    assert replay.verdict.rules == ("ignore tool:lookup args.order",)


def test_a_rule_that_made_no_difference_is_not_listed(recording: reenact.Recording) -> None:
    with reenact.replay(recording, ignore=["args.detail"]) as replay:
        original()
    assert replay.verdict.rules == ()


def test_an_ignore_rule_that_is_none_is_refused(recording: reenact.Recording) -> None:
    with (
        pytest.raises(reenact.ReenactError, match="begins with `args`"),
        reenact.replay(recording, ignore=["body"]),
    ):
        pass


def test_what_is_let_through_runs_live_and_is_counted(recording: reenact.Recording) -> None:
    before = CALLS
    with reenact.replay(recording, live=["tool:lookup"]) as replay:
        original()
    assert before + 3 == CALLS
    assert replay.verdict.live == {"tool:lookup": 3}
    assert not replay.verdict.faithful
    assert replay.verdict.served == 1


def test_a_single_word_is_taken_as_one_kind(recording: reenact.Recording) -> None:
    with reenact.replay(recording, live="tool") as replay:
        original()
    assert replay.verdict.live == {"tool:lookup": 3, "tool:cancel": 1}


def test_changed_arguments_of_a_live_call_are_a_departure_still(recording: reenact.Recording) -> None:
    found = departure(recording, lambda: [lookup("X")], live=["tool"])
    assert found.kind is Departure.CHANGED


def test_the_recorded_error_is_raised_again(home: str) -> None:
    @reenact.tool
    def broken(x: int) -> None:
        raise FileNotFoundError(2, "No such file", f"/data/{random.random()}")

    with reenact.record() as run, pytest.raises(FileNotFoundError) as first:
        broken(1)
    with reenact.replay(run.id) as replay, pytest.raises(FileNotFoundError) as second:
        broken(1)
    assert str(first.value) == str(second.value)
    assert second.value.filename == first.value.filename
    assert replay.verdict.faithful


def test_an_error_whose_type_is_gone_says_so(home: str) -> None:
    vanished = type("Vanished", (ValueError,), {"__module__": "a_module_that_is_gone"})

    @reenact.tool
    def broken() -> None:
        raise vanished("lost")

    with reenact.record() as run, pytest.raises(ValueError, match="lost"):
        broken()
    replay = reenact.replay(run.id, tools="answer")
    with replay, pytest.raises(Exception, match="recorded as a_module_that_is_gone:Vanished"):
        broken()


def test_an_outcome_that_could_not_be_kept_is_a_departure_with_a_hint(home: str) -> None:
    @reenact.tool
    def connect() -> Any:
        return {"connection": object()}

    with reenact.record() as run:
        connect()
    with (
        pytest.raises(DivergenceError, match=r"live=\['tool:connect'\]"),
        reenact.replay(run.id, tools="answer"),
    ):
        connect()


def test_a_changed_output_is_a_departure(home: str) -> None:
    with reenact.record() as run:
        run.output = [lookup("A"), "good"]
    with pytest.raises(DivergenceError, match="output") as caught, reenact.replay(run.id) as replay:
        replay.output = [lookup("A"), "bad"]
    assert caught.value.divergence.mismatches[0].path == "output[1]"


def test_a_replay_inside_a_replay_is_refused(recording: reenact.Recording) -> None:
    with reenact.replay(recording):
        with pytest.raises(reenact.ReenactError, match="inside a recording or another replay"):
            reenact.replay(recording).__enter__()
        original()
