"""A recording's browser session over HTTP: its film, its pictures with secrets covered, its video, and while it runs."""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import time

import orjson
import pytest
from fastapi.testclient import TestClient
from PIL import Image

import reenact
from reenact.browser.camera.covering import COLOUR
from reenact.browser.video import one_of
from reenact.server.app import application
from reenact.server.films import Frame, followed
from reenact.server.settings import Settings
from tests.browser.watch.shop import COLOURS, SECRET, Shop, buy


@pytest.fixture(scope="module")
def bought(tmp_path_factory):
    """A recorded session, and a client of a server that has it."""
    home = tmp_path_factory.mktemp("home")
    folder = buy(home, consent=False)
    with TestClient(application(Settings(home, ("testserver",), keyless=True))) as client:
        yield client, f"/api/v1/recordings/{folder.name}/sessions/1", folder


def pixel(data, x, y):
    return Image.open(io.BytesIO(data)).convert("RGB").getpixel((x, y))


def near(one, other):
    return all(abs(a - b) < 12 for a, b in zip(one, other, strict=True))


def test_a_film_has_steps_requests_console_and_trees_by_the_sessions_clock(bought):
    client, address, folder = bought
    film = client.get(f"{address}/film").json()
    assert (film["recording"], film["session"], film["sessions"], film["over"]) == (folder.name, 1, 1, True)
    acts = [step for step in film["steps"] if step["acts"]]
    assert [step["title"] for step in acts][-1] == "Click button “Pay”"
    assert acts[-1]["status"] == "failed"
    assert ["element", "tag: button\nname: Pay"] in acts[-1]["why"]
    assert [step["said"][-1]["text"] for step in film["steps"] if step["said"]][-1] == "Now I pay."
    assert film["network"][-1]["status"] == 402
    assert film["console"][0]["text"] == "shop is shown"
    t, number = film["reads"][-1]
    assert film["trees"][number] == "- heading checkout"
    assert acts[-1]["t"] < t < film["duration"]


