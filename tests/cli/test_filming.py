"""`reenact video`."""

from __future__ import annotations

import av
import pytest
from PIL import Image

import reenact
from reenact.browser.video import encode
from reenact.cli import main
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore
from tests.browser.sketching import Filming


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """A recording with a session, in a store that the commands use."""
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with reenact.record("shopping") as made:
        pass
    return made.id


@pytest.fixture
def filming(recording):
    filming = Filming(LocalStore().folder(recording))
    filming.frame(0.0, Image.new("RGB", (640, 360), "white"))
    filming.act(20.0, 20.1, {"type": "click", "selector": "#go"}, box=[10, 10, 50, 20])
    filming.line("end", 21.0)
    return filming


def length(path):
    with av.open(str(path)) as container:
        return round(container.duration / 1e6)


def test_it_writes_the_video_its_captions_and_its_map(filming, tmp_path, capsys):
    assert main(["video", "last", "-o", "x.mp4"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("wrote x.mp4 (")
    assert "1 step" in said
    assert length(tmp_path / "x.mp4") == 22
    assert {path.name for path in tmp_path.iterdir()} == {"home", "x.json", "x.mp4", "x.vtt"}


def test_without_a_name_it_is_called_as_the_recording(filming, recording, tmp_path):
    assert main(["video", recording[:6], "--pace", "compact"]) == 0
    assert length(tmp_path / f"{recording}.mp4") == 4


def test_it_replaces_nothing_unasked(filming, tmp_path, capsys):
    (tmp_path / "x.vtt").write_text("mine")
    assert main(["video", "last", "-o", "x.mp4"]) == 2
    assert capsys.readouterr().err == "reenact: x.vtt exists; --force replaces it\n"
    assert main(["video", "last", "-o", "x.mp4", "--force"]) == 0
    assert (tmp_path / "x.vtt").read_text().startswith("WEBVTT")


def test_an_exported_recording_has_its_video_too(filming, recording, tmp_path):
    file = bundle.export(LocalStore(), recording, tmp_path / "r.reenact")
    assert main(["video", str(file), "-o", "x.mp4"]) == 0
    assert length(tmp_path / "x.mp4") == 22


def test_of_several_sessions_one_is_chosen(filming, tmp_path, capsys):
    other = Filming(filming.folder, number=2, id="second", t=40.0)
    other.frame(41.0, Image.new("RGB", (640, 360), "grey"))
    assert main(["video", "last", "-o", "one.mp4"]) == 0
    assert "has 2 browser sessions; this is the first (--session 2 …)" in capsys.readouterr().err
    assert main(["video", "last", "-o", "two.mp4", "--session", "2"]) == 0
    assert capsys.readouterr().err.count("\n") == 1
    assert (length(tmp_path / "one.mp4"), length(tmp_path / "two.mp4")) == (22, 1)


def test_a_recording_without_a_session_is_one_line(recording, capsys):
    assert main(["video", "last", "-o", "x.mp4"]) == 2
    assert capsys.readouterr().err == f"reenact: {recording} has no browser session, and so no video\n"


def test_what_is_lost_or_cannot_be_encoded_is_said(filming, capsys, tmp_path, monkeypatch):
    filming.line("frame", 20.5, tab=0, blob="sha256:" + "0" * 64, width=640, height=360, masks=[])
    monkeypatch.setattr(encode, "pyav", lambda: False)
    monkeypatch.setattr(encode, "ffmpeg", lambda: None)
    assert main(["video", "last", "-o", "x.mp4"]) == 0
    wrote, page, lost = capsys.readouterr().err.splitlines()
    assert wrote.startswith("wrote x.html")
    assert page.endswith("for MP4: pip install av, or put ffmpeg on PATH")
    assert lost == "reenact: 1 picture of the session could not be read"
    assert (tmp_path / "x.html").is_file()


def test_a_wrong_name_is_one_line(filming, capsys):
    assert main(["video", "last", "-o", "x.avi"]) == 2
    assert capsys.readouterr().err == (
        "reenact: x.avi: a video is NAME.mp4, or NAME.html for a page that plays by itself\n"
    )
