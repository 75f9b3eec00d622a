"""What a page gets to show of a session."""

from __future__ import annotations

import base64
import gzip
import io
import re

import orjson
import pytest
from PIL import Image

import reenact
from reenact.browser.watch import write
from reenact.errors import UsageError
from tests.browser.watch.shop import COLOURS, SECRET, SIZE, Shop, buy, picture


def inside(page, name):
    """What a page has in one of its boxes: packed JSON."""
    text = re.search(rf'<script type="text/plain" id="{name}">(.*?)</script>', page.read_text(), re.DOTALL)[1]
    return orjson.loads(gzip.decompress(base64.b64decode(text)))


def shown(folder, **options):
    """One side of a page, with what it unpacks later."""
    page = write(folder, folder / "page.html", **{"frames": True, **options})
    return {**inside(page, "data")["sides"][0], **inside(page, "rest")[0]}


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    return buy(tmp_path_factory.mktemp("home"), consent=False)


def test_actions_have_words_actor_place_and_why_they_failed(bad):
    actions = [row for row in shown(bad)["rows"] if row["kind"] == "browser"]
    assert [row["title"] for row in actions] == [
        "Go to https://shop.test/shop",
        "Click button “Brass lamp”",
        "Fill #password with •••••",
        "Click button “Pay”",
    ]
    assert [row["actor"] for row in actions] == ["script", "agent", "agent", "agent"]
    assert [row["n"] for row in actions] == [1, 3, 5, 7]
    last = actions[-1]
    assert last["status"] == "failed"
    assert "covered by div#consent" in last["message"]
    assert ["element", "tag: button\nname: Pay"] in last["why"]
    assert (last["t"], last["end"]) == (3.2, 3.7)


