"""Each rung: what it mends, when it steps aside, and that it never acts on another element than the one that is meant."""

from __future__ import annotations

import pytest

from reenact.browser.heal.rungs import wait

LOG = "<script>window.log = []; const noted = (text) => { log.push(text); out.textContent = text }</script><output id=out></output>"


def form(inside):
    return f"{LOG}<h1>Profile</h1><form onsubmit='return false'><label>Name <input id=name name=name></label>{inside}</form>"


OLD = form(
    "<button id=save type=button onclick='noted(`saved`)'>Save</button><button id=del type=button onclick='noted(`deleted`)'>Delete</button>"
)


# -- wait --------------------------------------------------------------------------------------------------------


def test_what_comes_late_is_waited_for(script):
    late = (
        LOG
        + "<p id=here></p><script>window.begin = () => setTimeout(() => here.innerHTML = '<button id=save onclick=\"noted(`saved`)\">Save</button>', 300)</script>"
    )
    mend = script.climb(late, budget=9000, type="click", selector="#save")
    assert (mend.rung, mend.verified_by, script.log) == ("wait", "same element", ["saved"])


@pytest.mark.thorough
def test_a_button_that_is_disabled_for_a_while_is_pressed_once(script):
    slow = (
        OLD.replace("id=save", "id=save disabled")
        + "<script>window.begin = () => setTimeout(() => save.disabled = false, 300)</script>"
    )
    mend = script.climb(slow, budget=9000, type="click", selector="#save")
    assert (mend.rung, mend.verified, script.log) == ("wait", True, ["saved"])


def test_a_press_that_may_have_arrived_is_never_sent_again(script):
    page = LOG + "<input type=checkbox id=box onclick='noted(`pressed`); event.preventDefault()'>"
    assert script.climb(page, patience=9000, type="check", selector="#box", value=True) is None
    assert script.failed.delivered
    assert script.log == ["pressed"]


# -- dismiss -----------------------------------------------------------------------------------------------------

BANNER = "<div id=banner style='position:fixed;inset:0;background:#fff8'>{}</div>"
GONE = "onclick='noted(this.textContent); banner.remove()'"


@pytest.mark.thorough
def test_a_cookie_banner_is_refused_rather_than_accepted(script):
    banner = BANNER.format(
        f"We use cookies <button {GONE}>Accept all</button><button {GONE}>Reject all</button>"
    )
    mend = script.climb(OLD + banner, type="click", selector="#save")
    assert (mend.rung, mend.verified_by) == ("dismiss", "same element")
    assert script.log == ["Reject all", "saved"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Tout accepter", "Alle akzeptieren", "I agree"])
def test_a_cookie_banner_with_one_way_out_is_accepted(script, name):
    mend = script.climb(
        OLD + BANNER.format(f"Cookies! <button {GONE}>{name}</button>"), type="click", selector="#save"
    )
    assert (mend.rung, script.log) == ("dismiss", [name, "saved"])


@pytest.mark.thorough
def test_a_dialog_goes_by_the_escape_key(script):
    page = OLD + "<dialog id=news>News!</dialog><script>news.showModal()</script>"
    mend = script.climb(page, type="click", selector="#save")
    assert (mend.rung, script.log) == ("dismiss", ["saved"])


@pytest.mark.thorough
def test_two_layers_are_closed_one_after_the_other(script):
    two = BANNER.format(f"Cookies <button {GONE}>OK</button>") + (
        "<div id=more style='position:fixed;inset:0;z-index:9;background:#eee'>Join us <button onclick='more.remove()'>&times;</button></div>"
    )
    mend = script.climb(OLD + two, type="click", selector="#save")
    assert (mend.rung, script.log) == ("dismiss", ["OK", "saved"])


def test_an_exit_that_closes_nothing_is_pressed_once(script):
    stays = BANNER.format("Cookies <button onclick='noted(this.textContent)'>Reject all</button>")
    assert script.climb(OLD + stays, type="click", selector="#save") is None
    assert script.log == ["Reject all"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "leaving",
    [
        "banner.animate([{opacity: 1}, {opacity: 0}], 700).onfinish = () => banner.remove()",
        pytest.param("setTimeout(() => banner.remove(), 700)", marks=pytest.mark.thorough),
    ],
    ids=["it fades", "a timer takes it away"],
)
def test_a_layer_that_takes_its_time_to_go_is_waited_for(script, leaving):
    slow = BANNER.format(f"Cookies <button onclick='noted(this.textContent); {leaving}'>Reject all</button>")
    mend = script.climb(OLD + slow, type="click", selector="#save")
    assert (mend.rung, script.log) == ("dismiss", ["Reject all", "saved"])


@pytest.mark.thorough
@pytest.mark.parametrize(
    "inside",
    [
        f"Delete your account? <button {GONE}>OK</button><button {GONE}>Continue</button>",
        "Our offer <a href='/done.html'>Close</a>",
        f"<form>Pay now <button {GONE}>Close</button></form>",
        "Please wait …",
    ],
)
def test_what_confirms_leads_away_or_submits_is_left_alone(script, inside):
    assert script.climb(OLD + BANNER.format(inside), type="click", selector="#save") is None
    assert script.log == []


def test_a_dialog_that_the_script_opened_stays_open(script):
    page = (
        OLD
        + "<button id=ask onclick='sure.showModal()'>Ask</button><dialog id=sure aria-label=Sure>Sure? <button onclick='noted(`closed`)'>Close</button></dialog>"
    )
    assert (
        script.climb(page, before=[{"type": "click", "selector": "#ask"}], type="click", selector="#save")
        is None
    )
    assert script.log == []


# -- alternative -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    "now",
    [
        "<div class=bar><button id=x1 class=c9 type=button onclick='noted(`saved`)'>Save</button></div><button id=x2 type=button onclick='noted(`deleted`)'>Delete</button>",
        "<button id=del type=button onclick='noted(`deleted`)'>Delete</button><section><button id=keep type=button onclick='noted(`saved`)'>Save</button></section>",
        "<a id=store href='#' role=button onclick='noted(`saved`)'>Save</a><button id=del type=button onclick='noted(`deleted`)'>Delete</button>",
    ],
    ids=["renamed and wrapped", "moved", "a link now"],
)
def test_an_element_with_another_id_is_known_by_what_it_was(script, now):
    script.learn(OLD, type="click", selector="#save")
    mend = script.climb(form(now), type="click", selector="#save")
    assert (mend.rung, script.log) == ("alternative", ["saved"])
    assert mend.verified_by.startswith("consequence")
    assert mend.new["role"].endswith('"]')


