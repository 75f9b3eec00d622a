"""A script whose page changes: mended once, at once the next time, and patched for good."""

from __future__ import annotations

import json
import runpy
import subprocess
from decimal import Decimal

import pytest

import reenact
from reenact.browser.page import consequence
from reenact.cli import main

pytestmark = pytest.mark.thorough

SCRIPT = """\
from reenact import Client

client = Client(cdp_url=BROWSER)


def buy(page):
    with client.Session(name="tea shop") as session:
        session.execute(type="goto", url=page)
        with client.AgentFallback(session, task="Buy tea", heal="auto") as fb:
            session.execute(type="fill", selector="#name", value="Ada")
            session.execute(type="click", selector="#buy", timeout=1500)  # the green one
        return fb, session.execute(type="evaluate_js", code="out.textContent").data, session.recording
"""
PAGE = """
<h1>Tea shop</h1><form onsubmit="return false"><label>Your name <input id=name></label>
<button id=ID type=button onclick="out.textContent = 'sold to ' + document.getElementById('name').value">Buy tea</button>
<button type=button>Cancel</button></form><output id=out></output>
"""


@pytest.fixture
def shop(home, tmp_path, monkeypatch, chromium):
    """Runs `shop.py`, as it stands in its file, on the page whose button has that id; a recording id replays it."""
    monkeypatch.chdir(tmp_path)
    # On a busy machine a page takes longer to say what it shows; without that nothing can be verified.
    monkeypatch.setattr(consequence, "PATIENCE", 20)
    page, script = tmp_path / "page.html", tmp_path / "shop.py"
    script.write_text(SCRIPT.replace("BROWSER", repr(chromium)))

    def run(button):
        page.write_text(PAGE.replace("ID", button))
        return runpy.run_path(str(script))["buy"](page.as_uri())

    return run


def test_a_verified_heal_is_tried_first_in_the_next_run_and_its_patch_needs_no_help(shop, tmp_path, capsys):
    assert shop("buy")[0].heals == []

    fb, said, _ = shop("buy-17")
    assert fb.success, (fb.error, fb.heals)
    assert (fb.agent_invoked, said) == (False, "sold to Ada")
    (first,) = fb.heals
    assert (first.rung, first.verified, first.old) == ("alternative", True, "#buy")
    assert (first.place, first.function) == (f"{tmp_path / 'shop.py'}:11", "buy")

    fb, said, recording = shop("buy-17")
    (second,) = fb.heals
    assert (fb.success, said, second.rung, second.verified) == (True, "sold to Ada", "remembered", True)
    assert second.cost == Decimal(0)

    page = tmp_path / "page.html"
    page.unlink()
    with reenact.replay(recording):
        again = runpy.run_path(str(tmp_path / "shop.py"))["buy"](page.as_uri())
    assert again[0].heals == [second]

    diff = fb.suggested_patch()
    subprocess.run(["git", "apply", "-p0"], input=diff.encode(), cwd=tmp_path, check=True, timeout=30)
    assert (tmp_path / "shop.py").read_text().count("# the green one") == 1
    fb, said, _ = shop("buy-17")
    assert (fb.error, said, fb.heals) == (None, "sold to Ada", [])

    assert main(["heals", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["ran"], told["helped"], told["state"], told["runs_since"]) == (3, 2, "mended", 1)
    assert told["rungs"] == {"alternative": 1, "remembered": 1}
