"""Who comes to a team's server without a key."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from reenact.server.keys import Keys
from tests.console.conftest import serving

driven = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.thorough
@driven
async def test_who_has_no_key_is_asked_for_one_and_comes_where_he_wanted(chromium, home, ids):
    keys = Keys(home[0])
    _, text = keys.make(role="read", name="a person")
    keys.close()
    with serving(home[0]) as address:
        page = await chromium.new_page()
        await page.goto(f"{address}/r/{ids['first']}/2")
        await page.get_by_label("API key").fill("rk_not_a_key")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_be_visible()
        await page.get_by_label("API key").fill(text)
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile(f"/r/{ids['first']}/2$"))
        await expect(page.get_by_role("heading", name="support", level=1)).to_be_visible()
        assert await page.evaluate("document.cookie") == ""
        await page.goto(f"{address}/login?to=//evil.example/")
        await page.get_by_label("API key").fill(text)
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{address}/")
        await page.close()
