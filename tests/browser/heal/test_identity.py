"""Which element is meant: by its name, its caption or its place, and not at all where that does not tell."""

from __future__ import annotations

from reenact.browser.heal.identity import choose

STAR = {
    "tag": "span", "role": "generic", "name": "", "text": "", "label": "", "attributes": {}, "classes": ["star"],
    "heading": "Inbox", "near": ["Ada", "Lunch?"], "box": [10, 40, 16, 16], "path": "html/body/div[2]/span[1]",
    "siblings": 2, "frames": [], "secret": False, "visible": True,
}  # fmt: skip


def candidate(**other):
    return {"score": 0.85, "fingerprint": {**STAR, "classes": ["x"], **other}}


def test_it_is_taken_where_it_stands_among_the_same_texts_though_another_is_as_alike():
    found = [
        candidate(box=[30, 40, 16, 16], path="html/body/div[2]/span[2]"),
        candidate(path="html/body/div[3]/div/span[1]"),
    ]
    assert choose(STAR, found, "click").place == 1


def test_it_is_not_taken_where_another_row_has_moved_into_its_place():
    found = [
        candidate(near=["Bob", "Dinner?"]),
        candidate(box=[10, 90, 16, 16], path="html/body/div[4]/span[1]"),
    ]
    assert choose(STAR, found, "click").place is None


def test_two_in_one_place_are_left_alone():
    found = [candidate(), candidate(path="html/body/div[3]/span[1]")]
    assert choose(STAR, found, "click").place is None


def test_the_only_one_of_its_kind_among_the_same_texts_may_differ_more():
    field = {**STAR, "tag": "input", "role": "textbox", "attributes": {"id": "q", "type": "text"}}
    found = [
        {"score": 0.7, "fingerprint": {**field, "attributes": {"type": "text"}, "box": [10, 60, 90, 20]}}
    ]
    assert choose(field, found, "fill").place == 0
    elsewhere = [
        {"score": 0.7, "fingerprint": {**found[0]["fingerprint"], "near": ["News"], "heading": "Footer"}}
    ]
    assert choose(field, elsewhere, "fill").place is None


def test_an_icon_elsewhere_is_another_icon_however_alike_it_is():
    found = [{**candidate(box=[200, 40, 16, 16], path="html/body/div[5]/span[1]"), "score": 0.95}]
    assert "does not stand in its place" in choose(STAR, found, "click").why


# -- names and captions ------------------------------------------------------------------------------------------

FIELD = {
    **STAR,
    "tag": "input",
    "role": "textbox",
    "classes": [],
    "attributes": {"id": "year", "type": "text"},
}


def field(score, **other):
    return {"score": score, "fingerprint": {**FIELD, "attributes": {"type": "text"}, **other}}


def test_a_field_is_known_by_the_text_before_it_where_it_has_no_label():
    wanted = {**FIELD, "caption": "Language:"}
    born = field(0.85, caption="Year of birth:", path="a")
    mother = field(0.6, caption="Language:", path="b")
    assert choose(wanted, [born, mother], "fill").place == 1
    assert choose(wanted, [born], "fill").place is None


def test_a_field_without_anything_is_not_taken_where_another_text_stands_before_it():
    other = field(0.85, near=["Year of birth:", "Ada", "Lunch?"], path="a")
    assert "another text" in choose(FIELD, [other], "fill").why


PASSWORD = {
    **STAR, "tag": "input", "role": "textbox", "name": "Password", "label": "Password", "heading": "Register",
    "near": ["Email", "Confirm password"], "attributes": {"id": "pw1", "type": "password"}, "secret": True,
}  # fmt: skip
CONFIRM = {
    **PASSWORD,
    "name": "Confirm password",
    "label": "Confirm password",
    "attributes": {"id": "pw2"},
    "path": "c",
}


def test_a_name_that_is_the_same_decides_before_how_alike_another_one_is():
    same = {"score": 0.78, "fingerprint": {**PASSWORD, "attributes": {"id": "x"}}}
    assert choose(PASSWORD, [{"score": 0.83, "fingerprint": CONFIRM}, same], "fill").place == 1


def test_the_field_that_confirms_is_not_the_field_and_not_the_other_way_round():
    assert choose(PASSWORD, [{"score": 0.85, "fingerprint": CONFIRM}], "fill").place is None
    assert (
        choose(CONFIRM, [{"score": 0.85, "fingerprint": {**PASSWORD, "attributes": {}}}], "fill").place
        is None
    )


def test_what_says_the_same_in_other_words_is_the_same_where_it_stands():
    button = {**STAR, "tag": "button", "role": "button", "name": "Submit", "attributes": {"id": "go"}}
    now = {"score": 0.7, "fingerprint": {**button, "name": "Send", "attributes": {}}}
    assert choose(button, [now], "click").place == 0
    elsewhere = {
        "score": 0.7,
        "fingerprint": {**now["fingerprint"], "heading": "Feedback", "near": ["Tell us"]},
    }
    assert choose(button, [elsewhere], "click").place is None
    assert choose({**button, "name": "Open"}, [now], "click").place is None


# -- several of one name -----------------------------------------------------------------------------------------

ODD = {**STAR, "tag": "button", "role": "button", "name": "Odd", "text": "Odd", "near": ["17", "Even"]}


def test_one_of_several_of_a_name_is_known_by_the_texts_beside_it():
    first = {
        "score": 0.75,
        "fingerprint": {**ODD, "near": ["17", "Even"], "box": [10, 44, 16, 16], "path": "a"},
    }
    second = {"score": 0.72, "fingerprint": {**ODD, "near": ["20", "Even"], "path": "b"}}
    assert choose(ODD, [second, first], "click", twin=True).place == 1


def test_the_last_one_of_several_is_not_the_one_that_is_gone():
    left = {"score": 0.75, "fingerprint": {**ODD, "box": [10, 90, 16, 16], "path": "b"}}
    assert choose(ODD, [left], "click", twin=True).place is None


def test_of_a_group_of_choices_the_value_tells_which():
    radio = {
        **STAR,
        "tag": "input",
        "role": "radio",
        "attributes": {"type": "radio", "name": "size", "value": "2"},
    }
    other = {**radio, "attributes": {**radio["attributes"], "value": "3"}, "path": "b"}
    found = [{"score": 0.97, "fingerprint": radio}, {"score": 0.9, "fingerprint": other}]
    assert choose(radio, found, "check").place == 0
    assert choose(radio, found[1:], "check").place is None