@pytest.mark.thorough
def test_what_is_there_under_another_name_is_not_waited_for(script):
    script.learn(OLD, type="click", selector="#save")
    script.climb(OLD.replace("id=save", "id=x1"), patience=wait.ENOUGH, type="click", selector="#save")
    assert [(actor, kind) for actor, kind, _ in script.done] == [
        ("script", "goto"),
        ("script", "click"),
        ("heal", "click"),
    ]
    assert script.log == ["saved"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("page", "under_way", "patience"), [(OLD, 0, 200), (OLD + "<script>fetch('/stuck')</script>", 1, 900)]
)
def test_a_page_that_waits_for_no_answer_is_hardly_waited_for(script, page, under_way, patience):
    asked = {"type": "click", "selector": "#gone"}
    assert script.climb(page, patience=wait.ENOUGH, budget=wait.ENOUGH + 900, **asked) is None
    assert script.failed.result.why["under_way"] == under_way
    assert script.timeouts == [wait.ENOUGH, patience]


@pytest.mark.thorough
def test_a_relabelled_field_is_known_by_its_id_and_a_button_is_not(script):
    script.learn(OLD, type="fill", selector="get_by_label('Name')", value="Ada")
    now = OLD.replace("<label>Name <input", "<label>Called <input oninput='noted(`filled`)'")
    mend = script.climb(now, type="fill", selector="get_by_label('Name')", value="Ada")
    assert (mend.rung, script.log) == ("alternative", ["filled"])
    script.learn(OLD, type="click", selector="~Save")
    assert script.climb(OLD.replace(">Save<", ">Stop<"), type="click", selector="~Save") is None
    assert script.log == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    "now",
    [
        "<button id=del type=button onclick='noted(`deleted`)'>Delete</button>",
        "<button id=x1 class=same type=button onclick='noted(`deleted`)'>Delete</button>",
        "<button id=x1 type=button onclick='noted(`draft`)'>Save as draft</button>",
        "<button id=a type=button onclick='noted(`1`)'>Save</button><button id=b type=button onclick='noted(`2`)'>Save</button>",
        "<label>Save <input id=x1 onclick='noted(`field`)'></label>",
        "<a href='/done.html'>Cancel</a>",
        "<button id=x1 type=button style='display:none' onclick='noted(`hidden`)'>Save</button>",
    ],
    ids=[
        "its neighbour",
        "a neighbour in its place",
        "another saving",
        "twins",
        "a field",
        "a link",
        "hidden",
    ],
)
def test_another_element_is_never_taken_for_the_one_that_is_gone(script, now):
    script.learn(OLD, type="click", selector="#save")
    assert script.climb(form(now), type="click", selector="#save") is None
    assert script.log == []


ROW = "<tr><td>{0}</td><td><button id=edit-{1} onclick='noted(`{0}`)'>Edit</button></td></tr>"


def rows(*names):
    return LOG + "<h1>People</h1><table>" + "".join(ROW.format(*one) for one in names) + "</table>"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "left",
    [[("Bob", 2)], [("Bob", 2), ("Cid", 3)], [("Bob", "b2c"), ("Cid", "c3d")]],
    ids=["one", "two", "other ids"],
)
def test_the_row_beside_is_not_the_row_that_is_gone(script, left):
    script.learn(rows(("Ada", 1), ("Bob", 2), ("Cid", 3)), type="click", selector="#edit-1")
    assert script.climb(rows(*left), type="click", selector="#edit-1") is None
    assert script.log == []


@pytest.mark.thorough
def test_a_field_is_found_by_its_label_and_never_a_password_for_another(script):
    script.learn(form(""), type="fill", selector="#name", value="Ada")
    page = (
        LOG
        + "<h1>Profile</h1><label>Name <input type=password id=pw></label><label>Name <input id=full></label>"
    )
    mend = script.climb(page, type="fill", selector="#name", value="Ada")
    assert (mend.rung, mend.new["css"]) == ("alternative", "css=#full")


def test_what_led_to_something_else_is_a_failure_and_said(script):
    script.learn(OLD, type="click", selector="#save")
    now = form("<button id=x1 type=button onclick='noted(`deleted`)'>Save</button>")
    mend = script.climb(now, type="click", selector="#save")
    assert (mend.verified, mend.result.success, script.log) == (False, False, ["deleted"])
    assert (
        "nothing shows that it did what the step does; the page is no longer as it was" in mend.result.message
    )


def test_without_a_recording_and_an_expectation_nothing_is_tried(script):
    renamed = form("<button id=saveButton type=button onclick='noted(`saved`)'>Save</button>")
    assert script.climb(renamed, type="click", selector="#save-button") is None
    assert script.log == []


@pytest.mark.parametrize(("waited", "patience"), [(15000, 200), (500, 1500), (2000, 200), (1, 1999)])
def test_what_the_step_has_waited_by_itself_is_not_waited_again(waited, patience):
    assert wait._patience(waited, 2000) == patience
