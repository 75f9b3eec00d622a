"""The shop's example: a session with an agent, recorded and filmed in a real browser, and watched."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from reenact.browser.watch import write
from reenact.core.store.local import LocalStore
from tests.chromium import CHROMIUM, headless

FOLDER = Path(__file__).parents[2] / "examples" / "lamp_shop"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chrome or Chromium is installed here")


@pytest.fixture
def program(monkeypatch):
    pytest.importorskip("pydantic_ai")
    found = importlib.util.spec_from_file_location("buy", FOLDER / "buy.py")
    module = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, "buy", module)
    found.loader.exec_module(module)
    return module


@pytest.mark.thorough
def test_an_agent_that_fails_is_watched_with_its_thoughts_its_reason_and_its_pictures(program, home, capsys):
    sync_api = pytest.importorskip("playwright.sync_api")
    with program.opened() as shop:
        folder = LocalStore().folder(program.buy(shop, hasty=True))
    assert capsys.readouterr().out == "I could not pay.\n"
    file = write(folder, folder / "page.html", frames=True)
    assert "correct horse" not in file.read_text()
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=headless())
        page = browser.new_page()
        page.goto(file.as_uri())
        page.locator("body[data-whole]").wait_for()
        page.keyboard.press("n")
        assert page.locator(".url").text_content() == f"{shop}/checkout.html"
        assert "Click button “Pay now”" in page.locator(".column h2").text_content()
        assert "covered by" in page.locator(".why p").text_content()
        assert page.locator("svg.failed .ring").count() == 1
        page.locator("canvas[data-picture]").wait_for()
        page.keyboard.press("2")
        assert "Now I can pay." in page.locator(".message.answer").text_content()
        page.keyboard.press("5")
        assert 'button "Accept all"' in page.locator(".column pre").text_content()
        browser.close()
