"""Answers in place of live calls, by the policy: fixed values, functions of the user's, and models."""

from __future__ import annotations

import json

import pytest

import reenact
from reenact.errors import UsageError

REAL: list[str] = []
"""The refunds that were made. Those of tools before a fork's step are made again in memory, as in a replay."""


@reenact.tool(writes=True)
def refund(order: str) -> dict[str, object]:
    REAL.append(order)
    return {"order": order, "paid": True}


@reenact.tool(writes=True, fixed={"status": "queued"})
def mail(to: str) -> dict[str, str]:
    REAL.append(to)
    return {"status": "sent"}


def _pretended(order: str) -> dict[str, object]:
    if order == "bad":
        raise KeyError("no such order")
    return {"order": order, "paid": False}


@reenact.tool(writes=True, simulated=_pretended)
def repay(order: str) -> dict[str, object]:
    REAL.append(order)
    return {"order": order, "paid": True}


@reenact.tool(writes=True, fixed=["a", "b"])
def spell(word: str):
    REAL.append(word)
    yield from word


@pytest.fixture(autouse=True)
def _no_refunds():
    REAL.clear()


def _agent(orders: tuple[str, ...] = ("1", "2")) -> list[object]:
    given = []
    for order in orders:
        try:
            given.append(refund(order))
        except KeyError as error:
            given.append(repr(error))
    return given


def _recorded(program) -> str:
    with reenact.record() as recording:
        recording.output = program()
    REAL.clear()
    return recording.id


def _forked(program, ident: str, at: int, policy=()):
    with reenact.fork(ident, at=at, policy=policy) as fork:
        output = program()
    return output, list(fork.recording)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ('fixed:{"order": "x", "paid": false}', {"order": "x", "paid": False}),
        ("fixed:done", "done"),
        (f"simulated:{__name__}:_pretended", {"order": "2", "paid": False}),
    ],
)
def test_a_writing_tool_gets_the_given_answer_and_does_not_run(home, mode, expected):
    output, steps = _forked(_agent, _recorded(_agent), 2, [f"refund={mode}"])
    assert REAL == ["1"]
    assert output == [{"order": "1", "paid": True}, expected]
    assert [step.call.policy for step in steps] == ["", mode.partition(":")[0]]


def test_an_error_of_the_users_function_is_the_tools_error(home):
    def program():
        return _agent(("1", "bad"))

    output, _ = _forked(program, _recorded(program), 2, [f"refund=simulated:{__name__}:_pretended"])
    assert (output[1], REAL) == ("KeyError('no such order')", ["1"])


def test_declared_answers_need_no_option(home):
    def program():
        return [mail("ada"), repay("7"), list(spell("word"))]

    output, steps = _forked(program, _recorded(program), 1)
    assert REAL == []
    assert output == [{"status": "queued"}, {"order": "7", "paid": False}, ["a", "b"]]
    assert [step.call.policy for step in steps] == ["fixed", "simulated", "fixed"]


def test_a_rule_is_stronger_than_a_declaration(home):
    def program():
        return mail("ada")

    output, _ = _forked(program, _recorded(program), 1, ["mail=live"])
    assert (output, REAL) == ({"status": "sent"}, ["ada"])


def test_a_model_is_shown_the_recorded_calls_and_its_answer_is_marked(home, monkeypatch):
    models = pytest.importorskip("pydantic_ai.models.function")
    messages = pytest.importorskip("pydantic_ai.messages")
    asked = []

    def answer(history, _):
        asked.append(history[-1].parts[-1].content)
        return messages.ModelResponse([messages.TextPart('```json\n{"order": "2", "paid": false}\n```')])

    monkeypatch.setattr(
        "pydantic_ai.models.infer_model", lambda *_args, **_more: models.FunctionModel(answer)
    )
    output, steps = _forked(_agent, _recorded(_agent), 2, ["refund=simulated:model:openai:gpt-5"])
    assert output == [{"order": "1", "paid": True}, {"order": "2", "paid": False}]
    assert (REAL, steps[-1].call.policy) == (["1"], "simulated")
    assert '{"order":"1"}' in asked[0]
    assert asked[0].rstrip().endswith('call: {"order":"2"}\nanswer:')


