"""`Client(server=…)`: the same calls as here, with the browser on the server."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import av
import pytest
from pydantic import BaseModel

import reenact
from reenact import ActionError, Client, load
from reenact.browser.camera.footage import sessions
from reenact.browser.video import render
from reenact.errors import SessionError, UsageError
from tests.browser.agent.scripted import click, done, fill
from tests.browser.conftest import Shared
from tests.browser.frames import decoded, greyed, unmarked


@pytest.fixture(scope="module")
def key(wired):
    return wired.key(project="own")


@pytest.fixture(scope="module")
def client(wired, key):
    return Client(server=wired.url, api_key=key)


@pytest.fixture(scope="module")
def shared_session(client):
    shared = Shared(client.Session)
    yield shared
    shared.stop()


@pytest.fixture
def session(shared_session):
    return shared_session()


@pytest.fixture
def form(session, pages):
    """The session, with a form open afresh."""
    session.execute(type="goto", url=pages("form.html"))
    return session


class Order(BaseModel):
    what: str
    pieces: int


def calls(session, pages, model):
    """What a script hears of a session: of each call, what does not depend on when and where it is made."""
    told = []

    def did(**action):
        result = session.execute(**action, raise_on_failure=False)
        kept = {
            "action",
            "success",
            "message",
            "data",
            "url",
            "title",
            "tab",
            "actor",
            "selectors",
            "delivered",
        }
        told.append(result.model_dump(include=kept))
        told.append((str(result.exception), (result.why or {}).get("reason"), session.offset()))

    did(type="goto", url=pages("form.html"))
    seen = session.observe()
    told.append(seen.model_dump(exclude={"screenshot": True, "metadata": {"timestamp"}}))
    told.append(seen.screenshot[:2])
    did(type="fill", id="I1", value="Ada")
    did(
        type="fill",
        selector={"css": "#nothing", "text": "Full name", "role": 'textbox "E-mail"'},
        value="a@b.example",
    )
    did(type="click", selector="#nowhere", timeout=100)
    did(type="select_dropdown_option", selector="#colour", value="Gold", timeout=1000)
    did(type="evaluate_js", code="() => ({a: [1, null, 'é']})")
    did(type="goto", url=pages("secrets.html"))
    did(type="fill", selector="input[type=password] >> nth=0", value="hunter2")
    did(type="goto_new_tab", url=pages("article.html"))
    model.script("an oak")
    told.append(session.scrape(instructions="Which tree?"))
    model.script({"what": "oak", "pieces": 30})
    told.append(session.scrape(response_format=Order))
    told.append(session.scrape(only_images=True))
    told.append(session.scrape(selector="h1"))
    session.set_cookies([{"name": "c", "value": "v", "url": "https://shop.example"}])
    told.append(session.get_cookies())
    with pytest.raises(UsageError, match="no action") as unknown:
        session.execute(type="dance")
    told.append(str(unknown.value))
    with pytest.raises(ActionError) as failed:
        session.execute(type="click", selector="#nowhere", timeout=100)
    told.append((str(failed.value), failed.value.result.success))
    return told


def test_each_call_gives_what_it_gives_here(client, pages, model, tmp_path):
    # Tabs are numbered as they open: a session that another test has used would count on.
    with client.Session() as session:
        there = calls(session, pages, model)
    with Client(home=tmp_path).Session(model="openai/scripted") as local:
        here = calls(local, pages, model)
    for one, other in zip(there, here, strict=True):
        assert one == other


@pytest.mark.thorough
def test_an_agent_works_there_and_the_session_knows_what_it_did(client, form, model):
    model.script(fill("Full name", "Ada"), click("button", "Place order"), done("ordered"))
    before, heard = form.offset(), []
    agent = client.Agent(form, max_steps=5, notifier=heard.append)
    result = agent.run("Order", session_offset=before)
    assert (result.success, result.answer, result.status) == (True, "ordered", "closed")
    assert [step["action"] for step in result.steps] == ["fill", "click", "completion"]
    assert heard == [result]
    assert (form.offset(), agent.tokens) == (before + 3, 45)
    assert "done.html" in form.status().url
    assert [one["type"] for one in agent.workflow.code().json_actions] == ["fill", "click"]


@pytest.mark.thorough
def test_an_agent_is_watched_and_stopped(client, form, model):
    model.script({"type": "wait", "time_ms": 20})
    agent = client.Agent(form, max_steps=100)
    assert agent.start("Wait").status == "active"
    log = iter(agent.watch_logs())
    assert "Wait" in next(log)
    assert next(log) == "step 1: wait(time_ms=20) (ok)"
    assert agent.stop().answer == "stopped before it was done"
    assert list(log)[-1] == "not done: stopped before it was done"
    assert agent.status().status == "closed"


@pytest.mark.thorough
def test_a_script_that_breaks_is_finished_by_an_agent_there(client, form, model):
    model.script(click("button", "Place order"), done("mended"))
    with client.AgentFallback(form, task="Place the order", expect="/done.html", max_steps=4) as fallback:
        form.execute(type="fill", selector="#name", value="Dee")
        form.execute(type="click", selector="#old-order", timeout=100)
        form.execute(type="click", selector="#bare")
    assert (fallback.success, fallback.agent_invoked, fallback.agent_response.answer) == (
        True,
        True,
        "mended",
    )
    assert [step.success for step in fallback.steps] == [True, False]
    assert [action["type"] for action in fallback.skipped] == ["click"]
    assert "#old-order" in model.told[0]
    assert fallback.heals[-1].verified_by


def test_what_needs_the_browser_in_this_process_says_so(client, form, tmp_path):
    with pytest.raises(UsageError, match=r"page\.title needs the browser in this process"):
        form.page.title()
    with pytest.raises(UsageError, match=r"Session\(cdp=True\) lets other programs in"):
        form.cdp_url()
    with pytest.raises(UsageError, match="does not go with a server: what is downloaded"):
        client.Session(downloads=tmp_path)
    with pytest.raises(UsageError, match="a server knows models by name"):
        client.Agent(form, reasoning_model=object())


@pytest.mark.thorough
def test_the_video_is_fetched_now_and_by_the_sessions_id_later(client, form, tmp_path):
    for session in (form, client.Session(form.id)):
        file = session.replay(pace="compact").download(tmp_path)
        with av.open(file) as video:
            assert video.streams.video[0].frames > 1
        file.unlink()


def test_the_frames_of_the_video_show_each_action_s_ring_and_are_not_grey(client, form, wired, tmp_path):
    for action in (
        {"type": "fill", "selector": "#name", "value": "Ada"},
        {"type": "click", "selector": "#name"},
        {"type": "select_dropdown_option", "selector": "#colour", "value": "Green"},
    ):
        form.execute(**action)
    fetched = form.replay().download(tmp_path)
    (footage,) = sessions(Path(load(form.id, home=wired.home / "projects" / "own").path))
    missing, count = unmarked(footage, render(footage), fetched)
    assert (missing, count >= 3) == ([], True)
    assert [round(ms) for ms, _, image in decoded(fetched)[1:] if greyed(image) > 0.25] == []


@pytest.mark.thorough
def test_in_a_loop_it_is_awaited_recorded_here_as_one_step_a_call_and_replayed_without_the_server(
    wired, key, pages, model, tmp_path
):
    model.script(click("button", "Place order"), done("ordered"))

    async def program(url):
        client = Client(server=url, api_key=key)
        async with client.Session() as session:
            await session.aexecute(type="goto", url=pages("form.html"))
            seen = await session.aobserve()
            result = await client.Agent(session, max_steps=4).arun("Order")
            return session.id, seen.metadata.title, result.answer, result.steps[0]["action"], session.offset()

    with reenact.record("program", home=tmp_path) as recording:
        there = asyncio.run(program(wired.url))
    assert there[1:] == ("Order", "ordered", "click", 3)
    assert [step.call.label for step in load(recording.id, home=tmp_path).steps] == [
        "browser:start", "browser:goto", "browser:observe", "remote:agent.start", "remote:agent.wait",
    ]  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    with reenact.replay(recording.id, home=tmp_path):
        assert asyncio.run(program(nobody)) == there
    # The server recorded the session itself, with the agent's questions to its model.
    labels = [step.call.label for step in load(there[0], home=wired.home / "projects" / "own").steps]
    assert labels[:3] == ["browser:start", "browser:goto", "browser:observe"]
    assert "model:scripted" in labels


@pytest.mark.thorough
def test_a_server_that_is_not_there_or_knows_no_such_key_is_named(wired):
    with pytest.raises(UsageError, match="it is the address of a server"):
        Client(server="localhost")
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(SessionError, match=f"the server {nobody} does not answer"):
        Client(server=nobody).Session().start()
    with pytest.raises(SessionError, match="refuses: an API key is needed"):
        Client(server=wired.url, api_key="wrong").Session().start()
    with pytest.raises(SessionError, match="this key may read"):
        Client(server=wired.url, api_key=wired.key("read")).Session().start()
