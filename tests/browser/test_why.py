"""Every reason for which an action fails is said in one sentence that names the element and what to try."""

from __future__ import annotations

import math
import re

import pytest
from playwright.async_api import Error

from reenact.browser.actions import reasons
from reenact.browser.actions.why import why
from reenact.browser.page.selectors import AmbiguousElement, ElementNotFound, SelectorError, resolve

pytestmark = pytest.mark.asyncio(loop_scope="session")
SOON = 150
"""Milliseconds that an action waits where its page never becomes ready for it."""
PATIENT = 60_000
"""Milliseconds for an action whose own error is meant: it does not wait for the page."""


@pytest.fixture(autouse=True)
def slow_machines(monkeypatch):
    """No time limit of the explanation itself counts here; a slow machine changes no reason."""
    monkeypatch.setattr("reenact.browser.actions.why.PATIENCE", 60)


async def attempt(page, type, selector, **fields):  # noqa: A002
    """Do an action as a session does it; why it failed."""
    soon = fields.pop("timeout", SOON)
    try:
        found = await resolve(page, selector, SOON)
        if type == "click":
            await found.click(timeout=soon)
        elif type == "fill":
            await found.fill(fields.get("value", "x"), timeout=soon)
        elif type == "check":
            await found.check(timeout=soon)
        elif type == "upload_file":
            await found.set_input_files(fields["file_path"], timeout=soon)
        else:
            await found.select_option(fields["value"], timeout=soon)
    except (Error, ElementNotFound, AmbiguousElement, SelectorError, OSError) as error:
        return await why(page, {"type": type, "selector": selector, **fields}, selector, error)
    raise AssertionError("it should have failed")


