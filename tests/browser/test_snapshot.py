"""What `look` sees of pages, and what it leaves alone."""

from __future__ import annotations

import pytest

from reenact.browser.page.snapshot import StaleElement, locate, look

pytestmark = pytest.mark.asyncio(loop_scope="session")


def named(sight, role, name=None):
    found = [one for one in sight.elements if one.role == role and name in (None, one.name)]
    assert len(found) == 1, [str(one) for one in sight.elements]
    return found[0]


async def test_a_form_is_seen_with_its_fields_values_and_states(page, site):
    await page.goto(site("form.html"))
    sight = await look(page)
    assert (sight.title, sight.url, sight.more) == ("Order", site("form.html"), 0)
    assert [one.id for one in sight.elements if one.id[0] == "L"] == ["L1"]
    note = named(sight, "textbox", "Note")
    assert (note.id[0], note.value, note.tag) == ("I", "ring twice", "textarea")
    assert named(sight, "combobox", "Colour").options == ("Choose", "Red", "Green", "Blue", "Gold")
    assert named(sight, "radio", "Slow").states == {"checked": ""}
    assert named(sight, "button", "Place order").id == "B1"
    assert f'- textbox "Note" [id={note.id}]: ring twice' in sight.text


async def test_what_no_role_says_can_be_clicked_is_listed_too(page, site):
    await page.goto(site("form.html"))
    sight = await look(page)
    assert named(sight, "div", "Add a coupon").id[0] == "B"
    more = named(sight, "span", "more")
    await (await locate(page, sight, more.id)).click()
    assert await page.title() == "clicked"


async def test_shapes_and_canvases_are_listed(page, site):
    await page.goto(site("canvas.html"))
    sight = await look(page)
    assert {"canvas", "rect", "circle"} <= {one.tag for one in sight.elements}
    shape = next(one for one in sight.elements if one.tag == "circle")
    await (await locate(page, sight, shape.id)).click()
    assert await page.inner_text("#at") == "blue"


@pytest.mark.thorough
async def test_elements_of_frames_have_their_place_in_the_main_window(page, site):
    await page.goto(site("frames.html"))
    await page.frame_locator("#pay").locator("#inside").wait_for()
    sight = await look(page)
    inside = [one for one in sight.elements if one.name == "Inside"]
    assert [one.frames for one in inside] == [("#own",), ("#pay",)]
    for one, frame in zip(inside, ("#own", "#pay"), strict=True):
        box = await page.frame_locator(frame).locator("#inside").bounding_box()
        assert one.box == pytest.approx((box["x"], box["y"], box["width"], box["height"]), abs=0.2)
        await (await locate(page, sight, one.id)).click()
        assert await page.frame_locator(frame).locator("#inside").inner_text() == "Done"


async def test_elements_behind_shadow_roots_are_seen(page, site):
    await page.goto(site("shadow.html"))
    sight = await look(page)
    assert [one.name for one in sight.elements if one.role == "button"] == [
        "Buy first",
        "Star",
        "Buy second",
        "Star",
    ]
    await (await locate(page, sight, "B4")).click()


async def test_no_secret_is_in_what_is_seen(page, site):
    await page.goto(site("secrets.html"))
    sight = await look(page, secret=[".api-key", "css=.private"])
    whole = sight.text + repr(sight.elements)
    for secret in ("hunter2", "4111", "987", "314159", "5500", "654", "sk-live", "diary"):
        assert secret not in whole, secret
    assert named(sight, "textbox", "Password").value == "•••"
    assert named(sight, "textbox", "User").value == "ada"
    assert named(sight, "textbox", "Passenger").value == "bob"
    assert '- textbox "Password" [id=I1]: •••' in sight.text


async def test_boxes_are_in_the_text_on_request(page, site):
    await page.goto(site("form.html"))
    assert "[box=" not in (await look(page)).text
    assert "[box=" in (await look(page, boxes=True)).text


@pytest.mark.thorough
async def test_a_strict_policy_of_the_page_is_no_hindrance(page, site):
    await page.goto(site("csp.html"))
    assert named(await look(page), "button", "Send")


@pytest.mark.thorough
async def test_ten_thousand_rows_are_cut_with_a_word(page, site):
    await page.goto(site("rows.html"))
    sight = await look(page)
    assert len(sight.elements) < 300
    assert sight.more > 50_000
    assert sight.text.endswith(f"- … {sight.more:,} more elements are not shown: scroll, or scrape the page")
    link = named(sight, "link", "Row 12")
    assert await (await locate(page, sight, link.id)).get_attribute("href") == "row/12"


@pytest.mark.thorough
async def test_a_long_text_is_cut_where_asked(page, site):
    await page.goto(site("form.html"))
    sight = await look(page, lines=5)
    assert len(sight.text.splitlines()) <= 10
    assert sight.more > 5


@pytest.mark.thorough
async def test_a_large_page_shows_where_it_was_scrolled_to(page, site):
    await page.goto(site("rows.html"))
    await page.evaluate("document.links[5000].scrollIntoView()")
    assert named(await look(page), "link", "Row 5000")


@pytest.mark.thorough
async def test_an_id_of_an_older_look_is_refused(page, site):
    await page.goto(site("form.html"))
    old = await look(page)
    await look(page)
    with pytest.raises(
        StaleElement,
        match=r"^B1 is of an older observation of this page; observe again, and use the new ids$",
    ):
        await locate(page, old, "B1")


async def test_an_id_that_was_never_given_is_refused_with_those_there_are(page, site):
    await page.goto(site("disabled.html"))
    sight = await look(page)
    with pytest.raises(
        StaleElement, match=r"there is no element L7 in the last observation; it has B1 to B\d, I1$"
    ):
        await locate(page, sight, "L7")


@pytest.mark.thorough
async def test_an_element_that_has_gone_is_refused_by_its_name(page, site):
    await page.goto(site("banner.html"))
    sight = await look(page)
    accept = named(sight, "button", "Accept all").id
    await page.evaluate("document.getElementById('cookies').remove()")
    with pytest.raises(StaleElement, match=rf'^{accept} \(button "Accept all"\) is no longer on the page'):
        await locate(page, sight, accept)


@pytest.mark.thorough
async def test_a_page_that_is_empty_is_seen_as_such(page):
    sight = await look(page)
    assert (sight.elements, sight.more, sight.url) == ((), 0, "about:blank")
