"""What the camera sees beside the picture, and that the page and the program see no camera."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reenact.browser.camera.footage import sessions
from reenact.browser.camera.network import parts
from tests.browser.filming import Driver, filmed, served
from tests.chromium import headless

pytestmark = pytest.mark.asyncio(loop_scope="session")

CANARIES = {
    "form": "corr3ct-horse-form",
    "json": "corr3ct-horse-json",
    "parts": "corr3ct-horse-parts",
    "cookie": "c00kie-monster-4711",
    "bearer": "bearer-4f1d2c3b4a59687",
    "query": "tok-9d8c7b6a5f4e3d2c1b",
    "body": "sk-proj-abcdefghij0123456789abcdefghij",
    "console": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
}
LOGIN = f"""<title>Login</title><form method=post action=/form><input name=user value=ada>
<input type=password name=password value={CANARIES["form"]}><button id=form>Log in</button></form><script>
async function all() {{
  await fetch("/json", {{method: "POST", headers: {{"content-type": "application/json", authorization: "Bearer {CANARIES["bearer"]}"}},
    body: JSON.stringify({{user: "ada", password: "{CANARIES["json"]}"}})}});
  const parts = new FormData(); parts.append("user", "ada"); parts.append("password", "{CANARIES["parts"]}");
  await fetch("/parts", {{method: "POST", body: parts}});
  await fetch("/query?token={CANARIES["query"]}&page=2");
  console.log("the key is {CANARIES["console"]}");
}}</script>"""
PAGES = {
    "/": "<title>Shop</title><h1>Shop</h1><img src=/lamp.png><script>fetch('/long'); fetch('/longer')</script>",
    "/login": LOGIN,
    "/form": lambda ask: ask.answer(
        "<title>Hello</title>", Set_Cookie=f"session={CANARIES['cookie']}; Path=/"
    ),
    "/json": lambda ask: ask.answer(f'{{"api_key": "{CANARIES["body"]}"}}'),
    "/parts": "{}",
    "/query": "{}",
    "/lamp.png": lambda ask: ask.answer(bytes(500), Content_Type="image/png"),
    "/long": "[" + "1," * 100_000 + "1]",
    "/longer": "[" + "1," * 200_000 + "1]",
    "/loud": "<title>Loud</title><script>for (let i = 0; i < 2000; i++) console.log('message ' + i)</script>",
    "/wrong": "<title>Wrong</title><script>setTimeout(() => { throw new Error('the lamp is broken') })</script>",
}


@pytest.fixture(scope="module")
def shop():
    with served(PAGES) as address:
        yield address


def started(*arguments):
    return subprocess.Popen([sys.executable, *arguments])


def read(path):
    return Path(path).read_text(encoding="utf-8")


def lines(folder, *kinds):
    (found,) = sessions(folder)
    return [one.data for one in found.entries(*kinds)]


async def until(told, *, seconds=60.0):
    """Wait until something holds."""
    ends = time.monotonic() + seconds
    while not told() and time.monotonic() < ends:  # noqa: ASYNC110 - of a file
        await asyncio.sleep(0.02)
    assert told()


# -- the network -------------------------------------------------------------------------------------------------


async def test_requests_and_answers_are_kept_with_their_text(browser, shop, tmp_path):
    async with filmed(browser, tmp_path) as (page, _):
        await page.goto(shop + "/")
        await until(lambda: len(lines(tmp_path, "response")) >= 4)
    asked = {one["url"].removeprefix(shop): one for one in lines(tmp_path, "request")}
    answers = {one["id"]: one for one in lines(tmp_path, "response")}
    document, image, long, longer = (
        answers[asked[path]["id"]] for path in ("/", "/lamp.png", "/long", "/longer")
    )
    (found,) = sessions(tmp_path)
    assert (asked["/"]["method"], asked["/"]["resource"], asked["/"]["tab"]) == ("GET", "document", 0)
    assert found.blob(document["body"]).decode() == PAGES["/"]
    assert (document["status"], document["size"]) == (200, len(PAGES["/"]))
    assert document["ms"] > 0
    assert found.blob(long["body"]).decode() == PAGES["/long"]
    assert (image["body"], image["size"], image["left"]) == (None, 500, "it is no text")
    assert (longer["body"], longer["left"]) == (None, "it is longer than 256 kB")


async def test_bodies_end_at_the_session_s_budget_and_the_file_says_so(browser, shop, tmp_path, monkeypatch):
    monkeypatch.setattr("reenact.browser.camera.network.BODIES", 1_000)
    async with filmed(browser, tmp_path) as (page, _):
        await page.goto(shop + "/")
        await until(lambda: len(lines(tmp_path, "response")) >= 4)
    assert [one["text"] for one in lines(tmp_path, "noted")] == [
        "bodies are left out from here on: the session's bodies reached 32 MB"
    ]


@pytest.mark.thorough
async def test_no_secret_of_the_network_reaches_the_disk(browser, shop, tmp_path):
    async with filmed(browser, tmp_path) as (page, _):
        await page.goto(shop + "/login")
        await page.evaluate("all()")
        await page.click("#form")
        # Another navigation would cancel this one.
        await page.wait_for_url("**/form")
        await page.goto(shop + "/query?token=" + CANARIES["query"])
        await until(lambda: len(lines(tmp_path, "response")) >= 6)
    posts = {one["url"].removeprefix(shop): one["post"] for one in lines(tmp_path, "request")}
    assert "user=ada&password=[[secret:" in posts["/form"]
    assert '"user":"ada","password":"[[secret:' in posts["/parts"]
    everything = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    # The page's own text holds those that its fields and scripts begin with, under no name: what went over the wire is meant.
    (found,) = sessions(tmp_path)
    asked = {one["id"]: one["url"] for one in lines(tmp_path, "request")}
    page_text = {
        one["body"].removeprefix("sha256:")
        for one in lines(tmp_path, "response")
        if asked[one["id"]].endswith("/login")
    }
    for what, canary in CANARIES.items():
        leaks = [
            path.name
            for path, data in everything.items()
            if canary.encode() in data and path.name not in page_text
        ]
        assert not leaks, what
    assert found.path in everything


async def test_a_form_of_parts_is_told_by_its_fields():
    data = (
        b'--x\r\nContent-Disposition: form-data; name="user"\r\n\r\nada\r\n'
        b'--x\r\nContent-Disposition: form-data; name="cat"; filename="cat.png"\r\nContent-Type: image/png\r\n\r\n'
        b"\x89PNG\r\n--x--\r\n"
    )
    assert parts(data, "multipart/form-data; boundary=x") == '{"user":"ada","cat":"(cat.png, 4 bytes)"}'


# -- what is in no page's pixels ---------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_a_dialog_is_answered_as_if_nobody_looked(browser, site, tmp_path):
    async with filmed(browser, tmp_path) as (page, _):
        await page.goto(site("dialogs.html"))
        await page.click("#alert")
        await page.click("#confirm")
        assert await page.text_content("#confirm") == "No"
        page.once("dialog", lambda dialog: dialog.accept("Grace"))
        await page.click("#prompt")
        assert await page.text_content("#prompt") == "Grace"
        await until(lambda: len(lines(tmp_path, "dialog")) == 3)
    told = [(one["kind"], one["text"], one["answer"]) for one in lines(tmp_path, "dialog")]
    assert told[0][:2] == ("alert", "Watch out")  # to have an alert dismissed or accepted is the same
    assert told[1:] == [("confirm", "Really?", "dismissed"), ("prompt", "Your name?", "accepted")]


@pytest.mark.thorough
async def test_a_download_works_and_is_told(browser, site, tmp_path):
    async with filmed(browser, tmp_path) as (page, _):
        await page.goto(site("downloads.html"))
        async with page.expect_download() as started:
            await page.click("#file")
        assert read(await (await started.value).path()) == "a,b\n1,2\n"
        await until(lambda: len(lines(tmp_path, "download")) == 2)
    told = [(one["name"], one["size"], one["state"]) for one in lines(tmp_path, "download")]
    assert told == [("report.csv", None, "started"), ("report.csv", 8, "finished")]


async def test_a_chooser_is_the_program_s(browser, site, tmp_path):
    async with filmed(browser, tmp_path) as (page, _):
        await page.goto(site("upload.html"))
        await page.click("#chooser")  # nobody listens: it is the browser's, as without a camera
        async with page.expect_file_chooser() as opened:
            await page.click("#chooser")
        await (await opened.value).set_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"abc"})
        assert await page.text_content("#said") == "a.txt 3"
    assert [one["multiple"] for one in lines(tmp_path, "chooser")] == [True]


@pytest.mark.thorough
async def test_the_console_and_errors_are_kept_within_limits(browser, shop, tmp_path):
    async with filmed(browser, tmp_path) as (page, _):
        await page.goto(shop + "/loud")
        await page.goto(shop + "/wrong")
        await until(lambda: lines(tmp_path, "error"))
    said = [one for one in lines(tmp_path, "console") if one["text"].startswith("message")]
    assert said[0]["text"] == "message 0"
    assert (said[0]["level"], said[0]["tab"], said[0]["url"]) == ("log", 0, shop + "/loud")
    seconds = said[-1]["t"] - said[0]["t"]
    assert 100 <= len(said) <= 100 * (seconds + 2)
    assert any("at most 100 a second" in one["text"] for one in lines(tmp_path, "noted"))
    assert "the lamp is broken" in lines(tmp_path, "error")[0]["text"]


# -- the end -----------------------------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_a_page_that_crashes_is_told_and_the_others_go_on(browser, shop, tmp_path):
    async with filmed(browser, tmp_path) as (page, camera):
        await page.goto(shop + "/")
        other = await page.context.new_page()
        with pytest.raises(Exception, match="crash"):
            await page.goto("chrome://crash")
        await Driver(camera, other).do("goto", url=shop + "/login")
        await asyncio.sleep(0.3)
    assert [(one["tab"], one["what"]) for one in lines(tmp_path, "crash")] == [(0, "page")]
    assert any(one["tab"] == 1 for one in lines(tmp_path, "frame"))
    assert lines(tmp_path)[-1]["event"] == "end"


async def test_a_browser_that_dies_is_told(browser, shop, tmp_path):
    own = await browser.browser_type.launch(executable_path=headless())
    async with filmed(own, tmp_path) as (page, camera):
        await page.goto(shop + "/")
        protocol = await own.new_browser_cdp_session()
        with pytest.raises(Exception, match=r"closed|crash|disconnect"):
            await protocol.send("Browser.crash")
        await until(lambda: lines(tmp_path, "crash"))
        await camera.before(1, page, "script", {"type": "click"}, None)
        await camera.after(1, page, False, "the browser is gone")
    assert [one["what"] for one in lines(tmp_path, "crash")] == ["browser"]


@pytest.mark.thorough
async def test_a_program_that_is_killed_leaves_what_was_seen(browser, tmp_path):
    """`browser` so that this is skipped where there is none."""
    with started("-m", "tests.browser.filming", str(tmp_path)) as program:
        path = tmp_path / "session.1.jsonl"
        await until(lambda: path.exists() and path.read_bytes().count(b'"event":"frame"') >= 3)
        os.kill(program.pid, signal.SIGKILL)
    (found,) = sessions(tmp_path)
    pictures = list(found.entries("frame", "anchor"))
    assert len(pictures) >= 3
    assert all(found.blob(one["blob"])[:2] == b"\xff\xd8" for one in pictures)
    assert not list(found.entries("end"))
