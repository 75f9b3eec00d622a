"""Commands of a Windows Python under Wine (`make test-windows`): record, replay, show, export and fork real programs."""

from __future__ import annotations

import os
import subprocess
from textwrap import dedent

import pytest

PYTHON = os.environ.get("REENACT_WINDOWS_PYTHON", "")
pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="`make test-windows` sets up a Windows Python"),
    pytest.mark.timeout(600),
]

PROGRAMS = {
    "tasks and threads": """
        import asyncio, random, threading, time, uuid
        import reenact

        @reenact.tool
        async def think(question):
            await asyncio.sleep(0.01)
            return random.random()

        @reenact.tool
        def look(name):
            return uuid.uuid4().hex

        async def main():
            print(await asyncio.gather(think("a"), think("b")), await asyncio.to_thread(look, "x"))

        asyncio.run(main())
        found = []
        threads = [threading.Thread(target=lambda n=n: found.append(look(n))) for n in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(found, time.time())
    """,
    "a client of its own server": """
        import json, threading, time, urllib.request
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps([self.path, time.time_ns()]).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def log_message(self, *_): pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}/"
            print([json.load(urllib.request.urlopen(url + name)) for name in "ab"])
            server.shutdown()
    """,
    "a pool with time limits": """
        import random, time
        from concurrent.futures import ThreadPoolExecutor
        import reenact

        @reenact.tool
        def ask(number):
            time.sleep(random.random() / 20)
            return random.random()

        with ThreadPoolExecutor(3) as pool:
            asked = [pool.submit(ask, number) for number in range(6)]
            for each in asked:
                try:
                    print(each.result(timeout=0.01))
                except TimeoutError:
                    print("late")
    """,
    "a command": """
        import subprocess, sys, time
        print(subprocess.run(["cmd", "/c", "echo", "said"], capture_output=True, text=True).stdout, time.time_ns())
    """,
}


class Windows:
    """Runs commands of Reenact in a folder."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *words):
        done = subprocess.run(
            [PYTHON, "-m", "reenact", *words], cwd=self.folder, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout


@pytest.fixture(params=PROGRAMS)
def recorded(request, tmp_path):
    """A folder with the recording of a program, and what the program wrote."""
    windows = Windows(tmp_path)
    (tmp_path / "agent.py").write_text(dedent(PROGRAMS[request.param]), encoding="utf-8")
    status, out = windows.run("record", "--", "python", "agent.py")
    assert status == 0, out
    written, _, told = out.partition("reenact: ")
    assert told.startswith("recorded "), out
    return windows, written


def test_a_replay_is_faithful_and_writes_the_same(recorded):
    windows, written = recorded
    status, out = windows.run("replay", "last")
    assert status == 0, out
    assert out.startswith(written)
    assert "\nfaithful  " in out
    assert "not compared: files (Windows" in " ".join(out.split())


def test_a_recording_is_listed_shown_and_exported(recorded):
    windows, _ = recorded
    assert "agent.py" in windows.run("list")[1]
    assert "agent.py" in windows.run("show", "last")[1]
    status, out = windows.run("export", "last", "-o", "out.reenact")
    assert status == 0, out
    assert (windows.folder / "out.reenact").stat().st_size > 1000


def test_a_changed_program_diverges(recorded):
    windows, _ = recorded
    program = windows.folder / "agent.py"
    program.write_text(program.read_text(encoding="utf-8") + "\nprint('changed')\n", encoding="utf-8")
    status, out = windows.run("replay", "last")
    assert (status, "diverged" in out) == (1, True)
