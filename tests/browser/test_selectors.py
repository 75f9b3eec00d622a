"""Selectors as users write them, and those that are recorded."""

from __future__ import annotations

import pytest

from reenact.browser.page.selectors import (
    AmbiguousElement,
    ElementNotFound,
    SelectorError,
    durable,
    fingerprint,
    parse,
    resolve,
)
from reenact.browser.page.snapshot import locate, look

driven = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("", "the selector is empty"),
        ("  ", "the selector is empty"),
        ({}, "the selector is empty; give one or more of css, xpath, text, role, playwright, test_id"),
        (
            {"css": None},
            "the selector is empty; give one or more of css, xpath, text, role, playwright, test_id",
        ),
        ("~", "`~` is followed by a text that the element shows, as in `~Sign in`"),
        ("css= ", "'css= ' names nothing: after `css=` comes a selector"),
        ("frame=#pay", "'frame=#pay' names a frame and nothing in it; write `frame=#pay >> css=button`"),
        (
            {"csss": "#a"},
            "a selector has no member 'csss'; it may have css, xpath, text, role, playwright, test_id",
        ),
        ({"css": 3}, "a selector's css is text, not int"),
        (7, "a selector is text or a dict of texts, not int"),
        ('get_by_role("button"', "'get_by_role(\"button\"' is no locator: '(' was never closed"),
        (
            'get_by_role("button").evaluate("1")',
            "'get_by_role(\"button\").evaluate(\"1\")' is no locator: it has no method 'evaluate'",
        ),
        ("get_by_text(open('/etc/passwd').read())", "is no locator: it has no method 'read'"),
        ('locator("b").filter(has_text=re.compile(open("x")))', "is no pattern, as re.compile("),
        ('locator("b").filter(has_text=re.compile("("))', "'(' is no pattern: "),
        ("locator(__import__('os').system('true'))", "is no locator: it has no method 'system'"),
        ("get_by_text(1 + x)", "'get_by_text(1 + x)' has more in it than texts and numbers"),
    ],
)
def test_what_does_not_parse_is_refused_with_the_reason(selector, message):
    with pytest.raises(SelectorError) as raised:
        parse(selector)
    assert message in str(raised.value)


def test_a_dict_gives_its_selectors_in_its_order():
    read = parse({"role": "role=button", "css_selector": "#a", "text": "Save", "xpath": "//b"})
    assert [(one.kind, one.body) for one in read] == [
        ("engine", "role=button"), ("engine", "css=#a"), ("text", "Save"), ("engine", "xpath=//b"),
    ]  # fmt: skip


@pytest.mark.thorough
@driven
@pytest.mark.parametrize(
    "selector",
    [
        "#order", "css=form button", "xpath=//button", "//button", "~Place order", "~place", "text=Place order",
        'role=button[name="Place order"]', 'get_by_role("button", name="Place order")', 'page.get_by_text("Place order")',
        'locator("form").get_by_role("button").first', 'locator("p").filter(has=get_by_text("Terms")).get_by_role("button")',
        {"css": "#nothing", "text": "Place order"}, {"css": "p", "xpath": "//button"},
    ],
    ids=str,
)  # fmt: skip
async def test_a_selector_finds_its_element(page, site, selector):
    await page.goto(site("form.html"))
    assert await (await resolve(page, selector, 1000)).get_attribute("id") == "order"


@driven
async def test_a_locator_with_arguments_that_playwright_does_not_know_is_refused(page):
    with pytest.raises(SelectorError, match=r"does not parse: .*unexpected keyword argument 'nam'"):
        await resolve(page, 'get_by_role("button", nam="Save")', 100)


@pytest.mark.thorough
@driven
async def test_elements_of_frames_and_shadow_roots_are_found(page, site):
    await page.goto(site("frames.html"))
    found = await resolve(page, "frame=#pay >> css=#inside", 3000)
    await found.click()
    assert await found.inner_text() == "Done"
    assert await (await resolve(page, "#card", 1000)).count() == 1  # in no page but the frames'
    await page.goto(site("shadow.html"))
    assert await (await resolve(page, "~Buy second", 1000)).get_attribute("class") == "buy"
    assert await (await resolve(page, "#second .buy", 1000)).inner_text() == "Buy second"


@driven
async def test_an_element_that_comes_late_is_waited_for(page, site):
    await page.goto(site("late.html"))
    assert await (await resolve(page, "#late", 3000)).inner_text() == "Late"


@driven
async def test_one_of_several_is_never_taken(page, site):
    await page.goto(site("duplicates.html"))
    with pytest.raises(AmbiguousElement, match="^4 elements match ~Add; say which$"):
        await resolve(page, "~Add", 200)
    assert (
        await (await resolve(page, {"text": "Add", "css": "section:nth-of-type(2) button"}, 200)).count() == 1
    )


@driven
async def test_nothing_is_found_after_the_time_given(page, site):
    await page.goto(site("form.html"))
    with pytest.raises(ElementNotFound, match=r"^no element matches css=#a or ~nowhere after 0.1 s$"):
        await resolve(page, {"css": "#a", "text": "nowhere"}, 100)


async def every(page):
    """Each element of a page with its durable selectors, each of which has to find exactly that element."""
    told = {}
    sight = await look(page)
    for element in sight.elements:
        locator = await locate(page, sight, element.id)
        handle = await locator.element_handle()
        selectors = await durable(locator)
        assert selectors, str(element)
        for kind, text in selectors.items():
            found = await resolve(page, {kind: text}, 500)
            assert await found.evaluate("(el, other) => el === other", handle), (str(element), kind, text)
        told[element.id] = (element, selectors)
    return told


