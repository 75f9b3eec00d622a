"""The console in a real browser, on a server of this process: what plays, what is debugged, what is worked on."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import sync_playwright

from reenact.core.store.local import LocalStore
from reenact.server.app import application
from reenact.server.settings import Settings
from tests.chromium import CHROMIUM, headless

AGENT = """
import reenact

@reenact.tool
def price(lamp):
    return {"arc": 120, "desk": 40}[lamp]

@reenact.tool
def order(total, note):
    return f"ordered for {total}"

basket = reenact.track("basket", [])
for lamp in ("arc", "desk", "arc"):
    basket.append([lamp, price(lamp)])
    print(lamp, basket[-1][1])
print(order(sum(each for _, each in basket), "<img src=x onerror='window.harmed = 1'>"))
"""

AXE = Path(__file__).parents[3] / "console" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="package")
def chromium():
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROME")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=headless())
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def home(tmp_path_factory):
    """The home of the recordings, of this process too."""
    folder = tmp_path_factory.mktemp("stage")
    before = os.environ.get("REENACT_HOME")
    os.environ["REENACT_HOME"] = str(folder)
    yield folder
    if before is None:
        del os.environ["REENACT_HOME"]
    else:
        os.environ["REENACT_HOME"] = before


@pytest.fixture(scope="package")
def address(home):
    """A server of that home: its address."""
    settings = Settings(home, ("127.0.0.1",), keyless=True, running=True)
    if not (settings.console / "index.html").is_file():
        pytest.skip("the console is not built: make console")
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(
            application(settings), log_level="critical", ws="none", timeout_graceful_shutdown=1, http="h11"
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(60)


@pytest.fixture
def opened(chromium, address):
    """Opens a page of the console. What its script complains of fails the test."""
    contexts, wrong = [], []

    def show(path):
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(0)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("response", lambda told: wrong.append(told.url) if told.status >= 400 else None)
        page.goto(address + path)
        return page

    yield show
    for context in contexts:
        context.close()
    assert wrong == []


def sound(page):
    """Nothing that axe finds fault with, and nothing wider than the page: in both themes, on telephones and the largest screens."""
    page.evaluate(AXE.read_text())
    for width, theme in ((1440, "light"), (2560, "light"), (2560, "dark"), (390, "dark"), (390, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        wrong = [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found]
        assert (width, theme, wrong) == (width, theme, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def three_lamps(home, folder, name="three lamps"):
    """Record a program in this folder that buys three lamps; return the recording's id."""
    program = folder / "agent.py"
    program.write_text(AGENT)
    words = [
        sys.executable,
        "-m",
        "reenact",
        "record",
        "--name",
        name,
        "--",
        sys.executable,
        program.name,
    ]
    subprocess.run(words, cwd=folder, env={**os.environ, "REENACT_HOME": str(home)}, check=True)
    return LocalStore(home).load("last").id


def stopped(page, text):
    """Wait until the debugger says where it stands."""
    page.locator(".debug-standing", has_text=text).wait_for()
