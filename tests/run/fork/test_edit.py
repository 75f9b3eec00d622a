"""What an edit may say, and what it keeps of the answer that was recorded."""

from __future__ import annotations

import dataclasses
import decimal
import math
from collections import namedtuple
from datetime import date, timedelta

import pytest

import reenact
from reenact.core.model import codec
from reenact.core.model.plain import plain
from reenact.errors import UsageError
from reenact.run.fork.edit import edit_of, parse

pytestmark = pytest.mark.usefixtures("home")

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Order:
    id: str
    price: decimal.Decimal
    day: date
    lines: tuple[str, ...] = ()


def answered(value, kind="tool"):
    """A recording of one tool or model that gave that."""

    @reenact.tool(kind=kind)
    def give():
        if isinstance(value, BaseException):
            raise value
        return value

    with reenact.record("one") as recording:
        try:
            give()
        except Exception:
            pass
    return recording.load()


def edited(value, **change):
    """The value that comes of an edit."""
    recording = answered(value)
    return codec.rebuild(
        edit_of(recording, recording.step(1), {k.replace("__", "."): v for k, v in change.items()}).value
    )


def refused(value, change):
    recording = answered(value)
    with pytest.raises(UsageError) as raised:
        edit_of(recording, recording.step(1), change)
    return str(raised.value)


ORDER = Order("A1", decimal.Decimal("12.50"), date(2026, 1, 2), ("hat", "shoe"))


class TestSettings:
    @pytest.mark.sampled
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("output = 3", {"output": 3}),
            ("output=lost", {"output": "lost"}),
            ('outcome.output.status = "lost"', {"output.status": "lost"}),
            ("output.parts[0].content = a = b", {"output.parts[0].content": "a = b"}),
            ('output = {"a": [1, null]}', {"output": {"a": [1, None]}}),
            ('error = "ToolError: no"', {"error": "ToolError: no"}),
        ],
    )
    def test_a_value_is_json_or_bare_text(self, text, found):
        assert parse([text]) == found

    @pytest.mark.sampled
    @pytest.mark.parametrize("text", ["", "output", "= 3", '"output" = 3', 'output = "open', "output = [1,"])
    def test_what_does_not_parse_is_named(self, text):
        with pytest.raises(UsageError, match="--set"):
            parse([text])