@pytest.mark.thorough
@driven
@pytest.mark.parametrize(
    "address", ["form.html", "frames.html", "shadow.html", "duplicates.html", "canvas.html", "csp.html"]
)
async def test_durable_selectors_find_exactly_their_element(page, site, address):
    await page.goto(site(address))
    await page.wait_for_load_state("load")
    assert await every(page)


@pytest.mark.thorough
@driven
async def test_durable_selectors_are_ordered_with_playwrights_own_first(page, site):
    await page.goto(site("echo?html=<button data-testid=save id=s>Save</button>"))
    assert await durable(page.locator("#s")) == {
        "playwright": 'get_by_test_id("save")',
        "test_id": '[data-testid="save"]',
        "role": 'role=button[name="Save"]',
        "text": "~Save",
        "css": "css=#s",
        "xpath": "xpath=//*[@id='s']",
    }


@pytest.mark.thorough
@driven
async def test_what_people_typed_is_in_no_selector_and_no_fingerprint(page, site):
    await page.goto(site("secrets.html"))
    await page.fill("#note", "typed by ada")
    for one in await page.locator("input, textarea, code").all():
        told = repr([await durable(one, secret=[".api-key"]), await fingerprint(one, secret=[".api-key"])])
        for secret in ("hunter2", "4111", "987", "314159", "5500", "654", "sk-live", "diary", "typed"):
            assert secret not in told, (secret, told)


@pytest.mark.thorough
@driven
async def test_a_fingerprint_holds_what_identifies_an_element(page, site):
    await page.goto(site("form.html"))
    found = await fingerprint(page.locator("#email"))
    assert found["attributes"] == {
        "id": "email",
        "name": "email",
        "type": "email",
        "placeholder": "you@example.com",
    }
    assert (found["tag"], found["role"], found["name"], found["heading"]) == (
        "input",
        "textbox",
        "E-mail",
        "Who you are",
    )
    assert found["path"] == "html[1]/body[1]/form[1]/p[2]/label[1]/input[1]"
    assert (found["secret"], found["visible"], found["frames"]) == (False, True, [])
    await page.goto(site("frames.html"))
    inside = page.frame_locator("#own").locator("#inside")
    at = await inside.bounding_box()
    assert (await fingerprint(inside))["box"] == pytest.approx(
        [at["x"], at["y"], at["width"], at["height"]], abs=0.2
    )
    await page.goto(site("form.html"))
    link = await fingerprint(page.locator("a"))
    assert link["attributes"]["href"] == "/terms.html"  # without its query


async def all_of_a_task(page, miniwob, task):
    await page.goto(miniwob(task))
    await page.evaluate("core.EPISODE_MAX_TIME = 1e6; Math.seedrandom('a'); core.startEpisodeReal()")
    assert await every(page)


@pytest.mark.thorough
@driven
@pytest.mark.parametrize("task", ["click-color", "click-link", "click-widget", "login-user"])
async def test_durable_selectors_are_exact_on_pages_that_nobody_here_wrote(page, miniwob, task):
    await all_of_a_task(page, miniwob, task)


@driven
@pytest.mark.thorough
@pytest.mark.parametrize(
    "task",
    ["bisect-angle", "book-flight", "choose-list", "click-checkboxes-large", "click-dialog-2", "click-menu", "click-pie",
     "click-shape", "click-tab-2", "copy-paste", "email-inbox", "enter-date", "form-sequence-2", "navigate-tree",
     "search-engine", "simple-arithmetic", "use-slider-2"],
)  # fmt: skip
async def test_durable_selectors_are_exact_on_more_such_pages(page, miniwob, task):
    await all_of_a_task(page, miniwob, task)


@driven
async def test_a_pattern_as_playwright_writes_it_names_a_text_as_a_whole(page):
    await page.set_content("<div>Save</div><div>Save as</div>")
    for written in (r're.compile(r"^Save$")', r're.compile("^save$", re.IGNORECASE)'):
        (selector,) = parse(f'locator("div").filter(has_text={written})')
        assert await selector.within(page).all_inner_texts() == ["Save"]


@driven
async def test_a_field_without_a_label_has_the_text_before_it_as_its_caption(page):
    await page.set_content("""<table><tr><td>Street:</td><td><div><input id=street></div></td><td><input id=number></td></tr></table>
        <p><input type=checkbox id=news> News please</p><label>City <input id=city></label>
        <p>Secret: <b>none</b></p><button id=go>Go</button>""")
    captions = [
        (await fingerprint(page.locator(f"#{id}")))["caption"] for id in ("street", "number", "news", "go")
    ]
    assert captions == ["Street:", "", "News please", ""]


@driven
async def test_what_stands_beside_an_element_is_the_same_in_further_boxes(page):
    row = "<li><span>Ada</span> {}<span>writes</span></li>"
    near = []
    for inside in ("<button>Edit</button>", "<div><p><span><button>Edit</button></span></p></div>"):
        await page.set_content(f"<ul>{row.format(inside)}</ul>")
        near.append((await fingerprint(page.locator("button")))["near"])
    assert near[0] == near[1] == ["Ada", "writes"]
