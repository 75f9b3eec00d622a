"""Pages that nobody here wrote, served on this machine, and scripts that use them as a person would.

MiniWoB++ comes with its package, TodoMVC from npm (`make pages`), the shop is django-oscar.
"""

from __future__ import annotations

import functools
import http.server
import importlib.util
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TODOMVC = ROOT / ".pages" / "node_modules" / "todomvc" / "examples"

FRAMEWORKS = ("react", "vue", "angularjs", "backbone", "vanillajs", "emberjs", "knockoutjs", "mithril")
"""Those of TodoMVC's examples that run without anything from outside."""

TODO: list[dict[str, Any]] = [
    {"type": "fill", "selector": ".new-todo, #new-todo", "value": "record the run"},
    {"type": "press_key", "key": "Enter"},
    {"type": "fill", "selector": ".new-todo, #new-todo", "value": "replay it"},
    {"type": "press_key", "key": "Enter"},
    {"type": "fill", "selector": ".new-todo, #new-todo", "value": "find the step"},
    {"type": "press_key", "key": "Enter"},
    {"type": "check", "selector": "li:has(label:text-is('replay it')) >> .toggle", "value": True},
]  # fmt: skip
"""Three things to do, one of them done."""

DONE = "[...document.querySelectorAll('li.completed label')].map(e => e.textContent.trim())"
"""What is ticked off, by the page's own marks."""

PRODUCT = "/catalogue/the-flight-recorder_1/"


def checkout(shop: str, email: str, password: str) -> list[dict[str, Any]]:
    """Register, put a book into the basket, give an address, and order."""

    def goto(path: str) -> dict[str, Any]:
        return {"type": "goto", "url": shop + path}

    def fill(name: str, value: str) -> dict[str, Any]:
        return {"type": "fill", "selector": f"#id_{name}", "value": value}

    def click(selector: str) -> dict[str, Any]:
        return {"type": "click", "selector": selector}

    return [
        goto("/accounts/login/"),
        fill("registration-email", email),
        fill("registration-password1", password),
        fill("registration-password2", password),
        click("button[name=registration_submit]"),
        goto(PRODUCT),
        click("role=button[name='Add to basket']"),
        goto("/basket/"),
        click("role=link[name='Proceed to checkout']"),
        fill("first_name", "Ada"),
        fill("last_name", "Reader"),
        fill("line1", "1 Library Lane"),
        fill("line4", "London"),
        fill("postcode", "N1 9GU"),
        click("#new_shipping_address button[type=submit]"),
        click("role=link[name='Continue']"),
        click("#place-order"),
    ]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing: pytest's output is for the tests."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder on a port of this machine; gives its address."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def miniwob() -> Path:
    """The folder of MiniWoB's pages. Its package itself is not imported: it would want a browser driver of its own."""
    found = importlib.util.find_spec("miniwob")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("miniwob")
    return Path(found.origin).parent / "html"


@contextmanager
def shop(folder: Path) -> Iterator[str]:
    """The shop, with a fresh database in that folder; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.browser.shop", str(port)]
    environ = {**os.environ, "SHOP_FOLDER": str(folder)}
    with (folder / "shop.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address + PRODUCT, process, folder / "shop.log")
        yield address
    finally:
        process.terminate()
        process.wait(60)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=60):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.2)
    raise RuntimeError(f"the shop did not start: {log.read_text(encoding='utf-8')[-2000:]}")
