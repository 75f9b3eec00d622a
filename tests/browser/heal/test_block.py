"""The block against real pages: what the script does, what the agent does instead, and what is said about both."""

from __future__ import annotations

from decimal import Decimal

import pytest
from playwright.async_api import Error

import reenact
from reenact.browser.actions.types import MASK
from reenact.browser.heal.block import AGENT_PARAMS
from reenact.errors import ActionError, SessionError, UsageError
from tests.browser.agent.conftest import SHOP, page
from tests.browser.agent.scripted import click, done

GONE = {"type": "click", "selector": "#gone", "timeout": 1}


def said(session):
    return session.execute(type="evaluate_js", code="document.querySelector('#said').textContent").data


# -- as documented -----------------------------------------------------------------------------------------------


def test_a_script_that_works_runs_as_it_is_and_calls_nobody(shop, fallback):
    block, model = fallback(shop, done())
    with block as fb:
        first = shop.execute(type="fill", selector="#name", value="Ada")
        shop.execute(type="click", selector="text=Buy")
    assert (fb.success, fb.agent_invoked, fb.agent_response, fb.error) == (True, False, None, None)
    assert [step.action.type for step in fb.steps] == ["fill", "click"]
    assert fb.steps[0] is first
    assert (fb.skipped, fb.heals, fb.cost) == ([], [], Decimal(0))
    assert fb.duration > 0
    assert model.told == []
    assert said(shop) == "sold green to Ada (0)"


@pytest.mark.thorough
def test_the_first_step_that_fails_calls_an_agent_at_once_and_the_rest_is_skipped(shop, fallback):
    block, _ = fallback(shop, click("button", "Buy"), done("bought"), max_steps=4)
    with block as fb:
        shop.execute(type="fill", selector="#name", value="Ada")
        failed = shop.execute(GONE)
        # It was through when the call came back.
        assert fb.agent_response.answer == "bought"
        later = shop.execute(type="fill", selector="#name", value="Bob")
        again = shop.execute(type="click", selector="#none", timeout=1)
    assert (fb.success, fb.agent_invoked) == (True, True)
    assert failed.success is False
    assert isinstance(failed.exception, ActionError)
    assert fb.error == failed.message
    assert (later.success, again.success) == (True, True)
    assert "skipped" in later.message
    assert [step.success for step in fb.steps] == [True, False]
    assert [step["action"] for step in fb.agent_response.steps] == ["click", "completion"]
    assert [one["type"] for one in fb.skipped] == ["fill", "click"]
    assert said(shop) == "sold green to Ada (0)"


@pytest.mark.thorough
def test_the_agent_is_told_the_task_the_error_and_what_the_script_did_in_the_block(shop, fallback):
    shop.execute(type="fill", selector="#name", value="before the block")
    block, model = fallback(shop, done())
    with block as fb:
        shop.execute(type="fill", selector="#name", value="Ada")
        failed = shop.execute(GONE)
    told = model.told[0]
    assert "# Task\nBuy green tea" in told
    assert f"got stuck: {failed.message}" in told
    assert 'value="Ada"' in told
    assert "before the block" not in told.split("# The page now")[0]
    assert fb.agent_response.task == "Buy green tea"


def test_an_agent_that_does_not_get_there_leaves_the_block_failed(shop, fallback):
    block, _ = fallback(shop, done("sold out", success=False))
    with block as fb:
        shop.execute(GONE)
    assert (fb.success, fb.agent_invoked, fb.agent_response.success) == (False, True, False)


def test_an_agent_that_runs_out_of_steps_has_not_succeeded(shop, fallback):
    block, _ = fallback(shop, {"type": "wait", "time_ms": 1}, max_steps=2)
    with block as fb:
        shop.execute(GONE)
    assert len(fb.agent_response.steps) == 2
    assert fb.success is False


def test_an_answer_takes_the_form_that_is_asked_for(shop, fallback):
    form = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
    block, _ = fallback(shop, done({"item": "green"}), response_format=form)
    with block as fb:
        shop.execute(GONE)
    assert fb.agent_response.answer == '{"item": "green"}'


def test_scrape_and_raise_on_failure_are_refused_within_a_block(shop, fallback):
    block, _ = fallback(shop, done())
    with block as fb:
        with pytest.raises(ValueError, match="scrape.. does not go with AgentFallback"):
            shop.scrape()
        with pytest.raises(ValueError, match="raise_on_failure=True does not go with AgentFallback"):
            shop.execute(GONE, raise_on_failure=True)
        assert shop.execute(type="wait", time_ms=0, raise_on_failure=False).success
    assert (len(fb.steps), fb.success) == (1, True)


def test_outside_of_the_block_the_session_is_as_it_was(shop, fallback):
    block, _ = fallback(shop, done())
    before = set(vars(shop))
    with block:
        pass
    assert set(vars(shop)) == before
    assert "Tea shop" in shop.scrape()
    with pytest.raises(ActionError):
        shop.execute(GONE)


