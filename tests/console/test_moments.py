"""The page itself in the console: it is shown at the clock's moment, and selectors are tried on it, under the policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from reenact import Client
from tests.browser.filming import served
from tests.chromium import CHROMIUM
from tests.console.conftest import AXE, WATCH, serving

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here"),
]
PAGES = {
    "/": "<!doctype html><title>Shop</title><style>h1{color:teal}</style><h1>Shop</h1><a href=/cart>Cart</a><img src=/x.png>",
    "/cart": "<!doctype html><title>Cart</title><h1>Cart</h1><button id=order>Order</button><p onclick='alert(1)'>Total</p>",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    home = tmp_path_factory.mktemp("moments")
    with served(PAGES) as site, Client(home=home, executable_path=CHROMIUM).Session(headless=True) as session:
        session.execute(type="goto", url=site)
        session.execute(type="click", selector="text=Cart")
        session.execute(type="click", selector="#order")
    return home, f"/r/{Path(session.recording).name}/session/1"


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize(
    ("dark", "width"), [(False, 390), (True, 390), (True, 1024), (False, 1440), (True, 2560)]
)
async def test_a_selector_is_tried_on_the_page_of_a_past_step(chromium, session, dark, width):
    home, address = session
    with serving(home, keyless=True) as site:
        context = await chromium.new_context(
            base_url=site, viewport={"width": width, "height": 1000}, color_scheme="dark" if dark else "light"
        )
        page = await context.new_page()
        errors, asked = [], []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        await page.add_init_script(WATCH)
        await page.goto("/")
        await page.locator("[role=row] a").first.click()
        await page.get_by_role("link", name="Session").first.click()
        await page.wait_for_url(f"**{address}*")
        await page.get_by_role("tab", name="Page").click()
        await page.locator(".moment[data-shown]").wait_for()
        await page.get_by_label("Try a selector").fill('get_by_role("button", name="Order")')
        await (
            page.get_by_role("option", name="Click button “Order”")
            .or_(page.get_by_text("Click button “Order”"))
            .first.click()
        )
        await expect(page.locator(".moment-count")).to_have_text("1 element matches")
        await expect(page.frame_locator(".moment-page").locator("h1")).to_have_text("Cart")
        await page.get_by_text("Click link “Cart”").first.click()
        await expect(page.locator(".moment-count")).to_have_text("No elements match")
        await expect(page.frame_locator(".moment-page").locator("h1")).to_have_text("Shop")
        await page.get_by_label("Try a selector").fill("text=Cart")
        await page.get_by_label("Try a selector").press("Enter")
        await expect(page.locator(".moment-facts h2")).to_have_text("link “Cart”")
        assert errors == []
        assert await page.evaluate("window.violations") == []
        assert not [url for url in asked if not url.startswith((site, "data:", "blob:", "about:"))]
        await page.evaluate(AXE.read_text())
        found = await page.evaluate(
            "() => axe.run(document, { iframes: false }).then((all) => all.violations.map((one) => `${one.id}: ${one.nodes[0].html}`))"
        )
        assert found == []
        assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")
        await context.close()
