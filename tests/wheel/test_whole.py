"""`pip install 'reenact[server]'`: the console and its pages, reached by clicking in a real browser."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import zipfile
from email import message_from_bytes

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.wheel.conftest import Installed

CHROMIUM = os.environ.get("CHROME") or shutil.which("chromium") or shutil.which("google-chrome")
PROGRAM = """\
import reenact

@reenact.tool
def lookup(order):
    return {"order": order, "state": "sent"}

print(lookup("A-1"))
"""


@pytest.fixture(scope="module")
def served(wheel, tmp_path_factory):
    """The wheel with the extra `server`, and two recordings."""
    installed = Installed(tmp_path_factory.mktemp("served"), wheel, "[server]")
    (installed.folder / "prog.py").write_text(PROGRAM)
    for name in ("first", "second"):
        installed.run("reenact", "record", "--name", name, "--", "python", "prog.py")
    return installed


@pytest.fixture(scope="module")
def address(served):
    """The address of `reenact console`."""
    process = subprocess.Popen(
        [served.python.with_name("reenact"), "console", "--no-open", "--port", "0"],
        cwd=served.folder, env=served.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    said = process.stdout.readline()
    found = re.search(r"http://\S+", said)
    assert found, said + process.stdout.read()
    yield found[0]
    process.send_signal(signal.SIGINT)
    process.wait(60)
    process.stdout.close()


def test_the_wheel_has_its_pages_scripts_licence_and_description(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        described = message_from_bytes(archive.read(metadata))
        page = archive.read("reenact/server/console/index.html").decode()
    for name in re.findall(r'(?:src|href)="/(assets/[^"]+)"', page):
        assert f"reenact/server/console/{name}" in names
    for name in ("browser/page/eyes.js", "browser/watch/page.js", "tui/debugger.tcss", "py.typed"):
        assert f"reenact/{name}" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert [name for name in names if name.endswith((".pyc", ".map"))] == []
    assert described["Description-Content-Type"] == "text/markdown"
    assert "flight recorder" in str(described.get_payload())


def test_every_page_of_the_console_opens_by_clicking(served, address):
    if CHROMIUM is None:
        pytest.skip("no Chromium here: make chromium")
    expect.set_options(timeout=60_000)
    errors: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("response", lambda answer: errors.append(answer.url) if answer.status >= 400 else None)
        page.goto(address)
        expect(page.get_by_role("link", name="first", exact=True)).to_be_visible()
        for name in ("Compare", "Jobs", "Heals", "Recordings"):
            page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
            expect(page.get_by_role("heading").first).to_be_visible()
            if name == "Heals":
                # Repairs of scripts are read by the code of browser sessions, which is another extra.
                expect(page.get_by_role("main")).to_contain_text("pip install 'reenact[browser]'")
        page.get_by_role("link", name="second", exact=True).click()
        expect(page.get_by_role("heading", name="second", level=1)).to_be_visible()
        expect(page.get_by_role("main")).to_contain_text("lookup")
        browser.close()
    assert [address.rpartition("/")[2] for address in errors] == ["heals"]


def test_a_run_is_recorded_replayed_and_debugged(served):
    assert "faithful" in served.run("reenact", "replay", "last").stderr
    said = served.run("reenact", "debug", "last", "--plain", given="next\nquit\n").stdout
    assert "lookup" in said