def test_no_exception_is_swallowed_and_the_session_is_restored_all_the_same(shop, fallback):
    block, _ = fallback(shop, done())
    with pytest.raises(ZeroDivisionError), block as fb:
        1 / 0  # noqa: B018
    assert (fb.success, fb.agent_invoked) == (False, False)
    assert "ZeroDivisionError" in fb.error
    assert "execute" not in vars(shop)
    assert shop.core.block is None
    other, _ = fallback(shop, done())
    with pytest.raises(ValueError, match="no action 'fly'"), other:
        shop.execute(type="fly")
    assert other.steps == []


@pytest.mark.thorough
def test_another_session_is_not_concerned(shop, fallback, tmp_path):
    block, _ = fallback(shop, done())
    with reenact.Client().Session(home=tmp_path) as other, block as fb:
        with pytest.raises(ActionError):
            other.execute(GONE)
        assert other.scrape() is not None
    assert (fb.steps, fb.success) == ([], True)


# -- beyond ------------------------------------------------------------------------------------------------------


def test_a_block_within_a_block_is_refused_and_one_after_another_is_not(shop, fallback):
    outer, _ = fallback(shop, done(), task="Buy tea")
    inner, _ = fallback(shop, done())
    with outer as fb:
        with pytest.raises(ValueError, match="within an AgentFallback already, 'Buy tea'"), inner:
            pass
        shop.execute(type="wait", time_ms=0)
    assert len(fb.steps) == 1
    with inner as fb:
        shop.execute(type="wait", time_ms=0)
    assert len(fb.steps) == 1
    with pytest.raises(ValueError, match="used before"), inner:
        pass


def test_with_heal_off_nobody_helps_and_the_block_stops_where_it_failed(shop, fallback):
    block, model = fallback(shop, done(), heal="off")
    with block as fb:
        failed = shop.execute(GONE)
        later = shop.execute(type="click", selector="text=Buy")
    assert (fb.success, fb.agent_invoked, fb.error) == (False, False, failed.message)
    assert "it was not repaired" in later.message
    assert said(shop) == "nothing sold"
    assert model.told == []


@pytest.mark.thorough
def test_a_failure_of_playwrights_page_calls_the_agent_and_is_raised_all_the_same(shop, fallback):
    block, model = fallback(shop, click("button", "Buy"), done("bought"))
    with block as fb:
        with pytest.raises(Error, match="Timeout"):
            shop.page.locator("#gone").click(timeout=50)
        assert fb.agent_response.answer == "bought"
        assert shop.page.locator("#name").fill("Bob") is None
        with shop.page.expect_popup() as popup:
            shop.page.click("text=Buy")
        assert popup.value is None
        assert shop.page.locator("#said").inner_text() == "sold green to (0)"
    assert (fb.success, fb.agent_invoked, fb.steps) == (True, True, [])
    assert [one["type"] for one in fb.skipped] == ["page.fill", "page.expect_popup", "page.click"]
    assert "got stuck: session.page.locator('#gone').click: " in model.told[0]
    # Behind the block it is Playwright's page again.
    shop.page.locator("#name").fill("Eve")
    assert shop.page.locator("#name").input_value() == "Eve"


def test_the_error_says_why_the_agent_failed_too(shop, fallback):
    block, _ = fallback(shop, done("the tea is\nsold out", success=False))
    with block as fb:
        failed = shop.execute(GONE)
    assert (fb.success, fb.agent_invoked) == (False, True)
    assert fb.error == f"{failed.message.rstrip('.')}; the agent failed: the tea is sold out"


@pytest.mark.thorough
async def test_it_is_there_for_a_loop_too(shop, fallback):
    block, _ = fallback(shop, click("button", "Buy"), done("bought"), expect="sold green")
    async with block as fb:
        assert (await shop.aexecute(type="fill", selector="#name", value="Ada")).success
        assert not (await shop.aexecute(GONE)).success
        assert "skipped" in (await shop.aexecute(type="click", selector="text=Buy")).message
        with pytest.raises(ValueError, match="scrape"):
            await shop.ascrape()
    assert (fb.success, fb.agent_invoked, len(fb.steps)) == (True, True, 2)
    assert said(shop) == "sold green to Ada (0)"


@pytest.mark.thorough
def test_secrets_reach_neither_prompt_nor_error_nor_what_was_skipped(shop, fallback):
    block, model = fallback(shop, done())
    with block as fb:
        shop.execute(type="fill", selector="#pw", value="hunter2")
        shop.execute(type="fill", selector="#password-gone", value="correct horse", timeout=1)
        shop.execute(type="fill", selector="#pw", value="battery staple")
        shop.execute(type="form_fill", value={"current_password": "swordfish"})
    with pytest.raises(Error):
        with fallback(shop, done(), heal="off")[0] as raw:
            shop.page.locator("#pw-gone").fill("tr0ub4dor", timeout=50)
    everything = (
        "\n".join(model.told)
        + repr(fb.steps)
        + repr(fb.skipped)
        + f"{fb.error}{raw.error}{fb.agent_response}"
    )
    for secret in ("hunter2", "correct horse", "battery staple", "swordfish", "tr0ub4dor"):
        assert secret not in everything
    assert fb.skipped[0]["value"] == MASK


