"""What differs between two steps: field by field, once, and nothing that nobody means."""

from __future__ import annotations

import pytest

from reenact.analysis.diff import compare
from reenact.errors import ABSENT, UsageError
from tests.analysis.diff.runs import chat, run, step, told

START = [("system", "Help."), ("user", "Cancel it")]


def after(*more):
    return [*START, *more]


def only(found):
    (pair,) = [pair for pair in found.pairs if pair.differences]
    return pair


def test_a_difference_in_the_history_is_named_once_and_carried():
    def program(question):
        turns = [("assistant", "Which?"), ("user", question)]
        return run(
            chat(START, "Which?"),
            chat(after(*turns), "Sure?"),
            chat(after(*turns, ("assistant", "Sure?"), ("user", "Yes")), "Done"),
        )

    found = compare(program("the first one"), program("the second one"))
    assert told(found) == ["same 1 1", "changed 2 2 new_messages[0].text", "same 3 3"]
    assert [pair.carried for pair in found.pairs] == [False, False, True]


def test_equal_histories_carry_nothing():
    turns = [("assistant", "One"), ("user", "Go on")]
    one = run(chat(START, "One"), chat(after(*turns), "Two"))
    other = run(chat(START, "One"), chat(after(*turns), "Three"))
    assert not any(pair.carried for pair in compare(one, other).pairs)


def test_another_model_is_told_once():
    def program(model):
        turns = [("assistant", "One"), ("user", "Go on")]
        return run(chat(START, "One", model=model), chat(after(*turns), "Two", model=model))

    found = compare(program("gpt-4o"), program("gpt-4o-mini"))
    assert told(found) == ["changed 1 1 args.model", "same 2 2"]
    assert found.pairs[1].carried


def test_a_setting_of_a_model_call_is_compared():
    one = step(
        "model:m",
        {"role": "assistant", "content": "x"},
        temperature=0,
        messages=[{"role": "user", "content": "q"}],
    )
    other = {**one, "args": {**one["args"], "temperature": 1}}
    assert told(compare(run(one), run(other))) == ["changed 1 1 args.temperature"]


def test_an_answer_is_compared_by_its_text_and_by_the_tools_that_it_asks_for():
    one = run(chat(START, "Well.", calls=[("cancel", '{"id": 1, "why": "late"}')]))
    other = run(chat(START, "Well!", calls=[("cancel", '{"id": 1, "why": "wrong"}')]))
    found = compare(one, other)
    assert told(found) == ["changed 1 1 answer.text answer.calls[0].args.why"]
    assert only(found).differences[1].who == "assistant calls cancel"
    assert [sign for sign, _ in only(found).differences[0].words] == ["=", "-", "+"]


def test_another_tool_and_one_tool_more_are_told_whole():
    one = run(chat(START, "", calls=[("cancel", '{"id":1}')]))
    other = run(chat(START, "", calls=[("refund", '{"id":1}'), ("mail", "{}")]))
    found = only(compare(one, other)).differences
    assert [(item.path, item.a, item.b) for item in found] == [
        ("answer.calls[0]", 'cancel({"id":1})', 'refund({"id":1})'),
        ("answer.calls[1]", ABSENT, "mail({})"),
    ]


def test_a_message_more_in_the_question_shifts_no_other():
    one = run(chat(after(("user", "please")), "ok"))
    other = run(
        chat([("system", "Help."), ("user", "Hello"), ("user", "Cancel it"), ("user", "please")], "ok")
    )
    (found,) = only(compare(one, other)).differences
    assert (found.path, found.a, found.b, found.who) == ("new_messages[1]", ABSENT, "Hello", "user")


def test_the_ids_of_tool_calls_are_not_compared():
    def program(id):
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id, "function": {"name": "f", "arguments": "{}"}}],
        }
        back = {"role": "tool", "tool_call_id": id, "content": "5"}
        return run(
            step(
                "model:m",
                {"choices": [{"message": message}]},
                messages=[{"role": "user", "content": "q"}, message, back],
            )
        )

    assert compare(program("call_a"), program("call_b")).same


def test_replaced_secrets_of_one_kind_are_alike_whatever_the_salt():
    def program(digits, kind="openai"):
        token = f"[[secret:{kind}:{digits}]]"
        return run(step("tool:login", {"key": token}, key=f"Bearer {token}", other=digits[0]))

    found = compare(program("0a1b2c3d"), program("99999999"))
    assert told(found) == ["changed 1 1 args.other"]
    assert "args.key" in told(compare(program("0a1b2c3d"), program("0a1b2c3d", "github")))[0]


def test_volatile_headers_and_those_of_answers_are_not_compared():
    def program(agent, date, page="hello"):
        return run(
            step(
                "http:GET shop/", {"status": 200, "headers": {"date": date}, "body": page},
                url="http://shop/", headers={"user-agent": agent, "accept": "json"},
            )
        )  # fmt: skip

    assert compare(program("a/1", "Monday"), program("a/2", "Tuesday")).same
    assert told(compare(program("a", "x"), program("b", "x", "bye"))) == ["changed 1 1 output.body"]


def test_the_moments_of_a_browsers_actions_are_not_compared():
    def program(moment, message="done"):
        given = {"success": True, "message": message, "started_at": moment, "ended_at": moment}
        return run(step("browser:click", given, selector="#pay"))

    assert compare(program("12:00"), program("13:00")).same
    assert told(compare(program("12:00"), program("13:00", "covered"))) == ["changed 1 1 output.message"]


