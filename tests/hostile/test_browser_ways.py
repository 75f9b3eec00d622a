"""From a machine that it may open, a hosted browser is led to others that it may not, in every way that a page has.

A real `reenact serve`, a real Chromium, real servers: 127.0.0.2 is the attacker's, which the operator has named;
127.0.0.1 and [::1] hold canaries. UDP sockets listen on every address of this machine.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from reenact.browser import executable
from reenact.errors import SessionError
from tests.hostile.test_browser_addresses import CANARY, ENVIRON, Served

# Minutes of a real browser.
pytestmark = pytest.mark.thorough

ATTACKER = "127.0.0.2"

WORKER = """
addEventListener('install', e => skipWaiting());
addEventListener('activate', e => e.waitUntil(clients.claim()));
addEventListener('fetch', e => {
    const to = new URL(e.request.url).searchParams.get('to');
    if (to) e.respondWith(fetch(to, {mode: 'no-cors'}).catch(() => new Response('refused by the network')));
});
"""


class _Canary(BaseHTTPRequestHandler):
    """Serves the canary to everybody, with leave for every origin, and counts who came."""

    def do_GET(self):
        self.server.came.append(self.path)
        body = f"<title>{CANARY}</title><p>{CANARY}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Private-Network", "true")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_OPTIONS = do_HEAD = do_GET  # noqa: N815 - as the library has them

    def log_message(self, *_):
        pass


class _Attacker(BaseHTTPRequestHandler):
    """`/301?to=…` redirects, `/refresh` by a header, `/page` shows the markup given, `/worker.js` is a service worker."""

    def do_GET(self):
        asked = urlsplit(self.path)
        to = parse_qs(asked.query).get("to", [""])[0]
        body, name = b"", asked.path.strip("/")
        if name.isdigit():
            self.send_response(int(name))
            self.send_header("Location", to)
        else:
            self.send_response(200)
            if name == "refresh":
                self.send_header("Refresh", f"0; url={to}")
            kind = "text/javascript" if name == "worker.js" else "text/html"
            body = WORKER.encode() if name == "worker.js" else f"<title>reached</title>{to}".encode()
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host, port, handler):
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), handler)
        self.came = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def canaries():
    """Canaries on loopback, at one port of both families where the machine has both."""
    first = _Server("127.0.0.1", 0, _Canary)
    servers = [first]
    try:
        servers.append(_Server("::1", first.server_port, _Canary))
    except OSError:
        pass  # no IPv6 on this machine
    first.port = first.server_port
    first.all_came = lambda: [path for one in servers for path in one.came]
    yield first
    for one in servers:
        one.shutdown()
        one.server_close()


@pytest.fixture(scope="module")
def attacker():
    try:
        server = _Server(ATTACKER, 0, _Attacker)
    except OSError:
        pytest.skip("this machine's loopback has one address")
    yield f"http://{ATTACKER}:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    try:
        executable.find(None)
    except SessionError as error:
        pytest.skip(str(error))
    one = Served(tmp_path_factory.mktemp("ways") / "home", "--browse-private", ATTACKER)
    yield one
    one.close()


@pytest.fixture(scope="module")
def act(served):
    return served.open(idle_timeout_minutes=0, max_duration_minutes=60)


@pytest.fixture(autouse=True)
def _nothing_came(request):
    yield
    if "served" in request.fixturenames:
        served = request.getfixturevalue("served")
        found = [one for one in served.said if CANARY in one or ENVIRON in one or "root:x:0" in one]
        served.said.clear()
        assert not found
    if "canaries" in request.fixturenames:
        assert request.getfixturevalue("canaries").all_came() == []


def settled(served, act, attacker):
    """See the page and every tab once what the page began has had its time; then leave nothing of it behind."""
    act("wait", time_ms=300)
    served.see(act)
    tabs = served.client.get(f"/sessions/{act.id}/debug").json()["tabs"]
    for number in range(1, len(tabs)):
        act("switch_tab", tab_index=number)
        served.see(act)
    for number in reversed(range(1, len(tabs))):
        act("close_tab", tab_index=number)


def forbidden(port):
    """Addresses that the browser may not open, in many forms."""
    return [
        f"http://127.0.0.1:{port}/", f"http://localhost:{port}/", f"http://a.localhost:{port}/",
        f"http://[::1]:{port}/", f"http://[::ffff:127.0.0.1]:{port}/", f"http://2130706433:{port}/",
        f"http://0x7f.1:{port}/", f"http://0177.1:{port}/", f"http://127.0.0.1.:{port}/",
        f"http://127。0。0。1:{port}/", f"http://user@127.0.0.1:{port}/", f"http://{ATTACKER}@127.0.0.1:{port}/",
        f"http://{ATTACKER}\\@127.0.0.1:{port}/", f"http://[64:ff9b::7f00:1]:{port}/", f"http://[2002:7f00:1::]:{port}/",
        f"http://0:{port}/", f"//127.0.0.1:{port}/", f"\\\\127.0.0.1:{port}\\", f"http:/\\127.0.0.1:{port}/",
        "http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://10.0.0.1/",
        "http://metadata.google.internal/", f"https://127.0.0.1:{port}/",
        "file:///etc/passwd", "file:1/../etc/passwd", "view-source:file:///etc/passwd", "chrome://version/",
        f"view-source:http://127.0.0.1:{port}/", f"ftp://127.0.0.1:{port}/", f"blob:http://127.0.0.1:{port}/x",
        "filesystem:file:///temporary/x", "about:version", "intent://x#Intent;end",
        f"javascript:location='http://127.0.0.1:{port}/'", "data:text/html,<iframe src=file:///etc/passwd>",
    ]  # fmt: skip


def test_the_attackers_own_page_is_seen(served, act, attacker):
    """Otherwise the tests below would find nothing whatever happened."""
    assert act("goto", url=f"{attacker}/302?to={quote('/page?to=arrived')}")["success"]
    assert "arrived" in served.see(act)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_leads_to_nothing_that_is_forbidden(served, act, attacker, canaries, status):
    for to in forbidden(canaries.port)[:: 1 if status == 302 else 9]:
        told = act("goto", url=f"{attacker}/{status}?to={quote(to)}")
        assert not told["success"], to
    settled(served, act, attacker)


def test_a_long_chain_of_redirects_leads_to_nothing_that_is_forbidden(served, act, attacker, canaries):
    to = f"http://127.0.0.1:{canaries.port}/"
    for _ in range(6):
        to = f"{attacker}/302?to={quote(to)}"
    assert not act("goto", url=to)["success"]


def ways(to):
    """Markup by which a page would open an address, by name."""
    return {
        "meta refresh": f"<meta http-equiv=refresh content='0;url={to}'>",
        "script": f"<script>location = {to!r}</script>",
        "replace": f"<script>location.replace({to!r})</script>",
        "window": f"<script>open({to!r})</script>",
        "window later": f"<script>w = open('about:blank'); setTimeout(() => w.location = {to!r}, 50)</script>",
        "iframe": f"<iframe src='{to}'></iframe>",
        "iframe sandboxed": f"<iframe sandbox='allow-scripts' src='{to}'></iframe>",
        "srcdoc": f"<iframe srcdoc=\"<iframe src='{to}'></iframe>\"></iframe>",
        "object": f"<object data='{to}'></object>",
        "embed": f"<embed src='{to}'>",
        "pdf": f"<embed type=application/pdf src='{to}'><object type=application/pdf data='{to}'></object>",
        "preconnect": f"<link rel=preconnect href='{to}'><link rel=dns-prefetch href='{to}'>",
        "preload": f"<link rel=preload as=fetch href='{to}'><link rel=modulepreload href='{to}'>",
        "prefetch": f"<link rel=prefetch href='{to}'><link rel=prerender href='{to}'>",
        "speculation": f'<script type=speculationrules>{{"prerender":[{{"urls":["{to}"]}}]}}</script>',
        "stylesheet": f"<link rel=stylesheet href='{to}'><style>@import '{to}'; body {{background: url('{to}')}}</style>",
        "font": f"<style>@font-face {{font-family: x; src: url('{to}')}} p {{font-family: x}}</style><p>x</p>",
        "media": f"<img src='{to}'><video src='{to}' autoplay></video><audio src='{to}' autoplay></audio>",
        "svg": f"<svg><image href='{to}'/><use href='{to}#x'/></svg>",
        "module": f"<script type=module>import('{to}').catch(() => 0)</script><script src='{to}'></script>",
        "fetch": f"<script>fetch('{to}', {{mode: 'no-cors'}})</script>",
        "keepalive": f"<script>fetch('{to}', {{mode: 'no-cors', keepalive: true}}); location = 'about:blank'</script>",
        "form": f"<form method=post action='{to}'></form><script>document.forms[0].submit()</script>",
        "ping": f"<a ping='{to}' href='#x' id=a>x</a><script>a.click()</script>",
        "download": f"<a download href='{to}' id=a>x</a><script>a.click()</script>",
        "beacon": f"<script>navigator.sendBeacon('{to}', 'x')</script>",
        "base": f"<base href='{to}'><script src='x.js'></script><img src='y'>",
        "websocket": f"<script>new WebSocket('{to}'.replace(/^http/, 'ws'))</script>",
        "webtransport": f"<script>new WebTransport('{to}'.replace(/^http:/, 'https:')).ready.catch(() => 0)</script>",
        "shared worker": f'<script>new SharedWorker(\'data:text/javascript,fetch("{to}", {{mode: "no-cors"}})\')</script>',
        "manifest": f"<link rel=manifest href='{to}'><link rel=icon href='{to}'>",
        "report": f"<meta http-equiv=Content-Security-Policy content=\"img-src 'none'; report-uri {to}\"><img src=x>",
    }


WAYS = list(ways(""))


@pytest.mark.parametrize("way", WAYS)
def test_a_page_opens_no_address_that_is_forbidden_by(served, act, attacker, canaries, way):
    port = canaries.port
    straight = [f"http://127.0.0.1:{port}/", f"http://[::1]:{port}/", "file:///etc/passwd"]
    led = [f"{attacker}/302?to={quote(straight[0])}"]
    for to in straight + led:
        act("goto", url=f"{attacker}/page?to={quote(ways(to)[way])}")
    settled(served, act, attacker)


def test_a_refresh_header_leads_to_nothing_that_is_forbidden(served, act, attacker, canaries):
    for to in (f"http://127.0.0.1:{canaries.port}/", "file:///etc/passwd"):
        act("goto", url=f"{attacker}/refresh?to={quote(to)}")
        settled(served, act, attacker)


def test_a_service_worker_fetches_nothing_that_is_forbidden(served, act, attacker, canaries):
    act("goto", url=f"{attacker}/page")
    told = act(
        "evaluate_js",
        code="navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)"
        ".then(r => 'active ' + !!r.active, e => String(e))",
    )
    assert "active true" in str(told), told
    for to in (f"http://127.0.0.1:{canaries.port}/", f"http://[::1]:{canaries.port}/", "file:///etc/passwd"):
        told = act("goto", url=f"{attacker}/page?to={quote(to)}")
        seen = served.see(act)
        assert "refused by the network" in seen or not told["success"], seen
        # Its fetches follow redirects, too.
        act("goto", url=f"{attacker}/page?to={quote(f'{attacker}/302?to={quote(to)}')}")
        served.see(act)


def test_a_download_leads_to_nothing_that_is_forbidden(served, act, attacker, canaries):
    for to in (f"http://127.0.0.1:{canaries.port}/", "file:///etc/passwd"):
        act("goto", url=f"{attacker}/page")
        led = f"{attacker}/302?to={quote(to)}"
        act("evaluate_js", code=f"document.body.innerHTML = '<a id=a download=x.txt href=\"{led}\">x</a>'")
        told = act("download_file", selector="#a", timeout=3000)
        assert not told["success"], told
    listed = served.client.get(f"/sessions/{act.id}/files").text
    served.said.append(listed)
    assert "x.txt" not in listed


@pytest.fixture
def datagrams():
    """UDP sockets on the addresses of this machine; the fixture is their ports by address, and what came."""
    hosts = {"127.0.0.1", ATTACKER, "0.0.0.0"}
    opened = {}
    for host in hosts:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind((host, 0))
        opened[host] = one
    yield opened
    for one in opened.values():
        one.close()


def own_addresses():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            return []
        return [one.getsockname()[0]]


def test_no_datagram_leaves_the_browser(served, act, attacker, datagrams):
    """WebRTC asks STUN and TURN servers by UDP, past every proxy; here of an address that the operator has named."""
    everywhere = datagrams["0.0.0.0"].getsockname()[1]
    servers = [f"{host}:{one.getsockname()[1]}" for host, one in datagrams.items() if host != "0.0.0.0"]
    servers += [f"{host}:{everywhere}" for host in own_addresses()]
    code = (
        "(async () => { const c = new RTCPeerConnection({iceServers: %s});"
        " c.createDataChannel('x'); await c.setLocalDescription(await c.createOffer());"
        " await new Promise(d => setTimeout(d, 3000)); return c.localDescription.sdp; })()"
    )
    asked = [{"urls": f"stun:{one}"} for one in servers]
    asked += [{"urls": f"turn:{one}?transport=udp", "username": "a", "credential": "b"} for one in servers]
    act("goto", url=f"{attacker}/page")
    told = act("evaluate_js", code=code % str(asked))
    assert "v=0" in str(told), told
    for one in own_addresses():
        assert one not in str(told["data"]), "the page learns this machine's address"
    came, _, _ = select.select(list(datagrams.values()), [], [], 0)
    assert came == []


def browsers_of(process):
    """The processes below one, by what `/proc` says."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    found, more = set(), {process}
    while more:
        found |= more
        more = {pid for pid, parent in parents.items() if parent in more} - found
    return sorted(found - {process})


def test_the_browser_has_a_network_of_its_own_where_the_server_says_so(served, act):
    act("goto", url="about:blank")
    told = served.client.get(served.url + "/ready").json()["browsers"]
    networks, names = set(), set()
    for pid in browsers_of(served.process.pid):
        try:
            name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
            if "chrom" in name:
                names.add(name)
                networks.add(os.readlink(f"/proc/{pid}/ns/net"))
        except OSError:
            continue
    if "missing" in told and "network" in told.partition("missing")[2]:
        pytest.skip(told)
    assert names
    assert os.readlink("/proc/self/ns/net") not in networks