def test_a_model_that_does_not_answer_ends_the_fork_with_the_reason(home):
    ident = _recorded(_agent)
    with pytest.raises(reenact.ForkStopped, match="the model nothing:x gave no answer"):
        _forked(_agent, ident, 2, ["refund=simulated:model:nothing:x"])
    assert REAL == ["1"]


def test_a_program_cannot_be_simulated(home):
    def program():
        import subprocess

        return [refund("1"), subprocess.run(["true"], check=False).returncode]

    ident = _recorded(program)
    with pytest.raises(reenact.ForkStopped, match="an effect of kind process cannot be fixed"):
        _forked(program, ident, 2, ["true=fixed:0"])


def test_behind_a_departure_of_a_replay_the_rule_answers_too(home):
    ident = _recorded(_agent)
    for more in ({"on_divergence": "live"}, {"on_divergence": "realign", "inserted": "live"}):
        with reenact.replay(ident, policy=['refund=fixed:{"paid": 0}'], **more) as replay:
            output = [refund("1"), refund("2"), refund("3")]
        assert (output[2], "3" in REAL) == ({"paid": 0}, False)
        assert any("it got a fixed answer" in note for note in replay.verdict.notes)


@pytest.mark.parametrize(
    "more", [{"on_divergence": "live"}, {"on_divergence": "realign", "inserted": "live"}]
)
def test_behind_a_departure_of_a_replay_no_writing_tool_runs_unasked(home, more):
    ident = _recorded(_agent)
    with pytest.raises(reenact.DivergenceError, match="policy="), reenact.replay(ident, **more):
        refund("1"), refund("2"), refund("3")
    assert "3" not in REAL


@pytest.mark.parametrize(
    ("word", "complaint"),
    [
        ("refund=fixed", "fixed needs a value"),
        ("refund=simulated:", "simulated needs a value"),
        ("refund=simulated:no function", "write simulated:module:function"),
        ("refund=live:1", "live takes no value"),
        ("refund=fixt:1", "did you mean fixed"),
    ],
)
def test_a_rule_that_says_too_little_is_refused(home, word, complaint):
    ident = _recorded(_agent)
    with pytest.raises(UsageError, match=complaint):
        _forked(_agent, ident, 2, [word])


def test_a_tool_is_fixed_or_simulated_not_both():
    with pytest.raises(UsageError, match="not both"):
        reenact.tool(fixed=1, simulated=_pretended)(_pretended)


def test_an_answer_that_stands_in_replays_and_is_marked_in_show(home, capsys):
    from reenact.cli import main

    parent = _recorded(_agent)
    _forked(_agent, parent, 2, ["refund=fixed:done"])
    REAL.clear()
    with reenact.replay("last") as replay:
        _agent()
    assert (replay.verdict.faithful, REAL) == (True, ["1"])
    main(["show", "last"])
    assert "fixed answer" in capsys.readouterr().out
    main(["show", "last", "2", "--json"])
    assert json.loads(capsys.readouterr().out)["policy"] == "fixed"
    main(["diff", parent, "last"])
    assert "tool:refund (fixed answer)" in capsys.readouterr().out


def test_a_block_refuses_a_function_that_is_not_there(home):
    source = _recorded(_agent)
    before = reenact.load("last", home=home).id
    with (
        pytest.raises(
            UsageError, match=r"policy 'refund=simulated:nowhere:refund': there is no module nowhere"
        ),
        reenact.fork(source, at=2, policy=["refund=simulated:nowhere:refund"], home=home),
    ):
        pytest.fail("the block was entered")
    assert reenact.load("last", home=home).id == before
