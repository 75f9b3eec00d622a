"""A hosted browser is asked, in every way there is, for files, pages of its own and machines that are not public.

A real `reenact serve`, a real Chromium. A canary lies in the server's home, another one is served on loopback. A client
that has a key to write may do what it likes; neither canary ever comes back to it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from reenact.browser import executable
from reenact.core.trust.identity import kept
from reenact.errors import SessionError

CANARY = "canary-4f1c9a7b"
ENVIRON = "canary-environ-77aa"


class _Loopback(BaseHTTPRequestHandler):
    """Serves the canary, and counts who came."""

    def do_GET(self):
        self.server.came.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f"<title>{CANARY}</title><p>{CANARY}".encode())

    do_POST = do_GET  # noqa: N815 - as the library has it

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def loopback():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Loopback)
    server.came, server.daemon_threads = [], True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class Served:
    """A `reenact serve` that others reach: `client` asks it with a key that may write."""

    def __init__(self, home, *options):
        home.mkdir()
        (home / "canary.txt").write_text(CANARY)
        self.home = home
        environ = {name: value for name, value in os.environ.items() if not name.startswith("REENACT")}
        reenact = [sys.executable, "-m", "reenact"]
        made = subprocess.run(
            [*reenact, "keys", "add", "writer", "--role", "write", "--home", str(home)],
            env=environ, capture_output=True, text=True, check=True,
        )  # fmt: skip
        self.key = next(word for word in made.stdout.split() if len(word) > 20)
        self.process = subprocess.Popen(
            [*reenact, "serve", "--host", "0.0.0.0", "--port", "0", "--home", str(home), *options],
            env={**environ, "SECRET_OF_THE_SERVER": ENVIRON}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rpartition(":")[2])
        self.client = httpx.Client(
            base_url=f"{self.url}/api/v1",
            headers={"Authorization": f"Bearer {self.key}"},
            timeout=120,
            trust_env=False,
        )
        self.said = []

    def open(self, **options):
        """Start a session; return what does an action in it."""
        told = self.client.post("/sessions/start", json=options)
        assert told.status_code == 200, told.text
        id = told.json()["session_id"]

        def act(kind, **fields):
            answer = self.client.post(f"/sessions/{id}/page/execute", json={"type": kind, **fields})
            self.said.append(answer.text)
            return answer.json()

        act.id = id
        return act

    def see(self, act):
        """What a client can ask of a session's page."""
        seen = [
            json.dumps(act("scrape")),
            json.dumps(act("evaluate_js", code="document.documentElement.outerHTML")),
        ]
        self.said += seen
        return "\n".join(seen)

    def close(self):
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    try:
        executable.find(None)
    except SessionError as error:
        pytest.skip(str(error))
    one = Served(tmp_path_factory.mktemp("served") / "home")
    yield one
    one.close()


@pytest.fixture(scope="module")
def act(served):
    return served.open(idle_timeout_minutes=0, max_duration_minutes=60)


@pytest.mark.thorough
def test_a_page_of_the_web_is_seen(served, act):
    """Otherwise the tests below would find nothing whatever happened."""
    in_page(act, "document.body.textContent = 'seen by its client'")
    assert "seen by its client" in served.see(act)


@pytest.fixture(autouse=True)
def _nothing_came(request):
    yield
    if "served" in request.fixturenames:
        served = request.getfixturevalue("served")
        assert not [one for one in served.said if CANARY in one or ENVIRON in one or "root:x:0" in one]
    if "loopback" in request.fixturenames:
        assert request.getfixturevalue("loopback").came == []


def in_page(act, code):
    """Run code in an empty page of the web, as a hostile page would."""
    act("goto", url="data:text/html,<title>page</title><body>")
    return act("evaluate_js", code=code)


