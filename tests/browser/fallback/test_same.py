"""An element without a name is known by its place, or not at all."""

from __future__ import annotations

from reenact.browser.fallback.same import choose

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
