"""One server with a few runs, and one browser that looks at it."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

import pytest
import pytest_asyncio
import uvicorn
from playwright.async_api import async_playwright, expect

import reenact
from reenact.server.app import application
from reenact.server.hosting import LOOPBACK, listen
from reenact.server.settings import CONSOLE, Settings
from tests.chromium import CHROMIUM, headless
from tests.console import runs

AXE = Path(__file__).parents[2] / "console" / "node_modules" / "axe-core" / "axe.min.js"
expect.set_options(timeout=600_000)  # the limit of a test; a busy machine takes long
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""


@contextlib.contextmanager
def serving(home, **settings):
    """A server of that folder, as `reenact console` and `reenact serve` start it: its address."""
    if not (CONSOLE / "index.html").is_file():
        pytest.skip("the console is not built here: make console")
    listening = listen("127.0.0.1", 0)
    app = application(Settings(home, LOOPBACK, **settings))
    server = uvicorn.Server(
        uvicorn.Config(app, http="h11", ws="none", log_level="warning", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
        listening.close()


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Two runs of one agent, one of another day's prompt, one that is long and one that is hostile, by name."""
    folder = tmp_path_factory.mktemp("console")
    made = {}

    def keep(name, run, *args, called="", **about):
        with reenact.record(called or name, home=folder, **about) as recording:
            run(*args)
        made[name] = recording.id
        time.sleep(0.01)

    keep("long", runs.long, 10_000)
    keep("hostile", runs.hostile, called=runs.HOSTILE[:80], tags=["<b>tag</b>"])
    keep("first", runs.support, called="support", tags=["staging"])
    keep("second", runs.support, 12.5, called="support", tags=["staging"])
    return folder, made


@pytest.fixture(scope="session")
def ids(home):
    return home[1]


@pytest.fixture(scope="session")
def site(home):
    with serving(home[0], keyless=True) as address:
        yield address


@pytest.fixture
def own_site(tmp_path):
    """A server of an empty folder, for a test that records: the folder, and the address."""
    with serving(tmp_path, keyless=True) as address:
        yield tmp_path, address


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium():
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROME")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=headless())
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def window(chromium, site):
    """What makes tabs that watch for what must not be: dark or light, wide or narrow."""
    contexts = []

    async def opened(*, dark=False, width=1440):
        context = await chromium.new_context(
            base_url=site,
            color_scheme="dark" if dark else "light",
            viewport={"width": width, "height": 900},
        )
        context.set_default_timeout(0)
        contexts.append(context)
        page = await context.new_page()
        page.errors, page.asked = [], []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        await page.add_init_script(WATCH)
        return page

    yield opened
    for context in contexts:
        await context.close()
