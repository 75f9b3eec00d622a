"""A server of browser sessions in a thread, with keys; a server of models whose answers are scripted; and pages."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
import uvicorn

from reenact.browser import executable
from reenact.browser.isolation.addresses import Reach
from reenact.errors import SessionError
from reenact.server.app import application
from reenact.server.hosting import LOOPBACK, SOCKETS
from reenact.server.settings import Settings
from tests.browser.conftest import Site
from tests.server.wire.scripting import Model


class Wired:
    """A server that listens: `url`, `home`, `key(role, project)` makes a key, `ask(key)` a client of httpx."""

    def __init__(self, home, *, keyless=False):
        self.home = home
        self.app = application(Settings(home, LOOPBACK, keyless=keyless, reach=Reach(private=True)))
        listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(
            self.app, http="h11", ws=SOCKETS, log_level="warning", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._server.serve(sockets=[listening])), daemon=True
        )
        self._thread.start()
        while not self._server.started:
            time.sleep(0.02)

    def key(self, role="write", project="default"):
        return self.app.state.keys.make(role=role, project=project)[1]

    def ask(self, key=None):
        headers = {"Authorization": f"Bearer {key or self.key()}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False)

    def stop(self):
        self._server.should_exit = True
        self._thread.join(30)
        return not self._thread.is_alive()


@pytest.fixture(scope="session")
def pages():
    site = Site()
    yield site
    site.close()


@pytest.fixture(scope="session")
def model():
    model = Model()
    yield model
    model.close()


@pytest.fixture(scope="package")
def wired(tmp_path_factory, model):
    """The server. Its agents ask the scripted model, whose name is not left to the tests of another folder."""
    try:
        executable.find(None)
    except SessionError as error:
        pytest.skip(str(error))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", model.url)
        patch.setenv("OPENAI_API_KEY", "of the server")
        patch.setenv("REENACT_MODEL", "openai/scripted")
        wired = Wired(tmp_path_factory.mktemp("wired") / "home")
        yield wired
        assert wired.stop()


@pytest.fixture(scope="package")
def program(wired, tmp_path_factory):
    """Runs a file beside this one as a program of somebody who knows the server's address and a key, and no network."""

    def run(name, *words, key):
        folder = tmp_path_factory.mktemp("program")
        nowhere = "http://127.0.0.1:9"
        environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("REENACT", "PYTEST", "COV_", "OPENAI"))
        } | {
            "NOTTE_API_URL": wired.url,
            "NOTTE_API_KEY": key,
            "DISABLE_TELEMETRY": "true",
            "XDG_CACHE_HOME": str(folder),
            "NOTTE_CACHE_DIR": str(folder),
            "HTTPS_PROXY": nowhere,
            "HTTP_PROXY": nowhere,
            "NO_PROXY": "127.0.0.1,localhost",
        }
        done = subprocess.run(
            [sys.executable, Path(__file__).with_name(name), *words],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=170,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout, folder

    return run
