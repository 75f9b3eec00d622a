"""A page that may still change by itself shows it: by a timer, a request without an answer, or its own words."""

from __future__ import annotations

from urllib.parse import quote

import pytest
import pytest_asyncio

from reenact.browser.page.pending import pending, watch_timers

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def watched(shared_tab):
    """Notes the timers of the tab."""
    page = await shared_tab.emptied()
    await watch_timers(page.context)


@pytest.fixture
def signs(watched, page, monkeypatch):
    """Opens a document; returns the signs that it may change within a minute."""
    monkeypatch.setattr("reenact.browser.page.pending.PATIENCE", 60)

    async def look(html="", *, after="", awaited=0):
        if html:
            await page.goto("data:text/html;charset=utf-8," + quote(html))
        if after:
            await page.evaluate(after)
        return await pending(page, awaited, 60)

    return look


@pytest.mark.parametrize(
    "script",
    [
        "setTimeout(() => 0, 30000)",
        "setTimeout('0', '30000')",
        "clearTimeout(setTimeout(() => 1, 30000)); setTimeout(() => 2, 30000)",
        "for (let n = 0; n < 3000; n += 1) setTimeout(() => n, 30000)",
    ],
)
async def test_a_timer_that_fires_in_time_is_a_sign(signs, script):
    (sign,) = await signs(f"<script>{script}</script>")
    assert sign.startswith("a timer of the page, in ")


async def test_a_timer_of_a_frame_is_a_sign(signs):
    assert await signs("<iframe srcdoc='<script>setTimeout(() => 0, 30000)</script>'></iframe>")


@pytest.mark.parametrize(
    "script",
    [
        "",
        "setTimeout(() => 0, 900000)",
        "setTimeout(() => 0, 10)",
        "setTimeout(() => 0)",
        "clearTimeout(setTimeout(() => 0, 30000))",
        "setInterval(() => 0, 30000)",
        "clearInterval(setTimeout(() => 0, 30000))",
        "setTimeout(() => 0, {valueOf: () => { throw 1 }})",
    ],
)
async def test_no_timer_a_late_one_and_a_cleared_one_are_no_signs(signs, script):
    assert await signs(f"<script>try {{ {script} }} catch {{}}</script><button>Save</button>") == []


REPEATED = """<p id=n>0</p><script>
function poll() { n.textContent = +n.textContent + 1; if (+n.textContent < 2) setTimeout(poll, 150) }
setTimeout(poll, 150)
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
</script>"""


async def test_a_timer_like_one_that_has_fired_is_a_poll_until_the_user_acts(signs, page):
    await signs(REPEATED)
    await page.wait_for_function("n.textContent === '2'")
    assert await signs(after="for (let n = 0; n < 2; n += 1) setTimeout(poll, 150)") == []
    await page.evaluate("void sleep(150).then(() => sleep(30000))")
    await page.wait_for_timeout(300)
    assert len(await signs()) == 1
    await page.mouse.click(5, 5)
    assert await signs(after="setTimeout(poll, 30000)")


async def test_the_functions_of_timers_look_and_work_as_before(signs, page):
    await signs("<p>Quay</p>")
    told = await page.evaluate("""async () => {
      const given = await new Promise((done) => setTimeout((...args) => done(args), 120, "a", "b"));
      return [given, String(setTimeout).includes("[native code]"), setTimeout.name, setTimeout.length,
        Object.getOwnPropertyNames(window).filter((one) => /reenact/i.test(one))];
    }""")
    assert told == [["a", "b"], True, "setTimeout", 1, []]


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("<p>Loading</p>", '"Loading"'),
        ("<p>Loading the crew list…</p>", '"Loading"'),
        ("<div>Bitte warten ...</div>", '"Bitte warten"'),
        ("<main aria-busy=true>Crew</main>", "that it is busy"),
        ("<div role=progressbar>.</div>", "that it makes progress"),
        ("<progress></progress>", "that it makes progress"),
    ],
)
async def test_a_page_that_says_it_is_loading_shows_it(signs, html, said):
    assert await signs(html) == [f"the page says {said}"]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Loading bay 3</p>",
        "<p hidden>Loading…</p>",
        "<script type=text/plain>Loading…</script>",
        "<progress value=3 max=10></progress>",
        "<div role=progressbar aria-valuenow=70>70 percent of the storage</div>",
        "<main aria-busy=false>Crew</main>",
    ],
)
async def test_other_words_hidden_ones_and_gauges_are_no_signs(signs, html):
    assert await signs(html) == []


async def test_requests_without_an_answer_are_a_sign(signs):
    assert await signs("<p>Quay</p>", awaited=1) == ["a request without an answer"]
    assert await signs(awaited=2) == ["2 requests without an answer"]


async def test_a_page_that_does_not_answer_in_time_is_busy(signs, monkeypatch):
    await signs("<p>Quay</p>")
    monkeypatch.setattr("reenact.browser.page.pending.PATIENCE", 0)
    assert await signs() == ["the page does not answer"]


async def test_a_page_that_answers_nonsense_shows_nothing(signs):
    html = """<script>document.addEventListener("reenact-timers", (event) => {
      event.detail.push("soon", NaN, Infinity, {}); event.detail.length = 3 }, true);
      Object.prototype.toJSON = () => { throw 1 };</script><button>Save</button>"""
    assert await signs(html) == []
