"""A provider that does as its requests say, and the proxy between it and a program that is this test."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import threading
from collections import defaultdict
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route as Path

import reenact
from reenact.core.store.local import LocalStore, new_id
from reenact.run import proxy
from reenact.run.fork.point import point
from reenact.run.proxy import Route, Serving
from tests.adapters.pydantic_agents.fake_provider import Provider
from tests.conftest import LONGEST


class Scripted:
    """A provider on loopback. Every answer has a number of its own, so that one that is not the recorded one shows."""

    def __init__(self):
        self.hits = 0
        self.go_on = threading.Event()
        self.taken = defaultdict(threading.Event)
        """Set by the program for each question whose answer it has."""
        self._numbers = itertools.count()
        self._together = 0
        self._all_here = asyncio.Event()
        app = Starlette(routes=[Path("/v1/{what:path}", self._answer, methods=["GET", "POST", "HEAD"])])
        self._listening = proxy.free()
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", ws="none"))
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listening]}, daemon=True
        )
        self._thread.start()

    def stop(self):
        """Answer nobody any more."""
        self.go_on.set()
        for event in self.taken.values():
            event.set()
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self._listening.close()

    async def _answer(self, request):
        self.hits += 1
        asked = await request.json() if request.method == "POST" else {}
        number = next(self._numbers)
        await asyncio.sleep(asked.get("wait", 0))
        await self._hold(asked)
        what = request.path_params["what"]
        if what == "stream":
            return StreamingResponse(self._events(asked, number), media_type="text/event-stream")
        if what == "packed":
            data = gzip.compress(b'{"number": %d}' % number)
            return Response(data, headers={"content-encoding": "gzip", "content-type": "application/json"})
        if what == "secret":
            return JSONResponse({"token": "sk-" + "Zq8" * 16, "number": number})
        if what == "empty":
            return Response(None, int(request.query_params["status"]), {"content-encoding": "gzip"})
        if what == "moved":
            return Response(None, 307, {"location": request.query_params["to"]})
        if what.startswith("sent"):
            return JSONResponse({
                "target": request.scope["raw_path"].decode(),
                "accepted": request.headers.get("accept-encoding"),
            })  # fmt: skip
        if what == "broken":
            return JSONResponse(
                {"error": {"message": "out of order"}}, 500, {"x-request-id": f"req-{number}"}
            )
        return JSONResponse({"number": number, "asked": asked.get("q")})

    async def _hold(self, asked):
        """Wait for the number of requests `among`, and until the program has the answer `after`."""
        if "among" in asked:
            self._together += 1
            if self._together == asked["among"]:
                self._all_here.set()
            await self._all_here.wait()
        if "after" in asked:
            await asyncio.to_thread(self.taken[asked["after"]].wait, LONGEST)

    async def _events(self, asked, number):
        yield f"data: first {number}\n\n"
        if asked.get("hold"):
            await asyncio.to_thread(self.go_on.wait, 20)
        for count in range(asked.get("count", 2)):
            await asyncio.sleep(asked.get("every", 0))
            if count == asked.get("cut"):
                raise ConnectionError
            yield f"data: {count}\n\n"


class Desk:
    """Records and replays a program: an async function of a client whose addresses lead by the proxy."""

    def __init__(self, home, url):
        self.home = home
        self.routes = (Route("OPENAI_BASE_URL", url),)
        self.recording = None

    def record(self, program):
        session = proxy.RecordingProxy("", tags=(), home=self.home, program={"argv": [], "proxy": {}})

        def begin():
            session.start()
            return session

        given = self._run(program, begin)[0]
        session.seal({"status": "ok"})
        self.recording = reenact.load(session.path)
        return given

    def replay(self, program, pace=None, **options):
        """What the program gave, and the verdict. `pace` is called before each recorded place."""
        known = {"live": (), "ignore": (), "policy": "raise", "inserted": "refuse", **options}
        self.halted = threading.Event()

        def begin():
            session = proxy.ReplayingProxy(self.recording, known, self.halted.set)
            if pace is not None:
                session.turns.set_pace(pace)
            return session

        given, session = self._run(program, begin)
        return given, session.verdict(whole=True)

    def fork(self, program, at):
        """What the program gave, and the child."""
        store, providers = LocalStore(self.home), [urlsplit(route.upstream).netloc for route in self.routes]
        where = replace(point(self.recording, at), providers=tuple(providers))
        given, session = self._run(
            program, lambda: proxy.ForkingProxy(self.recording, where, store, new_id(), halted=lambda: None)
        )
        session.seal({"status": "ok"})
        return given, reenact.load(session.path)

    def _run(self, program, begin):
        with Serving(proxy.free(), self.routes, begin) as serving:
            given = asyncio.run(self._asked(program, serving.port))
        return given, serving.session

    async def _asked(self, program, port):
        base = f"http://127.0.0.1:{port}/{self.routes[0].key}"
        async with httpx.AsyncClient(base_url=base, timeout=120, trust_env=False) as client:
            return await program(client)


@pytest.fixture
def scripted():
    found = Scripted()
    yield found
    found.stop()


@pytest.fixture
def desk(home, scripted, tmp_path, monkeypatch):
    # A recording reads the files of the folder where it begins.
    monkeypatch.chdir(tmp_path)
    return Desk(home, scripted.url)


@pytest.fixture
def provider():
    """OpenAI's and Anthropic's wire."""
    found = Provider()
    yield found
    found.stop()
