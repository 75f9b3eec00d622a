"""What scenes share: folders with programs, an agent whose tool is changed, a shop's page, a provider by its name."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import randint
from secrets import token_hex

from tests.conftest import BARE_PYTEST
from tests.docs.provider import QuickstartProvider
from tests.docs.terminal import BIN
from tests.docs.walk import blocks

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PROGRAMS = Path(__file__).parents[1] / "programs"
EXERCISE = ROOT / "examples" / "exercise"
RECORD = "reenact record --name support -- python agent.py"
MEND = "sed -i 's/or shop.cancel_order/or mended.cancel_order/; s/^import shop/import mended\\n&/' support.py"
ORDERS = {"ORD-5521": {"item": "espresso machine", "status": "shipped", "total": "349.00 EUR"}}

SCENES = []
"""All scenes, in the order of their modules."""


def scene(draw):
    """Make a function a scene: it works in a terminal, and may return a picture of something else."""
    SCENES.append(draw)
    return draw


def put(terminal, *names: str):
    """Copy programs into the folder of a scene."""
    for name in names:
        source = PROGRAMS / name if (PROGRAMS / name).exists() else EXERCISE / name
        shutil.copy(source, terminal.folder)


def put_page(terminal, page: str, name: str = ""):
    """Write the programs that a page shows under their names, or its only one under this name."""
    for _, title, text in blocks((DOCS / page).read_text(encoding="utf-8")):
        if title or (title := named_within(text)):
            (terminal.folder / (name or title)).write_text(text, encoding="utf-8")


def named_within(text: str) -> str:
    """Return the name in the first line of a program, if that is a comment with a name alone."""
    found = re.match(r"# (\w+\.py)\n", text)
    return found[1] if found else ""


def put_pytest(terminal):
    """Let pytest find the programs of the folder, with Reenact's plugin alone."""
    terminal.environ |= BARE_PYTEST
    (terminal.folder / "pytest.ini").write_text(
        "[pytest]\npythonpath = .\nasyncio_default_fixture_loop_scope = function\n", encoding="utf-8"
    )


def put_agent(terminal):
    """Copy the agent that cancels an order, and its shop."""
    put(terminal, "agent.py", "support.py", "shop.py", "mended.py")


def change_the_tool(terminal):
    """Change one tool of the agent."""
    terminal.run(MEND, shown=False)
    terminal.comment("The tool cancel_order is changed: it refuses an order that has shipped.")


class Pages(SimpleHTTPRequestHandler):
    """The files of a folder."""

    def log_message(self, *_): ...


class Shop(BaseHTTPRequestHandler):
    """A shop's orders and refunds, as JSON."""

    def do_GET(self):
        order = ORDERS.get(self.path.rpartition("/")[2])
        self.reply(200 if order else 404, order or {"problem": "no such order"})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.reply(201, {"ticket": f"REF-{token_hex(4)}"})

    def reply(self, status, content):
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_): ...


class Weather(Shop):
    """The weather of cities, which is another each time."""

    def do_GET(self):
        self.reply(200, {"degrees": randint(0, 300) / 10})


@contextmanager
def serving(handler):
    """Serve on a free port of this machine; give the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def provider_of(terminal, name: str = "models.example"):
    """Run the scripted provider of models, reached by this name; it is stopped at the end."""
    provider = QuickstartProvider()
    reached_by_names(terminal, provider.url)
    terminal.environ |= provider.environ | {"OPENAI_BASE_URL": f"http://{name}/v1"}
    yield
    provider.stop()
    terminal.comment("The provider is stopped.")


def reached_by_names(terminal, address: str):
    """Let programs reach a server by any name over HTTP, as they reach others by a proxy."""
    for name in ("http_proxy", "HTTP_PROXY"):
        terminal.environ[name] = address
    for name in ("no_proxy", "NO_PROXY"):
        terminal.environ.pop(name, None)


@contextmanager
def shop(terminal, program: str = "buy.py", page: str = "shop.html"):
    """Serve a shop's page for a program; the variable SHOP is its address."""
    put(terminal, program, page)
    with serving(partial(Pages, directory=str(terminal.folder))) as address:
        terminal.environ["SHOP"] = f"{address}/{page}"
        yield


class Server:
    """A `reenact serve` with a home of its own beside the folder of a terminal.

    Attributes:
        url: Its address.
        environ: Variables of commands that work in its home.
    """

    def __init__(self, terminal):
        self._home = terminal.folder.parent / "server"
        self._home.mkdir()
        self.environ = {
            "REENACT_HOME": str(self._home),
            "XDG_CONFIG_HOME": str(self._home / "config"),
            "REENACT_SERVER": "",
        }
        self._environ = terminal.environ | self.environ
        self._port = 0
        self.start()

    def start(self):
        """Start it, again at its port, and return once it listens."""
        self._process = subprocess.Popen(
            [BIN / "reenact", "serve", "--port", str(self._port)],
            cwd=self._home, env=self._environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.url = self._process.stdout.readline().strip()
        self._port = int(self.url.rpartition(":")[2])

    def stop(self):
        """End it."""
        self._process.terminate()
        self._process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
