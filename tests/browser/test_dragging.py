"""What a page lets a user do is offered with the action that fits, and each action does it: drag, drop, expand."""

from __future__ import annotations

from urllib.parse import quote

import pytest

import reenact
from reenact import Client
from reenact.browser.script.script import code
from reenact.errors import ActionError, UsageError


@pytest.fixture
def session(shared_session, site):
    session = shared_session()
    session.execute(type="goto", url=site("actable.html"))
    return session


def offered(session):
    """The types of action for each element by its name."""
    found: dict[str, list[str]] = {}
    for one in session.observe().space.interaction_actions:
        found.setdefault(one.name, []).append(one.type)
    return found


def said(session):
    return session.page.inner_text("#said").rstrip("; ")


def id_of(session, name):
    return next(one.id for one in session.observe().space.interaction_actions if one.name == name)


def test_each_element_is_offered_once_with_the_actions_that_fit(session):
    assert {name: types for name, types in offered(session).items() if not name.startswith("Line")} == {
        "Tide tables": ["expand"], "Menu": ["click", "expand"], "Boxed link": ["click"], "Inside": ["click", "click"],
        "Ring the bell": ["click"], "Berth 1 free": ["click"], "Berth 2 taken": ["click"], "Berth 3 free": ["click"],
        "North": ["click"], "South": ["click"], "Unseal": ["click"], "Word": ["fill"], "Notes": ["fill"],
        "Volume": ["fill"], "Heat": ["fill"], "Crate": ["drag"], "Grip": ["click", "drag"], "Hold": ["drop"],
        "Papers": ["upload_file"], "Lift": ["click"], "Card number": ["fill"],
    }  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Ring the bell", "rung"),
        ("Berth 2 taken", "Berth 2"),
        ("Unseal", "unsealed, and the page sees null"),
    ],
)
def test_an_element_without_a_role_or_behind_a_closed_root_is_clicked_by_its_id(session, name, told):
    session.execute(type="click", id=id_of(session, name))
    assert said(session) == told


@pytest.mark.thorough
def test_an_area_of_an_image_map_and_a_link_in_a_sandbox_are_clicked(session):
    session.execute(type="click", id=id_of(session, "South"))
    assert session.page.url.endswith("#south")
    session.execute(type="click", id=id_of(session, "Boxed link"))


def test_a_selector_finds_what_a_closed_root_holds_though_nothing_was_observed(session):
    session.execute(type="click", selector="~Unseal")
    session.execute(type="fill", selector='[placeholder="Word"]', value="ahoy")
    assert said(session) == "unsealed, and the page sees null"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("selector", "read", "value"),
    [
        ("#notes", "e => e.innerText", "rough"),
        ("#volume", "e => e.value", "7"),
        ("#heat", "e => e.getAttribute('aria-valuenow')", "8"),
    ],
)
def test_a_text_to_edit_and_sliders_are_filled(session, selector, read, value):
    session.execute(type="fill", selector=selector, value=value)
    assert session.page.locator(selector).evaluate(read) == value


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("value", "told"),
    [("12", "does not come to 12 by its keys: it is at 9"), ("hot", "takes a number, not 'hot'")],
)
def test_a_slider_says_which_value_it_cannot_take(session, value, told):
    with pytest.raises(ActionError, match=told):
        session.execute(type="fill", selector="#heat", value=value)


def test_a_summary_and_a_menus_button_are_opened_once_and_closed(session):
    assert session.execute(type="expand", selector="summary").message == "opened button 'Tide tables'"
    assert session.execute(type="expand", selector="summary").message.endswith("is open already")
    assert session.page.is_visible("text=High at noon")
    session.execute(type="expand", selector="summary", value=False)
    assert not session.page.is_visible("text=High at noon")
    session.execute(type="expand", selector="#menu")
    assert session.page.get_attribute("#menu", "aria-expanded") == "true"
    with pytest.raises(ActionError, match="does not say whether it is open: use click"):
        session.execute(type="expand", selector="#listener")


def test_a_thing_is_dragged_to_where_it_is_dropped(session):
    session.execute(type="drag", selector="#crate")
    done = session.execute(type="drop", selector="#hold")
    assert (done.message, said(session)) == ("dropped div 'Crate' on div 'Hold'", "hold got crate")


def test_a_thing_is_dragged_by_pixels(session):
    session.execute(type="drag", selector="#knob", by=(80, 0))
    assert said(session) == "grip moved 80"


