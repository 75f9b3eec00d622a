"""Every type of action in a real browser: what it does to the page, and what its result says."""

from __future__ import annotations

from urllib.parse import quote

import pytest

import reenact
from reenact.browser.actions import types as actions
from reenact.errors import ActionError, UsageError


@pytest.fixture
def session(shared_session):
    return shared_session()


@pytest.fixture
def at(session, site):
    """Go to a page of the site, in a browser with this one tab."""

    def go(page):
        while len(session.page.context.pages) > 1:
            session.execute(type="close_tab")
        return session.execute(type="goto", url=site(page))

    return go


def value(session, selector):
    return session.page.locator(selector).input_value()


# -- the vocabulary ----------------------------------------------------------------------------------------------


def test_an_action_needs_a_type():
    with pytest.raises(ValueError, match="an action needs a type"):
        actions.action_of(selector="#a")


def test_an_unknown_type_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match=r"there is no action 'klick'; there are goto, .*completion"):
        actions.action_of(type="klick", selector="#a")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"type": "goto", "url": "x", "wait": 3}, "goto: it has no field 'wait'; it takes url"),
        ({"type": "goto"}, "goto: it needs a field 'url'"),
        ({"type": "click"}, "click: give it an id .* or a selector"),
        ({"type": "click", "id": "B1", "selector": "#a"}, "click: .* not both"),
        ({"type": "wait", "time_ms": 31_000}, "wait: time_ms: input should be less than or equal to 30000"),
        (
            {"type": "click", "id": "B1", "timeout": 2**31},
            "click: timeout: input should be less than or equal to 2147483647",
        ),
        (
            {"type": "drag", "selector": "#a", "by": (10**400, 0)},
            "drag: by: input should be less than or equal to 9007199254740991",
        ),
        (
            {"type": "scroll_down", "amount": 10**400},
            "scroll_down: amount: input should be less than or equal to 9007199254740991",
        ),
        (
            {"type": "switch_tab", "tab_index": 10**400},
            "switch_tab: tab_index: input should be less than or equal to 100000",
        ),
        (
            {"type": "check", "selector": "#a", "value": "maybe"},
            "check: value: input should be a valid boolean",
        ),
        (
            {"type": "form_fill", "value": {"shoe_size": "44"}},
            "form_fill: no field 'shoe_size'; there are title,",
        ),
    ],
)
def test_a_field_that_does_not_fit_is_refused_in_one_line(fields, told):
    with pytest.raises(UsageError, match=told) as caught:
        actions.action_of(**fields)
    assert "\n" not in str(caught.value)


def test_what_holds_anyhow_is_no_part_of_the_question():
    assert actions.action_of(type="click", selector="#a", timeout=15_000).args == {"selector": "#a"}
    assert actions.action_of({"type": "click", "id": "B1"}, timeout=100).args == {"id": "B1", "timeout": 100}


# -- going places ------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_going_on_back_and_forward(session, at, site):
    at("form.html")
    result = session.execute(type="goto", url=site("done.html"))
    assert (result.success, result.title, result.url) == (True, "Done", site("done.html"))
    assert session.execute(type="go_back").url == site("form.html")
    assert session.execute(type="go_forward").url == site("done.html")
    failed = session.execute(type="go_forward", raise_on_failure=False)
    assert failed.message == "there is no page to go forward to in this tab's history"


@pytest.mark.thorough
def test_a_page_is_loaded_again(session, at):
    at("form.html")
    session.execute(type="fill", selector="#name", value="Ada")
    session.execute(type="reload")
    assert value(session, "#name") == ""


@pytest.mark.thorough
def test_tabs_open_change_and_close(session, at, site):
    at("form.html")
    opened = session.execute(type="goto_new_tab", url=site("done.html"))
    assert opened.url == site("done.html")
    assert [tab.url for tab in session.observe().metadata.tabs] == [site("form.html"), site("done.html")]
    assert session.execute(type="switch_tab", tab_index=0).url == site("form.html")
    assert session.execute(type="switch_tab", tab_index=-1).url == site("done.html")
    with pytest.raises(ActionError, match="there is no tab 2: 2 are open, from 0"):
        session.execute(type="switch_tab", tab_index=2)
    assert session.execute(type="close_tab").url == site("form.html")


