"""Which step is which: properties that hold for any two runs, and the cases that taught us something."""

from __future__ import annotations

from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.analysis.diff import Kind, compare
from reenact.errors import UsageError
from tests.analysis.diff.runs import chat, run, step, told

words = st.sampled_from(["alpha", "beta", "gamma delta", "epsilon zeta eta", "theta"])
steps = st.builds(
    lambda name, q, value, at: step(f"tool:{name}", value, at=at, q=q),
    st.sampled_from(["search", "fetch"]),
    words,
    words,
    st.sampled_from(["main", "main/task.0", "main/task.1"]),
)
programs = st.lists(steps, min_size=1, max_size=8)


def here(items):
    """The same steps, all in one scope."""
    return [{**item, "at": "main"} for item in items]


def kinds(diff):
    return {kind.value: count for kind, count in diff.counts.items() if count}


@given(programs)
def test_a_run_is_the_same_as_itself(program):
    found = compare(run(*program), run(*program))
    assert found.same
    assert found.parting is None
    assert kinds(found) == {"same": len(program)}


@pytest.mark.thorough
@given(programs, programs)
def test_every_step_of_both_stands_in_one_pair(one, other):
    found = compare(run(*one), run(*other))
    assert sorted(p.a.number for p in found.pairs if p.a) == list(range(1, len(one) + 1))
    assert sorted(p.b.number for p in found.pairs if p.b) == list(range(1, len(other) + 1))


def test_runs_that_differ_in_a_task_alone_are_the_same_the_other_way_round():
    one = [step("tool:fetch", "alpha", at="main", q="alpha")] * 2
    other = [{**one[0], "at": "main/task.0"}, one[1]]
    for asked in ("alpha", "beta"):
        before = step("tool:search", "alpha", at="main", q=asked)
        mirrored([before, *one], [before, *other])


@pytest.mark.thorough
@given(programs, programs)
def test_it_is_all_the_same_the_other_way_round(one, other):
    mirrored(one, other)


def mirrored(one, other):
    """Compare two programs in both directions: the pairs and the first difference are the same."""
    mirror = {Kind.INSERTED: Kind.DELETED, Kind.DELETED: Kind.INSERTED}
    there, back = compare(run(*one), run(*other)), compare(run(*other), run(*one))
    assert sorted(
        map(repr, ((p.kind, p.a and p.a.number, p.b and p.b.number) for p in there.pairs))
    ) == sorted(
        map(
            repr,
            ((mirror.get(p.kind, p.kind), p.b and p.b.number, p.a and p.a.number) for p in back.pairs),
        )
    )
    if there.parting is not None:
        numbers = [side and side.number for side in (there.parting.a, there.parting.b)]
        assert numbers == [side and side.number for side in (back.parting.b, back.parting.a)]


@pytest.mark.thorough
@given(programs, steps, st.data())
def test_an_inserted_step_is_found_and_shifts_no_other(program, extra, data):
    program = here(program)
    place = data.draw(st.integers(0, len(program)))
    longer = [*program[:place], *here([extra]), *program[place:]]
    found = compare(run(*program), run(*longer))
    assert kinds(found) == {"same": len(program), "inserted": 1}
    assert kinds(compare(run(*longer), run(*program))) == {"same": len(program), "deleted": 1}
    assert found.parting.pair.kind is Kind.INSERTED


@pytest.mark.thorough
@given(st.integers(2, 9), st.data())
def test_a_step_that_was_moved_is_found_as_moved(count, data):
    program = [step("tool:search", n, q=f"question {n}") for n in range(count)]
    start, end = data.draw(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)))
    other = list(program)
    other.insert(end, other.pop(start))
    expected = {"same": count} if start == end else {"same": count - 1, "moved": 1}
    assert kinds(compare(run(*program), run(*other))) == expected


def test_a_changed_argument_is_a_change_and_not_a_step_less_and_one_more():
    found = compare(
        run(step("tool:cancel", "ok", order="ORD-1", reason="wrong size")),
        run(step("tool:cancel", "ok", order="ORD-1", reason="customer asked")),
    )
    assert told(found) == ["changed 1 1 args.reason"]
    assert found.parting.why == "a different question was asked"


def test_the_same_question_with_another_answer_is_a_change_of_the_answer():
    found = compare(run(step("tool:look", {"total": 1}, q="x")), run(step("tool:look", {"total": 2}, q="x")))
    assert told(found) == ["changed 1 1 output.total"]
    assert found.parting.why == "the same question got a different answer"


def test_a_step_polled_again_and_again_is_matched_in_order():
    def poll(*answers):
        return run(*(step("tool:status", answer) for answer in answers))

    found = compare(poll("waiting", "waiting", "waiting", "done"), poll("waiting", "done"))
    assert kinds(found) == {"same": 2, "deleted": 2}


def test_tasks_that_took_turns_otherwise_are_the_same():
    one = [step("tool:a", n, at="main/task.0", n=n) for n in range(3)]
    other = [step("tool:b", n, at="main/task.1", n=n) for n in range(3)]
    mixed = [one[0], other[0], one[1], other[1], one[2], other[2]]
    assert compare(run(*mixed), run(*other, *one)).same