SENTENCES = [
    ("disabled.html", "click", "#pay", {}, "disabled",
     'The button "Pay" (#pay) is disabled; fill or choose first what the page asks for.'),
    ("disabled.html", "fill", "#street", {}, "disabled",
     'The textbox "Street" (#street) is disabled with the group "Address" around it; fill or choose first what the page asks for.'),
    ("disabled.html", "click", "#inpanel", {}, "hidden",
     'The button "In the panel" (#inpanel) is hidden by the div#panel "In the panel" around it (display: none); make that appear first.'),
    ("disabled.html", "click", "#unseen", {}, "hidden",
     'The button "Unseen" (#unseen) is there and not shown (visibility: hidden); do first what makes it appear.'),
    ("disabled.html", "click", "#folded", {}, "hidden",
     'The button "Folded" (#folded) is hidden in the details "More Folded", which is closed; open it first.'),
    ("disabled.html", "click", "#flat", {}, "hidden",
     "The div#flat (#flat) takes no space on the page, so that nothing of it can be seen; try what it holds, or what opens it."),
    ("disabled.html", "click", "#ghost", {}, "no clicks",
     'The button "Ghost" (#ghost) lets clicks through (pointer-events: none); click what lies under it, or wait until the page allows it.'),
    ("banner.html", "click", "#buy", {}, "covered",
     'The button "Buy" (#buy) is covered by the div#cookies "We use cookies Accept all"; click the button "Accept all" there first.'),
    ("banner.html", "click", "#under", {}, "covered",
     'The button "Under the veil" (#under) is covered by the div#veil; close that first, or wait until it is gone.'),
    ("animation.html", "click", "#runner", {}, "moving",
     'The button "Catch me" (#runner) keeps moving, and is acted on only at rest; wait until its animation ends, or turn animations off.'),
    ("offscreen.html", "click", "#fixed", {}, "outside",
     'The button "Fixed below" (#fixed) lies outside of what can be scrolled to (at 8, 5000); do first what brings it in, or make the window larger.'),
    ("form.html", "fill", "#total", {}, "read-only",
     'The textbox "Total" (#total) is read-only; it is filled by something else on the page, as a date\'s picker or a search.'),
    ("form.html", "fill", "#order", {}, "kind",
     'The button "Place order" (#order) is a button of type submit, which cannot be filled; name the field itself.'),
    ("form.html", "fill", "#colour", {}, "kind",
     'The combobox "Colour" (#colour) is a drop-down list, which cannot be filled; use select_dropdown_option.'),
    ("form.html", "fill", "#gift", {}, "kind",
     'The checkbox "Gift wrapping" (#gift) is a box to tick, which cannot be filled; use check.'),
    ("upload.html", "fill", "#one", {}, "kind",
     'The button "Picture" (#one) takes a file, and cannot be filled; use upload_file.'),
    ("form.html", "check", "#name", {}, "kind",
     'The textbox "Full name" (#name) is an input of type text, which cannot be ticked; name the box itself, or use click.'),
    ("form.html", "select_dropdown_option", "#name", {"value": "r"}, "kind",
     'The textbox "Full name" (#name) is an input of type text, no drop-down list; name the list itself, or use click.'),
    ("form.html", "upload_file", "#name", {"file_path": __file__, "timeout": PATIENT}, "kind",
     'The textbox "Full name" (#name) is an input of type text, which takes no file; name the input of type file.'),
    ("form.html", "upload_file", "#name", {"file_path": "/nowhere/cv.pdf"}, "no file",
     "There is no file /nowhere/cv.pdf; check the path, which is taken from the program's folder."),
    ("form.html", "select_dropdown_option", "#colour", {"value": "Bleu"}, "option",
     'The combobox "Colour" (#colour) has no option "Bleu"; it has "Blue", "Red", "Gold" and 2 more.'),
    ("form.html", "select_dropdown_option", "#colour", {"value": "Gold"}, "option",
     'The combobox "Colour" (#colour) has the option "Gold", but it is disabled; choose another.'),
    ("form.html", "fill", "#pieces", {"value": "many", "timeout": PATIENT}, "value",
     'The spinbutton "Pieces" (#pieces) takes a number, and nothing else.'),
    ("duplicates.html", "click", "css=button", {}, "several",
     '4 elements match css=button, and it is not said which: button "Add", button "Add", button "Add" and 1 more; name one, as in css=button >> nth=0.'),
    ("duplicates.html", "click", "~Add", {}, "several",
     '4 elements match ~Add, and it is not said which: button "Add", button "Add", button "Add" and 1 more; name one, as in text=Add >> nth=0.'),
    ("duplicates.html", "click", 'get_by_role("button")', {}, "several",
     '4 elements match get_by_role("button"), and it is not said which: button "Add", button "Add", button "Add" and 1 more; name one, as in get_by_role("button").nth(0).'),
    ("form.html", "click", "css=[", {}, "selector",
     "'css=[' does not parse: Unexpected token \"\" while parsing css selector \"[\". Did you mean to CSS.escape it?"),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("case", SENTENCES, ids=lambda case: f"{case[2]} {case[4]}")
async def test_the_reason_is_said_in_a_sentence(page, site, case):
    address, kind, selector, fields, word, sentence = case
    await page.goto(site(address))
    said = await attempt(page, kind, selector, **fields)
    assert said.sentence == sentence
    assert said.facts["reason"] == word


@pytest.mark.thorough
async def test_an_element_that_is_not_there_is_answered_with_the_closest(page, site):
    await page.goto(site("renamed.html"))
    for selector, described, proposed in [
        ("~Log in", 'button "Sign in"', "#signin-button"),
        ("#signin", 'button "Sign in"', "#signin-button"),
        ("css=button.btn-primary", 'button "Sign in"', "#signin-button"),
        ('get_by_role("button", name="Sign on")', 'button "Sign in"', "#signin-button"),
        ('get_by_label("Username or mail")', 'textbox "User name or e-mail"', "#login"),
        ("~Forgot password", 'link "Forgot your password?"', 'a[href="/forgot"]'),
        ("xpath=//a[text()='Checkout']", 'link "Proceed to checkout"', 'a[href="/checkout"]'),
        ('role=button[name="Search"]', 'button "Search products"', 'role=button[name="Search products"]'),
    ]:
        said = await attempt(page, "click", selector)
        start = f"No element matches {selector} on {page.url}: the closest is the {described}; try {proposed}"
        assert said.sentence.startswith(start), said.sentence
        best = said.facts["candidates"][0]
        assert 0.4 <= best["score"] <= 1
        assert await (await resolve(page, best["selector"], SOON)).count() == 1
        assert said.facts["reason"] == "missing"


@pytest.mark.thorough
async def test_a_locator_is_called_by_what_it_looks_for(page, site):
    await page.goto(site("disabled.html"))
    said = await why(page, "click", page.locator("#pay"), "Timeout")
    assert said.sentence.startswith('The button "Pay" (#pay) is disabled')
    await page.goto(site("renamed.html"))
    gone = await why(page, "click", page.locator("#signin"), "Timeout")
    assert 'the closest is the button "Sign in"' in gone.sentence


@pytest.mark.thorough
async def test_what_is_proposed_for_a_renamed_element_is_the_element(page, site):
    await page.goto(site("renamed.html"))
    said = await attempt(page, "click", {"css": "#login-button", "text": "Log in"})
    found = await resolve(page, said.facts["candidates"][0]["selector"], SOON)
    assert await found.inner_text() == "Sign in"


@pytest.mark.thorough
async def test_where_nothing_is_like_it_that_is_said(page, site):
    await page.goto(site("done.html"))
    said = await attempt(page, "click", "#zzz")
    assert said.sentence == (
        f"No element matches #zzz on {page.url}: no element there resembles it; observe the page to list its elements."
    )


POPUPS = """<!doctype html><title>Shop</title><a href="#">Products</a><a href="#">Popular cases</a>
<button>Add to basket</button><input aria-label="Date"><button class="menu">Menu</button>"""


@pytest.mark.thorough
@pytest.mark.parametrize("selector", [".popup-close", "#close-modal", "~Dismiss", "css=button.cookie-accept"])
async def test_a_popup_that_has_not_come_is_not_like_another_element_and_may_still_come(
    page, selector, monkeypatch
):
    monkeypatch.setattr(reasons, "YOUNG", math.inf)
    await page.set_content(POPUPS)
    said = await attempt(page, "click", selector)
    assert said.facts["candidates"] == []
    assert re.search(
        r"no element there resembles it; the page is \d+\.\d s old, and it may still come",
        said.sentence,
    )


@pytest.mark.thorough
async def test_the_closest_has_a_role_for_the_action(page):
    await page.set_content("<button id=mail>E-mail address</button><input aria-label='Your e-mail address'>")
    said = await attempt(page, "fill", "~E-mail adress", value="a@b.c")
    assert [one["described"] for one in said.facts["candidates"]] == ['textbox "Your e-mail address"']


PLACES = """<main><div><p>One</p><button>Pay now</button></div><div><p>Two</p><button>Pay later</button></div>
<div><p>Three</p><button>Leave</button></div><div><button>Leave</button></div></main>"""


async def test_elements_without_a_selector_of_their_own_are_named_by_role_and_name_where_these_find_one(page):
    await page.set_content(PLACES)
    several = await attempt(page, "click", "div > button")
    assert several.sentence.endswith('name one, as in role=button[name="Pay now"].')
    closest = await attempt(page, "click", "role=button[name='Pay latter']")
    assert closest.sentence.endswith(
        'the closest is the button "Pay later"; try role=button[name="Pay later"].'
    )
    await resolve(page, closest.facts["candidates"][0]["selector"], SOON)
    alike = await attempt(page, "click", "text=Leave")
    assert "role=" not in alike.sentence
    assert len({one["selector"] for one in alike.facts["elements"]}) == 2
    hidden = await why(page, {"type": "click", "selector": "div > button"}, "div > button", secret=["button"])
    assert "Pay" not in hidden.sentence


async def test_an_empty_page_is_named_as_the_reason(page):
    said = await attempt(page, "click", "#any")
    assert said.sentence == "No element matches #any: the page about:blank is empty; open an address first."


async def test_a_page_that_still_loads_is_named_as_the_reason(page, site):
    await page.goto(site("stuck"), wait_until="commit")
    await page.locator("#here").wait_for()
    said = await attempt(page, "click", "#later")
    assert said.sentence == (
        f"No element matches #later yet: the page {page.url} has not finished loading; wait longer, or give a longer timeout."
    )
    site.gate.set()
    site.gate.clear()


@pytest.mark.thorough
async def test_an_element_that_came_too_late_is_said_to_have_come_late(page, site):
    await page.goto(site("form.html"))
    with pytest.raises(ElementNotFound) as missing:
        await resolve(page, "#late", 50)
    await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<button id=late>Late</button>')")
    said = await why(page, "click", "#late", missing.value)
    assert (
        said.sentence
        == 'The button "Late" (#late) is there now, and was not in time; give a longer timeout, or wait for it.'
    )


@pytest.mark.thorough
async def test_an_element_that_is_drawn_anew_is_said_to_have_gone(page, site):
    await page.goto(site("form.html"))
    handle = await page.locator("#order").element_handle()
    await page.evaluate("const old = document.getElementById('order'); old.replaceWith(old.cloneNode(true))")
    with pytest.raises(Error) as raised:
        await handle.click(timeout=PATIENT)
    said = await why(page, "click", "#order", raised.value)
    assert said.sentence == (
        'The button "Place order" (#order) was taken off the page while it was acted on: the page draws itself anew; '
        "wait until it rests, then try again."
    )


@pytest.mark.thorough
async def test_the_frame_of_an_element_is_named(page, site):
    await page.goto(site("frames.html"))
    await page.frame_locator("#own").locator("#inside").evaluate("el => { el.disabled = true }")
    said = await attempt(page, "click", "frame=#own >> css=#inside")
    assert said.sentence == (
        'The button "Inside" (frame=#own >> css=#inside), in the frame #own, is disabled; '
        "fill or choose first what the page asks for."
    )
    assert said.facts["frame"] == ["#own"]


@pytest.mark.thorough
async def test_what_covers_a_frame_covers_its_elements(page, site):
    await page.goto(site("frames.html"))
    await page.frame_locator("#pay").locator("#inside").wait_for()
    await page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<div id=ad style=\"position:fixed;inset:0\"></div>')"
    )
    said = await attempt(page, "click", "frame=#pay >> css=#inside")
    assert said.sentence == (
        'The button "Inside" (frame=#pay >> css=#inside), in the frame #pay, is covered by the div#ad; '
        "close that first, or wait until it is gone."
    )