@pytest.mark.thorough
def test_a_tab_that_a_click_opens_comes_to_the_front(session, at, site):
    at("tabs.html")
    clicked = session.execute(type="click", selector="#blank")
    assert clicked.url == site("done.html?tab")
    assert session.execute(type="close_tab").url == site("tabs.html")


def test_the_last_tab_leaves_an_empty_one(session, at):
    at("form.html")
    assert session.execute(type="close_tab").url == "about:blank"


# -- elements ----------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_form_is_filled_and_sent(session, at, site):
    at("form.html")
    filled = session.execute(type="fill", selector="#name", value="Ada Lovelace")
    assert filled.message == "filled textbox 'Full name'"
    assert filled.selectors["playwright"] == 'get_by_role("textbox", name="Full name")'
    session.execute(type="fill", selector="css=#note", value=" and knock", clear_before_fill=False)
    session.execute(type="fallback_fill", selector="xpath=//*[@id='pieces']", value="12")
    ticked = session.execute(type="check", selector="[name=gift]", value=True)
    assert ticked.message == "ticked checkbox 'Gift wrapping'"
    session.execute(type="check", selector={"css": "#nothing", "playwright": "#gift"}, value=False)
    session.execute(type="select_dropdown_option", selector="#colour", value="Green")
    session.execute(type="select_dropdown_option", selector="#colour", value="b")
    assert [value(session, field) for field in ("#name", "#note", "#pieces", "#colour")] == [
        "Ada Lovelace", "ring twice and knock", "12", "b",
    ]  # fmt: skip
    assert not session.page.locator("#gift").is_checked()
    session.execute(type="fill", selector="#email", value="ada@example.com")
    assert session.execute(type="press_key", key="Enter").url.startswith(site("done.html?name=Ada"))


def test_an_element_is_named_by_its_id_in_the_last_observation(session, at):
    at("form.html")
    choices = {one.name: one for one in session.observe().space.interaction_actions}
    assert (choices["Colour"].type, choices["Colour"].options[1]) == ("select_dropdown_option", "Red")
    assert choices["Gift wrapping"].type == "check"
    session.execute(type="fill", id=choices["Full name"].id, value="Ada")
    assert value(session, "#name") == "Ada"


def test_an_option_that_is_not_there_is_answered_with_those_that_are(session, at):
    at("form.html")
    failed = session.execute(
        type="select_dropdown_option", selector="#colour", value="Purple", raise_on_failure=False
    )
    assert failed.message == "there is no option 'Purple'; there are 'Choose', 'Red', 'Green', 'Blue', 'Gold'"


def test_scrolling_by_a_page_and_by_pixels(session, at):
    at("offscreen.html")
    session.execute(type="scroll_down")
    session.execute(type="scroll_down", amount=100)
    assert session.observe().metadata.viewport.scroll_y == 820
    session.execute(type="scroll_up", amount=20)
    assert session.page.evaluate("scrollY") == 800


@pytest.mark.thorough
def test_a_field_holds_what_was_written_though_the_page_renames_it_or_draws_it_anew(session, site):
    pages = {
        "": True,
        "this.id = 'other'": True,
        "this.outerHTML = '<input id=a value=Ada>'": True,
        "this.outerHTML = '<input id=a>'": False,
        "this.remove()": None,
    }
    for code, holds in pages.items():
        field = f'<input id=a oninput="{code}">'
        session.execute(type="goto", url=site(f"echo?html={quote(field)}"))
        result = session.execute(type="fill", selector="#a", value="Ada")
        assert (result.success, result.consequence.get("filled")) == (True, holds), code


