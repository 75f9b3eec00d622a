"""heal="auto": a failed step is mended before anybody is asked, the script goes on, and what was learned is kept."""

from __future__ import annotations

import functools
import shutil
from contextlib import contextmanager
from contextvars import copy_context
from decimal import Decimal
from urllib.parse import quote

import pytest

import reenact
from reenact import Client
from reenact.browser.actions import aim
from reenact.browser.effects.calls import arun
from reenact.browser.effects.operations import Operation
from reenact.browser.heal import ladder
from tests.browser.agent.scripted import Scripted, click, done
from tests.browser.conftest import Shared

SHOP = """<title>Shop</title><h1>Tea</h1><div id=box><label>Name <input id=name></label>
<button id=buy data-test=buy onclick="said.textContent = 'sold to ' + document.querySelector('input').value">Buy tea</button>
</div><p id=said>nothing sold</p>"""
RENAMED = SHOP.replace("id=buy", "id=b-1")
OTHER = (
    SHOP.replace("id=buy data-test=buy", "id=leave")
    .replace("Buy tea", "Leave")
    .replace("'sold to '", "'left by '")
) + "<button>Stay</button>"
LATE = SHOP.replace("</p>", "</p><script>buy.hidden = true</script>")


def script(session, html, **options):
    """The script's block on a page, and what the page says in the end."""
    session.core.outcomes.clear()
    session.execute(type="goto", url=f"{session.site}echo?html={quote(html)}")
    with Client().AgentFallback(session, task="Buy tea", heal="auto", **options) as fb:
        session.execute(type="click", selector="#buy", timeout=600)
        session.execute(type="click", selector="#buy, #b-1, #leave", timeout=600)
    return fb, session.execute(type="evaluate_js", code="said.textContent").data


@pytest.fixture(scope="module")
def opened(open_session, chromium, site):
    """Makes the script's session, in a browser that all share."""

    @contextmanager
    def one(home):
        with open_session(home=home, name="buy", cdp_url=chromium) as session:
            session.site = site("")
            yield session

    return one


@pytest.fixture(scope="module")
def learned(opened, tmp_path_factory):
    """Makes homes in which the script has run well once."""
    once = tmp_path_factory.mktemp("learned")
    with pytest.MonkeyPatch.context() as patch:
        # A busy machine: what a step led to is to be known all the same.
        patch.setattr("reenact.browser.page.consequence.PATIENCE", 10)
        with opened(once) as session:
            assert script(session, SHOP)[0].success
        yield lambda: shutil.copytree(once, tmp_path_factory.mktemp("home") / "home")


@pytest.fixture(scope="module")
def running(open_session, chromium, site, learned):
    """A later session of the script, which the tests share; what else they record is no part of its recording."""
    context = copy_context()
    shared = Shared(functools.partial(open_session, home=learned(), name="buy", cdp_url=chromium))
    yield functools.partial(context.run, shared)
    context.run(shared.stop)


@pytest.fixture
def buy(running, site):
    """The script, on a page that has changed."""
    session = running()
    session.site = site("")
    return functools.partial(script, session)


def test_what_earlier_runs_know_mends_a_step_and_the_script_goes_on(buy):
    fb, said = buy(RENAMED)
    assert (fb.success, fb.agent_invoked, fb.error, said) == (True, False, None, "sold to ")
    assert [(step.success, step.actor) for step in fb.steps] == [(True, "heal"), (True, "script")]
    assert fb.skipped == []
    (heal,) = fb.heals
    assert (heal.rung, heal.old, heal.verified, heal.cost) == ("alternative", "#buy", True, Decimal(0))
    assert heal.file == __file__
    assert heal.function == "script"
    patch = fb.suggested_patch()
    assert '-        session.execute(type="click", selector="#buy", timeout=600)' in patch.splitlines()
    assert fb.cost == 0


@pytest.mark.thorough
def test_a_late_element_is_waited_for_and_teaches_nothing_to_write(buy, monkeypatch):
    async def shown_soon(browser, call):
        await browser.page.evaluate("setTimeout(() => buy.hidden = false, 50) && null")

    async def shown_while_it_is_mended(session, failed, **options):
        await arun(session.core.driver.run(Operation("show", shown_soon, lambda _: {}, kind="heal")))
        return await climb(session, failed, **options)

    climb = ladder.climb
    monkeypatch.setattr(ladder, "climb", shown_while_it_is_mended)
    monkeypatch.setattr(
        aim, "LEAST", 60
    )  # the step ends by its own time-out, and not because the page is quiet
    fb, said = buy(LATE)
    assert (fb.success, [heal.rung for heal in fb.heals], said) == (True, ["wait"], "sold to ")
    assert "@@" not in fb.suggested_patch()


@pytest.mark.thorough
def test_another_element_is_not_taken_for_it_and_without_a_model_the_block_stops_there(buy):
    fb, said = buy(OTHER)
    assert (fb.success, fb.agent_invoked, said) == (False, False, "nothing sold")
    assert "#buy" in fb.error
    assert [step.success for step in fb.steps] == [False]
    assert len(fb.skipped) == 1


@pytest.mark.thorough
def test_where_nothing_cheaper_is_of_help_the_agent_is_called(buy):
    none = {"reasoning": "none of them sells", "element": "none", "confidence": 1.0}
    model = Scripted(none, click("button", "Leave"), done("left"))
    fb, said = buy(OTHER, reasoning_model=model.model)
    assert (fb.success, fb.agent_invoked, said) == (True, True, "left by ")
    assert fb.heals[-1].rung == "agent"
    assert len(fb.skipped) == 1


@pytest.mark.thorough
def test_what_was_mended_is_not_enough_where_something_else_is_expected(buy, monkeypatch):
    monkeypatch.setattr("reenact.browser.heal.expect.PATIENCE", 0.2)
    fb, _ = buy(RENAMED, expect="sold out")
    assert fb.success is False
    assert fb.heals[0].verified
    assert "sold out" in fb.error


@pytest.mark.thorough
def test_a_mended_run_is_replayed_without_a_browser_and_without_the_runs_it_learned_from(
    opened, learned, tmp_path, monkeypatch
):
    home = learned()

    def run():
        with opened(home) as session:
            fb, said = script(session, LATE)
            return [said, fb.duration, fb.heals, fb.steps[0].message]

    with reenact.record("learned", home=tmp_path / "one") as recording:
        recording.output = run()
    monkeypatch.setenv("REENACT_BROWSER", "/nowhere")
    with reenact.replay(recording.id, home=tmp_path / "one") as replay:
        replay.output = run()
    assert replay.verdict.divergences == ()
    assert replay.output == recording.output


@pytest.mark.thorough
@pytest.mark.usefixtures("learned")
async def test_a_loop_is_mended_too(open_session, chromium, site, tmp_path):
    async def script(html):
        async with open_session(home=tmp_path, name="loop", cdp_url=chromium) as session:
            await session.aexecute(type="goto", url=site(f"echo?html={quote(html)}"))
            async with Client().AgentFallback(
                session, task="Buy tea", heal="auto", expect="sold to Ada"
            ) as fb:
                await session.aexecute(type="fill", selector="#name", value="Ada")
                await session.aexecute(type="click", selector="#buy", timeout=600)
            return fb

    assert (await script(SHOP)).heals == []
    fb = await script(RENAMED)
    assert (fb.success, fb.agent_invoked, [heal.rung for heal in fb.heals]) == (True, False, ["alternative"])
    assert fb.steps[1].actor == "heal"
