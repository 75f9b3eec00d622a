"""A recorded answer becomes text in an editor, and what comes back is the answer that it says."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reenact
from reenact.core.model import codec
from reenact.core.replay.watch import Edit
from reenact.errors import UsageError
from reenact.run.debugger.answer import draft, edited, forking, giving, raising, recorded

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text().filter(lambda key: key[:1] != "$"), inner),
)  # fmt: skip


def _changed(answer, old, new):
    shown = draft(answer)
    assert old in shown.text
    return edited(shown, shown.text.replace(old, new))


@given(JSON)
def test_what_is_not_changed_is_no_edit(value):
    for answer in (Edit(value), Edit({"head": 1}, (value, value)), Edit(None, ("a", "b"))):
        shown = draft(answer)
        assert edited(shown, shown.text) is None
        ended = shown.text if shown.text.endswith("\n") else shown.text + "\n"
        assert edited(shown, ended) is None, "an editor ends the last line"


@pytest.mark.thorough
@given(JSON, JSON)
def test_json_comes_back_as_it_was_written(before, after):
    shown = draft(Edit(before))
    found = (
        edited(shown, json.dumps(after)) if shown.suffix == ".json" and not isinstance(before, str) else None
    )
    assert found is None or found == Edit(after)


def test_a_text_is_edited_as_it_is_and_not_as_json():
    shown = draft(Edit('Dear customer,\nit is "late".'))
    assert (shown.text, shown.suffix) == ('Dear customer,\nit is "late".', ".txt")
    assert edited(shown, "No.\n") == Edit("No.")


def test_a_text_that_ends_its_line_keeps_doing_so():
    assert edited(draft(Edit("one\n")), "two\n") == Edit("two\n")


def test_json_in_a_text_is_spread_out_and_goes_back_on_one_line():
    assert _changed(Edit('{"status":"shipped","at":1}'), "shipped", "late") == Edit(
        '{"status":"late","at":1}'
    )


def test_bytes_that_are_text_stay_bytes():
    assert edited(draft(Edit({"$utf8": "yes"})), "no") == Edit({"$utf8": "no"})


def test_python_types_keep_their_tags():
    tree = codec.Encoder().encode({"price": Decimal("9.90"), "pair": (1, 2)})
    found = _changed(Edit(tree), "9.90", "1.25")
    assert codec.rebuild(found.value) == {"price": Decimal("1.25"), "pair": (1, 2)}


def test_a_stream_of_texts_is_edited_as_their_joined_text():
    assert _changed(Edit(None, ("It is ", "late.")), "late", "early") == Edit(None, ("It is early.",))
    assert edited(draft(Edit(None, ("a",))), "") == Edit(None, ())


def test_an_http_answer_keeps_its_head_and_says_its_new_length():
    head = {"status": 200, "headers": [["Content-Length", "2"], ["x", "y"]]}
    shown = draft(Edit(head, ({"$utf8": "o"}, {"$utf8": "k"})))
    assert "head" in shown.kept
    assert edited(shown, "späť") == Edit(
        {"status": 200, "headers": [["Content-Length", "6"], ["x", "y"]]}, ({"$utf8": "späť"},)
    )


def test_other_streams_are_lists_of_chunks():
    assert _changed(Edit(7, ({"a": 1}, {"a": 2})), '"a": 2', '"a": 3') == Edit(7, ({"a": 1}, {"a": 3}))
    with pytest.raises(UsageError, match="a stream is a list of its chunks"):
        edited(draft(Edit(7, ({"a": 1},))), '{"a": 1}')


def test_an_error_is_edited_and_may_become_an_answer():
    answer = Edit(error=codec.encode_error(ValueError("too late"), codec.Encoder()))
    assert str(codec.rebuild_error(_changed(answer, "too late", "too soon").error)) == "too soon"
    assert edited(draft(answer), '{"$returns": {"status": "ok"}}') == Edit({"status": "ok"})
    with pytest.raises(UsageError, match=r"\$returns"):
        edited(draft(answer), '{"status": "ok"}')


def test_an_answer_may_become_an_error():
    found = edited(draft(Edit({"a": 1})), '{"$raises": "TimeoutError: too slow"}')
    error = codec.rebuild_error(found.error)
    assert (type(error), error.args) == (TimeoutError, ("too slow",))
    assert codec.rebuild_error(edited(draft(Edit('{"a":1}')), '{"$raises": "KeyError: x"}').error).args == (
        "x",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": }', "line 1, column 7: this is no JSON"),
        ('{\n  "a": 1,,\n}', "line 2, column"),
        ("", "this is no JSON"),
        ('{"$decimal": "nine"}', "cannot be read as a value"),
        ('{"$raises": "NoSuchError: x"}', "'NoSuchError' is not a built-in exception"),
        ('{"$raises": 7}', "an error is written"),
        ('{"$raises": {"type": "builtins:ValueError", "args": 3}}', 'list of "args"'),
    ],
)
def test_what_cannot_be_meant_costs_one_line(text, says):
    with pytest.raises(UsageError, match=says) as caught:
        edited(draft(Edit({"a": 1})), text)
    assert "\n" not in str(caught.value)


def test_an_error_is_raised_by_its_name_and_another_librarys_by_its_module():
    assert raising("TimeoutError").error == {"type": "builtins:TimeoutError", "text": "", "args": []}
    assert raising("httpx.ReadTimeout: too slow").error["type"] == "httpx:ReadTimeout"
    with pytest.raises(UsageError, match="name its module too"):
        raising("ReadTimeout: too slow")
    with pytest.raises(UsageError):
        raising("print: x")


def test_an_answer_on_one_line_is_json_or_else_the_text():
    assert giving('{"status": "ok"}', Edit({"status": "late"})) == Edit({"status": "ok"})
    assert giving("not today", Edit({"status": "late"})) == Edit("not today")
    assert giving("12", Edit("eleven")) == Edit("12"), "a text stays one"
    assert giving("hello", Edit(None, ("he", "y"))) == Edit(None, ("hello",))


def test_what_a_step_gave_is_read_from_its_recording(home):
    @reenact.tool
    def lookup(order):
        if not order:
            raise KeyError("order")
        return {"order": order, "picture": bytes(range(256)) * 100}

    with reenact.record() as recording:
        lookup(7)
        with pytest.raises(KeyError):
            lookup(0)
    steps = reenact.load(recording.id).steps
    assert codec.rebuild(recorded(steps[0]).value) == {"order": 7, "picture": bytes(range(256)) * 100}
    assert recorded(steps[1]).error["type"] == "builtins:KeyError"


def test_the_command_that_forks_takes_the_edited_answer_along_where_it_can():
    assert forking("abc", 7, None) == ["reenact", "fork", "abc", "--at", "7"]
    assert forking("abc", 7, Edit({"status": "lost"}))[5:] == ["--set", 'output = {"status":"lost"}']
    assert forking("abc", 7, raising("TimeoutError: too slow"))[5:] == [
        "--set",
        'error = "TimeoutError: too slow"',
    ]
    assert forking("abc", 7, Edit({"$decimal": "1"}))[5:] == []
    assert forking("abc", 7, Edit(None, ("a",)))[5:] == []