@pytest.mark.thorough
async def test_what_covered_it_only_then_is_taken_from_the_error(page, site):
    await page.goto(site("form.html"))
    log = 'Timeout 150ms exceeded.\n  - <div id="loader" class="x">…</div> intercepts pointer events'
    said = await why(page, "click", "#order", log)
    assert said.sentence == (
        'The button "Place order" (#order) was covered by div#loader when it was to be clicked; '
        "wait until that is gone, or close it first."
    )


async def test_a_page_that_does_not_answer_is_said_to_be_silent(page, site, monkeypatch):
    monkeypatch.setattr("reenact.browser.actions.why.PATIENCE", 0.4)
    waiting = []
    page.once("dialog", lambda dialog: waiting.append(dialog))  # noqa: PLW0108 - Playwright sets attributes on it
    await page.goto(site("dialogs.html"))
    await page.evaluate("setTimeout(() => alert('Watch out'))")
    said = await why(page, "click", "#alert", "Timeout 150ms exceeded.")
    assert said.sentence == (
        f"The page {page.url} does not answer: a dialog waits for an answer, or a script of the page is busy; "
        "answer the dialog, or reload the page."
    )
    await waiting[0].dismiss()


@pytest.mark.thorough
async def test_an_address_that_nothing_answers_is_said_so(page, site):
    with pytest.raises(Error) as raised:
        await page.goto("http://127.0.0.1:9/")
    said = await why(page, {"type": "goto", "url": "http://127.0.0.1:9/"}, None, raised.value)
    assert (
        said.sentence
        == "http://127.0.0.1:9/ could not be opened (ERR_UNSAFE_PORT): browsers refuse that port: use another."
    )
    with pytest.raises(Error) as raised:
        await page.goto("http://127.0.0.1:3/")
    said = await why(page, {"type": "goto", "url": "http://127.0.0.1:3/"}, None, raised.value)
    assert said.facts["reason"] == "unreachable"
    with pytest.raises(Error) as raised:
        await page.goto("form.html")
    said = await why(page, {"type": "goto", "url": "form.html"}, None, raised.value)
    assert said.sentence == "'form.html' is no address: write it whole, as in https://example.com/."


