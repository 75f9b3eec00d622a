"""A replay gives the program the recorded port where the system chose it, also if another program uses it by then."""

from __future__ import annotations

import socket

import pytest

KINDS = {
    "an HTTP server": """
import json, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
seen = []
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        seen.append(self.path)
        body = json.dumps([len(seen), time.time_ns()]).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    print(ask(url), [json.load(urllib.request.urlopen(url + name)) for name in "ab"], seen)
    server.shutdown()
""",
    "a server of an event loop": """
import asyncio
async def serve(reader, writer):
    writer.write(await reader.read(9))
    writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(ask(port), port)
    server.close()
asyncio.run(main())
""",
    "a free port that is looked for": """
import socket
with socket.socket() as looking:
    looking.bind(("", 0))
    port = looking.getsockname()[1]
print(ask(port), port)
""",
    "several sockets": """
import socket
one, two, three = socket.socket(), socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for each in (one, two, three):
    each.bind(("127.0.0.1", 0))
print(ask([each.getsockname()[1] for each in (three, one, two)]))
""",
}
HEAD = """
import reenact
@reenact.tool
def ask(text):
    return f"told {text}"
"""


@pytest.fixture
def recorded(shell, request):
    shell.write("agent.py", HEAD + KINDS[request.param])
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    assert "a port that the system chose" not in done.err
    return recording


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("recorded", KINDS, indirect=True)
def test_the_program_is_told_the_recorded_port(shell, recorded):
    for _ in range(2):
        done = shell.replay()
        assert done.status == 0, done.err


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("recorded", KINDS, indirect=True)
def test_a_port_that_is_taken_by_now_is_told_as_recorded(shell, recorded):
    drawn = [
        value
        for log in recorded.logs
        for key, values in log.draws.items()
        if key[1] == "machine:port"
        for value in values
    ]
    taken = []
    for port in drawn:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            other = socket.socket(socket.AF_INET, kind)
            taken.append(other)
            if kind == socket.SOCK_STREAM:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", port))
            if kind == socket.SOCK_STREAM:
                other.listen()
    done = shell.replay()
    for other in taken:
        other.close()
    assert drawn
    assert done.status == 0, done.err


@pytest.mark.sampled
@pytest.mark.parametrize("port", ["80", '"x"', "-1", "70000", "true", "null"])
def test_a_recorded_value_that_is_no_usable_port_is_not_bound(shell, port):
    shell.write(
        "agent.py",
        HEAD + KINDS["a free port that is looked for"].replace("print(ask(port), port)", "print(ask(1))"),
    )
    _, recording = shell.record("agent.py")
    path = shell.home / "recordings" / recording.id / "events.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if '"machine:port"' in line]
    drawn = recording.logs[0].draws["main", "machine:port"][0]
    for number in found:
        lines[number] = lines[number].replace(f'"value":{drawn}', f'"value":{port}')
    path.write_text("".join(lines))
    done = shell.replay("--run-foreign")
    assert found
    assert "Traceback" not in done.err
    assert done.status in (0, 1, 2)


PAIR = """
import socket
exec('''
def _fallback_socketpair():
    waiting = socket()
    waiting.bind(("127.0.0.1", 0))
    waiting.listen()
    one = socket()
    one.connect(waiting.getsockname())
    other, _ = waiting.accept()
    waiting.close()
    return one, other
''', vars(socket))
one, other = socket._fallback_socketpair()
one.sendall(b"woken")
print(ask(other.recv(5).decode()))
"""


def test_a_pair_of_sockets_on_a_system_without_pairs_is_no_connection_of_the_program(shell):
    shell.write("agent.py", HEAD + PAIR)
    done, recording = shell.record("agent.py")
    assert done.err.splitlines()[0].startswith("reenact: recorded ")
    assert not any(key[1] == "machine:port" for log in recording.logs for key in log.draws)
    done = shell.replay()
    assert done.status == 0, done.err
