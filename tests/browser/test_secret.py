"""What must not be shown, and what is read of a page."""

from __future__ import annotations

import pytest

from reenact.browser.actions.why import why
from reenact.browser.page.likeness import similar
from reenact.browser.page.scrape import images, markdown
from reenact.browser.page.secret import is_secret
from reenact.browser.page.selectors import durable, fingerprint, resolve
from reenact.browser.page.snapshot import look

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_secret_fields_are_known_by_type_purpose_and_name(page, site):
    await page.goto(site("secrets.html"))
    for secret in ("password", "shown", "new", "card", "csc", "otp", "by", "cvv_field"):
        assert await is_secret(page.locator(f"#{secret}")), secret
    for open_one in ("user", "passenger", "note"):
        assert not await is_secret(page.locator(f"#{open_one}")), open_one


async def test_what_the_user_names_is_secret(page, site):
    await page.goto(site("secrets.html"))
    code = page.locator(".api-key")
    assert not await is_secret(code)
    for selector in (".api-key", "css=code", "~sk-live", "xpath=//code"):
        assert await is_secret(code, [selector]), selector


async def test_a_page_is_read_as_markdown(page, site):
    await page.goto(site("article.html"))
    text = await markdown(page)
    assert text == (
        f"# On trees\n\nTrees are **tall**, says [a friend]({site('who.html')}).\n\n- Oak\n- Elm\n\n"
        f"| Tree | Height |\n| --- | --- |\n| Oak | 30 m |\n\n![A tree]({site('pixel.png')})"
    )
    assert "a friend." in await markdown(page, links=False)
    assert "Imprint" in await markdown(page, only_main_content=False)
    assert await markdown(page, page.locator("ul")) == "- Oak\n- Elm"
    assert [(one["url"], one["alt"]) for one in await images(page)] == [(site("pixel.png"), "A tree")]


async def test_a_page_read_as_markdown_holds_no_secret(page, site):
    await page.goto(site("secrets.html"))
    text = await markdown(page, secret=[".api-key"])
    for secret in ("hunter2", "4111", "314159", "sk-live"):
        assert secret not in text
    assert "ada" in text


WATCH = """() => {
    window.seen = [];
    window.before = null;
    window.before = [Object.getOwnPropertyNames(window).length, document.documentElement.outerHTML];
    const watch = (root) => {
        new MutationObserver((all) => window.seen.push(...all.map((one) => one.type + " " + one.target.nodeName))).observe(
            root, { subtree: true, childList: true, attributes: true, characterData: true });
        for (const el of root.querySelectorAll("*")) if (el.shadowRoot) watch(el.shadowRoot);
    };
    watch(document);
    for (const type of ["focus", "blur", "scroll", "click", "mousemove", "input"])
        addEventListener(type, (event) => window.seen.push(type), true);
}"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "address", ["form.html", "shadow.html", "secrets.html", "csp.html", "banner.html", "canvas.html"]
)
async def test_nothing_that_is_read_changes_the_page(page, site, address):
    await page.goto(site(address))
    await page.evaluate(WATCH)
    sight = await look(page, boxes=True)
    assert sight.elements
    for selector in ("button", "input"):
        for one in await page.locator(selector).all():
            await durable(one)
            await similar(await fingerprint(one), page)
            await is_secret(one, ["~x"])
            await why(page, "click", one, "Timeout")
    await why(page, "click", "~nothing of the kind", "Timeout")
    await resolve(page, {"css": "title"}, 100)
    await markdown(page)
    await page.evaluate("new Promise((go) => setTimeout(go, 20))")
    assert await page.evaluate("window.seen") == []
    assert await page.evaluate(
        "window.before[0] === Object.getOwnPropertyNames(window).length && window.before[1] === document.documentElement.outerHTML"
    )


async def test_a_page_that_has_changed_javascript_itself_is_read_all_the_same(page, site):
    await page.goto(site("form.html"))
    await page.evaluate("""() => {
        Element.prototype.getAttribute = () => { throw new Error("mine") };
        Array.prototype.map = () => { throw new Error("mine") };
        Document.prototype.querySelectorAll = () => [];
    }""")
    assert len((await look(page)).elements) > 8
    assert (await similar({"role": "button", "name": "Place order"}, page))[0].score == 1.0
