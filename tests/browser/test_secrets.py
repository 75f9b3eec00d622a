"""What is written into a secret field is seen nowhere: not in the recording, a result, a message or an error."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import urlencode

import pytest
from PIL import Image

import reenact
from reenact.browser.actions.types import MASK
from reenact.browser.camera.footage import sessions
from reenact.core import boundary
from reenact.core.model.event import Effect

SECRETS = (
    "open-sesame-1",
    "open-sesame-2",
    "378282246310005",
    "open-sesame-3",
    "open-sesame-4",
    "cookie-sesame",
)


@pytest.fixture(scope="module")
def done(tmp_path_factory, open_session, site):
    """A session that has written many secrets: its folder, and all that its results say."""
    home = tmp_path_factory.mktemp("home")

    def program():
        with open_session(home=home, mask=["#note"], raise_on_failure=False) as session:
            session.execute(type="goto", url=site("secrets.html"))
            first, second, card, third, fourth, cookie = SECRETS
            said = [
                session.execute(type="fill", selector="#password", value=first),
                session.execute(type="fallback_fill", selector="#note", value=second),
                session.execute(type="form_fill", value={"cc_number": card, "username": "ada"}),
                session.execute(
                    type="fill", selector="#password-that-is-not-there", value=third, timeout=100
                ),
                session.execute(type="evaluate_js", code="password.value"),
            ]
            session.page.fill("#otp", fourth)
            session.page.locator("#user").fill("not a secret")
            session.set_cookies([{"name": "sid", "value": cookie, "url": site("")}])
            said += [session.get_cookies(), session.page.locator("#otp").input_value()]
            return session.recording, said

    folder, said = program()
    return home, program, folder, said


def test_nothing_of_it_is_in_the_recording(done):
    _, _, folder, _ = done
    for file in Path(folder).rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert not [secret for secret in SECRETS if secret.encode() in data], file
    assert b"not a secret" in (Path(folder) / "events.jsonl").read_bytes()


def test_results_have_a_mask_in_its_place(done):
    _, _, _, said = done
    assert [result.action.value for result in said[:2]] == [MASK, MASK]
    assert said[2].action.value == {"cc_number": MASK, "username": "ada"}
    for result in said[:4]:
        assert not [secret for secret in SECRETS if secret in f"{result!r} {result.exception} {result.why}"]
    # The program itself gets what it asks for.
    assert said[4].data == SECRETS[0]
    assert (said[5][0]["value"], said[6]) == (SECRETS[5], SECRETS[3 + 1])


def test_a_replay_asks_the_same_without_a_page(done):
    home, program, folder, said = done
    with reenact.replay(folder, home=home) as replay:
        _, again = program()
    assert replay.verdict.divergence is None
    assert [one.model_dump() for one in again[:4]] == [one.model_dump() for one in said[:4]]


def test_a_password_that_a_models_answer_holds_is_seen_nowhere_once_it_is_filled_in(
    open_session, site, tmp_path
):
    """The answer is recorded before the session can know it."""

    def program():
        with open_session(home=tmp_path) as session:
            session.execute(type="goto", url=site("secrets.html"))
            tree = session.observe().space.description
            field = re.search(r'"Password"[^\n]*\b([A-Z]\d+)\]', tree)[1]
            parts = ['{"id": "', field, '", "value": "tr0', "ub4d", '"}']
            chunks = ({"delta": {"arguments": part}} for part in parts)
            told = boundary.stream(Effect("model", "m", {"tree": tree}), lambda: chunks)
            asked = json.loads("".join(chunk["delta"]["arguments"] for chunk in told))
            print("typing", asked["value"])
            session.execute(type="fill", **asked)
            boundary.perform(Effect("model", "m", {"said": asked}), lambda: "done")
            return session.recording

    folder = program()
    page = tmp_path / "page.html"
    for arguments in (
        ["show", folder],
        ["export", folder, page],
        ["export", folder, tmp_path / "one.reenact"],
    ):
        command = [sys.executable, "-m", "reenact", *arguments]
        told = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
        assert "tr0ub4d" not in told.stdout
        assert "[[secret" not in told.stdout
    zipfile.ZipFile(tmp_path / "one.reenact").extractall(tmp_path / "unpacked")
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert page in files
    assert not [file for file in files if b"tr0ub4d" in file.read_bytes()]
    with reenact.replay(folder, home=tmp_path) as replay:
        program()
    assert replay.verdict.faithful


def test_a_value_for_an_element_that_is_not_found_is_hidden_in_its_fill_alone(open_session, site, tmp_path):
    """It may be secret, and mostly is not."""

    def program():
        with open_session(home=tmp_path, raise_on_failure=False) as session:
            session.execute(type="goto", url=site("secrets.html"))
            title = boundary.perform(Effect("model", "m", {}), lambda: "Brass")
            session.execute(type="fill", selector="#gone", value="Brass", timeout=100)
            boundary.perform(Effect("model", "m", {"title": title}), lambda: "done")
            return session.recording

    folder = program()
    with reenact.replay(folder, home=tmp_path) as replay:
        program()
    assert replay.verdict.faithful
    args = [
        step.args for step in reenact.load(folder).steps if step.call.label in ("browser:fill", "model:m")
    ]
    assert args[2]["title"] == "Brass"
    assert args[1]["value"] != "Brass"


@pytest.mark.thorough
def test_a_secret_is_a_token_for_a_session_that_nobody_records(open_session, site, monkeypatch):
    with reenact.core.boundary.entered(None), open_session(save_replay_on="never") as session:
        session.execute(type="goto", url=site("secrets.html"))
        result = session.execute(type="fill", selector="#password", value="open-sesame-5")
        assert "open-sesame-5" not in repr(result)
        assert "open-sesame-5" not in repr(session.core.outcomes)
    assert not Path(session.recording).exists()


MAGENTA = """<title>Pay</title><style>input{font:40px monospace;width:500px;display:block}
input:not(:placeholder-shown){color:#f0f;font-weight:bold}
body{margin:60px}</style><label>Card number <input id=number placeholder=. autocomplete=cc-number></label>
<label>Something <input id=other placeholder=.></label><button onclick="document.body.style.marginTop='200px'">Move</button>"""


def magenta(data):
    """How many pixels of a picture show what is in a field."""
    picture = Image.open(io.BytesIO(data)).convert("RGB").resize((320, 180))
    return sum(
        count
        for count, (red, green, blue) in picture.getcolors(1 << 20)
        if red > 180 and green < 90 and blue > 180
    )


@pytest.mark.thorough
def test_no_picture_that_is_stored_or_observed_shows_a_card_number(open_session, site, tmp_path):
    with open_session(home=tmp_path, screenshot_type="full") as session:
        session.execute(type="goto", url=f"{site('echo')}?{urlencode({'html': MAGENTA})}")
        session.execute(type="fill", selector="#number", value="4111 1111 1111 1111")
        # Nothing says that this field is secret but the program's word for it.
        session.execute(
            type="fill", selector={"css": "#other", "xpath": "//*[@id='other'][not(@pin)]"}, value="4242"
        )
        seen = session.observe()
        session.execute(type="click", selector="button")
        time.sleep(0.4)
        again = session.observe()
        own = session.page.screenshot(type="jpeg")
        recording = session.recording
    files = [file.read_bytes() for file in (Path(recording) / "blobs").rglob("*") if file.is_file()]
    pictures = [data for data in files if data.startswith(b"\xff\xd8")]
    assert len(pictures) >= 4
    assert [magenta(data) for data in [*pictures, seen.screenshot, again.screenshot, own]] == [0] * (
        len(pictures) + 3
    )
    (footage,) = sessions(Path(recording))
    assert [one["viewport"] for one in footage.entries("anchor")][-1] == [1280, 720]
    assert next(one for one in footage.entries("before") if one["call"] and one["action"]["type"] == "fill")[
        "target"
    ]["secret"]
