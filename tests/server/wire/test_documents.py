"""The source documents' examples, run by the client that they were written for, against our server."""

from __future__ import annotations

import json
from pathlib import Path

import av
import pytest

from reenact import load
from reenact.browser.camera.footage import sessions
from reenact.browser.video import render
from tests.browser.frames import decoded, greyed, unmarked


@pytest.fixture(scope="module")
def key(wired):
    return wired.key(project="team")


@pytest.fixture(scope="module")
def told(program, pages, model, key):
    """What came of the examples, and the folder that they were run in."""
    out, folder = program("documents.py", pages.url, model.url, key=key)
    return {**json.loads(out), "folder": folder}


def test_a_session_is_started_listed_and_stopped(told):
    started, ended = told["started"], told["ended"]
    assert (started["status"], started["viewport_width"]) == ("active", 1000)
    assert told["listed"] == [started["session_id"]]
    assert (ended["status"], ended["close_reason"]) == ("closed", "manual")
    assert "the session is closed" in told["too late"]


def test_a_page_is_observed_with_ids_and_a_picture(told):
    seen = told["seen"]
    assert seen["title"] == "Order"
    assert seen["picture"] in {"ffd8", "8950"}
    assert '- textbox "Full name"' in seen["description"]
    assert {seen["actions"][id] for id in ("I1", "B1", "L1")} == {"fill", "click"}
    assert seen["first"] == "fill"


def test_each_kind_of_action_is_done(told):
    assert told["done"][:6] == [
        "filled textbox 'Full name'",
        "filled textbox 'E-mail'",
        "filled textbox 'Note' key by key",
        "selected 'Green' in combobox 'Colour'",
        "ticked checkbox 'Gift wrapping'",
        "pressed End",
    ]
    assert all(told["done"][6:13])
    assert told["evaluated"][1] == '{"a": [1, null]}'
    assert told["offset"] == 1 + len(told["done"]) + len(told["evaluated"])
    assert told["fetched"] == 200


def test_what_fails_raises_or_says_so(told):
    assert told["raised"][0] == "ActionError"
    assert "#nowhere" in told["raised"][1]
    assert told["failed"][0] is False
    assert "type" in told["no type"]


def test_a_page_is_read_as_markdown_and_by_a_model(told):
    assert told["markdown"]
    assert told["instructed"] == "three of them"
    assert told["structured"] == {"what": "tea", "pieces": 3}
    assert "# On trees" in told["page"]


def test_cookies_go_both_ways_and_secrets_do_not_come_back(told, wired):
    assert ["c", "v", True] in told["cookies"]
    assert told["secret"] == "••••••"
    home = wired.home / "projects" / "team"
    written = [path for path in home.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if b"Sup3r-secret-9" in path.read_bytes()]


def test_files_are_uploaded_and_downloaded(told):
    assert told["uploaded"] == "note.txt 12"
    assert [one[:2] for one in told["files"]] == [
        ["note.txt", "user_upload"],
        ["report.csv", "session_download"],
    ]
    assert told["downloaded"] == "a,b\n1,2\n"


def test_an_agent_runs_and_its_steps_are_told(told):
    ran = told["ran"]
    assert (ran["success"], ran["answer"], told["waited"]) == (True, "ordered", "ordered")
    assert [step[:3] for step in ran["steps"]] == [
        ["agent_step", "fill", True],
        ["agent_step", "click", True],
        ["agent_step", "completion", True],
    ]
    assert ran["reasoning"] == "because fill"
    assert "done.html" in ran["url"]
    script, kinds = told["code"]
    assert kinds == ["fill", "click"]
    compile(script, "script", "exec")


def test_an_agent_is_watched_while_it_works_and_stopped(told):
    assert told["stopped"] == ["active", "closed", False, "stopped before it was done"]


def test_a_script_that_breaks_is_finished_by_an_agent(told):
    fallback = told["fallback"]
    assert (fallback["success"], fallback["agent_invoked"], fallback["answer"]) == (True, True, "mended")
    assert fallback["steps"] == [True, False]
    assert "skipped" in fallback["skipped"]
    assert fallback["title"] != "Order"


def test_the_video_is_fetched_from_a_signed_address_and_plays(told):
    for name, size in (("during.mp4", told["video"]), ("after.mp4", told["later"])):
        file = told["folder"] / name
        assert file.stat().st_size == size
        with av.open(file) as video:
            assert video.streams.video[0].codec_context.name == "h264"
            assert next(video.decode(video=0)).width >= 1000


def test_the_frames_of_the_video_show_each_action_s_ring_and_are_not_grey(told, wired):
    recording = load(told["started"]["session_id"], home=wired.home / "projects" / "team")
    (footage,) = sessions(Path(recording.path))
    fetched = told["folder"] / "after.mp4"
    missing, count = unmarked(footage, render(footage), fetched)
    assert (missing, count > 10) == ([], True)
    grey = [round(ms) for ms, _, image in decoded(fetched)[1:] if greyed(image) > 0.25]
    assert grey == []


def test_what_happened_is_recorded_in_the_project_of_the_key(told, wired):
    recording = load(told["started"]["session_id"], home=wired.home / "projects" / "team")
    labels = [step.call.label for step in recording.steps]
    assert labels[0] == "browser:start"
    assert {"browser:fill", "browser:observe", "agent:start", "model:scripted"} <= set(labels)
    assert recording.status == "ok"


def test_its_browser_is_within_reach_of_nobody_else(told):
    assert told["cdp"] == ""
