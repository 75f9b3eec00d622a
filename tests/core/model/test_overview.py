"""The prompt and the outcome of a run in lists, made from what it recorded."""

from __future__ import annotations

import pytest

import reenact
from reenact.core.query.facts import RecordingFacts
from reenact.core.query.overview import LONGEST, script_of
from reenact.core.query.sorting import SORTS, order_of, ordered
from reenact.core.query.summary import Summary, summarise


@reenact.tool(kind="model", name="gpt-4o")
def ask(messages, answer):
    if isinstance(answer, Exception):
        raise answer
    return {"choices": [{"message": {"role": "assistant", **answer}}]}


def chat(*texts):
    return [
        {"role": "system", "content": "Be brief."},
        *({"role": "user", "content": text} for text in texts),
    ]


def line_of(home, recording):
    return summarise(RecordingFacts(reenact.load(recording.id, home=home)), path="")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def test_the_first_user_message_and_the_last_answer_stand_on_one_line_each(home):
    with reenact.record("x", home=home) as recording:
        ask(chat("Cancel my\n order,  please"), {"content": "Which order?"})
        ask(chat("Cancel my\n order,  please", "A-1"), {"content": "It is\ncancelled."})
    line = line_of(home, recording)
    assert (line.prompt, line.outcome) == ("Cancel my order, please", "It is cancelled.")


def test_a_declared_output_wins_over_the_last_answer_and_an_error_over_both(home):
    with reenact.record("x", home=home) as recording:
        ask(chat("hello"), {"content": "hi"})
        recording.output = {"refund": 12}
    assert line_of(home, recording).outcome == '{"refund":12}'
    with pytest.raises(KeyError), reenact.record("x", home=home) as recording:
        recording.output = {"refund": 12}
        raise KeyError("A-1")
    assert line_of(home, recording).outcome == "KeyError: 'A-1'"


def test_an_answer_of_tool_calls_alone_names_them(home):
    calls = [{"id": "1", "function": {"name": "cancel", "arguments": '{"order": "A-1"}'}}]
    with reenact.record("x", home=home) as recording:
        ask(chat("hello"), {"content": None, "tool_calls": calls})
    assert line_of(home, recording).outcome == 'cancel({"order":"A-1"})'


def test_long_texts_are_cut_and_letters_that_no_store_keeps_are_replaced(home):
    with reenact.record("x", home=home) as recording:
        ask(chat("word " * 10_000), {"content": "\ud800" + "x" * 10_000})
    line = line_of(home, recording)
    assert len(line.prompt) == len(line.outcome) == LONGEST
    assert line.prompt.endswith("…")
    assert line.outcome.encode()


def test_a_secret_in_the_prompt_stays_out_of_the_list(home):
    with reenact.record("x", home=home) as recording:
        ask(chat("my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"), {"content": "thanks"})
    assert "abcdefghijklmnop" not in line_of(home, recording).prompt


def test_a_run_without_messages_has_neither(home):
    with reenact.record("x", home=home) as recording:
        pass
    line = line_of(home, recording)
    assert (line.prompt, line.outcome) == ("", "")


def test_a_script_shows_the_last_line_that_it_printed_or_its_error(shell):
    shell.write("plain.py", "print('order')\nprint('shipped')\n")
    shell.record("plain.py")
    line = summarise(RecordingFacts(shell.last()), path="")
    assert (line.agent, line.prompt, line.outcome) == ("plain.py", "", "shipped")


@pytest.mark.parametrize("program", [None, [], {"argv": None}, {"argv": "x.py"}, {"argv": [1, None]}])
def test_a_header_that_names_no_script_is_no_error(program):
    assert script_of({"program": program}) is None


def test_each_order_sorts_and_minus_reverses_it():
    lines = [
        Summary(str(at), "", name=name, steps=steps) for at, (name, steps) in enumerate([("b", 1), ("A", 3)])
    ]
    for sort in SORTS:
        assert len(ordered(lines, sort, lambda line: line)) == 2
    assert [line.id for line in ordered(lines, "steps", lambda line: line)] == ["1", "0"]
    assert [line.id for line in ordered(lines, "-agent", lambda line: line)] == ["1", "0"]


@pytest.mark.parametrize(
    ("column", "order"),
    [
        ("when", "started"),
        ("-when", "-started"),
        ("agent", "-agent"),
        ("-agent", "agent"),
        ("size", None),
        ("", None),
    ],
)
def test_columns_have_the_order_that_a_person_expects(column, order):
    assert order_of(column) == order


@pytest.mark.parametrize("sort", ["cost", "-cost"])
def test_a_run_of_unknown_cost_is_last_in_both_orders(sort):
    lines = [
        Summary(id=id, path="", written=0, moment=0.0, cost=cost)
        for id, cost in (("unknown", None), ("free", 0.0), ("dear", 2.5))
    ]
    found = [line.id for line in ordered(lines, sort, lambda line: line)]
    assert found == (["dear", "free", "unknown"] if sort == "cost" else ["free", "dear", "unknown"])


def test_of_a_message_with_headings_the_prompt_is_the_first_section(home):
    with reenact.record("x", home=home) as recording:
        ask(chat("# Task\nBuy a lamp.\n\n# The page now\n- button"), {"content": "ok"})
    assert line_of(home, recording).prompt == "Buy a lamp."
    with reenact.record("x", home=home) as recording:
        ask(chat("# Only a title"), {"content": "ok"})
    assert line_of(home, recording).prompt == "# Only a title"


@pytest.mark.parametrize(
    ("name", "arguments", "outcome"),
    [
        ("final_result", '{"reasoning": "r", "action": {"type": "completion", "answer": "No."}}', "No."),
        ("final_answer", '{"answer": "Paris"}', "Paris"),
        ("final_result", '{"total": 12}', '{"total":12}'),
        ("send", '{"message": "hi"}', 'send({"message":"hi"})'),
    ],
)
def test_a_result_that_is_given_by_a_tool_call_is_shown_as_its_text(home, name, arguments, outcome):
    calls = [{"id": "1", "function": {"name": name, "arguments": arguments}}]
    with reenact.record("x", home=home) as recording:
        ask(chat("hello"), {"content": None, "tool_calls": calls})
    assert line_of(home, recording).outcome == outcome


@reenact.tool(kind="browser", name="start")
def start(**options):
    return None


@reenact.tool(kind="browser", name="goto")
def goto(url):
    return None


@reenact.tool(kind="heal", name="block")
def block(task=None):
    return None


def test_a_browser_script_without_a_model_has_its_file_and_goal_as_its_prompt(home, monkeypatch):
    monkeypatch.setattr("sys.orig_argv", ["python", "shops/buy_tea.py", "--fast"])
    with reenact.record("x", home=home) as recording:
        start()
        goto("https://shop.example/tea")
        goto("https://shop.example/cart")
    assert line_of(home, recording).prompt == "buy_tea.py: opens https://shop.example/tea"
    with reenact.record("x", home=home) as recording:
        start()
        goto("https://shop.example/tea")
        block()
        block(task="Put the cheapest\n tea in the cart")
    assert line_of(home, recording).prompt == "buy_tea.py: Put the cheapest tea in the cart"


def test_the_first_user_message_wins_over_the_goal_of_a_browser_script(home):
    with reenact.record("x", home=home) as recording:
        goto("https://shop.example/tea")
        ask(chat("Buy tea"), {"content": "done"})
    assert line_of(home, recording).prompt == "Buy tea"


def test_a_run_without_a_model_and_a_browser_has_no_prompt(home):
    with reenact.record("x", home=home) as recording:
        pass
    assert line_of(home, recording).prompt == ""