def test_a_form_is_filled_by_what_its_fields_are_for(session, at, site):
    page = (
        "<title>Pay</title><input name='given' autocomplete='given-name'><label>E-mail <input id=m></label>"
        "<input id=old type=password placeholder='Current password'><input id=new type=password placeholder='New password'>"
        "<input id=card placeholder='Card number'><select id=month aria-label='Expiry month'><option>1<option>4</select>"
    )
    session.execute(type="goto", url=site("echo?html=" + page.replace("#", "%23").replace(" ", "+")))
    asked = {
        "email": "ada@example.com", "first_name": "Ada", "new_password": "n-e-w-1", "current_password": "o-l-d-1",
        "cc_number": "4111111111111111", "cc_exp_month": "04",
    }  # fmt: skip
    done = session.execute(type="form_fill", value=asked)
    found = [value(session, field) for field in ("[name=given]", "#m", "#old", "#new", "#card", "#month")]
    assert found == ["Ada", "ada@example.com", "o-l-d-1", "n-e-w-1", "4111111111111111", "4"]
    assert done.action.value["new_password"] == done.action.value["cc_number"] == actions.MASK
    with pytest.raises(ActionError, match="no field was found for city; filled email"):
        session.execute(type="form_fill", value={"email": "a@example.com", "city": "London"})


@pytest.mark.thorough
def test_files_go_up_and_come_down(session, at, tmp_path):
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"12345")
    at("upload.html")
    session.execute(type="upload_file", selector="#one", file_path=str(picture))
    assert session.page.locator("#said").inner_text() == "cat.png 5"
    session.execute(type="upload_file", selector="#chooser", file_path=str(picture))
    with pytest.raises(ActionError, match="there is no file nowhere.png"):
        session.execute(type="upload_file", selector="#one", file_path="nowhere.png")

    at("downloads.html")
    down = session.execute(type="download_file", selector="#file", file_path=str(tmp_path / "r.csv"))
    assert (down.data, (tmp_path / "r.csv").read_bytes()) == (str(tmp_path / "r.csv"), b"a,b\n1,2\n")
    named = session.execute(type="download_file", selector="#blob")
    assert named.data.endswith("made.txt")
    failed = session.execute(type="download_file", selector="h1", timeout=300, raise_on_failure=False)
    assert failed.message == "the click started no download within 0.3 s"


def test_a_script_gives_its_value_or_its_error(session, at):
    at("form.html")
    assert session.execute(type="evaluate_js", code="({a: [1, document.title]})").data == {"a": [1, "Order"]}
    failed = session.execute(type="evaluate_js", code="nothing.there", raise_on_failure=False)
    assert failed.message == "the script failed: ReferenceError: nothing is not defined"
    bare = session.execute(type="evaluate_js", code="return 5", raise_on_failure=False)
    assert bare.message.endswith("write it as a function, () => { … }")


def test_what_needs_no_page(session):
    assert session.execute(type="wait", time_ms=20).message == "waited for 20 ms"
    assert session.execute(type="help", reason="a captcha").message == "help is needed: a captcha"
    done = session.execute(type="completion", success=True, answer="42")
    assert (done.success, done.data) == (True, "42")
    assert not session.execute(type="completion", success=False, answer="no such order").success


def test_a_page_is_read_as_text(session, at):
    at("article.html")
    assert session.scrape().startswith("# ")
    assert session.scrape(selector="h1").startswith("# ")
    assert isinstance(session.scrape(only_images=True), list)


# -- what goes wrong ---------------------------------------------------------------------------------------------


def test_a_failed_action_says_why_and_raises_if_asked(session, at):
    at("form.html")
    failed = session.execute(type="click", selector="#ordr", timeout=300, raise_on_failure=False)
    assert failed.success is False
    assert failed.message.startswith("No element matches #ordr")
    assert failed.why["reason"] == "missing"
    with pytest.raises(ActionError, match="click: No element matches") as caught:
        session.execute(type="click", selector="#ordr", timeout=300)
    assert caught.value.result.url == failed.url


def test_a_failed_action_calls_its_element_as_the_program_did(session, at):
    at("disabled.html")
    for selector, called in (("css=#pay", "css=#pay"), ({"css": "#pay"}, "#pay")):
        failed = session.execute(type="click", selector=selector, timeout=300, raise_on_failure=False)
        assert failed.message.startswith(f'The button "Pay" ({called}) is disabled')


def test_a_selector_that_does_not_parse_is_a_failed_result(session, at):
    at("form.html")
    failed = session.execute(type="click", selector="css=p[[", raise_on_failure=False)
    assert "does not parse" in failed.message


