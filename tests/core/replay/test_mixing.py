"""Answers from two recordings of one program, in one process."""

from __future__ import annotations

import pytest

import reenact
from reenact.core.replay.counterparts import align, answer
from reenact.errors import DivergenceError

SAYS = {}


@reenact.tool
def ask(what):
    said = SAYS[what]
    if isinstance(said, Exception):
        raise said
    return said


@reenact.tool
def words(what):
    yield from SAYS[what]


@reenact.tool(kind="model", name="small")
def model(messages):
    return {"role": "assistant", "content": SAYS["model"]}


def recorded(body, **says):
    SAYS.clear()
    SAYS.update(says)
    with reenact.record() as made:
        made.output = body()
    return reenact.load(made.id)


def mixed(body, bad, good, swap, **more):
    """The body on the bad run, with the good run's answers at these steps."""
    SAYS.clear()
    mix = {
        "other": good.path,
        "swap": {str(one): two for one, two in swap.items()},
        "reads": [],
        "exact": False,
    }
    session = reenact.replay(bad)
    session._options = {**session._options, "policy": "realign", "mix": {**mix, **more}}
    with session:
        found = body()
    return found, session.verdict


@pytest.mark.parametrize(
    ("first", "second"), [(1, 2), ("a", ["b"]), (None, {"c": 1.5}), (1, KeyError("lost"))]
)
def test_a_swapped_answer_comes_as_it_was_in_the_other_run(home, first, second):
    def body():
        try:
            return ask("x")
        except KeyError as error:
            return f"caught {error}"

    bad, good = recorded(body, x=first), recorded(body, x=second)
    assert mixed(body, bad, good, {})[0] == bad.output
    assert mixed(body, bad, good, {1: 1})[0] == good.output
    assert mixed(body, good, bad, {1: 1})[0] == bad.output


def test_a_stream_is_swapped_chunk_by_chunk(home):
    def body():
        return list(words("x"))

    bad, good = recorded(body, x=["a"]), recorded(body, x=["b", "c", "d"])
    assert mixed(body, bad, good, {1: 1})[0] == ["b", "c", "d"]
    assert mixed(body, good, bad, {1: 1})[0] == ["a"]


def test_what_this_run_never_asked_is_answered_by_the_other(home):
    def body():
        return ask("far") if ask("x") else words("y").__next__()

    bad, good = recorded(body, x=0, y=["near"]), recorded(body, x=1, far="there")
    found, verdict = mixed(body, bad, good, {1: 1})
    assert found == "there"
    assert any("its answer from the other recording" in each.detail for each in verdict.divergences)


def test_what_neither_asked_stops_the_replay(home):
    def body():
        return ask(ask("x") + ask("y"))

    both = {"2": 0, "20": 0}
    bad, good = (
        recorded(body, x="1", y="1", **{"11": "low"}),
        recorded(body, x="2", y="2", **{"22": "high"}, **both),
    )
    assert mixed(body, bad, good, {1: 1, 2: 2})[0] == "high"
    with pytest.raises(DivergenceError, match="not in either of the two recordings"):
        mixed(body, bad, good, {1: 1})


def test_a_chat_of_another_history_gets_its_own_answer_unless_only_the_letter_counts(home):
    def body():
        chat = [{"role": "user", "content": "hello"}]
        for _ in range(2):
            chat += [model(chat), {"role": "user", "content": "and then?"}]
        return [message["content"] for message in chat if message["role"] == "assistant"]

    bad, good = recorded(body, model="bad"), recorded(body, model="good")
    assert mixed(body, bad, good, {1: 1})[0] == ["good", "bad"]
    assert mixed(body, bad, good, {2: 2})[0] == ["bad", "good"]
    assert mixed(body, bad, good, {1: 1}, exact=True)[0] == ["good", "good"]


def test_each_of_two_equal_questions_is_swapped_by_itself(home):
    values = iter([1, 2, 10, 20])

    def body():
        SAYS["x"] = next(values, None)
        one = ask("x")
        SAYS["x"] = next(values, None)
        return one, ask("x")

    bad, good = recorded(body), recorded(body)
    assert mixed(body, bad, good, {1: 1})[0] == (10, 2)
    assert mixed(body, bad, good, {2: 2})[0] == (1, 20)


def test_steps_are_aligned_by_what_they_ask_and_not_by_their_number(home):
    def short():
        return ask("x"), ask("z")

    def long():
        return ask("y"), ask("x"), ask("z")

    one, other = (recorded(body, x=1, y=2, z=3).logs[0] for body in (short, long))
    calls = list(one.calls.values()), list(other.calls.values())
    assert align(one, other) == {
        calls[0][0].number: calls[1][1].number,
        calls[0][1].number: calls[1][2].number,
    }
    assert answer(one, calls[0][0]) == answer(other, calls[1][1]) != answer(other, calls[1][2])


def test_a_secret_has_another_token_in_each_recording_and_is_the_same_question(home):
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3

    def body():
        return ask(f"Bearer {key}"), ask("x")

    one, other = (recorded(body, **{f"Bearer {key}": 1, "x": 2}).logs[0] for _ in range(2))
    assert key not in str([one.args(call) for call in one.calls.values()])
    assert list(align(one, other)) == list(one.calls)
    first = [next(iter(log.calls.values())) for log in (one, other)]
    assert one.args(first[0]) != other.args(first[1])
    assert align(one, other)[first[0].number] == first[1].number
