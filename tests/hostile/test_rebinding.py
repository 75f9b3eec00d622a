"""A name whose answer changes after it was checked leads a real Chromium to no machine that is forbidden."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

import pytest
from playwright.sync_api import Error, sync_playwright

from reenact.browser.isolation import egress as module
from reenact.browser.isolation.addresses import Reach
from reenact.browser.isolation.egress import Egress
from tests.chromium import CHROMIUM, headless
from tests.hostile.test_browser_addresses import CANARY
from tests.hostile.test_browser_ways import ATTACKER, _Attacker, _Canary, _Server

FETCH = "path => fetch(path, {cache: 'no-store'}).then(r => r.text(), e => 'refused: ' + e)"


class Names:
    """A resolver of the test's own: it gives the answers for a name one after the other, the last one for ever."""

    def __init__(self):
        self.answers = []

    def __call__(self, host, port):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def names(monkeypatch):
    one = Names()
    monkeypatch.setattr(module, "resolve", one)
    return one


@pytest.fixture
def proxy():
    """The port of a proxy that lets a browser go to the attacker's address alone."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    one = Egress(Reach.of([ATTACKER]))
    yield asyncio.run_coroutine_threadsafe(one.start(), loop).result(30)
    asyncio.run_coroutine_threadsafe(one.stop(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(30)
    loop.close()


@pytest.fixture
def servers():
    """The attacker's server and the canary's, at the same port of two addresses."""
    try:
        attacker = _Server(ATTACKER, 0, _Attacker)
    except OSError:
        pytest.skip("this machine's loopback has one address")
    canary = _Server("127.0.0.1", attacker.server_port, _Canary)
    yield attacker.server_port
    for one in (attacker, canary):
        one.shutdown()
        one.server_close()
    assert canary.came == []


@pytest.fixture
def page(proxy):
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROME")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=headless(),
            args=["--no-sandbox"],
            proxy={"server": f"socks5://127.0.0.1:{proxy}", "bypass": "<-loopback>"},
        )
        yield browser.new_page()
        browser.close()


@pytest.mark.thorough
def test_a_name_that_leads_elsewhere_after_the_page_was_opened_is_refused(page, names, servers):
    port = servers
    names.answers = [[ATTACKER]]
    page.goto(f"http://rebind.test:{port}/page?to=opened")
    assert "opened" in page.content()
    for inner in (
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["169.254.169.254"],
        ["10.0.0.1"],
        ["64:ff9b::7f00:1"],
    ):
        names.answers = [inner]
        assert page.evaluate(FETCH, "/secret").startswith("refused")
    names.answers = [["127.0.0.1"]]
    with pytest.raises(Error):
        page.goto(f"http://rebind.test:{port}/")


@pytest.mark.thorough
def test_an_answer_that_changes_with_each_question_never_leads_past_the_check(page, names, servers):
    port = servers
    seen = []
    for _ in range(10):
        names.answers = [[ATTACKER], ["127.0.0.1"]]
        # Another connection of the browser's may have had the first answer.
        with suppress(Error):
            page.goto(f"http://rebind.test:{port}/page?to=opened")
            seen.append(page.evaluate(FETCH, "/secret"))
    assert all(CANARY not in one for one in seen)


@pytest.mark.thorough
def test_of_several_answers_the_forbidden_are_passed_over(page, names, servers):
    port = servers
    names.answers = [["127.0.0.1", "::1", ATTACKER]]
    page.goto(f"http://rebind.test:{port}/page?to=opened")
    assert "opened" in page.content()
