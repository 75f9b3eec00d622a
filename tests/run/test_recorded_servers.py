"""Requests between processes of a run: a replay makes them again, so the server's code runs and is compared."""

from __future__ import annotations

import sys

import pytest

from tests.adapters.stdlib.test_unseen import free_port

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by signals of POSIX")

LOOK = """
import asyncio, json, random, subprocess, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
import reenact

@reenact.tool
def look(text):
    return [text, random.random()]

def ask(port, text):
    data = json.dumps(text).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/ask", data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)

seen = []

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer("up")

    def do_POST(self):
        seen.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.answer([len(seen), look(seen[-1])])
        if seen[-1] == "stop":
            threading.Thread(target=self.server.shutdown).start()

    def answer(self, value):
        said = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_): pass
"""
SERVER = (
    LOOK
    + """
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(server.server_port, flush=True)
server.serve_forever()
print("over", look("over"), flush=True)
"""
)
APP = """
import asyncio, random, sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
import reenact

@reenact.tool
async def look(text):
    await asyncio.sleep(0.01)
    return [text, random.random()]

seen = []

async def ask(request):
    seen.append(await request.json())
    return JSONResponse([len(seen), await look(seen[-1])])

routes = [Route("/ask", ask, methods=["POST"]), Route("/", lambda _: JSONResponse("up"))]
uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""
STARTS = """
child = subprocess.Popen([sys.executable, "server.py", "0"], stdout=subprocess.PIPE, text=True)
port = int(child.stdout.readline())
"""
POLLS = """
port = PORT
child = subprocess.Popen([sys.executable, "server.py", str(port)])
while True:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=120)
        break
    except OSError:
        time.sleep(0.05)
"""
CLIENT = """
for text in sys.stdin:
    print(ask(sys.argv[1], text), flush=True)
"""
PROGRAMS = {
    "a server that is killed": (
        STARTS
        + """
print([ask(port, text) for text in "abc"])
child.terminate()
print(child.wait())
"""
    ),
    "a server that a request stops": (
        STARTS
        + """
print(ask(port, "a"), ask(port, "stop"))
print(child.communicate()[0])
"""
    ),
    "a server that is polled": POLLS
    + """
print([ask(port, text) for text in "abc"])
child.kill()
print(child.wait())
""",
    "a server to which a connection is tried": """
import socket
port = PORT
child = subprocess.Popen([sys.executable, "server.py", str(port)])
while True:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=120).close()
        break
    except OSError:
        time.sleep(0.05)
print([ask(port, text) for text in "abc"])
child.kill()
print(child.wait())
""",
    "a task's requests": """
import httpx

async def main():
    child = await asyncio.create_subprocess_exec(sys.executable, "server.py", "0", stdout=subprocess.PIPE)
    url = f"http://127.0.0.1:{int(await child.stdout.readline())}/ask"
    async with httpx.AsyncClient(timeout=120) as client:
        for text in ("a", "b", "stop"):
            print((await client.post(url, json=text)).json())
            await asyncio.sleep(0.05)
    print((await child.communicate())[0])

asyncio.run(main())
""",
    "two processes ask a third in turn": STARTS
    + """
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
other = subprocess.Popen([sys.executable, "client.py", str(port)], text=True, **pipes)
for text in "ab":
    print(ask(port, text))
    other.stdin.write(text + "\\n")
    other.stdin.flush()
    print(other.stdout.readline())
other.communicate()
child.kill()
print(child.wait())
""",
    "processes ask the program": """
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for text in ("x", "y"):
    command = [sys.executable, "client.py", str(server.server_port)]
    print(subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout)
print(seen)
server.shutdown()
""",
}


def _write(shell, program, server=SERVER):
    shell.write("server.py", server)
    shell.write("client.py", LOOK + CLIENT)
    shell.write("agent.py", LOOK + PROGRAMS[program].replace("PORT", str(free_port())))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_code_of_a_server_in_another_process_runs_in_a_replay(shell, program):
    _write(shell, program)
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    tools = sum(step.label.startswith("tool:") for step in recording)
    assert tools > 1
    for _ in range(2):
        again = shell.replay("--json")
        assert again.status == 0, again.err + again.out
        assert again.json["verdict"]["again"] == {"tool:look": tools}
        assert not again.json["verdict"]["answered"]


def test_the_code_of_a_server_with_an_event_loop_runs_in_a_replay(shell):
    _write(shell, "a server that is polled", APP)
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    for _ in range(2):
        again = shell.replay("--json")
        assert again.status == 0, again.err + again.out
        assert again.json["verdict"]["again"] == {"tool:look": 3}


CHANGES = {
    "another answer": ("[len(seen), look", "[9, look"),
    "another question of its own": ("look(seen[-1])", "look(seen[-1] + '!')"),
    "a call less": ("look(seen[-1])", "(look(seen[-1]) if len(seen) < 3 else 0)"),
    "a call more": ("    self.answer([len", "    look('more'); self.answer([len"),
    "a call after the last answer": ("server.serve_forever()", "look('more'); server.serve_forever()"),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_server_in_another_process_is_found(shell, change):
    _write(shell, "a server that is killed")
    shell.record("agent.py")
    before, after = CHANGES[change]
    assert before in SERVER
    _write(shell, "a server that is killed", SERVER.replace(before, after))
    again = shell.replay("--json")
    assert again.status == 1, again.out
    assert again.json["verdict"]["divergences"]


def test_a_server_that_no_longer_does_what_follows_its_answer_is_found(shell):
    late = SERVER.replace("        if seen[-1]", "        look('late')\n        if seen[-1]")
    _write(shell, "a server that is killed", late)
    shell.record("agent.py")
    _write(
        shell, "a server that is killed", late.replace("look('late')", "look('late') if len(seen) < 3 else 0")
    )
    again = shell.replay("--json")
    (found,) = again.json["verdict"]["divergences"]
    assert (again.status, found["kind"], found["address"]) == (1, "MISSING", "main/proc:server.0")
    assert "killed before" in found["detail"]


def test_requests_beside_each_other_are_answered_from_the_recording_and_named(shell):
    meeting = SERVER.replace("seen = []", "seen = []\nmeeting = threading.Barrier(2)").replace(
        "        self.answer([len(seen), look(seen[-1])])", "        meeting.wait(60); self.answer(1)"
    )
    _write(shell, "a server that is killed", meeting)
    shell.write(
        "agent.py",
        LOOK
        + STARTS
        + """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(lambda text: ask(port, text), "ab")))
child.kill()
print(child.wait())
""",
    )
    done, _ = shell.record("agent.py")
    assert done.status == 0, done.err
    again = shell.replay("--json")
    assert again.status == 0, again.err
    (reason,) = again.json["verdict"]["answered"].values()
    assert "another request was under way" in reason


def test_a_connection_to_a_port_of_no_process_of_the_run_is_refused(shell):
    shell.write(
        "agent.py",
        """
import socket, subprocess, sys
from reenact.core.boundary import entered

with entered(None):
    other = socket.create_server(("127.0.0.1", 0))
subprocess.run([sys.executable, "-c", "pass"], check=True)
socket.create_connection(("127.0.0.1", other.getsockname()[1]), timeout=60).close()
""",
    )
    done, _ = shell.record("agent.py")
    assert "a replay will refuse it unless a process of this run listens there" in done.err
    (found,) = shell.replay("--json").json["verdict"]["divergences"]
    assert found["kind"] == "EXTRA"
    assert "/socket:127.0.0.1:" in found["address"]