async def test_a_tab_that_was_closed_is_said_so(page, site):
    await page.goto(site("form.html"))
    await page.close()
    with pytest.raises(Error) as raised:
        await page.click("#order", timeout=PATIENT)
    said = await why(page, "click", "#order", raised.value)
    assert (
        said.sentence == "The tab was closed before the click was done; open it again, or switch to another."
    )


async def test_a_tab_that_crashed_is_said_so(page, site):
    await page.goto(site("form.html"))
    said = await why(page, "click", "#order", Error("Locator.click: Target crashed"))
    assert said.sentence == f"The tab at {page.url} crashed; open the page again in a new tab."


async def test_where_nothing_is_the_matter_the_error_is_told(page, site):
    await page.goto(site("form.html"))
    said = await why(page, "click", "#order", "Something else went wrong")
    assert said.sentence == (
        'The button "Place order" (#order) is there, shown and enabled, and the click failed all the same: '
        "Something else went wrong; try again."
    )
    said = await why(page, "press_key", None, 'Unknown key: "Entre"')
    assert said.sentence == f'The press_key failed on {page.url}: Unknown key: "Entre".'


async def test_an_id_stands_in_the_sentence_for_the_selector(page, site):
    await page.goto(site("disabled.html"))
    said = await why(page, "click", page.locator("#pay"), "Timeout", called="B1")
    assert said.sentence == 'The button "Pay" (B1) is disabled; fill or choose first what the page asks for.'


async def test_a_reason_holds_no_secret(page, site):
    await page.goto(site("secrets.html"))
    said = await attempt(page, "click", "~api key")
    for secret in ("hunter2", "4111", "314159"):
        assert secret not in repr(said)
    said = await why(page, "click", ".api-key", "Timeout", secret=[".api-key"])
    assert "sk-live" not in repr(said)