def test_times_count_from_the_session(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        shop = Shop(recording, number=1)
        shop.close()
        later = recording._recorder.sidecar("session.2.jsonl")
        later.write(
            "session", t=100.0, format=1, id="b", started="", viewport=[640, 360], browser="", headless=True
        )
        later.write("console", t=101.5, tab=0, level="log", text="here", url=None, row=None)
        later.close()
    found = shown(recording._store.folder(recording.id), session=2)
    assert (found["console"][0]["t"], found["duration"], found["sessions"]) == (1.5, 1.5, 2)


def test_an_action_belongs_to_its_own_session_alone(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        for number in (1, 2):
            shop = Shop(recording, number=number)
            shop.act("shop", type="click", selector=f"#of-{number}")
            shop.close()
    folder = recording._store.folder(recording.id)
    for number in (1, 2):
        (row,) = shown(folder, session=number)["rows"]
        assert row["title"] == f"Click #of-{number}"


def test_what_was_in_flight_when_the_program_was_killed_is_a_step(tmp_path):
    folder = buy(tmp_path)
    events = (folder / "events.jsonl").read_bytes().split(b"\n")
    last = max(place for place, line in enumerate(events) if b'"called"' in line)
    (folder / "events.jsonl").write_bytes(b"\n".join(events[:last]) + b"\n")
    lines = (folder / "session.1.jsonl").read_bytes().split(b"\n")
    before = max(place for place, line in enumerate(lines) if b'"before"' in line)
    (folder / "session.1.jsonl").write_bytes(b"\n".join(lines[: before + 1]) + b'\n{"event":"fra')
    found = shown(folder)
    assert found["status"] == "unsealed"
    assert (found["rows"][-1]["status"], found["rows"][-1]["title"]) == ("in flight", "Click #pay")


def test_a_replay_without_a_browser_has_steps_and_no_pictures(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        reenact.effect("browser", "click", selector="#pay").perform(
            lambda: {"success": True, "message": "done"}
        )
    found = shown(recording._store.folder(recording.id))
    assert [row["title"] for row in found["rows"]] == ["Click #pay"]
    assert found["scenes"] == []


def test_a_picture_is_kept_once_and_shown_when_it_was_in_front(bad):
    found = shown(bad)
    # The checkout is painted twice: with the secret covered, and without one.
    assert [scene[0] for scene in found["scenes"]] == [0.4, 1.4, 2.4, 3.4]
    assert [scene[1] for scene in found["scenes"]] == [0, 1, 2, 3]


def test_of_too_many_pictures_those_of_the_steps_are_kept_and_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("reenact.browser.watch.screen.chosen.__defaults__", (5,))
    with reenact.record(home=tmp_path) as recording:
        shop = Shop(recording)
        for number in range(20):
            blob = shop.file.blob(picture("item", (number * 20, 0, 20, 20)))
            shop.file.write("frame", t=number / 40, tab=0, blob=blob, width=SIZE[0], height=SIZE[1], masks=[])
        shop.act("shop", type="click", selector="#a")
        shop.close()
    found = shown(recording._store.folder(recording.id))
    assert found["missing"] == 21 - len(found["scenes"])
    assert len(found["scenes"]) <= 7
    # The one that was in front when the step began, a fifth of a second in.
    assert 0.2 in [scene[0] for scene in found["scenes"]]


def test_a_tab_that_comes_to_the_front_brings_its_own_picture(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        shop = Shop(recording)
        for tab, page, t in ((0, "shop", 0.1), (1, "item", 0.2)):
            blob = shop.file.blob(picture(page))
            shop.file.write("frame", t=t, tab=tab, blob=blob, width=SIZE[0], height=SIZE[1], masks=[])
        shop.file.write("tab", t=1.0, tab=1, what="active", url="https://shop.test/item", title="The lamp")
        shop.file.write("tab", t=2.0, tab=1, what="closed", url="", title="")
        shop.t = 3.0
        shop.close()
    found = shown(recording._store.folder(recording.id))
    assert found["scenes"] == [[0.1, 0], [1.0, 1], [2.0, 0]]
    assert [place["front"] for place in found["places"]][-2:] == [1, 0]


def test_secrets_are_covered_in_the_pixels_that_the_page_carries(bad):
    def stripes(page):
        lines = re.search(r'id="pictures-0">(.*?)</script>', page.read_text(), re.DOTALL)[1].split("\n")
        image = Image.open(io.BytesIO(base64.b64decode(lines[2]))).convert("RGB")
        x, y, width, height = SECRET
        row = [image.getpixel((column, y + height // 2)) for column in range(x, x + width)]
        return max(sum(pixel) for pixel in row) - min(sum(pixel) for pixel in row)

    assert stripes(write(bad, bad / "masked.html", frames=True)) < 60
    assert stripes(write(bad, bad / "bare.html", frames=True, mask=False)) > 600
    assert COLOURS["checkout"]


def test_network_has_what_was_asked_and_what_came(bad):
    found = shown(bad)["network"]
    assert [row["url"].rsplit("/", 1)[1] for row in found] == ["shop", "item", "checkout", "checkout", "pay"]
    assert (found[0]["status"], found[0]["body"], found[-1]["status"]) == (200, "<h1>shop</h1>", 402)


def test_long_texts_are_cut_with_a_word_how_much_is_missing(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        shop = Shop(recording)
        shop.request(0.1, "https://shop.test/", body="x" * 20_000)
        shop.request(0.2, "https://shop.test/picture", body=b"\x89PNG\r\n\x00\xff" * 100)
        shop.close()
    text, image = (row["body"] for row in shown(recording._store.folder(recording.id))["network"])
    assert len(text) < 7000
    assert "14000 letters left out" in text
    assert image == "800 bytes, text/html"


def test_the_messages_of_a_model_are_those_that_are_new(bad):
    said = [row["said"] for row in shown(bad)["rows"] if row["kind"] == "model"]
    assert [message["text"] for message in said[0]] == ["Buy the brass lamp.", "I open the lamp."]
    assert [message["text"] for message in said[1]] == ["Go on.", "I type the password."]


def test_a_recording_without_a_browser_is_refused_in_one_line(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        reenact.effect("tool", "add", a=1).perform(lambda: 2)
    with pytest.raises(UsageError, match="has no browser session to watch"):
        shown(recording._store.folder(recording.id))


def test_a_session_that_is_not_there_is_refused(bad):
    with pytest.raises(UsageError, match="has one browser session: there is no session 2"):
        shown(bad, session=2)


def test_two_runs_part_where_the_one_does_something_else(bad, tmp_path):
    page = write(buy(tmp_path), tmp_path / "page.html", beside=bad, frames=True)
    data = inside(page, "data")
    together = data["together"]
    rows = [side["rows"] for side in data["sides"]]
    titles = [
        [
            rows[side][pair[letter]]["title"] if pair[letter] is not None else None
            for side, letter in enumerate("ab")
        ]
        for pair in together["pairs"]
    ]
    accepting = titles.index(["Click button “Accept all”", None])
    assert together["parting"] <= accepting
    assert all(pair["kind"] == "same" for pair in together["pairs"][: together["parting"]])
    paying = together["pairs"][titles.index(["Click button “Pay”", "Click button “Pay”"])]
    assert ["success", "true", "false"] in paying["differences"]