def test_a_row_of_a_virtual_list_is_dropped_on_one_that_was_not_there_yet(session):
    session.execute(type="drag", selector="~Line 1.")
    session.execute(type="scroll_down", amount=500)
    session.execute(type="drop", selector="~Line 21.")
    assert said(session) == "Line 1. to Line 21."


def test_a_file_is_dropped(session, tmp_path):
    (tmp_path / "log.txt").write_text("calm")
    session.execute(type="drop", selector="#hold", file_path=str(tmp_path / "log.txt"))
    assert said(session) == "hold got log.txt"
    with pytest.raises(ActionError, match="there is no file nowhere"):
        session.execute(type="drop", selector="#hold", file_path="nowhere")


def test_nothing_else_is_done_while_something_is_dragged(session):
    session.execute(type="drag", selector="#crate")
    with pytest.raises(ActionError, match="div 'Crate' is being dragged: drop it first, or press Escape"):
        session.execute(type="click", selector="#listener")
    session.execute(type="press_key", key="Escape")
    session.execute(type="click", selector="#listener")
    assert said(session) == "rung"
    with pytest.raises(ActionError, match="nothing is being dragged: use drag first, or name a file_path"):
        session.execute(type="drop", selector="#hold")


@pytest.mark.thorough
def test_leaving_the_page_ends_a_drag(session, site):
    session.execute(type="drag", selector="#crate")
    session.execute(type="goto", url=site("actable.html"))
    session.execute(type="click", selector="#listener")
    assert said(session) == "rung"


@pytest.mark.thorough
def test_a_thing_is_not_dropped_on_what_lies_under_another(session):
    session.page.evaluate(
        "() => document.body.insertAdjacentHTML('beforeend',"
        " '<div style=\"position:fixed;inset:0;z-index:9;background:white;pointer-events:none\" id=veil></div>')"
    )
    session.execute(type="drag", selector="#knob")
    session.page.evaluate("() => { document.getElementById('veil').style.pointerEvents = 'auto' }")
    with pytest.raises(ActionError, match="lies under another element"):
        session.execute(type="drop", selector="#shelf")
    session.execute(type="press_key", key="Escape")


def test_pixels_that_are_none_are_refused(session):
    with pytest.raises(UsageError, match="drag: by"):
        session.execute(type="drag", selector="#knob", by=[1])


YARD = """<h2>Yard</h2><p>Two</p><div id=GRAB draggable=true style="width:80px;height:30px">Crate</div>
<div style="width:80px;height:30px" draggable=true>Barrel</div>
<div id=ZONE style="width:200px;height:60px">Hold</div><p id=said></p><script>
document.getElementById("GRAB").addEventListener("dragstart", (e) => e.dataTransfer.setData("text/plain", "crate"));
const zone = document.getElementById("ZONE");
zone.addEventListener("dragover", (e) => e.preventDefault());
zone.addEventListener("drop", (e) => {
  e.preventDefault();
  said.textContent = "holds " + e.dataTransfer.getData("text/plain");
});</script>"""


def test_a_drag_is_recorded_mended_and_exported(shared_session, open_session, site, tmp_path):
    shared_session.stop()  # else these sessions are parts of its recording, and no good run of their own

    def yard(session, grab, zone):
        page = YARD.replace("GRAB", grab).replace("ZONE", zone)
        session.execute(type="goto", url=site(f"echo?html={quote(page)}"))

    with open_session(home=tmp_path, name="yard") as session:
        yard(session, "grab", "hold")
        session.execute(type="drag", selector="#grab")
        assert session.execute(type="drop", selector="#hold").success
    with open_session(home=tmp_path, name="yard") as session:
        yard(session, "x7", "hold-x")
        with Client().AgentFallback(session, task="move the crate", heal="auto") as fb:
            session.execute(type="drag", selector="#grab", timeout=4000)
            session.execute(type="drop", selector="#hold", timeout=4000)
        told = [one.after.get("refused") for one in fb.heals]
        assert (fb.success, [one.rung for one in fb.heals]) == (True, ["alternative", "alternative"]), told
        assert said(session) == "holds crate"
    script = code(reenact.load(session.recording)).python_script
    assert [kind for kind in ("drag", "drop") if f'type="{kind}"' in script] == ["drag", "drop"]
