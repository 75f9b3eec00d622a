"""What being filmed costs an action of a browser session, and what a page that never rests costs the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from benchmarks.plan import Plan
from benchmarks.report import Section, Table
from benchmarks.workers import Broken

_PAUSE = 0.35
_HOW = (
    "Two sessions of one program, both recorded, one of them filmed. They do the same action on the same page in "
    "turn, {actions} times each, and {pause} s pass after each one, so that the pictures of the one are not taken in "
    "the time of the other. (A model thinks longer than that between two actions.) Timed is `session.execute`. The "
    "figure is the median of the filmed over the median of the other. Load of the machine at the beginning: "
    "{load:.1f} on {cores} cores."
)
_STYLE = "<style>body{font:18px sans-serif;margin:30px}</style>"
_ROWS = "".join(f"<tr><td>{i}<td>Customer {i}<td>{i * 37 % 1000} EUR</tr>" for i in range(300))
_LIST = """function again() { l.innerHTML = ""; for (let i = 0; i < 150; i++) {
const e = document.createElement("p"); e.textContent = "item " + Math.random(); l.append(e) } }"""
_MOVES = """const d = c.getContext("2d"); let x = 0; (function on() {
d.fillStyle = `hsl(${x % 360} 80% 50%)`; d.fillRect((x * 7) % 1200, (x * 13) % 500, 90, 60);
x++; requestAnimationFrame(on) })()"""
_BUTTON = "<button id=b onclick='{}'>Go</button>".format
_PAGES = {
    "/form": f"{_STYLE}<label>Name <input id=i></label>{_BUTTON('n.textContent = i.value')}<p id=n></p>",
    "/table": f"{_STYLE}{_BUTTON('t.append(t.rows[0])')}<table id=t>{_ROWS}</table>",
    "/list": f"{_STYLE}{_BUTTON('again()')}<div id=l></div><script>{_LIST}</script>",
    "/moves": f"{_STYLE}<canvas id=c width=1200 height=500></canvas><script>{_MOVES}</script>",
}
_KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "click in a form": ("/form", {"type": "click", "selector": "#b"}),
    "fill a field": ("/form", {"type": "fill", "selector": "#i", "value": "{n}"}),
    "click in a table of 300 rows": ("/table", {"type": "click", "selector": "#b"}),
    "click that builds a list anew": ("/list", {"type": "click", "selector": "#b"}),
    "goto": ("/form", {"type": "goto", "url": "{site}/table?{n}"}),
}


def measure(plan: Plan) -> Section:
    """Actions with and without the camera, and the disk under an endless animation."""
    actions = 6 if plan.quick else 50
    load = os.getloadavg()[0]
    cores = os.cpu_count()
    section = Section(
        "12. A filmed browser", _HOW.format(actions=actions, pause=_PAUSE, load=load, cores=cores)
    )
    table = Table(["action", "filmed, ms", "not filmed, ms", "ratio"], rows := [])
    total = {True: 0.0, False: 0.0}
    with _site() as site, tempfile.TemporaryDirectory(prefix="reenact-bench-") as folder:
        for kind, (path, action) in _KINDS.items():
            plan.tell(f"browser: {kind}")
            took = _compared(Path(folder), site + path, {**action, "site": site}, actions)
            ms = {filmed: median(times) * 1000 for filmed, times in took.items()}
            for filmed in total:
                total[filmed] += ms[filmed]
            rows.append([kind, f"{ms[True]:.1f}", f"{ms[False]:.1f}", f"{ms[True] / ms[False]:.3f}"])
        plan.tell("browser: an endless animation")
        busy = _growth(Path(folder), site, 3 if plan.quick else 60)
    ratio = total[True] / total[False]
    section.tables.append(table)
    section.figure(
        "an action of a filmed session, all kinds together", "< 1.05 times", f"{ratio:.3f}", ratio < 1.05
    )
    section.figure(
        "written under an endless animation, MB a minute, while something is done", "stated", f"{busy:.1f}"
    )
    return section


def _compared(folder: Path, address: str, action: dict[str, Any], actions: int) -> dict[bool, list[float]]:
    took: dict[bool, list[float]] = {True: [], False: []}
    with ExitStack() as stack:
        sessions = {filmed: stack.enter_context(_session(folder, filmed=filmed)) for filmed in took}
        for session in sessions.values():
            session.execute(type="goto", url=address)
        for number in range(actions):
            for filmed in (True, False) if number % 2 else (False, True):
                site, fields = (
                    action["site"],
                    {name: value for name, value in action.items() if name != "site"},
                )
                told = {name: value.format(n=number, site=site) for name, value in fields.items()}
                began = time.perf_counter()
                sessions[filmed].execute(**told)
                took[filmed].append(time.perf_counter() - began)
                time.sleep(_PAUSE)
    return took


def _growth(folder: Path, site: str, seconds: float) -> float:
    with _session(folder, filmed=True) as session:
        session.execute(type="goto", url=site + "/moves")
        before, began = _size(session.recording), time.perf_counter()
        while time.perf_counter() - began < seconds:
            session.execute(type="wait", time_ms=1000)
        grown = _size(session.recording) - before
        minutes = (time.perf_counter() - began) / 60
    return grown / minutes / 1e6


def _size(folder: str | None) -> int:
    if folder is None:
        raise Broken("the session is not recorded")
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


@contextmanager
def _session(folder: Path, *, filmed: bool) -> Iterator[Any]:
    try:
        from reenact import Client
        from reenact.browser.page.live_browser import LiveBrowser
    except ImportError as error:
        raise Broken(f"the extra `browser` is not installed: {error}") from None

    async def film(*_: object) -> None:
        pass

    home = tempfile.mkdtemp(dir=folder)
    with ExitStack() as stack:
        with ExitStack() as started:
            if not filmed:
                started.enter_context(patch.object(LiveBrowser, "film", film))
            session = stack.enter_context(Client(home=home).Session(headless=True))
        yield session
    shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _site() -> Iterator[str]:
    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = _PAGES.get(self.path.split("?", 1)[0], "").encode()
            self.send_response(200 if data else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