def test_a_picture_is_that_of_its_moment_and_its_secret_is_covered(bought):
    client, address, _ = bought
    shop = client.get(f"{address}/frames?at=500").content
    assert near(pixel(shop, 20, 20), COLOURS["shop"])
    secret = client.get(f"{address}/frames?at=2600")
    assert secret.headers["content-type"] == "image/jpeg"
    x, y, width, height = SECRET
    for step in range(4, width, 10):
        assert near(pixel(secret.content, x + step, y + height // 2), COLOUR)
    assert near(pixel(secret.content, 20, 20), COLOURS["checkout"])


@pytest.mark.thorough
def test_what_is_not_there_is_not_found(bought):
    client, address, _ = bought
    for path in ("/frames?at=0", "/../2/film", "/../9/frames?at=10"):
        answer = client.get(f"{address}{path}")
        assert answer.status_code == 404, path
        assert "\n" not in answer.json()["detail"]
    assert client.get("/api/v1/recordings/nosuch/sessions/1/film").status_code == 404
    assert client.get("/api/v1/recordings/..%2f..%2fetc/sessions/1/film").status_code in (404, 422)


@pytest.mark.thorough
def test_a_video_is_made_once_and_is_at_a_signed_address_in_ranges_and_nowhere_else(bought):
    client, address, _ = bought
    first = client.get(f"{address}/video")
    assert (first.status_code, first.json()["kind"]) == (202, "video")
    assert client.get(f"{address}/video").json()["id"] == first.json()["id"]
    until = time.monotonic() + 60
    while (made := client.get(f"{address}/video")).status_code == 202:
        assert time.monotonic() < until
        time.sleep(0.1)
    video = made.json()
    assert video["segments"][0][0] == 0
    part = client.get(video["url"], headers={"Range": "bytes=4-7"})
    assert (part.status_code, part.content, part.headers["content-type"]) == (206, b"ftyp", "video/mp4")
    assert client.get(video["vtt_url"]).text.startswith("WEBVTT")
    plain = video["url"].partition("?")[0]
    assert client.get(plain).status_code == 403
    assert client.get(plain.replace("session%201.mp4", "events.jsonl")).status_code == 403
    forged = video["url"][:-2] + ("00" if video["url"][-2:] != "00" else "11")
    assert client.get(forged).status_code == 403
    expired = video["url"].replace("expires=1", "expires=0")
    assert client.get(expired).status_code == 403


async def test_a_session_that_goes_on_is_seen_as_it_is_painted(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        shop = Shop(recording)
        shop.act("shop", type="goto", url="https://shop.test/shop")
        folder = tmp_path / "recordings" / recording.id
        seen = followed(one_of(folder, 1))
        first = await asyncio.wait_for(anext(seen), 120)
        assert isinstance(first, Frame)
        assert first.url == "https://shop.test/shop"
        shop.act("checkout", mask=SECRET, type="click", selector="a.brass")
        frames = [first]
        shop.close()
        async with asyncio.timeout(120):
            async for item in seen:
                frames += [item] if isinstance(item, Frame) else []
                last = item
    assert last.over
    assert [round(frame.t, 1) for frame in frames] == [0.4, 1.4]
    data = base64.b64decode(frames[1].jpeg)
    assert near(pixel(data, SECRET[0] + 20, SECRET[1] + 15), COLOUR)
    assert orjson.loads(frames[1].model_dump_json())["width"] == 640


# -- the page itself ---------------------------------------------------------------------------------------------

PAGE = {
    "url": "https://shop.test/", "title": "Shop", "viewport": [800, 600], "whole": True,
    "nodes": [[-1, "#document", {}, {"sheets": [[0]]}], [0, "html"], [1, "p"], [2, "#text", "Hello"]],
}  # fmt: skip


@pytest.fixture
def kept(tmp_path):
    """A session with two pages, the second of which is damaged, and a client of a server that has it."""
    with reenact.record(home=tmp_path) as recording:
        beside = recording._recorder.sidecar("session.1.jsonl")
        beside.write("session", format=2, id=f"{recording.id}.1", viewport=[800, 600])
        sheet = beside.blob(gzip.compress(b"p{color:red}"))
        first = beside.blob(gzip.compress(orjson.dumps({**PAGE, "parts": [sheet]})))
        second = beside.blob(gzip.compress(orjson.dumps({**PAGE, "parts": [], "nodes": [[5, "html"]]})))
        for blob, parts in ((first, [sheet]), (second, []), (first, [])):
            beside.write("dom", tab=0, why="before", call=None, blob=blob, parts=parts)
        beside.write("end")
        beside.close()
    with TestClient(application(Settings(tmp_path, ("testserver",), keyless=True))) as client:
        yield client, f"/api/v1/recordings/{recording.id}/sessions/1"


def test_the_page_itself_is_served_with_its_style_sheets(kept):
    client, address = kept
    moments = client.get(f"{address}/film").json()["moments"]
    assert [(each["tab"], each["page"]) for each in moments] == [(0, 0), (0, 1), (0, 0)]
    found = client.get(f"{address}/pages/0").json()
    assert found == {**PAGE, "parts": ["p{color:red}"]}


def test_a_damaged_page_and_one_that_is_not_there_are_refused_in_one_sentence(kept):
    client, address = kept
    damaged = client.get(f"{address}/pages/1")
    assert damaged.status_code == 422
    assert "a moment of the page is damaged" in damaged.text
    assert client.get(f"{address}/pages/7").status_code == 404
    assert client.get(f"{address}/pages/-1").status_code == 422


def test_the_code_of_selectors_is_a_script_of_the_server(kept):
    client, _ = kept
    answer = client.get("/api/v1/selectors.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.text.startswith("export default { playwright: ")
    assert "InjectedScript" in answer.text