def test_what_cannot_be_is_refused_at_once(shop):
    make = reenact.Client().AgentFallback
    for wrong, words in [
        ({"task": " "}, "needs a task"),
        ({"heal": "maybe"}, "one of 'agent', 'auto', 'off'"),
        ({"max_step": 3}, "no option 'max_step'.*max_steps"),
        ({"max_steps": 0}, "1 or more"),
        ({"expect": 3}, "expect=3"),
        ({"expect": "css="}, "names nothing"),
    ]:
        with pytest.raises(UsageError, match=words):
            make(shop, **{"task": "Buy", **wrong})


def test_every_argument_of_an_agent_is_one_of_a_block(shop):
    import inspect

    from reenact.browser.agent import Agent

    assert set(inspect.signature(Agent).parameters) - {"session"} == AGENT_PARAMS


def test_a_missing_model_is_said_where_it_is_missed_with_the_step_that_failed(shop):
    with pytest.raises(UsageError, match="#gone.*no agent can take over.*REENACT_MODEL"):
        with reenact.Client().AgentFallback(shop, task="Buy") as fb:
            shop.execute(type="wait", time_ms=0)
            shop.execute(GONE)
    assert (fb.success, fb.agent_invoked, len(fb.steps)) == (False, False, 2)
    assert "execute" not in vars(shop)


# -- what is expected --------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    "expect",
    [
        "sold green to Ada",
        "#said",
        {"css": "#gone", "text": "~sold green"},
        "data:**",
        lambda s: "sold" in s.scrape(),
    ],
)
def test_what_is_expected_and_so_is_success(shop, fallback, expect):
    block, model = fallback(shop, done(), expect=expect)
    with block as fb:
        shop.execute(type="fill", selector="#name", value="Ada")
        shop.execute(type="click", selector="text=Buy")
    assert (fb.success, fb.error, len(fb.steps), model.told) == (True, None, 2, [])


@pytest.mark.thorough
def test_steps_that_work_and_do_not_bring_what_is_expected_call_the_agent(shop, fallback, monkeypatch):
    monkeypatch.setattr("reenact.browser.heal.expect.PATIENCE", 0.2)
    block, model = fallback(shop, click("button", "Buy"), done(), expect="sold green")
    with block as fb:
        shop.execute(type="fill", selector="#name", value="Ada")
    assert (fb.success, fb.agent_invoked) == (True, True)
    assert "shows no text 'sold green'" in model.told[0]


def test_an_agents_word_does_not_stand_against_what_is_seen(shop, fallback, monkeypatch):
    monkeypatch.setattr("reenact.browser.heal.expect.PATIENCE", 0.2)
    block, _ = fallback(shop, done("bought, I promise"), expect="sold green")
    with block as fb:
        shop.execute(GONE)
    assert (fb.success, fb.agent_response.success) == (False, True)
    assert "not as expected: " in fb.error


def nothing(session):
    return None


async def later(session):
    return (await session.aexecute(type="evaluate_js", code="false")).data


def broken(session):
    raise KeyError("total")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("expect", "why"),
    [(nothing, "nothing gave None"), (later, "later gave False"), (broken, "broken raised KeyError")],
)
def test_what_is_not_known_is_a_failure(shop, fallback, expect, why):
    block, _ = fallback(shop, done(), expect=expect, heal="off")
    with block as fb:
        shop.execute(type="wait", time_ms=0)
    assert fb.success is False
    assert why in fb.error
    assert len(fb.steps) == 1


@pytest.mark.thorough
def test_a_session_that_ends_within_a_block_is_a_failure_and_nobody_is_called(
    fallback, browser_here, tmp_path
):
    session = reenact.Client().Session(home=tmp_path).start()
    block, model = fallback(session, done(), expect="Tea shop")
    with block as fb:
        session.stop()
        with pytest.raises(SessionError, match="closed"):
            session.execute(type="reload")
    assert (fb.success, fb.agent_invoked, model.told) == (False, False, [])
    assert "the session is closed" in fb.error


@pytest.mark.thorough
def test_what_observe_opens_is_a_step_too(shop, fallback):
    block, _ = fallback(shop, done(), heal="off")
    with block as fb:
        shop.observe(url="http://127.0.0.1:9/")
        shop.observe(url="http://127.0.0.1:9/")
    assert [step.action.type for step in fb.steps] == ["goto"]
    assert [one["url"] for one in fb.skipped] == ["http://127.0.0.1:9/"]
    assert fb.success is False


@pytest.mark.thorough
async def test_a_failure_of_playwrights_page_in_a_loop_is_raised_once_the_agent_is_through(
    open_session, fallback
):
    async with open_session() as session:
        await session.page.goto(page(SHOP))
        block, _ = fallback(session, click("button", "Buy"), done("bought"), expect="sold green")
        async with block as fb:
            with pytest.raises(Error, match="Timeout"):
                await session.page.click("#gone", timeout=50)
            assert fb.agent_response.answer == "bought"
            async with session.page.expect_popup() as popup:
                await session.page.click("text=Buy")
            assert popup.value is None
        assert (fb.success, fb.agent_invoked) == (True, True)
        assert [one["type"] for one in fb.skipped] == ["page.expect_popup", "page.click"]