FILES = [
    "file:///etc/passwd", "file:1/../etc/passwd", "FILE:/etc/passwd", "file://localhost/etc/passwd", "file:etc/passwd",
    "\tfi\nle:///etc/passwd", "view-source:file:///etc/passwd", "view-source:view-source:file:///etc/passwd",
    "file:\\\\\\etc\\passwd", "file:///etc", "file:8/../", "file:///proc/self/environ", "file:/%65tc/passwd",
    "chrome://version", "chrome://net-export", "chrome:version", "about:version", "about:credits", "chrome://gpu",
    "devtools://devtools/bundled/inspector.html", "chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/index.html",
    "filesystem:file:///temporary/x", "javascript:location='file:///etc/passwd'", "chrome-untrusted://terminal",
    "blob:file:///etc/passwd", "data:text/html,<iframe src=file:///etc/passwd></iframe>",
    "data:text/html,<meta http-equiv=refresh content='0;url=file:///etc/passwd'>",
    "data:text/html,<object data=file:///etc/passwd></object><embed src=file:///etc/passwd>",
    "data:text/html,<script src=file:///etc/passwd></script><link rel=prefetch href=file:///etc/passwd>",
    "data:text/html,<iframe src=view-source:file:///etc/passwd></iframe><iframe src=chrome://version></iframe>",
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("url", FILES)
def test_no_file_and_no_page_of_the_browsers_own_is_shown(served, act, url):
    act("goto", url=url)
    seen = served.see(act)
    for word in ("root:x:0", "Command Line", "SECRET_OF", "Executable Path", "daemon:"):
        assert word not in seen


@pytest.mark.thorough
@pytest.mark.parametrize(
    "url", ["file:1/../etc/passwd", " FILE:///etc/passwd", "chrome:version", "about:version"]
)
def test_each_route_that_takes_an_address_refuses_it(served, act, url):
    answers = [
        served.client.post(f"/sessions/{act.id}/page/execute", json={"type": kind, "url": url})
        for kind in ("goto", "goto_new_tab")
    ]
    answers.append(served.client.post(f"/sessions/{act.id}/page/observe", json={"url": url}))
    answers.append(served.client.post("/scrape", json={"url": url}))
    answers.append(served.client.post("/agents/start", json={"session_id": act.id, "task": "x", "url": url}))
    for answer in answers:
        assert answer.status_code in (400, 409), answer.text
        assert "addresses are not opened by a server" in answer.json()["detail"]


HOSTS = [
    "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "a.localhost", "127.1", "0x7f.1", "0177.0.0.1", "2130706433",
    "0x7f000001", "017700000001", "127.0.0.1.", "0", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "127.127.127.127",
    "%31%32%37.0.0.1", "①②⑦.0.0.1", "ⓛocalhost", "127。0。0。1", "user:pass@127.0.0.1", "a.example@127.0.0.1",
    "127.0.0.1%00.a.example", "169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal", "100.100.100.200",
    "2852039166", "10.0.0.1",
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("host", HOSTS)
def test_no_machine_is_reached_that_is_not_public(served, act, loopback, host):
    for port in (loopback.server_port, served.port):
        told = act("goto", url=f"http://{host}:{port}/")
        assert not told["success"], told["message"]


@pytest.mark.thorough
def test_a_page_has_no_other_way_to_machines_that_are_not_public(served, act, loopback):
    at = f"127.0.0.1:{loopback.server_port}"
    for code in (
        f"fetch('http://{at}/fetch', {{mode: 'no-cors'}}).then(() => 'came', e => String(e))",
        f"new Promise(done => {{ const s = new WebSocket('ws://{at}/ws'); s.onerror = s.onopen = e => done(e.type); }})",
        f"new Promise(done => {{ const i = new Image(); i.onload = i.onerror = e => done(e.type); i.src = 'http://{at}/i'; }})",
        (f"new Promise(done => {{ const f = document.createElement('iframe'); f.src = 'http://{at}/f';"
        " document.body.append(f); setTimeout(() => done(f.contentWindow.length), 700); })"),
        f"navigator.sendBeacon('http://{at}/beacon', 'x')",
        f"window.open('http://{at}/popup') && 1",
        f"new Promise(done => {{ const s = new EventSource('http://{at}/es'); s.onerror = e => done(e.type); }})",
        (f"document.body.insertAdjacentHTML('beforeend', `<link rel=preconnect href=http://{at}><link rel=prefetch"
        f" href=http://{at}/p><form method=post action=http://{at}/post></form><a download href=http://{at}/d>x</a>`),"
        " document.querySelector('a').click(), document.forms[0].submit(), 1"),
        f"new Worker(URL.createObjectURL(new Blob([`fetch('http://{at}/worker')`]))) && 1",
        f"location = 'http://{at}/location'",
        (f"(async () => {{ const c = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{at}'}}]}});"
        " c.createDataChannel('x'); await c.setLocalDescription(await c.createOffer());"
        " await new Promise(d => setTimeout(d, 700)); return c.localDescription.sdp.match(/candidate.*/g); })()"),
    ):  # fmt: skip
        in_page(act, code)
        served.see(act)


@pytest.mark.thorough
def test_a_page_has_no_other_way_to_files(served, act):
    for code in (
        "location = 'file:///etc/passwd'",
        "window.open('file:///etc/passwd') && 1",
        "window.open('view-source:file:///etc/passwd') && 1",
        "window.open('chrome://version') && 1",
        "window.open('about:version') && 1",
        "fetch('file:///etc/passwd').then(r => r.text(), e => String(e))",
        (
            "new Promise(done => { const x = new XMLHttpRequest(); x.onloadend = () => done(x.responseText);"
            " x.open('GET', 'file:///etc/passwd'); x.send(); })"
        ),
        "(location.hash = 'a', history.back(), history.pushState(0, '', '#b'), 1)",
        (
            "document.body.insertAdjacentHTML('beforeend', '<a download href=file:///etc/passwd>x</a>'),"
            " document.querySelector('a').click(), 1"
        ),
        (
            "document.body.insertAdjacentHTML('beforeend', '<form action=file:///etc/passwd></form>'),"
            " document.forms[0].submit(), 1"
        ),
        "location = 'intent://x#Intent;end'",
        "location = 'mailto:a@a.example'",
    ):
        in_page(act, code)
        served.see(act)
        tabs = len(served.client.get(f"/sessions/{act.id}/debug").json()["tabs"])
        for number in range(tabs):
            act("switch_tab", tab_index=number)
            served.see(act)


def test_files_of_the_server_are_neither_uploaded_nor_downloaded(served, act):
    key = kept(served.home) / "signing.key"
    assert key.exists()
    in_page(act, "document.body.innerHTML = '<input type=file id=f>'")
    for path in (str(key), f"../../..{key}", "/etc/passwd", "/proc/self/environ"):
        told = served.client.post(
            f"/sessions/{act.id}/page/execute",
            json={"type": "upload_file", "selector": "#f", "file_path": path},
        )
        assert told.status_code == 400
    in_page(act, f"document.body.innerHTML = '<a id=a download href=\"file://{key}\">x</a>'")
    told = act("download_file", selector="#a", timeout=1500)
    assert not told["success"]
    assert served.client.get(f"/sessions/{act.id}/files").json() in (
        [],
        {"files": []},
    ) or "signing" not in str(served.client.get(f"/sessions/{act.id}/files").json())


@pytest.mark.thorough
def test_what_is_uploaded_and_downloaded_reaches_its_session(served):
    # Of its own: the other tests' session has tabs that are not for others to see.
    act = served.open(idle_timeout_minutes=0, max_duration_minutes=60)
    files = f"/sessions/{act.id}/files"
    served.client.post(files, files={"file": ("mine.txt", b"of mine")})
    in_page(act, "document.body.innerHTML = '<input type=file id=f>'")
    told = act("upload_file", selector="#f", file_path="mine.txt")
    assert told["success"], told["message"]
    read = act("evaluate_js", code="document.querySelector('#f').files[0].text()")
    assert read["data"] == "of mine" or "of mine" in json.dumps(read)
    in_page(
        act, "document.body.innerHTML = '<a id=a download=x.txt href=\"data:text/plain,downloaded\">x</a>'"
    )
    told = act("download_file", selector="#a")
    assert told["success"], told["message"]
    listed = served.client.get(files).json()
    assert "x.txt" in json.dumps(listed)


def test_no_cookie_makes_a_browser_an_admin_of_the_server(served, act):
    host = "127.0.0.1"
    for place in (
        {"domain": host, "path": "/"},
        {"domain": ".LOCALHOST", "path": "/"},
        {"url": f"http://{host}:1/"},
    ):
        answer = served.client.post(
            f"/sessions/{act.id}/cookies", json={"cookies": [{"name": "reenact", "value": "forged", **place}]}
        )
        assert answer.status_code == 400, answer.text
    told = act("goto", url=f"{served.url}/api/v1/keys")
    assert not told["success"]


def test_arguments_and_options_give_no_way_around(served):
    for options in (
        {"chrome_args": ["--proxy-server=direct://"]},
        {"chrome_args": ["--proxy-bypass-list=*"]},
        {"chrome_args": ["--no-proxy-server"]},
        {"chrome_args": ["--host-resolver-rules="]},
        {"chrome_args": ["--allow-file-access-from-files"]},
        {"chrome_args": ["--remote-debugging-port=1"]},
        {"cdp_url": "http://127.0.0.1:1"},
        {"guest": {"folder": "/"}},
        {"reach": "all"},
    ):
        assert served.client.post("/sessions/start", json=options).status_code == 400, options


@pytest.mark.thorough
def test_the_server_says_what_keeps_its_browsers_apart(served, act):
    act("goto", url="about:blank")
    told = httpx.get(f"{served.url}/ready", trust_env=False).json()["browsers"]
    assert told.startswith("each browser session has ")


@pytest.mark.thorough
def test_an_operator_may_name_what_is_opened(tmp_path, loopback):
    served = Served(tmp_path / "home", "--browse-private", "127.0.0.0/8")
    try:
        act = served.open()
        told = act("goto", url=f"http://127.0.0.1:{loopback.server_port}/named")
        assert told["success"], told["message"]
        assert not act("goto", url=f"{served.url}/")["success"]
        assert not act("goto", url="http://169.254.169.254/")["success"]
        assert set(loopback.came) <= {"/named", "/favicon.ico"}
    finally:
        served.close()
        loopback.came.clear()
