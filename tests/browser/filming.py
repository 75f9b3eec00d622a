"""Real footage for tests: a few pages of a small shop, driven with plain Playwright under the real camera.

`python -m tests.browser.filming FOLDER` leaves a session's file and its pictures in a folder.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter

from playwright.async_api import Error, async_playwright

from reenact.browser.camera.camera import Camera
from reenact.browser.camera.footage import Footage, sessions
from reenact.browser.page.hiding import hide_secrets
from reenact.core.record.sidecar import SidecarFile
from reenact.core.redact import Redactor
from tests.chromium import headless

VIEWPORT = (1280, 720)
SALT = b"a salt for tests"
STYLE = "<style>body{font:18px sans-serif;margin:40px} input,button,select{font:18px sans-serif;padding:6px;margin:4px}</style>"
PAGES = {
    "/": f"""<title>Shop</title>{STYLE}<h1>Shop</h1>
        <label>Search <input id=q></label><button id=go onclick="found.textContent='2 lamps for '+q.value">Search</button>
        <p id=found></p><p><a href=/cart id=cart>To the cart</a> <a href=/terms target=_blank id=terms>Terms</a></p>
        <script>console.log('the shop is open'); fetch('/api/lamps').then(r=>r.json())</script>""",
    "/cart": f"""<title>Cart</title>{STYLE}<h1>Cart</h1><form id=f onsubmit="event.preventDefault();done.textContent='Ordered'">
        <label>Name <input id=name></label><br><label>Password <input id=password type=password></label><br>
        <select id=size><option>small<option>large</select><button id=order>Order</button></form>
        <p id=done></p><button id=never disabled>Refund</button>""",
    "/terms": f"<title>Terms</title>{STYLE}<h1>Terms</h1><p>{'All lamps are sold as seen. ' * 40}</p>",
    "/api/lamps": '{"lamps": [{"name": "Arc", "price": 120}]}',
}


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, pages, *args):
        self.pages = pages
        super().__init__(*args)

    def do_GET(self):
        page = self.pages.get(self.path.split("?")[0])
        if callable(page):
            return page(self)
        return self.answer(page if page is not None else "not here", 200 if page is not None else 404)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def answer(self, body, status=200, **headers):
        """Send a page: HTML, or JSON by its first letter, or bytes as the headers say."""
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        kind = "application/json" if data[:1] in {b"{", b"["} else "text/html; charset=utf-8"
        for name, value in {"Content_Type": kind, "Content_Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextmanager
def served(pages):
    """A loopback server of pages (text by path, or functions of the request); gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, pages))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def beside(folder, *, started=None, name="session.1.jsonl"):
    """A session's file as a recording opens one, with its first line."""
    file = SidecarFile(
        folder / name, Redactor(salt=SALT), started=perf_counter() if started is None else started
    )
    file.write(
        "session",
        format=1,
        id=folder.name,
        started=datetime.now(UTC).isoformat(),
        viewport=list(VIEWPORT),
        browser="chromium",
        headless=True,
    )
    return file


@asynccontextmanager
async def filmed(browser, folder, *, started=None, **options):
    """A context with one page under the camera: (page, camera). `started`: when the recording did, by `perf_counter`."""
    file = beside(folder, started=started)
    context = await browser.new_context(viewport={"width": VIEWPORT[0], "height": VIEWPORT[1]})
    await hide_secrets(context)
    camera = Camera(context, file, **options)
    try:
        page = await context.new_page()
        await camera.start()
        yield page, camera
    finally:
        await camera.stop()
        file.write("end")
        file.close()
        await context.close()


class Driver:
    """Does actions as a session does them: told to the camera before and after."""

    def __init__(self, camera, page):
        self.camera = camera
        self.page = page
        self.call = 0

    async def do(self, kind, selector=None, *, actor="script", page=None, **fields):
        """One action; returns whether it succeeded."""
        page = page or self.page
        self.call += 1
        call = self.call
        self.camera.begin(page)
        target = None
        if selector and (box := await page.locator(selector).bounding_box()):
            sides = [box[side] for side in ("x", "y", "width", "height")]
            target = {
                "box": sides,
                "point": [sides[0] + sides[2] / 2, sides[1] + sides[3] / 2],
                "selector": selector,
                "frame": [],
            }
        told = {"type": kind, **({"selector": selector} if selector else {}), **fields}
        await self.camera.before(call, page, actor, told, target)
        success, message = True, f"{kind} done"
        try:
            await self._deed(page, kind, selector, fields)
        except Error as error:
            success, message = False, str(error).splitlines()[0]
        await self.camera.after(
            call, page, success, message, None if success else {"exists": True}, {"css": selector}
        )
        return success

    @staticmethod
    async def _deed(page, kind, selector, fields):
        if kind == "goto":
            await page.goto(fields["url"])
        elif kind == "click":
            await page.click(selector, timeout=fields.get("timeout", 5000))
        elif kind == "fill":
            await page.fill(selector, fields["value"])
        elif kind == "select_dropdown_option":
            await page.select_option(selector, fields["value"])
        elif kind == "wait":
            await asyncio.sleep(fields["time_ms"] / 1000)


async def _film(folder):
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=headless())
        with served(PAGES) as site:
            async with filmed(browser, folder) as (page, camera):
                driver = Driver(camera, page)
                await driver.do("goto", url=site + "/")
                await driver.do("fill", "#q", value="arc lamp")
                await driver.do("click", "#go")
                async with page.context.expect_page() as opened:
                    await driver.do("click", "#terms")
                terms = await opened.value
                await terms.wait_for_load_state()
                await driver.do("wait", time_ms=200, page=terms)
                await terms.close()
                await driver.do("click", "#cart", actor="agent")
                await driver.do("fill", "#name", value="Ada", actor="agent")
                await driver.do("fill", "#password", value="[[secret]]", actor="agent")
                await driver.do("select_dropdown_option", "#size", value="large", actor="heal")
                await driver.do("click", "#never", timeout=300)
                await driver.do("click", "#order")
                await asyncio.sleep(0.3)
        await browser.close()


def film(folder: Path) -> Footage:
    """A short session in that folder: eleven actions of all actors, a popup, a secret field, one failure."""
    asyncio.run(_film(folder))
    (footage,) = sessions(folder)
    return footage


if __name__ == "__main__":
    for entry in film(Path(sys.argv[1])).entries():
        print(
            f"{entry.t:8.3f} {entry.event:8}",
            {k: v for k, v in entry.data.items() if k not in {"event", "t", "blob"}},
        )