def test_equal_steps_of_parallel_tasks_keep_to_their_own_task():
    def program(first, second):
        return run(
            step("tool:work", first, at="main/task.0", q="same"),
            step("tool:work", second, at="main/task.1", q="same"),
        )

    found = compare(program("x one", "y"), program("x two", "y"))
    assert told(found) == ["changed 1 1 output", "same 2 2"]


def test_a_tool_that_is_called_after_the_next_question_was_moved():
    ask = [step("tool:ask", n, n=n) for n in range(3)]
    tool = step("tool:cancel", "ok", at="main/call:c1", id=1)
    found = compare(run(ask[0], tool, ask[1], ask[2]), run(ask[0], ask[1], ask[2], tool))
    assert kinds(found) == {"same": 3, "moved": 1}


def test_the_ids_of_tool_calls_are_no_difference():
    def program(id):
        return run(step("tool:cancel", "ok", at=f"main/agent:a/call:{id}", order=1))

    assert compare(program("call_1"), program("call_2")).same


def test_a_browser_action_is_compared_by_what_it_did_and_not_by_its_measurements():
    def visit(port, waited, message):
        url = f"http://127.0.0.1:{port}/shop.html"
        done = {
            "message": message, "url": url, "waited": waited, "why": {"score": waited}, "started_at": str(waited),
            "fingerprint": {"x": waited}, "box": [8.0, waited, 10, 20], "selectors": {"css": f"css=button:nth-of-type({port})"},
        }  # fmt: skip
        return run(step("browser:click", done, url=url))

    assert compare(visit(40001, 0.25, "clicked 'Buy'"), visit(51234, 0.75, "clicked 'Buy'")).same
    found = compare(visit(40001, 0.25, "clicked 'Buy'"), visit(40001, 0.25, "clicked 'Sell'"))
    assert told(found) == ["changed 1 1 output.message"]


@pytest.mark.parametrize("ports", [(8000, 9000), (8000, 40001)])
def test_a_port_that_a_person_chose_is_a_difference(ports):
    one, other = (run(step("tool:get", 1, url=f"http://localhost:{port}/")) for port in ports)
    assert not compare(one, other).same


def test_what_happens_inside_of_a_moved_step_is_not_told_as_moved_too():
    first = step("tool:a", 1, took=2.0, t=0.0, q=1)
    inner = step("http:GET /", "x", at="main/tool:a#0", within=1, t=0.5, url="/")
    last = step("tool:b", 2, t=3.0, q=2)
    late = [
        {**last, "t": 0.0}, {**first, "t": 1.0}, {**inner, "in": 2, "t": 1.5},
    ]  # fmt: skip
    found = compare(run(first, inner, last), run(*late))
    assert found.counts[Kind.MOVED] == 1


def test_two_runs_that_share_nothing_say_so():
    found = compare(run(step("tool:a", 1, q="x")), run(step("tool:b", 2, z="y"), step("tool:c", 3)))
    assert found.shared == 0
    assert kinds(found) == {"deleted": 1, "inserted": 2}
    assert found.parting.why == "A asks tool:a, B asks tool:b"


def test_where_one_run_ends_the_other_is_said_to_go_on():
    both = step("tool:a", 1, q="x")
    found = compare(run(both), run(both, step("tool:b", 2)))
    assert found.parting.why == "A ends here, B goes on"
    assert (found.parting.a, found.parting.b.number) == (None, 2)


def test_the_cause_is_told_and_not_the_step_around_it():
    def program(page):
        return run(
            step("tool:read", f"page {page}", took=3.0, t=0.0, q=1),
            step("http:GET /", page, at="main/tool:read#0", within=1, t=1.0, url="/"),
        )

    found = compare(program("old"), program("new"))
    assert found.counts[Kind.CHANGED] == 2
    assert found.parting.a.number == 2


def test_a_recording_without_steps_cannot_be_compared():
    with pytest.raises(UsageError, match="recording empty has no steps"):
        compare(run(step("tool:a", 1)), run(id="empty"))


def test_very_long_recordings_are_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(import_module("reenact.analysis.diff.compare"), "_MOST", 3)
    one = run(step("tool:a", 1), step("tool:a", 2), id="one")
    with pytest.raises(
        UsageError, match="recordings one and one have 4 steps together, and a comparison takes 3"
    ):
        compare(one, one)


@pytest.mark.thorough
def test_a_thousand_steps_that_all_changed_are_aligned_in_order():
    def program(word):
        return run(*(step("tool:a", n, q=f"{word} number {n} of a long list") for n in range(1000)))

    found = compare(program("old"), program("new"))
    assert all(pair.kind is Kind.CHANGED and pair.a.number == pair.b.number for pair in found.pairs)


def test_a_chat_and_its_repetition_differ_only_where_they_do():
    history = [("system", "Help."), ("user", "Hello")]
    first = chat(history, "What is it?")
    later = [*history, ("assistant", "What is it?"), ("user", "My order")]
    found = compare(run(first, chat(later, "Which?")), run(first, chat(later, "Which one?")))
    assert told(found) == ["same 1 1", "changed 2 2 answer.text"]


def test_an_answer_that_was_put_in_place_of_what_happened_inside_is_where_they_part():
    page = step("http:GET /", "3", at="main/tool:read#0", within=1, t=0.5, url="/")
    found = compare(run(step("tool:read", 3, took=2.0), page), run(step("tool:read", -40)))
    assert found.parting.why == "the same question got a different answer"
    assert (found.parting.a.number, found.parting.b.number) == (1, 1)
