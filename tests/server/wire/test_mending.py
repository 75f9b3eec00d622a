"""`heal="auto"` with the browser on a server: mended there, by the same ladder, and learned from in the next run."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import quote

import pytest

import reenact
from reenact import Client
from reenact.browser.page import consequence
from reenact.errors import UsageError
from tests.browser.agent.scripted import done

OLD = """<title>Tea</title><h1>Tea</h1>
<button id=buy onclick="document.body.append('sold'); history.pushState(0, '', '?sold=1')">Buy tea</button>"""
NEW = OLD.replace("id=buy", "id=buy-17")
NAMED = NEW.replace("Buy tea", "buy")


@pytest.fixture(scope="module")
def key(wired):
    return wired.key(project="mending")


@pytest.fixture
def client(wired, key, monkeypatch):
    # On a busy machine a page takes longer to say what it shows; without that nothing can be verified.
    monkeypatch.setattr(consequence, "PATIENCE", 20)
    return Client(server=wired.url, api_key=key)


@pytest.fixture
def bought(client, pages):
    """Runs a script on a page: `bought(html, **options)` gives the block, and the id of the session."""

    def run(html, name="tea", timeout=1000, **options):
        with client.Session(name=name) as session:
            session.execute(type="goto", url=pages(f"echo?html={quote(html)}"))
            with client.AgentFallback(session, task="Buy tea", heal="auto", **options) as block:
                session.execute(type="click", selector="#buy", timeout=timeout)
            return block, session.id

    return run


@pytest.mark.thorough
def test_a_step_is_mended_there_by_what_earlier_runs_led_to_and_remembered(bought, wired, key, capsys):
    assert bought(OLD, timeout=60_000)[0].heals == []
    block, _ = bought(NEW)
    (heal,) = block.heals
    assert (block.success, block.agent_invoked, heal.rung, heal.verified) == (
        True,
        False,
        "alternative",
        True,
    )
    assert [(step.actor, step.success) for step in block.steps] == [("heal", True)]
    assert (heal.file, heal.function) == (__file__, "bought.<locals>.run")
    assert heal.source
    block, last = bought(NEW)
    assert [one.rung for one in block.heals] == ["remembered"]
    # The server's own recordings have the records, with the program's script.
    with wired.ask(key) as ask:
        told = ask.get("/api/v1/heals/runs", params={"script": __file__}).json()["items"]
    assert [(one["recording"], one["rung"], one["verified"]) for one in told][:1] == [
        (last, "remembered", True)
    ]
    assert told[0]["source"] == heal.source


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("expect", "verified"),
    [
        ("sold", "shows the text 'sold'"),
        (re.compile(r"SOLD=\d$", re.IGNORECASE), "the page is at"),
        (lambda session: "sold" in session.execute(type="evaluate_js", code="document.body.innerText").data,
         "gave True"),
        (re.compile("never"), ""),
    ],
)  # fmt: skip
def test_where_nothing_is_known_what_is_expected_verifies_it(bought, model, expect, verified):
    model.script(done("there is no such thing"))
    block, _ = bought(NAMED, name=f"of {expect}", expect=expect)
    heal = block.heals[0]
    assert (block.success, heal.verified, block.steps[-1].success) == ((bool(verified),) * 3)
    assert verified in heal.verified_by
    # What nothing verifies is for the agent, where the server has a model for one.
    assert [one.rung for one in block.heals[1:]] == ([] if verified else ["agent"])


@pytest.mark.thorough
def test_in_a_loop_it_is_recorded_here_and_replayed_without_the_server(wired, key, pages, tmp_path):
    async def program(url):
        client = Client(server=url, api_key=key)
        async with client.Session(name="looped") as session:
            await session.aexecute(type="goto", url=pages(f"echo?html={quote(NAMED)}"))
            block = client.AgentFallback(session, task="Buy", heal="auto", expect=re.compile("sold=1"))
            async with block:
                await session.aexecute(type="click", selector="#buy", timeout=300)
            return block.success, block.error, block.heals

    with reenact.record("program", home=tmp_path) as recording:
        there = asyncio.run(program(wired.url))
    assert (there[0], len(there[2])) == (True, 1)
    with reenact.replay(recording.id, home=tmp_path):
        assert asyncio.run(program("http://127.0.0.1:9")) == there


@pytest.mark.thorough
def test_only_a_step_that_failed_is_mended(wired, key, client, pages):
    with client.Session() as session, wired.ask(key) as ask:
        session.execute(type="goto", url=pages(f"echo?html={quote(OLD)}"))
        page = f"/api/v1/sessions/{session.id}/page"
        asked = ask.post(f"{page}/mend", json={"action": {"type": "click", "selector": "#buy"}, "count": 1})
        assert (asked.status_code, "cannot be mended" in asked.text) == (400, True)
        asked = ask.post(f"{page}/heal", json={"key": 7})
        assert (asked.status_code, "no heal record: key" in asked.text) == (400, True)
        with pytest.raises(UsageError, match=r"use session\.execute"):
            session.page.title()
