"""A real browser, and a site of small pages, one for each thing that pages do."""

from __future__ import annotations

import importlib.util
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio

from tests.chromium import CHROMIUM, headless

PAGES = Path(__file__).parent / "pages"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class _Pages(SimpleHTTPRequestHandler):
    """Files of `pages/`; `{{other}}` in them is the site under another origin. Some addresses do more."""

    other = ""
    gate = threading.Event()

    def do_GET(self):
        where = urlsplit(self.path)
        if where.path.startswith("/download/"):
            return self.answer(b"a,b\n1,2\n", "text/csv", {"Content-Disposition": "attachment"})
        if where.path == "/pixel.png":
            return self.answer(PIXEL, "image/png", {})
        if where.path == "/stuck":  # a page whose last part does not come before the gate opens
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
            self.wfile.write(
                b"<title>Stuck</title><h1>Stuck</h1><button id=here>Here</button><!--" + b" " * 2000 + b"-->"
            )
            self.wfile.flush()
            self.gate.wait(60)
            return None
        if where.path == "/echo":
            return self.answer(parse_qs(where.query)["html"][0].encode(), "text/html", {})
        file = PAGES / where.path.strip("/")
        if file.suffix == ".html" and file.is_file():
            return self.answer(
                file.read_text().replace("{{other}}", self.other).encode(), "text/html; charset=utf-8", {}
            )
        return super().do_GET()

    def answer(self, body, kind, headers):
        self.send_response(200)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Site:
    """Two servers of the same pages: `site("form.html")` is an address, `site.other` begins those of another origin."""

    def __init__(self, folder=PAGES):
        self.servers = []
        handler = type("Pages", (_Pages,), {"gate": threading.Event()})
        self.gate = handler.gate
        for _ in range(2):
            server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.servers.append(server)
        self.url = f"http://127.0.0.1:{self.servers[0].server_port}"
        self.other = handler.other = f"http://localhost:{self.servers[1].server_port}"

    def __call__(self, page):
        return f"{self.url}/{page}"

    def close(self):
        self.gate.set()
        for server in self.servers:
            server.shutdown()
            server.server_close()


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    """No test asks the model that this machine, or another test, has named."""
    monkeypatch.delenv("REENACT_MODEL", raising=False)


@pytest.fixture(scope="session")
def site():
    site = Site()
    yield site
    site.close()


@pytest.fixture(scope="session")
def miniwob():
    """The tasks of MiniWoB++, which nobody here wrote: `miniwob("click-button")` is an address."""
    spec = importlib.util.find_spec("miniwob")
    if spec is None or spec.origin is None:
        pytest.skip("MiniWoB++ is not installed: make setup-dev")
    site = Site(Path(spec.origin).parent / "html")
    yield lambda task: site(f"miniwob/{task}.html")
    site.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    """One browser for all tests, driven by Playwright on the session's loop: such tests carry the mark `driven`."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROME")
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=headless())
        yield browser
        await browser.close()


class Tab:
    """A tab in a context of its own, which the tests of a module share: to make one takes longer than most tests."""

    def __init__(self, browser):
        self._browser = browser
        self._page = None

    async def emptied(self):
        """The tab on an empty page, without cookies and other tabs; a new one where a test has closed it."""
        if self._page is None or self._page.is_closed():
            await self.close()
            context = await self._browser.new_context(viewport={"width": 1280, "height": 720})
            context.set_default_timeout(120_000)  # ten thousand rows, on a busy machine
            self._page = await context.new_page()
            return self._page
        for other in self._page.context.pages:
            if other is not self._page:
                await other.close()
        await self._page.context.clear_cookies()
        await self._page.goto("about:blank")
        return self._page

    async def close(self):
        if self._page is not None:
            await self._page.context.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_tab(browser):
    tab = Tab(browser)
    yield tab
    await tab.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(shared_tab):
    """An empty tab."""
    return await shared_tab.emptied()


LASTING = {"idle_timeout_minutes": 60, "max_duration_minutes": 60}
"""Options of a session that several tests share: it does not end by itself while they run."""


class Shared:
    """A session that several tests share: `shared()` gives it, and a new one where a test has ended it."""

    def __init__(self, make):
        self._make = make
        self._session = None

    def __call__(self):
        if self._session is None or self._session.status().status == "closed":
            self.stop()
            self._session = self._make(**LASTING).start()
        return self._session

    def stop(self):
        if self._session is not None:
            self._session.stop()


@pytest.fixture(scope="module")
def shared_session(open_session):
    shared = Shared(open_session)
    yield shared
    shared.stop()


@pytest.fixture(scope="session")
def open_session(tmp_path_factory):
    """Makes browser sessions, in a home of their own unless told: `open_session(headless=True)`."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROME")
    from reenact import Client

    client = Client(home=tmp_path_factory.mktemp("sessions"), executable_path=CHROMIUM)
    return client.Session