@pytest.mark.thorough
def test_an_id_of_an_old_observation_is_a_failed_result(session, at, site):
    at("form.html")
    session.execute(type="goto_new_tab", url=site("form.html"))
    assert "of no observation" in session.execute(type="click", id="B1", raise_on_failure=False).message
    session.observe()
    assert (
        "there is no element B99" in session.execute(type="click", id="B99", raise_on_failure=False).message
    )
    session.page.evaluate("document.getElementById('order').remove()")
    assert "no longer on the page" in session.execute(type="click", id="B1", raise_on_failure=False).message


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1:9/", "browsers open no page at that port"),
        ("http://127.0.0.1:61234/", "nothing listens there"),
        ("http://no-such-host.invalid/", "http://no-such-host.invalid/ was not opened: "),
        ("http://", "that is no address"),
    ],
)
def test_an_address_that_cannot_be_reached_is_a_failed_result(session, url, told):
    failed = session.execute(type="goto", url=url, raise_on_failure=False)
    assert (failed.success, failed.why) == (False, None)
    assert told in failed.message


def test_an_observation_has_a_picture_and_what_can_be_done(session, at):
    at("offscreen.html")
    seen = session.observe()
    assert seen.screenshot[:2] == b"\xff\xd8"
    assert seen.metadata.viewport.total_height > 4000
    assert "goto" in seen.space.browser_actions
    assert "click" not in seen.space.browser_actions
    assert "[id=B1]" in seen.space.description


def test_the_session_is_one_recording(session, at):
    at("form.html")
    session.observe()
    session.execute(type="form_fill", value={"email": "a@example.com"})
    steps = reenact.load(session.recording).steps
    assert {step.label for step in steps} >= {
        "browser:start",
        "browser:goto",
        "browser:observe",
        "browser:form_fill",
    }
    assert all(step.label.startswith("browser:") for step in steps)


def test_a_field_that_is_not_there_is_waited_for_once(session, site, monkeypatch):
    from reenact.browser.page import selectors

    session.execute(type="goto", url=site("form.html"))
    asked, resolve = [], selectors.resolve

    async def counted(page, selector, *patience, **more):
        asked.append(selector)
        return await resolve(page, selector, *patience, **more)

    monkeypatch.setattr(selectors, "resolve", counted)
    result = session.execute(type="fill", selector="#nowhere", value="x", timeout=200, raise_on_failure=False)
    assert (result.success, asked) == (False, ["#nowhere"])


@pytest.mark.thorough
def test_a_popup_that_is_closed_leads_back_to_who_opened_it(session, site, at):
    at("form.html")
    session.execute(type="goto_new_tab", url=site("tabs.html"))
    session.execute(type="switch_tab", tab_index=0)
    session.execute(type="evaluate_js", code="() => { window.open('/tabs.html') }")
    session.execute(type="switch_tab", tab_index=-1)
    assert session.execute(type="close_tab").url == site("form.html")


@pytest.mark.thorough
def test_what_no_picture_shows_is_said(session, site, at):
    at("dialogs.html")
    clicked = session.execute(type="click", selector="#confirm")
    assert clicked.message == "clicked button 'Confirm'; the page asked “Really?”, which was dismissed"
    assert session.execute(type="click", selector="#modal").message == "clicked button 'Modal'"
    at("downloads.html")
    assert "; the download of " in session.execute(type="click", selector="a >> nth=0").message


COVERING = """<{tag} id=found style="width: 200px; height: 40px">Find</{tag}>
<div id=cover hidden style="position: fixed; inset: 0; background: white"><input id=words></div>
<script>found.onfocus = () => {{ if (cover.hidden) {{ cover.hidden = false; words.focus(); }} }}</script>"""


@pytest.mark.parametrize(("tag", "pressed"), [("textarea", True), ("button", False)])
def test_a_text_field_that_the_page_covers_at_its_focus_was_pressed(session, tag, pressed):
    """Of a button it is unknown whether the press did anything: its click never came."""
    session.execute(type="goto", url="data:text/html," + quote(COVERING.format(tag=tag)))
    done = session.execute(type="click", selector="#found", timeout=1000, raise_on_failure=False)
    assert done.success is pressed
    assert (
        pressed
        or "is covered by the input#words" in done.message
        or "is covered by the div#cover" in done.message
    )
    assert session.page.evaluate("document.activeElement.id") == "words"
