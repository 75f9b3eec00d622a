"""Each rule finds what it is for, at the right step, and is silent where nothing is the matter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import reenact
from reenact.analysis.anomalies import Choice, examine
from reenact.analysis.anomalies.baseline import Totals
from reenact.analysis.anomalies.rules.calls import tandems
from reenact.analysis.interchange.importers import Happened
from reenact.core.store.local import LocalStore
from tests.analysis.conftest import does, says

SCHEMA = {
    "type": "object",
    "properties": {"order_id": {"type": "string", "pattern": "^ORD-[0-9]{4}$"}},
    "required": ["order_id"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "lookup_order", "parameters": SCHEMA}}]


# -- browsers ------------------------------------------------------------------------------------------------


def test_a_failed_action_of_a_browser_says_why(finds):
    why = "No element matches #buy: the closest is the button 'Buy now'"
    given = {"success": False, "message": why, "error": {"type": "ElementNotFound", "text": why}}
    done = {"success": True, "message": "clicked", "error": None}
    (found,) = finds(
        "failed-action",
        Happened("browser", "click", {"selector": "#ok"}, done),
        Happened("browser", "click", {"selector": "#buy"}, given),
    )
    assert (found.step, found.sentence, found.evidence) == (2, f"click failed: {why}", why)


# -- how tools are called ------------------------------------------------------------------------------------


def test_many_calls_are_named_at_the_first_one_too_many(finds):
    calls = [does("look", {"n": n}) for n in range(12)]
    (found,) = finds("many-calls", *calls)
    assert (found.step, found.evidence) == (11, "look × 12")
    assert finds("many-calls", *calls[:10]) == []


def test_how_many_calls_are_many_can_be_set(finds):
    assert finds("many-calls", does("look"), does("look", {"n": 1}), options={"most": 1})[0].step == 2


def test_the_same_call_again_names_both(finds):
    (found,) = finds(
        "repeated-call", does("look", {"a": 1, "b": 2}), does("other"), does("look", {"b": 2, "a": 1})
    )
    assert (found.step, found.others, found.severity) == (3, (1,), "warning")
    assert "gave the same" in found.sentence


def test_the_same_call_with_another_result_is_only_a_remark(finds):
    (found,) = finds("repeated-call", does("look", {"a": 1}, "x"), does("look", {"a": 1}, "y"))
    assert found.severity == "info"


def test_reading_again_after_a_change_is_no_repetition(finds):
    look = {"id": "A1"}
    assert finds("repeated-call", does("get", look), does("update_order", look), does("get", look)) == []


def test_trying_again_after_an_error_is_no_repetition(finds):
    assert finds("repeated-call", does("get", {"a": 1}, error="timeout"), does("get", {"a": 1})) == []


@pytest.mark.parametrize("period", [1, 2, 3, 7])
def test_a_loop_of_any_period_is_found(finds, period):
    calls = [does("begin"), *[does("step", {"n": n % period}) for n in range(3 * period)], does("end")]
    (found,) = finds("loop", *calls)
    assert found.others == tuple(range(2, 2 + 3 * period))
    assert found.step == 2 + period


def test_two_rounds_are_no_loop_and_neither_are_different_calls(finds):
    assert finds("loop", *[does("step", {"n": n % 2}) for n in range(4)]) == []
    assert finds("loop", *[does("step", {"n": n}) for n in range(9)]) == []


def test_a_model_that_says_the_same_again_and_again_is_in_a_loop(finds):
    (found,) = finds("loop", *[says("I will try again now.") for _ in range(3)])
    assert "the same answer 3 times" in found.sentence


def test_the_longest_stretch_is_told_by_its_shortest_period():
    assert tandems(list("abababab"), 3)[0] == (0, 2, 8)


def test_a_storm_of_retries_is_found(finds):
    calls = [does("fetch", {"n": n}, error="503 Service Unavailable") for n in range(3)]
    (found,) = finds("retry-storm", *calls, does("fetch"))
    assert (found.step, found.others) == (2, (1, 2, 3))
    assert finds("retry-storm", *calls[:2], does("fetch"), calls[2]) == []


def test_http_exchanges_that_fail_in_a_row_are_a_storm(finds):
    def exchange():
        return Happened(
            "http", "GET api.example.com/x", {"url": "https://api.example.com/x"}, None, "ConnectError"
        )

    assert finds("retry-storm", exchange(), exchange(), exchange())[0].step == 2


def test_a_result_of_which_nothing_is_used_is_named(finds):
    weather = '{"city": "Lisbon", "temperature": "21.5", "wind": "14.2", "humidity": "63.1", "sky": "Cloudy"}'
    (found,) = finds("unused-result", does("weather", result=weather), says("I cannot help you with that."))
    assert found.step == 1
    assert finds("unused-result", does("weather", result=weather), says("It is 21.5 degrees.")) == []


def test_what_a_browser_agent_keeps_of_its_start_is_no_result_of_a_tool(finds):
    start = Happened(
        "agent", "start", {"task": "Buy a lamp."}, {"agent_id": "1463450196e24cc6a379", "at": 1795634210.17}
    )
    assert finds("unused-result", start, says("I cannot help you with that.")) == []


def test_half_a_megabyte_without_a_space_is_looked_at_at_once(finds):
    # It took minutes: the suite's limit of time is what this runs against.
    assert (
        len(finds("unused-result", does("page", result="x." * 250_000), says("There is nothing here."))) <= 1
    )


def test_the_same_result_is_called_unused_once(finds):
    weather = '{"city": "Lisbon", "temperature": "21.5", "wind": "14.2", "humidity": "63.1", "sky": "Cloudy"}'
    looks = [does("weather", {"at": "x"}, weather) for _ in range(3)]
    assert len(finds("unused-result", *looks, says("I cannot help you with that."))) == 1


# -- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "result",
    [
        "Error: no such order",
        '{"error": "not found"}',
        '{"status": "failed", "id": 1}',
        "Traceback (most recent call last):\n  …",
        "exitcode: 1 (execution failed)",
        "bash: foo: command not found",
        "1 validation error for Order",
        '[{"input": "xx", "loc": ["reason"], "msg": "Input should be a valid integer", "type": "int_parsing"}]',
    ],
)
def test_a_result_that_says_that_it_failed_is_a_tool_error(finds, result):
    assert [one.step for one in finds("tool-error", does("look", result=result))] == [1]


def test_an_mcp_tool_that_failed_is_a_tool_error_and_talk_with_its_server_is_no_use(finds):
    failed = {"content": [{"type": "text", "text": "no luck " * 1000}], "isError": True}
    talk = [
        Happened("mcp", name, {}, {"error": "failed"}) for name in ("initialize", "tools/list", "messages")
    ]
    read = Happened("mcp", "resources/read", {}, None, "gone")
    found = finds("tool-error", *talk, does("book", {}, failed), read)
    assert sorted(one.step for one in found) == [4, 5]


@pytest.mark.parametrize(
    "result", ["no errors found", '{"error": null, "id": 1}', '{"errors": [], "ok": true}', ""]
)
def test_a_result_that_only_speaks_of_errors_is_none(finds, result):
    assert finds("tool-error", does("look", result=result)) == []


def test_code_that_fails_is_the_models(finds):
    code = {"code": "print(1,000 +)"}
    (found,) = finds(
        "failing-code", says(None, ("python", code)), does("python", code, "SyntaxError: invalid syntax")
    )
    assert (found.step, found.others) == (1, (2,))


def test_an_answer_that_hides_an_error_is_named(finds):
    calls = [says(None, ("cancel", {"id": "A1"})), does("cancel", {"id": "A1"}, error="TimeoutError")]
    (found,) = finds("hidden-error", *calls, says("Your order A1 is cancelled. Have a nice day."))
    assert (found.step, found.others, found.severity) == (3, (2,), "error")
    assert finds("hidden-error", *calls, says("I could not cancel your order.")) == []


def test_an_error_that_was_made_good_is_not_hidden(finds):
    calls = [does("cancel", {"id": "A1"}, error="TimeoutError"), does("cancel", {"id": "A1"})]
    assert finds("hidden-error", *calls, says("Your order A1 is cancelled.")) == []


@pytest.mark.parametrize(
    "result", ["", "[]", None, "{}", "Found 0 results", "exitcode: 0\nCode output: None"]
)
def test_a_tool_that_brings_nothing_is_named(finds, result):
    assert [one.step for one in finds("empty-result", does("search", {"q": "x"}, result))] == [1]


def test_error_words_in_the_output_are_found(finds):
    (found,) = finds("error-words", says("fine"), output="undefined is not a function")
    assert "'undefined'" in found.sentence
    assert finds("error-words", says("fine"), output="the terrors of the deep") == []


def test_a_model_call_that_failed_is_named(finds):
    (found,) = finds("refused", says(error="RateLimitError: 429"))
    assert (found.step, found.severity) == (1, "error")


# -- answers -------------------------------------------------------------------------------------------------


def test_an_empty_answer_is_an_error(finds):
    assert [one.step for one in finds("empty-answer", says("hello"), says(""))] == [2]
    assert finds("empty-answer", says(None, ("look", {}))) == []


def test_a_run_that_ended_well_with_nothing_is_an_error(finds):
    assert "empty output" in finds("empty-answer", says("hello"), output="")[0].sentence


@pytest.mark.parametrize("word", ["length", "max_tokens", "MAX_TOKENS"])
def test_an_answer_that_was_cut_off_is_an_error(finds, word):
    (found,) = finds("truncated", says("and so I", finish=word))
    assert (found.step, found.severity) == (1, "error")
    assert finds("truncated", says("done", finish="stop")) == []


def test_ids_amounts_and_names_that_nobody_said_are_invented(finds):
    look = does(
        "lookup", {"id": "ORD-5521"}, '{"order_id": "ORD-5521", "total": 349.0, "buyer": "Ana Souza"}'
    )
    heard = ["Where is my order ORD-5521?"]
    good = says("Order ORD-5521 of Ana Souza, 349.00 in all, is on its way.", heard=heard)
    assert finds("invented", look, good) == []
    (found,) = finds("invented", look, says("Order ORD-7734 of Jim Brown, $512.40, has left.", heard=heard))
    assert found.step == 2
    assert all(one in found.sentence for one in ("ORD-7734", "Jim Brown", "$512.40"))


def test_what_follows_by_one_calculation_is_not_invented(finds):
    look = does("prices", result='{"flight": 120.5, "bag": 50.0}')
    assert finds("invented", look, says("That is $170.50 in all, or $241.00 for two flights.")) == []


def test_what_was_invented_is_told_once(finds):
    assert [
        one.step for one in finds("invented", says("It costs $512.40."), says("As I said: $512.40."))
    ] == [1]


def test_an_answer_that_contradicts_a_result_is_an_error(finds):
    look = does("quote", result='{"total_price": 349.0, "delivery_days": 3}')
    (found,) = finds("contradiction", look, says("The total price is $394.00."))
    assert (found.step, found.others, found.severity) == (2, (1,), "error")
    assert finds("contradiction", look, says("The total price is $349, delivery days: 3.")) == []
    (found,) = finds(
        "contradiction", look, says("Not a price: 3. **Total price**: *$1,394.50*, total price: 349")
    )
    assert "gives 1394.5 for 'total price'" in found.sentence


def test_made_up_data_is_named(finds):
    assert finds("assumption", says("Let's assume the red numbers are 12 and 14."))[0].step == 1
    assert finds("assumption", says("The red numbers in the file are 12 and 14.")) == []


def test_a_check_that_was_only_claimed_is_named(finds):
    assert finds("claimed-check", says("I have verified the schedule."))[0].step == 1
    assert finds("claimed-check", does("read", result="x"), says("I have verified the schedule.")) == []


def test_an_agent_that_says_that_it_goes_in_circles_is_heard(finds):
    found = finds(
        "stalled", says("Clicked the link.", agent="surfer"), says("We are in a loop.", agent="lead")
    )
    assert [(one.step, one.others) for one in found] == [(1, (2,))]


def test_the_first_word_without_a_look_is_named_among_several_agents(finds):
    words = "The population of the town is about thirty thousand, as everybody who lives there knows well."
    found = finds("unfounded", says(words, agent="a"), says(words, agent="b"))
    assert [one.step for one in found] == [1]
    assert finds("unfounded", says(words)) == []


def test_where_the_last_answer_comes_from_is_told(finds):
    found = finds(
        "origin",
        says("Let us begin with the list of them all.", agent="a"),
        says("I think that it is 4711.", agent="b"),
        says("So the final answer to the question is 4711.", agent="a"),
    )
    assert [(one.step, one.evidence) for one in found] == [(2, "4711")]


# -- actions -------------------------------------------------------------------------------------------------


def test_an_action_on_what_nobody_looked_at_is_an_error(finds):
    cancel = does("cancel_order", {"order_id": "ORD-5521"})
    (found,) = finds("unchecked-action", cancel)
    assert (found.step, found.severity) == (1, "error")
    assert found.sentence == "cancel_order acts on ORD-5521, which no earlier call had read"
    assert finds("unchecked-action", does("lookup_order", {"order_id": "ORD-5521"}), cancel) == []


@pytest.mark.parametrize(
    "name",
    ["order_status", "orderStatus", "shop.order_history", "orders", "book_search", "bookmarks", "refund_policy",
     "postcode", "payment_status", "exchange_rate", "issue_details", "get_order", "cancellations"],
)  # fmt: skip
def test_a_tool_that_only_reads_by_its_name_is_no_action(finds, name):
    assert finds("unchecked-action", does(name, {"order_id": "ORD-5521"})) == []


@pytest.mark.parametrize(
    "name",
    ["order_pizza", "orderPizza", "shop.book", "update_status", "send-mail", "transfer_money", "CancelOrder"],
)
def test_a_tool_that_acts_by_its_name_is_an_action(finds, name):
    assert finds("unchecked-action", does(name, {"order_id": "ORD-5521"})) != []


def test_a_declaration_counts_more_than_a_name(tmp_path):
    with reenact.record(home=tmp_path):
        for number, name, writes in ((1, "update_view", False), (2, "apply", True), (3, "update_cart", None)):
            reenact.tool(lambda id: f"{id} is seen", name=name, writes=writes)(f"ORD-{number}")
    recording = LocalStore(tmp_path).load("last")
    found = examine(recording, Choice(rules=["unchecked-action"]))
    assert [one.step for one in found] == [2, 3]
    called = [call.called.get("writes") for call in recording.logs[0].calls.values()]
    assert called == [False, True, None]


def test_an_action_that_failed_acted_on_nothing(finds):
    assert finds("unchecked-action", does("cancel_order", {"order_id": "ORD-5521"}, error="denied")) == []


def test_a_look_that_failed_is_no_check(finds):
    cancel = does("cancel_order", {"order_id": "ORD-5521"})
    assert finds("unchecked-action", does("lookup", {"order_id": "ORD-5521"}, error="timeout"), cancel)


def test_an_action_that_nobody_agreed_to_is_named(finds):
    args = {"order_id": "ORD-5521"}
    heard = ["Cancel my order.", {"role": "assistant", "content": "Shall I?"}]
    calls = [
        says(None, ("cancel_order", args), heard=[*heard, "What would it cost me?"]),
        does("cancel_order", args),
    ]
    assert [one.step for one in finds("unconfirmed-action", *calls)] == [2]
    calls[0] = says(None, ("cancel_order", args), heard=[*heard, "Yes, please."])
    assert finds("unconfirmed-action", *calls) == []


def test_which_tools_are_risky_can_be_set(finds):
    assert finds("risky-action", does("get_order")) == []
    assert finds("risky-action", does("launch"), options={"tools": ["launch"]})[0].step == 1


def test_a_tool_that_was_not_offered_is_an_error(finds):
    (found,) = finds("unknown-tool", says(None, ("delete_all", {}), tools=TOOLS))
    assert "'delete_all'" in found.sentence
    assert finds("unknown-tool", says(None, ("lookup_order", {}), tools=TOOLS)) == []


def test_arguments_that_fail_the_schema_are_an_error(finds):
    (found,) = finds("bad-arguments", says(None, ("lookup_order", {"order_id": "5521"}), tools=TOOLS))
    assert found.evidence == 'lookup_order(order_id="5521")'
    assert "order_id: '5521' does not match" in found.sentence
    assert finds("bad-arguments", says(None, ("lookup_order", {"order_id": "ORD-5521"}), tools=TOOLS)) == []


def test_a_schema_that_is_none_finds_no_fault(finds):
    broken = [{"type": "function", "function": {"name": "look", "parameters": {"type": "no such type"}}}]
    assert finds("bad-arguments", says(None, ("look", {"a": 1}), tools=broken)) == []


# -- figures -------------------------------------------------------------------------------------------------


def test_prompts_that_grow_are_named_where_they_are_large(finds):
    calls = [says("x", usage={"prompt_tokens": size, "completion_tokens": 1}) for size in (1000, 3000, 9000)]
    (found,) = finds("context-growth", *calls)
    assert found.step == 3


@pytest.mark.parametrize(
    ("rule", "figure"), [("slow", "duration"), ("many-tokens", "tokens"), ("many-steps", "steps")]
)
def test_a_run_that_stands_out_of_its_baseline_is_named(finds, rule, figure):
    began = datetime(2026, 1, 1, tzinfo=UTC)
    calls = [
        Happened(
            "model",
            "gpt",
            {"messages": [{"role": "user", "content": "x"}]},
            {
                "choices": [{"message": {"content": "y"}}],
                "usage": {"prompt_tokens": size, "completion_tokens": 1},
            },
            began=began,
            ended=began + timedelta(seconds=size),
        )
        for size in (100, 900)
    ]
    usual = [Totals(**{figure: 1.0 + n / 100}) for n in range(6)]
    (found,) = finds(rule, *calls, baseline=usual)
    assert found.step == 2
    assert finds(rule, *calls, baseline=[Totals(**{figure: 10_000.0})] * 6) == []


def test_a_baseline_of_a_few_recordings_is_none(finds):
    assert finds("many-steps", *[does("look")] * 9, baseline=[Totals(steps=1.0)] * 4) == []


def test_without_a_baseline_nothing_stands_out(finds):
    assert finds("many-steps", *[does("look")] * 9) == []


def test_a_prompt_with_the_time_of_the_run_is_named(finds):
    began = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)

    def call(text):
        args = {"messages": [{"role": "system", "content": text}]}
        return Happened(
            "model", "gpt", args, {"role": "assistant", "content": "ok"}, began=began, ended=began
        )

    assert finds("clock-input", call("It is 2026-03-04 09:59:58 now."))[0].step == 1
    assert finds("clock-input", call("Orders until 2025-03-04 count.")) == []


def test_a_call_without_an_answer_is_named(tmp_path):
    import reenact

    folder = tmp_path / "cut"
    folder.mkdir()
    source = (
        __import__("pathlib").Path(__file__).parents[1] / "recordings/v1/order-agent/events.jsonl"
    ).read_text()
    lines = [line for line in source.splitlines() if '"event":"sealed"' not in line]
    last = max(place for place, line in enumerate(lines) if '"event":"called"' in line)
    (folder / "events.jsonl").write_text("\n".join(lines[: last + 1]) + "\n")
    found = reenact.anomalies(folder, rules=["unanswered"])
    assert [one.step for one in found] == [5]
