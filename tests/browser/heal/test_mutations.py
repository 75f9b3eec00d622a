"""Each mutation does what it says, the page goes on working, and nobody on the page can see which element is meant."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from reenact.browser.heal.harden.mutations import KINDS, MutablePage, right, wrong

driven = pytest.mark.asyncio(loop_scope="session")

PAGE = """<title>Form</title><style>.primary { color: rgb(1, 2, 3); position: static }</style>
<main id=main><h1>Sign up</h1>
<form id=form onsubmit="document.title = 'sent ' + document.getElementById('mail').value; return false">
  <p class=row><label for=mail>Email</label> <input id=mail class=field name=mail data-test=mail></p>
  <p class=row><label for=city>City</label> <input id=city class=field name=city></p>
  <div class=actions><button id=save class=primary data-test=save name=go>Submit</button>
  <button type=button class=quiet>Cancel</button></div>
</form></main>"""

CHANGED = {
    "rename": "!document.getElementById('save') && document.querySelector('button').textContent === 'Submit'"
    " && getComputedStyle(document.querySelector('button')).color === 'rgb(1, 2, 3)'",
    "wrap": "!document.querySelector('.actions > #save') && !!document.querySelector('.actions #save')",
    "move": "!document.querySelector('.actions > #save:first-child')",
    "relabel": "document.getElementById('save').textContent === 'Send'",
    "attributes": "!document.querySelector('[data-test=save], #save, [name=go]')",
    "late": "!document.getElementById('save')",
    "overlay": "!document.elementFromPoint(40, 200).closest('#main')",
    "variant": "!document.getElementById('save') && document.body.innerText.includes('Submit')",
    "decoy": "document.querySelectorAll('button').length === 3 && !document.getElementById('save')",
    "redesign": "!document.getElementById('save')",
    "gone": "![...document.querySelectorAll('button')].some(one => one.textContent === 'Submit')",
}
"""What is so on the page after each."""


async def opened(page, site):
    await page.goto(site("echo?html=" + quote(PAGE)))
    return MutablePage(page)


async def mutated(page, site, kind, seed=3, selector="#save"):
    stage = await opened(page, site)
    element = await page.query_selector(selector)
    return stage, element, await stage.mutate(element, kind, seed)


def test_every_kind_is_looked_at():
    assert CHANGED.keys() == KINDS.keys()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@driven
async def test_a_mutation_does_what_it_says(page, site, kind):
    _, _, told = await mutated(page, site, kind)
    assert told
    assert await page.evaluate(CHANGED[kind])


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"gone", "overlay"}])
@driven
async def test_the_page_goes_on_working_and_tells_that_the_right_one_was_met(page, site, kind):
    stage, _, _ = await mutated(page, site, kind)
    await page.get_by_label("Email").evaluate("el => { el.value = 'ada' }")
    await (
        page.get_by_text("Submit", exact=True)
        .or_(page.get_by_text("Send", exact=True))
        .or_(page.get_by_text("SUBMIT"))
        .first.click(timeout=2000)
    )
    hits = await stage.hits()
    assert right(hits)
    assert wrong(hits) is None
    assert await page.title() == "sent ada"


@driven
async def test_a_click_elsewhere_is_a_wrong_one(page, site):
    stage, _, _ = await mutated(page, site, "rename")
    await page.get_by_text("Cancel").click()
    hits = await stage.hits()
    assert not right(hits)
    assert wrong(hits).what == "button Cancel"


@pytest.mark.thorough
@driven
async def test_to_dismiss_the_banner_is_no_wrong_click_and_it_goes_away(page, site):
    stage, _, told = await mutated(page, site, "overlay")
    await page.get_by_role("button", name=told.split('"')[1]).click()
    assert wrong(await stage.hits()) is None
    await page.click("#save", timeout=2000)
    assert right(await stage.hits())


@driven
async def test_a_filled_field_counts_also_where_its_label_was_clicked(page, site):
    stage, _, _ = await mutated(page, site, "rename", selector="#mail")
    await page.get_by_text("Email").click()
    await page.get_by_label("Email").fill("ada@example.com")
    hits = await stage.hits()
    assert [one.hit for one in hits] == [True] * len(hits)
    assert {one.type for one in hits} == {"click", "input"}


@driven
async def test_the_names_are_back_while_the_page_handles_an_event_and_gone_again_after_a_wrong_one(
    page, site
):
    stage, _, _ = await mutated(page, site, "rename")
    await page.evaluate(
        "addEventListener('click', () => { window.seen = !!document.getElementById('mail') })"
    )
    await page.get_by_text("Cancel").click()
    await page.wait_for_timeout(20)
    assert await page.evaluate("[seen, !!document.getElementById('save')]") == [True, False]
    await stage.close()


@pytest.mark.thorough
@driven
async def test_what_comes_late_comes(page, site):
    _, element, _ = await mutated(page, site, "late")
    await page.wait_for_selector("#save", timeout=2000)
    assert await element.evaluate("el => el === document.getElementById('save')")


@pytest.mark.thorough
@driven
async def test_the_same_seed_makes_the_same_change(page, site):
    async def done(kind, seed):
        _, _, told = await mutated(page, site, kind, seed)
        return told, await page.content()

    for kind in ("rename", "move", "overlay", "redesign"):
        assert await done(kind, 7) == await done(kind, 7)
    assert len({(await done("rename", seed))[1] for seed in range(3)}) == 3


@driven
async def test_neither_the_page_nor_a_reader_of_it_sees_which_element_is_meant(page, site):
    stage = await opened(page, site)
    seen = """() => [document.documentElement.outerHTML, Object.getOwnPropertyNames(globalThis).sort().join(),
        Object.getOwnPropertyNames(document.getElementById('save')).join(), document.adoptedStyleSheets.length]"""
    before = await page.evaluate(seen)
    await stage.mutate(await page.query_selector("#save"), "none", 1)
    assert await page.evaluate(seen) == before
    assert await page.evaluate("typeof hardening + typeof reenactHit") == "undefinedundefined"


@driven
async def test_what_cannot_be_told_from_its_like_is_not_moved_or_called_otherwise(page, site):
    stage = await opened(page, site)
    await page.evaluate("document.querySelector('.quiet').textContent = 'Submit'")
    element = await page.query_selector("#save")
    for kind in ("move", "relabel", "decoy", "gone"):
        assert await stage.mutate(element, kind, 1) is None


@driven
async def test_a_field_is_moved_with_its_label(page, site):
    _, _, told = await mutated(page, site, "move", selector="#mail")
    assert told
    assert await page.evaluate("document.getElementById('mail').labels[0].nextElementSibling?.id") == "mail"


@driven
async def test_a_field_that_was_filled_before_and_loses_the_focus_was_not_acted_on(page, site):
    stage = await opened(page, site)
    await page.fill("#city", "London")
    await stage.mutate(await page.query_selector("#save"), "wrap", 1)
    await page.click("#save")
    assert wrong(await stage.hits()) is None
