"""How alike two elements are, and which of a page are most like one that is sought."""

from __future__ import annotations

import pytest

from reenact.browser.page.likeness import alike, likeness, similar, sought
from reenact.browser.page.selectors import fingerprint, parse

driven = pytest.mark.asyncio(loop_scope="session")


def test_texts_are_alike_by_their_letters_and_words():
    assert alike("Sign in", "sign-in") == 1
    assert alike("signIn", "Sign in") == 1
    assert alike("Forgot password", "Forgot your password?") > 0.6
    assert alike("Delete", "Help") < 0.4
    assert alike("", "x") == 0


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("#save", {"attributes": {"id": "save"}, "words": "save"}),
        (
            "css=form > button.primary[type='submit']",
            {"attributes": {"type": "submit"}, "classes": ["primary"], "words": "primary", "tag": "button"},
        ),
        ("~Sign in", {"attributes": {}, "shown": "Sign in"}),
        ('get_by_role("button", name="Sign in")', {"attributes": {}, "role": "button", "name": "Sign in"}),
        ('get_by_test_id("x")', {"attributes": {"data-testid": "x"}}),
        ('role=link[name="Home"]', {"attributes": {}, "role": "link", "name": "Home"}),
        ("xpath=//div/a[@href='/x']", {"attributes": {"href": "/x"}, "tag": "a", "words": "/x"}),
        ("xpath=//button[text()='Go']", {"attributes": {}, "tag": "button", "shown": "Go"}),
        ("button:has-text('Go')", {"attributes": {}, "tag": "button", "shown": "Go"}),
    ],
)
def test_a_selector_says_what_its_element_is(selector, said):
    assert sought(parse(selector)) == said


@driven
async def test_an_element_is_most_like_itself_with_a_score_of_one(page, site):
    await page.goto(site("form.html"))
    for selector in ("#email", "#order", "#colour", "a", "#bare"):
        target = page.locator(selector)
        first, second = (await similar(await fingerprint(target), page))[:2]
        assert first.score == 1.0 > second.score
        assert await first.locator.evaluate("(el, other) => el === other", await target.element_handle())
        assert likeness(await fingerprint(target), first.fingerprint)[1] == first.parts


@driven
async def test_a_changed_element_is_found_again_by_what_is_left_of_it(page, site):
    await page.goto(site("form.html"))
    known = await fingerprint(page.locator("#order"))
    await page.evaluate("""() => {
        const old = document.getElementById("order");
        old.id = "submit-42"; old.textContent = "Order now"; old.className = "new";
        document.body.insertAdjacentHTML("afterbegin", "<div><button>Search</button><button>Menu</button></div>");
    }""")
    matches = await similar(known, page)
    assert await matches[0].locator.get_attribute("id") == "submit-42"
    assert matches[0].score - matches[1].score > 0.1
    assert all(0 <= one.score <= 1 for one in matches)
    assert [one.score for one in matches] == sorted((one.score for one in matches), reverse=True)


@driven
async def test_equal_pages_and_fingerprints_give_equal_scores(page, site):
    await page.goto(site("duplicates.html"))
    known = await fingerprint(page.locator("button").nth(2))
    one, other = [[(m.score, m.fingerprint["path"]) for m in await similar(known, page)] for _ in range(2)]
    assert one == other
    assert one[0][1].startswith("html[1]/body[1]/section[3]")


@driven
async def test_elements_in_frames_and_shadow_roots_are_candidates(page, site):
    await page.goto(site("frames.html"))
    target = page.frame_locator("#pay").locator("#inside")
    first = (await similar(await fingerprint(target), page))[0]
    assert (first.score, first.fingerprint["frames"]) == (1.0, ["#pay"])
    await first.locator.click()
    assert await target.inner_text() == "Done"
    await page.goto(site("shadow.html"))
    target = page.locator("#second").locator(".buy")
    first = (await similar(await fingerprint(target), page))[0]
    assert first.score == 1.0
    assert await first.locator.inner_text() == "Buy second"


@pytest.mark.thorough
@driven
async def test_of_many_candidates_a_few_come_back(page, site):
    await page.goto(site("rows.html"))
    matches = await similar({"role": "link", "name": "Row 7001"}, page, most=5)
    assert len(matches) == 5
    assert await matches[0].locator.inner_text() == "Row 7001"
