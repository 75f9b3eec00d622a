"""What `session.replay()` gives."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from PIL import Image

import reenact
from reenact.browser.session import session_video as module
from reenact.browser.session.session_video import replay
from reenact.browser.video import encode
from reenact.errors import RecordingError, UsageError
from tests.browser.sketching import Filming


@pytest.fixture
def filming(tmp_path):
    filming = Filming(tmp_path / "recording")
    filming.frame(0.5, Image.new("RGB", (640, 360), "white"))
    filming.act(1.0, 1.5, {"type": "click", "selector": "<b>"})
    return filming


@pytest.fixture
def response(filming, tmp_path):
    return replay(filming.folder, home=tmp_path)


def test_its_address_gives_the_video_until_it_expires(response):
    answer = httpx.get(response.mp4_url)
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.content == response.video.path.read_bytes()
    assert timedelta(0) < response.expires_at - datetime.now(UTC) <= timedelta(hours=1)
    assert (response.video_start_ms, response.video_duration_ms) == (500, 2000)
    assert response.playlist_content.splitlines() == [
        "#EXTM3U", "#EXTINF:2.000,Browser session s-1", response.mp4_url,
    ]  # fmt: skip


def test_it_downloads_to_a_file_or_into_a_folder(response, tmp_path):
    data = response.video.path.read_bytes()
    assert response.download(tmp_path / "new" / "x.mp4").read_bytes() == data
    assert response.download(str(tmp_path)) == tmp_path / response.video.path.name
    with pytest.raises(UsageError, match="cannot be written"):
        response.download(response.video.path / "x.mp4")


def test_it_works_while_the_session_goes_on(filming, response, tmp_path):
    filming.frame(9.0, Image.new("RGB", (640, 360), "grey"))
    later = replay(filming.footage(), home=tmp_path)
    assert later.video_duration_ms == 9500
    # The one from before is still good.
    assert httpx.get(response.mp4_url).status_code == 200


def test_a_notebook_holds_the_video_itself_where_it_is_small(response, monkeypatch):
    html = response._repr_html_()
    assert html.startswith("<video controls")
    assert 'src="data:video/mp4;base64,AAAA' in html
    assert '<track kind="captions"' in html
    monkeypatch.setattr(module, "INSIDE", 10)
    assert response.mp4_url.replace("&", "&amp;") in response._repr_html_()


def test_it_is_shown_in_a_browser_or_its_address_said(response, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(module.webbrowser, "open", lambda url: opened.append(url) or True)
    response.show()
    assert opened == [response.mp4_url]
    monkeypatch.setattr(module.webbrowser, "open", lambda _: False)
    response.show()
    assert capsys.readouterr().out == f"{response.mp4_url}\n"


def test_without_an_encoder_its_address_leads_to_a_page(filming, tmp_path, monkeypatch):
    monkeypatch.setattr(encode, "pyav", lambda: False)
    monkeypatch.setattr(encode, "ffmpeg", lambda: None)
    response = replay(filming.folder, home=tmp_path)
    assert httpx.get(response.mp4_url).headers["content-type"] == "text/html; charset=utf-8"
    assert response._repr_html_().startswith("<a href=")


def test_a_recording_without_a_session_is_one_clear_line(tmp_path):
    with pytest.raises(RecordingError, match="has no browser session"):
        replay(tmp_path, home=tmp_path)


def test_in_a_recorded_program_it_is_no_effect_and_in_its_replay_none_is_missed(filming, tmp_path):
    def program():
        response = replay(filming.folder, home=tmp_path)
        return response.video_duration_ms

    with reenact.record("watching", home=tmp_path) as recording:
        assert program() == 2000
    events = Path(recording.path, "events.jsonl").read_text(encoding="utf-8")
    assert '"called"' not in events
    drawn = set(re.findall('"source":"([^"]*)"', events))
    assert drawn <= {"clock:zone", "entropy:numpy"}, "what every recording has"
    with reenact.replay(recording.id, home=tmp_path) as again:
        assert program() == 2000
    assert again.verdict.faithful