def test_the_pictures_of_a_page_are_not_compared_and_an_error_is_told_once():
    def program(picture, text="done"):
        error = {"type": "TimeoutError", "text": text}
        given = {"message": text, "error": error, "screenshot": {"$bytes": picture}}
        return run(step("browser:observe", given, selector="#pay"))

    assert compare(program("aaaa"), program("bbbb")).same
    assert told(compare(program("aaaa"), program("aaaa", "covered"))) == ["changed 1 1 output.message"]


def test_the_consequence_of_a_browsers_action_is_told_in_lines():
    def program(page, requests, **dom):
        consequence = {
            "navigated": page,
            "requests": requests,
            "dom": dom or None,
            "writes": [{"body": page}],
        }
        return run(step("browser:click", {"message": "done", "consequence": consequence}, selector="#pay"))

    paid, stays = program("/thanks", ["POST /pay"]), program(None, [], added=['alert "Declined"'])
    (found,) = only(compare(paid, stays)).differences
    assert (found.a, found.b) == ("opened /thanks\nsent POST /pay", 'added alert "Declined"')


def test_a_model_over_http_is_compared_as_a_model():
    def program(text, temperature=0, trace="1"):
        body = f'{{"model": "gpt-4o", "temperature": {temperature}, "messages": [{{"role": "user", "content": "{text}"}}]}}'
        return run(
            step(
                "http:POST api.openai.com/v1/chat/completions", {"status": 200}, body=body,
                url="https://api.openai.com/v1/chat/completions", headers={"traceparent": trace},
            )
        )  # fmt: skip

    assert compare(program("hi"), program("hi", trace="2")).same
    assert told(compare(program("hello you"), program("hello there you", 1))) == [
        "changed 1 1 args.body.temperature new_messages[0].text"
    ]


def test_what_an_ignore_rule_names_is_left_out_and_the_rule_is_told():
    one, other = run(step("tool:a", 1, q="x", seed=1)), run(step("tool:a", 1, q="x", seed=2))
    assert not compare(one, other).same
    found = compare(one, other, ["args.seed"])
    assert found.same
    assert found.ignored == ("ignore args.seed",)
    with pytest.raises(UsageError, match="begins with `args`"):
        compare(one, other, ["seed"])


def test_an_error_is_compared_with_what_came_instead():
    found = compare(run(step("tool:a", 5, q="x")), run(step("tool:a", error="no such order", q="x")))
    assert [(item.path, item.b) for item in only(found).differences] == [
        ("output", ABSENT),
        ("error", "ValueError: no such order"),
    ]


def test_values_that_python_takes_for_equal_are_told_apart():
    assert not compare(run(step("tool:a", 1, q=1)), run(step("tool:a", 1, q=True))).same


def test_json_in_a_text_is_compared_by_its_fields():
    found = compare(
        run(step("tool:a", '{"x": 1, "y": [1, 2]}')), run(step("tool:a", '{"x": 1, "y": [1, 3]}'))
    )
    assert told(found) == ["changed 1 1 output.y[1]"]


def test_what_differs_all_over_is_told_as_a_whole():
    rows = [{"n": n, "id": str(n)} for n in range(30)]
    found = compare(run(step("tool:a", rows)), run(step("tool:a", [{"n": 99, "id": "x"}, *rows])))
    (difference,) = only(found).differences
    assert difference.path == "output"
    assert sum(len(text) for sign, text in difference.words if sign != "=") < 60


def test_the_end_and_the_program_are_compared_too():
    same = step("tool:a", 1)
    packages = {"openai": "3.0", "httpx": "0.28"}
    one = run(
        same, output={"total": 1}, program={"python": "3.11", "argv": ["agent.py"], "packages": packages}
    )
    other = run(
        same, output={"total": 2}, status="error", error="late",
        program={"python": "3.12", "argv": ["agent.py"], "cwd": "/x", "packages": {"openai": "3.1"}},
    )  # fmt: skip
    found = compare(one, other)
    assert found.parting is None
    assert not found.same
    assert [(item.path, item.a, item.b) for item in found.ending] == [
        ("status", "ok", "error"),
        ("output.total", 1, 2),
        ("error", ABSENT, "ValueError: late"),
    ]
    assert [(item.path, item.b) for item in found.program] == [
        ("python", "3.12"),
        ("packages.httpx", ABSENT),
        ("packages.openai", "3.1"),
    ]


def test_packages_that_one_run_does_not_know_are_no_differences():
    python, other = (
        run(step("tool:a", 1), program={"argv": ["agent"], "packages": packages})
        for packages in ({"openai": "3.0", "httpx": "0.28"}, {})
    )
    assert compare(python, other).program == ()
    assert compare(other, python).program == ()


def test_time_and_tokens_stand_side_by_side():
    def program(tokens, took):
        usage = {"prompt_tokens": tokens, "completion_tokens": 5}
        return run(chat(START, "ok", usage=usage, took=took), step("tool:a", 1, took=1.0))

    found = compare(program(100, 1.0), program(250, 2.0))
    assert [(s.duration, s.input_tokens, s.output_tokens) for s in found.pairs[0].spent] == [
        (1.0, 100, 5),
        (2.0, 250, 5),
    ]
    assert (found.a.spent.input_tokens, found.b.spent.input_tokens) == (100, 250)
    assert (found.a.spent.duration, found.b.spent.duration) == (2.0, 3.0)
    assert found.pairs[1].spent[0].input_tokens is None
