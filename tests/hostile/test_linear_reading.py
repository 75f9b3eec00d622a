"""What reads a stranger's texts beside redaction and filters: importers, rules of anomalies, selectors, differences."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest

from reenact.analysis.anomalies.case import Case
from reenact.analysis.anomalies.config import Choice
from reenact.analysis.anomalies.known import KnownFacts, stated
from reenact.analysis.anomalies.rules import actions, words
from reenact.analysis.anomalies.rules.calls import tandems
from reenact.analysis.interchange.importers.agents import _speakers
from reenact.analysis.views.difference import difference, segments
from reenact.browser.page import likeness
from reenact.core.store.local import load
from tests.hostile.counting import lines_of
from tests.hostile.forge import forge_folder
from tests.hostile.test_linear import repeated, seconds

SMALL, LARGE = 10_000, 100_000


def is_linear(work):
    """Ten times the text costs at most some twelve times the time."""
    few, many = seconds(lambda: work(SMALL)), seconds(lambda: work(LARGE))
    assert many <= 12 * few + 0.4, (few, many)


FRAGMENTS = ("a-", "a", "1", "1,111", "_", "A-", "Aaa ", "`", "```", "é", "a1-", "1.", "$ ", "(", " ")


@pytest.mark.sampled
@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_what_a_text_states_is_found_in_time_in_proportion(fragment):
    is_linear(lambda size: (stated(repeated(fragment, size)), KnownFacts().learn([repeated(fragment, size)])))


@pytest.mark.parametrize("fragment", [*FRAGMENTS, "a@", "."])
def test_the_values_of_a_text_are_found_in_time_in_proportion(fragment):
    is_linear(lambda size: actions._VALUE.findall(repeated(fragment, size)))


@pytest.mark.parametrize(
    "fragment", ['"is_in_loop":{', '"is_progress_being_made": {"answer":', "replace ", "we are ", " "]
)
def test_what_a_model_says_is_looked_through_in_time_in_proportion(fragment):
    is_linear(lambda size: (words._STALLED.search(repeated(fragment, size)), words._ASSUMES.search(fragment)))


def test_an_id_is_found_where_its_word_begins_and_nowhere_within():
    said = stated("order-17 of user_a1b2 -x9y8z7 by a-b-c-d, 12345, v2, #W2378156 and sara_doe_496")
    assert said.ids == ("user_a1b2", "x9y8z7", "W2378156", "sara_doe_496")


@pytest.mark.parametrize("role", ["(", " ", " (", ")("])
def test_a_role_of_an_imported_chat_is_read_in_time_in_proportion(role):
    is_linear(lambda size: list(_speakers([{"role": repeated(role, size), "content": "x"}])))


@pytest.mark.parametrize("role", ["Orchestrator (-> WebSurfer)", "Orchestrator"])
def test_a_role_is_named_without_what_stands_in_brackets(role):
    happened = list(_speakers([{"role": "human", "content": "hi"}, {"role": role, "content": "x"}]))
    assert "Orchestrator" in repr(happened)
    assert "WebSurfer" not in repr(happened)


@pytest.mark.parametrize("kind", ["css", "expression", "text", "xpath"])
@pytest.mark.parametrize(
    "fragment", [" ", "> ", "[a=", 'get_by_x("a")', "role=x ", "/a[", "#", "\\", ":text('"]
)
def test_a_selector_of_any_length_says_at_once_what_it_says(kind, fragment):
    asked = SimpleNamespace(kind=kind, body=repeated(fragment, 1_000_000))
    assert seconds(lambda: likeness._parts_of(asked)) < 1


def test_paths_of_any_length_are_compared_at_once():
    one, other = "/div" * 100_000, "/div/p" * 100_000
    assert seconds(lambda: likeness._path(one, other)) < 1
    assert likeness._path(one, one) == 1


def test_the_texts_of_a_divergence_are_compared_at_once_whatever_they_say():
    one, other = "a " * 1400, "a b " * 700
    assert seconds(lambda: difference(one, other)) < 2


@pytest.mark.parametrize("words", ["a b ", "word ", "ab", "\n"])
def test_texts_of_any_length_are_compared_at_once_where_they_differ_all_over(words):
    one, other = repeated("a ", 1_000_000), repeated(words, 1_000_000)
    assert seconds(lambda: segments(one, other)) < 2
    assert seconds(lambda: segments(one[:19_000], other[:19_000])) < 2


def calls(count, *, failing=False, fields=1):
    """Lines of a recording: calls of one tool, and after each an answer that names what it gave."""
    for number in range(1, 2 * count, 2):
        yield {
            "event": "called", "call": number, "in": None, "at": "main", "kind": "tool", "name": "look", "n": number,
            "args": {"order": "x"}, "t": float(number),
        }  # fmt: skip
        if failing:
            error = {"type": "builtins:ValueError", "text": "gone", "args": ["gone"]}
            yield {"event": "raised", "call": number, "error": error, "t": number + 0.5}
        else:
            figures = {f"total price {number} {field}": number for field in range(fields)}
            yield {"event": "returned", "call": number, "value": figures, "t": number + 0.5}
        said = {"role": "assistant", "content": f"done: total price {number} 0 is {1000 + number}"}
        yield {
            "event": "called", "call": number + 1, "in": None, "at": "main", "kind": "model", "name": "gpt-4o",
            "n": number, "args": {"messages": [{"role": "user", "content": "go on"}]}, "t": number + 0.6,
        }  # fmt: skip
        value = {"choices": [{"message": said}], "usage": {"prompt_tokens": 3}}
        yield {"event": "returned", "call": number + 1, "value": value, "t": number + 0.9}


RULES_ASKED = [asked for asked in Choice({"all": True}).rules if not asked.rule.baseline]


@pytest.mark.parametrize(
    "shape",
    [
        {},
        pytest.param({"failing": True}, marks=pytest.mark.thorough),
        pytest.param({"fields": 20}, marks=pytest.mark.thorough),
    ],
)
def test_each_rule_runs_a_number_of_lines_in_proportion_to_the_steps(tmp_path, shape, monkeypatch):
    # A rule that tries pairs of some recent numbers has them all from the first steps on.
    monkeypatch.setattr("reenact.analysis.anomalies.known._PAIRS", 5)
    counted = []
    for count in (15, 60):
        header = {
            "event": "opened",
            "format": 2,
            "rules": 1,
            "id": f"r{count}",
            "process": "main",
            "name": "x",
        }
        last = {"event": "sealed", "status": "ok", "t": 1e6}
        folder = forge_folder(tmp_path / f"r{count}", [header, *calls(count, **shape), last])
        case = Case(load(folder))
        # The facts that rules share are found once, and do not count.
        ways = {asked.rule.name: partial(asked.rule.check, case, **asked.options) for asked in RULES_ASKED}
        counted.append(
            {
                name: (list(check()), lines_of(lambda check=check: list(check())))[1]
                for name, check in ways.items()
            }
        )
    few, many = counted
    assert {name: (few[name], many[name]) for name in few if many[name] > 5 * few[name] + 100} == {}


def test_a_long_sequence_of_the_same_call_is_a_loop_and_found_at_once():
    assert tandems(["x"] * 30_000, 3)[0] == (0, 1, 30_000)
    assert seconds(lambda: tandems(["x"] * 30_000, 3)) < 3
