"""Two identities of an element are compared part by part, and digits, records and longer names count."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from reenact.browser.actions.types import Click
from reenact.browser.page.differences import differences, exact
from reenact.browser.page.selector_words import texts_of
from reenact.browser.page.target import (
    DriftedTarget,
    KnownTarget,
    TargetDifference,
    TargetIdentity,
    written_parts,
)


def told(name="Delete", key="Invoice 18", texts=("Invoice 18", "12 June", "open"), **more):
    record = {"key": key, "texts": list(texts)} if key is not None else None
    return {
        "role": "button",
        "name": name,
        "record": record,
        "region": None,
        "icon": "",
        "frames": [],
        **more,
    }


def parts(known, found):
    target = KnownTarget(pasts=tuple(TargetIdentity.of(one) for one in known))
    return [one.part for one in differences(target, TargetIdentity.of(found))]


@pytest.mark.parametrize(
    ("found", "differ"),
    [
        (told(), []),
        (told(texts=("Invoice 18", "12 June", "paid")), []),
        (told(key="12 June"), []),
        (told(key="Invoice 17", texts=("Invoice 17", "12 June", "open")), ["record"]),
        (told(key=None, near=["Invoice 18 open"]), []),
        (told(key=None, near=["Summary"]), ["record"]),
        (told("Remove"), []),
        (told("Archive"), ["name"]),
        (told(role="checkbox"), ["role"]),
        (told(frames=["#pay"]), ["frame"]),
        (told(region={"role": "dialog", "name": "Delete all?"}), ["dialog"]),
    ],
)
def test_an_element_is_another_one_by_its_parts(found, differ):
    assert parts([told()], found) == differ


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("plan.pdf", "plan (1).pdf"),
        ("plan (1).pdf", "plan (2).pdf"),
        ("Folder", "Folder (2)"),
        ("Folder (2)", "Folder (3)"),
    ],
)
def test_a_number_in_brackets_tells_two_records_apart(then, now):
    known = told(key=then, texts=(then, "2 MB"))
    assert parts([known], told(key=now, texts=(now, "2 MB"))) == ["record"]
    assert parts([known], told(key=None, near=[now])) == ["record"]
    written = KnownTarget(written=written_parts({"record": then}))
    assert differences(written, TargetIdentity.of(told(key=now, texts=(now,))))


def test_a_record_known_by_a_plain_word_needs_another_equal_text():
    ada = told(key="Ada", texts=("Ada", "2026-11-20", "80.00"))
    assert parts([ada], told(key="Ada", texts=("Ada", "2026-11-20", "90.00"))) == []
    assert parts([ada], told(key="Ada", texts=("Ada", "2026-12-01", "90.00"))) == ["record"]


def grouped(within, *, twin=False, name="Open", key="Bob", **more):
    record = {"key": key, "texts": [key], "within": within, "twin": twin, **more}
    return {**told(name), "record": record}


@pytest.mark.parametrize(
    ("known", "found", "differ"),
    [
        (grouped("Admins", twin=True), grouped("Guests"), ["group"]),
        (grouped("Admins"), grouped("Guests", twin=True), ["group"]),
        (grouped("Admins"), grouped("Guests"), []),
        (grouped("Admins", name="Delete"), grouped("Guests", name="Delete"), ["group"]),
        (
            grouped("Admins", name="Delete", key="Bill 18"),
            grouped("Guests", name="Delete", key="Bill 18"),
            [],
        ),
        (grouped("Today", twin=True), grouped("Yesterday", twin=True), []),
        (grouped("Admins (3)", twin=True), grouped("Admins (2)", twin=True), []),
        (grouped("Admins", twin=True), grouped(""), ["group"]),
    ],
)
def test_a_group_counts_where_a_key_does_not_decide(known, found, differ):
    assert parts([known], found) == differ


def test_a_key_that_another_record_has_by_now_needs_all_other_texts():
    known = told(texts=("Invoice 18", "12 June", "open"))
    shared = {"key": "9.00", "texts": ["Invoice 18", "9.00", "open"], "shared": ["Invoice 18", "open"]}
    assert parts([known], {**known, "record": shared}) == ["record"]
    same = {"key": "12 June", "texts": ["Invoice 18", "12 June", "open"], "shared": ["Invoice 18", "open"]}
    assert parts([known], {**known, "record": same}) == []
    assert parts([known], {**known, "record": {**same, "key": ""}}) == ["record"]


def test_an_amount_or_a_day_is_no_count_that_may_change():
    lamp = {"key": "40 EUR", "texts": ["Lamp", "40 EUR", "1 June"]}
    for texts, differ in (
        (["Lamp", "60 EUR", "2 June"], ["record"]),
        (["Lamp", "40 EUR", "2 June"], []),
        (["Crate", "40 EUR", "1 June"], ["record"]),
    ):
        known = {**told(), "record": {**lamp, "shared": ["Lamp"]}}
        assert parts([known], {**told(), "record": {"key": texts[1], "texts": texts}}) == differ
    likes = {"key": "Lamp", "texts": ["Lamp", "3 likes"]}
    assert (
        parts([{**told(), "record": likes}], {**told(), "record": {**likes, "texts": ["Lamp", "4 likes"]}})
        == []
    )
    twins = {"key": "4 likes", "texts": ["Lamp", "4 likes"], "shared": ["Lamp"]}
    assert parts([{**told(), "record": likes}], {**told(), "record": twins}) == ["record"]


@pytest.mark.parametrize(
    ("key", "text", "fits"),
    [
        ("Fix", "Fix", True),
        ("Fix", "Fix 2", False),
        ("Kettle", "Kettle Pro", False),
        ("Tea", "Tea 3 EUR", True),
        ("Bill 18", "Bill 18, open", True),
        ("Bill 18", "Bill 180", False),
    ],
)
def test_of_a_record_that_is_left_alone_the_text_beside_the_element_is_its_name(key, text, fits):
    known = {**told(key=key, texts=(key,)), "near": [key, "Lamp Done"]}
    assert (parts([known], {**told(), "record": None, "near": [text]}) == []) is fits


def test_a_written_record_may_be_several_texts_with_commas():
    texts = ("Lamp, red", "40 EUR", "1 June", "Bill 18, open")
    for record, fits in (
        ("Lamp, red", True),
        ("Lamp, red, 40 EUR", True),
        ("40 EUR, Lamp, red, 1 June", True),
        ("Bill 18, 40 EUR", True),
        ("Lamp, red, 60 EUR", False),
        ("Lamp, 40 EUR", False),
        ("140 EUR", False),
        (",", False),
    ):
        known = KnownTarget(written=written_parts({"record": record}))
        assert (differences(known, TargetIdentity.of(told(key="", texts=texts))) == []) is fits, record


def test_names_that_differ_behind_a_cut_are_two():
    assert parts([told("Long …", long="a1")], told("Long …", long="b2")) == ["name"]
    assert parts([told("Long …")], told("Long …", long="b2")) == []


def test_a_written_region_may_be_the_group_of_the_record():
    known = KnownTarget(written=written_parts('button "Open" of "Bob" in "Admins"'))
    assert differences(known, TargetIdentity.of(grouped("Admins"))) == []
    assert [one.part for one in differences(known, TargetIdentity.of(grouped("Guests")))] == ["region"]


@pytest.mark.parametrize(
    ("record", "text", "fits"),
    [
        ("Kettle", "Kettle", True),
        ("Kettle", "Kettle Pro", False),
        ("Bill 18", "Bill 18, open", True),
        ("Bill 18", "Bill 180", False),
    ],
)
def test_a_written_record_is_a_whole_text_or_a_numbered_part_of_one(record, text, fits):
    known = KnownTarget(written=written_parts({"record": record}))
    assert (differences(known, TargetIdentity.of(told(key=text, texts=(text,)))) == []) is fits


def test_a_written_picture_binds_an_element_without_a_name():
    known = KnownTarget(written=written_parts({"role": "button", "icon": "path a1"}))
    assert differences(known, TargetIdentity.of(told("", None, icon="path a1"))) == []
    other = differences(known, TargetIdentity.of(told("", None, icon="path b2")))
    assert [one.part for one in other] == ["icon"]


@pytest.mark.parametrize(
    ("near", "outline", "differ"),
    [(["Mail archived"], [], []), (["User removed"], [], ["question"]), (["No"], ["Mail archived"], [])],
)
def test_an_undoing_belongs_to_the_text_beside_it(near, outline, differ):
    known = told("Undo", None, near=["Mail archived"])
    assert parts([known], told("Undo", None, near=near, outline=outline)) == differ


def test_what_differs_among_good_runs_is_not_binding_but_grave_words_are():
    good = [told("Tea", None), told("Coffee", None)]
    assert parts(good, told("Milk", None)) == []
    assert parts(good, told("Delete milk", None)) == ["grave word"]


def test_a_fingerprint_of_an_older_recording_binds_by_name_and_role():
    old = {"role": "button", "name": "Save", "attributes": {"id": "save"}}
    assert parts([old], told("Save")) == []
    assert parts([old], told("Delete")) == ["name"]


def test_an_icon_is_known_by_its_picture_and_a_candidate_without_anything_is_not_exact():
    copy = told("", None, icon="path a1")
    assert parts([copy], told("", None, icon="path b2")) == ["picture"]
    assert exact(TargetIdentity.of(copy), TargetIdentity.of(told("", None, icon="path a1"))) == ""
    bare = told("", None, path="p/a[1]")
    assert "another place" in exact(TargetIdentity.of(bare), TargetIdentity.of(told("", None, path="p/b[1]")))


def test_an_identity_reads_as_a_sentence_and_can_be_written_as_one():
    identity = TargetIdentity.of(told(heading="Invoices"))
    assert str(identity) == 'button "Delete" of the record "Invoice 18" in "Invoices"'
    assert written_parts(str(identity)) == identity.shown
    assert written_parts("Delete") == {"name": "Delete"}


@pytest.mark.parametrize("given", ["", {"colour": "red"}, {"name": " "}, {}])
def test_a_target_that_says_nothing_is_refused(given):
    with pytest.raises(ValidationError, match="expect_target"):
        Click(selector="#a", expect_target=given)


@pytest.mark.parametrize(
    ("selector", "words", "context"),
    [
        ("li:has-text('Invoice 18') >> text=Delete", "Delete", ("Invoice 18",)),
        (".row:has(td:text-is('Bob')) button", "", ("Bob",)),
        ('get_by_role("row", name="Bob").get_by_role("button", name="Delete")', "Delete", ("Bob",)),
        ("//tr[td[text()='Bob']]//button[text()='Delete']", "Delete", ("Bob",)),
        ("~Confirm payment", "Confirm payment", ()),
        ('button[aria-label="Close"]', "Close", ()),
        ("#pay > button", "", ()),
        (None, "", ()),
    ],
)
def test_the_texts_of_a_selector_are_its_own_and_those_around_it(selector, words, context):
    assert texts_of(selector) == (words, context)


def asked(*texts, name="Yes", title="Are you sure?"):
    return told(name, None, region={"role": "dialog", "name": title, "texts": list(texts)})


@pytest.mark.parametrize(
    ("then", "now", "differ"),
    [
        (asked("Delete Acme"), asked("Delete Globex"), ["question"]),
        (asked("Delete Acme", "2 min ago"), asked("Delete Acme", "5 min ago"), []),
        (asked("Delete Acme"), asked("Delete Acme", "It cannot be undone"), []),
        (asked("Ann", name="Rename"), asked("Ben", name="Rename"), []),
        (asked(), asked("Delete Acme"), []),
    ],
)
def test_an_answer_belongs_to_what_its_dialog_says(then, now, differ):
    assert parts([then], now) == differ


@pytest.mark.parametrize(
    ("then", "now", "texts", "differ"),
    [
        ("Keep it Close", "Keep it Help Close", (["Keep it"], ["Keep it"]), []),
        ("Keep it Close", "Drop it Close", (["Keep it"], ["Drop it"]), ["dialog"]),
        ("Boat 4", "Boat 5", (["Are you sure?"], ["Are you sure?"]), ["dialog"]),
        ("Boat 4", "Boat 5", ([], []), ["dialog"]),
    ],
)
def test_a_dialog_without_a_name_of_its_own_is_known_by_its_texts(then, now, texts, differ):
    known, found = (
        told("Close", None, region={"role": "dialog", "name": name, "texts": said})
        for name, said in zip((then, now), texts, strict=True)
    )
    assert parts([known], found) == differ


def test_what_differs_among_good_runs_is_no_question_that_binds():
    assert parts([asked("Delete Acme"), asked("Delete Globex")], asked("Delete Initech")) == []


@pytest.mark.parametrize(
    ("name", "then", "now", "differ"),
    [
        ("Delete", ["Project Alpha"], ["Project Beta"], ["heading"]),
        ("Delete", ["Danger zone", "Project Alpha"], ["Danger zone", "Project Beta"], ["heading"]),
        ("Delete", ["Project Alpha"], ["Danger zone", "Project Alpha"], []),
        ("Delete", ["Your cart (2)"], ["Your cart (3)"], []),
        ("Delete", ["Monday"], ["Tuesday"], []),
        ("Delete", ["Project Alpha"], [], []),
        ("Rename", ["Project Alpha"], ["Project Beta"], []),
    ],
)
def test_a_grave_act_belongs_to_the_headings_over_it(name, then, now, differ):
    known = told(name, None, outline=then)
    assert parts([known], told(name, None, outline=now)) == differ


@pytest.mark.parametrize(
    ("then", "now", "around", "differ"),
    [
        ("Shipping", "Billing", {}, ["section"]),
        ("Shipping address", "Billing address", {}, ["section"]),
        ("Shipping", "", {}, []),
        ("Shipping", "Address", {"outline": ["Address", "Shipping"]}, []),
        ("Shipping", "Billing", {"near": ["Shipping"]}, []),
        ("Step 2 of 3", "Step 3 of 3", {}, []),
        ("Monday", "Tuesday", {}, []),
        ("", "Billing", {}, []),
    ],
)
def test_an_element_belongs_to_its_part_of_the_page(then, now, around, differ):
    for role, name in (("button", "Save"), ("textbox", "City")):
        known = told(name, None, role=role, section=then)
        assert parts([known], known | {"section": now} | around) == differ


@pytest.mark.parametrize(
    ("name", "kind", "now", "differ"),
    [
        (None, "radio", "3", ["choice"]),
        (None, "checkbox", "3", ["choice"]),
        (None, "radio", "2", []),
        (None, "radio", "", []),
        ("Blue", "radio", "3", []),
        (None, "text", "3", []),
    ],
)
def test_boxes_of_one_group_without_a_name_are_told_apart_by_their_values(name, kind, now, differ):
    one, other = (
        told(
            name, None, role="radio", attributes={"type": kind, "name": "lot", "value": value}, path="p/i[2]"
        )
        for value in ("2", now)
    )
    assert parts([one], other) == differ


def test_a_part_of_the_page_that_differs_among_good_runs_binds_nothing():
    runs = [told("Save", None, section=one) for one in ("Shipping", "Billing")]
    assert parts(runs, told("Save", None, section="Gifts")) == []


def test_the_label_of_a_form_names_a_part_without_a_heading_and_that_of_a_list_does_not():
    form, other, list_, menu = (
        told("Save", None, region={"role": role, "name": name})
        for role, name in (("form", "Shipping"), ("form", "Billing"), ("list", "New"), ("list", "Old"))
    )
    assert parts([form], other) == ["section"]
    assert parts([list_], menu) == []


def test_a_short_key_binds_the_heading_of_the_page_and_a_long_number_does_not():
    host, order = (
        told("Restart", key, (key, "up"), outline=["Staging"]) for key in ("web-01", "Order 10412")
    )
    assert parts([host], host | {"outline": ["Production"]}) == ["heading"]
    assert parts([order], order | {"outline": ["Production"]}) == []


@pytest.mark.parametrize(
    ("then", "now"), [("notes_v1.txt", "notes-v1.txt"), ("README.md", "readme.md"), ("build.12", "build12")]
)
def test_each_sign_of_a_name_without_spaces_counts(then, now):
    assert parts([told(key=then, texts=(then, "2 KB"))], told(key=now, texts=(now, "2 KB"))) == ["record"]
    assert parts([told(key=then, texts=(then, "2 KB"))], told(key=then, texts=(then, "3 KB"))) == []


def test_an_account_of_another_number_is_another_record():
    then = told("Transfer", "Checking", ("Checking", "DE02 1203 0000 0000", "12.00"))
    now = told("Transfer", "Checking", ("Checking", "DE02 5001 0517 0137", "12.00"))
    assert (parts([then], now), parts([then], then)) == (["record"], [])


def test_a_price_is_no_part_of_a_record_unless_the_act_is_grave():
    then, now = ("Ada", "80.00"), ("Ada", "90.00")
    assert parts([told("Trade", "Ada", then)], told("Trade", "Ada", now)) == []
    assert parts([told("Pay", "Ada", then)], told("Pay", "Ada", now)) == ["record"]


def test_a_drift_in_a_dialog_offers_a_target_with_the_dialog():
    found = TargetIdentity(role="button", name="OK", region="Delete account", dialog=True)
    drifted = DriftedTarget(
        KnownTarget(), found, [TargetDifference("dialog", "Save draft", "Delete account")]
    )
    assert drifted.accepted.endswith(
        "expect_target={'role': 'button', 'name': 'OK', 'region': 'Delete account'}"
    )
    aside = replace(found, dialog=False)
    assert (
        "region" not in DriftedTarget(KnownTarget(), aside, [TargetDifference("name", "Yes", "OK")]).accepted
    )