class TestValues:
    def test_a_whole_answer_is_replaced(self):
        assert edited("found", output="lost") == "lost"

    def test_a_part_of_it_is_replaced_and_the_rest_stays(self):
        assert edited({"a": [1, {"b": 2}], "c": 3}, **{"output.a[1].b": 5}) == {"a": [1, {"b": 5}], "c": 3}

    def test_a_text_of_a_model_that_is_a_function_of_the_program_keeps_the_rest(self):
        recording = answered(
            {
                "choices": [{"message": {"role": "assistant", "content": "yes"}}],
                "usage": {"prompt_tokens": 3},
            },
            kind="model",
        )
        new = codec.rebuild(edit_of(recording, recording.step(1), {"text": "no"}).value)
        assert new["choices"][0]["message"] == {"role": "assistant", "content": "no"}
        assert new["usage"] == {"prompt_tokens": 3}

    def test_a_bare_text_for_a_model_s_whole_answer_names_the_edit_that_sets_its_text(self):
        recording = answered({"generations": [{"text": "yes"}]}, kind="model")
        with pytest.raises(UsageError, match="set text = "):
            edit_of(recording, recording.step(1), {"output": "no"})

    def test_the_body_of_an_http_answer_under_output_names_the_edit_that_sets_it(self):
        recording = answered({"status": 200}, kind="http")
        with pytest.raises(UsageError, match=r"set as body\.choices\[0\] = "):
            edit_of(recording, recording.step(1), {"output.body.choices[0]": "no"})

    def test_a_new_key_can_be_added(self):
        assert edited({"a": 1}, output__b=2) == {"a": 1, "b": 2}

    def test_a_dataclass_stays_one_around_what_is_changed(self):
        assert edited(ORDER, output__price="9.99") == dataclasses.replace(
            ORDER, price=decimal.Decimal("9.99")
        )

    def test_a_dataclass_takes_an_object_of_its_fields(self):
        changed = edited(ORDER, output={"id": "B2", "day": "2026-03-04", "lines": ["cap"]})
        assert changed == Order("B2", ORDER.price, date(2026, 3, 4), ("cap",))

    def test_tuples_named_tuples_and_bytes_stay_what_they_are(self):
        assert edited((1, (2, 3)), output=[4, [5]]) == (4, (5,))
        assert edited(Point(1, 2), output=[3, 4]) == Point(3, 4)
        assert edited(b"old", output="new") == b"new"

    def test_a_whole_answer_as_it_is_shown_changes_only_what_was_edited_in_it(self):
        old = {
            "status": "paid", "price": 10.0, "zero": -0.0, "open": True, "raw": b"\x00\xff", "none": math.nan,
            "names": ("a", b"\xfe"), 7: decimal.Decimal("1.50"), "took": timedelta(seconds=3), "large": 10**30,
        }  # fmt: skip
        shown = plain(answered(old).step(1).call.outcome["value"])
        shown.update(status="lost", price=10)  # JavaScript writes 10.0 so
        new = edited(old, output=shown)
        assert repr(new) == repr({**old, "status": "lost"})
        assert edited(old, output={**shown, "open": 1})["open"] == 1
        assert type(edited(old, output={**shown, "open": 1})["open"]) is int

    def test_an_item_that_moved_in_a_list_is_the_recorded_one(self):
        old = [b"\xff", 1.0, b"\xff\xfe", "last"]
        assert repr(edited(old, output=["<2 bytes>", "last"])) == repr(old[2:])
        assert repr(edited(old, output=["<1 bytes>", 1, "<2 bytes>", "other"])) == repr([*old[:3], "other"])

    def test_an_item_of_a_tuple_is_reached_by_its_place(self):
        assert edited((1, {"a": 2}), **{"output[1].a": 3}) == (1, {"a": 3})

    def test_a_dict_with_other_keys_than_texts_is_reached_too(self):
        assert edited({1: "a", 2: "b"}, **{"output.2": "c"}) == {1: "a", 2: "c"}

    def test_json_in_a_text_is_looked_into(self):
        assert edited('{"status": "ok", "n": 1}', output__status="lost") == '{"status":"lost","n":1}'

    def test_python_objects_may_be_given(self):
        assert edited("x", output=ORDER) == ORDER

    def test_an_answer_can_take_the_place_of_an_error(self):
        assert edited(KeyError("x"), output={"found": True}) == {"found": True}


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "kind"),
        [("ValueError: no", ValueError), ("builtins:KeyError: no", KeyError), ("OSError", OSError)],
    )
    def test_a_type_and_a_text_make_an_error(self, text, kind):
        recording = answered(1)
        made = codec.rebuild_error(edit_of(recording, recording.step(1), {"error": text}).error)
        assert type(made) is kind
        assert "no" in str(made) or text == "OSError"

    def test_a_type_that_the_recording_knows_needs_no_module(self):
        recording = answered(UsageError("theirs"))
        made = codec.rebuild_error(edit_of(recording, recording.step(1), {"error": "UsageError: mine"}).error)
        assert type(made) is UsageError
        assert str(made) == "mine"


class TestWhatDoesNotFit:
    def test_a_path_that_is_not_there_names_what_is(self):
        assert "has no output.x.y: there is a, b" in refused({"a": 1, "b": 2}, {"output.x.y": 1})
        assert "there are 2 items, from [0]" in refused([1, 2], {"output[5]": 1})

    def test_a_field_that_a_dataclass_does_not_have(self):
        assert "has no colour; it has id, price, day, lines" in refused(ORDER, {"output": {"colour": "red"}})

    def test_a_value_that_its_type_does_not_take(self):
        assert "'soon' is no date" in refused(ORDER, {"output.day": "soon"})

    def test_a_value_that_cannot_be_kept(self):
        assert "cannot be kept" in refused(1, {"output": object()})

    def test_a_root_that_is_none(self):
        assert "an edit begins with output, error, text, body" in refused(1, {"answer": 2})

    def test_no_change_at_all(self):
        assert "without a change" in refused(1, {})

    def test_a_part_of_an_error(self):
        assert "raised an error" in refused(KeyError("x"), {"output.a": 1})

    def test_a_text_for_what_is_no_model(self):
        assert "is no model call" in refused("x", {"text": "y"})

    def test_a_body_for_what_is_no_exchange(self):
        assert "is no HTTP exchange" in refused("x", {"body": "y"})
