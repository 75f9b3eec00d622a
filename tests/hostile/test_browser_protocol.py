"""Programs that speak the DevTools protocol to hosted browsers: to their own session's, and to nothing else."""

from __future__ import annotations

import json
import subprocess

import pytest
from playwright.sync_api import Error, sync_playwright
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from reenact.browser.isolation import sandbox
from tests.server.wire.conftest import model, pages, wired  # noqa: F401 - fixtures


@pytest.fixture(scope="module", autouse=True)
def _isolated():
    found = sandbox.find_out()
    if found is None or not (found.files and found.network):
        pytest.skip(f"no protocol for others here: {found}")


@pytest.fixture(scope="module")
def sessions(wired):  # noqa: F811
    """The addresses of the browsers of two sessions, in two projects."""
    found = []
    for project in ("one", "two"):
        with wired.ask(wired.key(project=project)) as client:
            answer = client.post("/sessions/start", json={"cdp": True, "idle_timeout_minutes": 0})
            assert answer.status_code == 200, answer.text
            id = answer.json()["session_id"]
            found.append((id, client.get(f"/sessions/{id}/debug").json()["ws"]["cdp"]))
    return found


class Speaking:
    """A client of the protocol without any library's manners."""

    def __init__(self, url):
        self.socket = connect(url, max_size=None, proxy=None)
        self.last = 0

    def __call__(self, method, session=None, **params):
        self.last += 1
        command = {"id": self.last, "method": method, "params": params}
        self.socket.send(json.dumps(command | ({"sessionId": session} if session else {})))
        while True:
            told = json.loads(self.socket.recv(30))
            if told.get("id") == self.last:
                return told

    def page(self, url="about:blank"):
        target = self("Target.createTarget", url=url)["result"]["targetId"]
        return self("Target.attachToTarget", targetId=target, flatten=True)["result"]["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def test_playwright_connects_with_the_sessions_own_key_and_works(sessions, wired, pages):  # noqa: F811
    id, url = sessions[0]
    assert url.startswith(wired.url.replace("http", "ws", 1))
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(url)
        page = browser.contexts[0].pages[0]
        page.goto(pages("form.html"))
        assert page.evaluate("document.readyState") == "complete"
        other = browser.new_context().new_page()
        other.set_content("<h1>Mine</h1>")
        assert other.inner_text("h1") == "Mine"
        assert len(other.screenshot()) > 100
        browser.close()
    with wired.ask(wired.key(project="one")) as client:
        seen = client.post(f"/sessions/{id}/page/execute", json={"type": "scrape"}).json()
    assert seen["success"], seen


def test_no_key_and_no_other_key_opens_a_session(sessions, wired):  # noqa: F811
    (_, one), (second, two) = sessions
    begin, _, key = one.rpartition("/")
    for url in (
        begin, f"{begin}/", f"{begin}/x", f"{one}x", one[:-1], two.rpartition("/")[0] + f"/{key}",
        f"{wired.url.replace('http', 'ws', 1)}/protocol/{second}/%00", begin.rpartition("/")[0] + f"/nothing/{key}",
        f"{wired.url.replace('http', 'ws', 1)}/", f"{wired.url.replace('http', 'ws', 1)}/api/v1/recordings",
    ):  # fmt: skip
        with pytest.raises(InvalidStatus):
            connect(url, proxy=None).close()
    with pytest.raises(InvalidStatus):
        connect(one, origin="https://a.example", proxy=None).close()
    with wired.ask(wired.key(project="two")) as client:
        assert client.get(f"/sessions/{sessions[0][0]}/debug").status_code == 404
    with wired.ask(wired.key(role="read", project="one")) as client:
        assert client.get(f"/sessions/{sessions[0][0]}/debug").status_code == 403


REFUSED = [
    ("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": "/tmp"}),
    ("DOM.setFileInputFiles", {"files": ["/etc/passwd"], "nodeId": 1}),
    (
        "Input.dispatchDragEvent",
        {"type": "drop", "x": 1, "y": 1, "data": {"items": [], "files": ["/etc/passwd"]}},
    ),
    ("Page.navigate", {"url": "file:///etc/passwd"}),
    ("Page.navigate", {"url": " file:1/../etc/passwd"}),
    ("Page.navigate", {"url": "chrome://version"}),
    ("Page.navigate", {"url": "view-source:file:///etc/passwd"}),
    ("Target.createTarget", {"url": "file:///etc/passwd"}),
    ("Target.createTarget", {"url": "chrome://settings"}),
    ("Target.createBrowserContext", {"proxyServer": "direct://"}),
    ("Target.disposeBrowserContext", {"browserContextId": "X"}),
    ("Target.sendMessageToTarget", {"message": "{}"}),
    ("Target.exposeDevToolsProtocol", {"targetId": "x"}),
    ("Network.loadNetworkResource", {"url": "file:///etc/passwd", "options": {}}),
    ("Browser.close", {}),
    ("Browser.getBrowserCommandLine", {}),
    ("SystemInfo.getInfo", {}),
    ("Extensions.loadUnpacked", {"path": "/"}),
    ("Tracing.start", {}),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("method", "params"), REFUSED)
def test_a_command_that_reaches_beyond_the_pages_is_refused(sessions, method, params):
    with Speaking(sessions[0][1]) as speak:
        page = speak.page()
        for session in (None, page):
            assert "error" in speak(method, session, **params), method


@pytest.mark.thorough
def test_downloads_go_where_the_session_has_them_whatever_a_client_sets(sessions, wired, tmp_path):  # noqa: F811
    id, url = sessions[0]
    with Speaking(url) as speak:
        told = speak("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
        assert told["result"] == {}
        context = speak("Target.createBrowserContext")["result"]["browserContextId"]
        speak(
            "Browser.setDownloadBehavior",
            behavior="allow",
            downloadPath=str(tmp_path),
            browserContextId=context,
        )
    link = "<a id=a download=x.txt href='data:text/plain,1'>x</a>"
    with wired.ask(wired.key(project="one")) as client:
        for body in (
            {"type": "goto", "url": f"data:text/html,{link}"},
            {"type": "download_file", "selector": "#a"},
        ):
            told = client.post(f"/sessions/{id}/page/execute", json=body).json()
            assert told["success"], told["message"]
    assert list(tmp_path.iterdir()) == []


def test_a_client_uses_no_session_but_its_own(sessions):
    with (
        Speaking(sessions[0][1]) as one,
        Speaking(sessions[0][1]) as other,
        Speaking(sessions[1][1]) as third,
    ):
        page = one.page()
        assert "result" in one("Runtime.evaluate", page, expression="1")
        for stranger in (other, third):
            told = stranger("Runtime.evaluate", page, expression="1")
            assert told["error"]["message"] == "Session with given id not found."
        targets = [one["targetId"] for one in third("Target.getTargets")["result"]["targetInfos"]]
        mine = [one["targetId"] for one in one("Target.getTargets")["result"]["targetInfos"]]
        assert not set(targets) & set(mine)


def test_what_a_page_reads_by_the_protocol_is_no_file_and_no_machine_of_the_servers(sessions, wired):  # noqa: F811
    with Speaking(sessions[0][1]) as speak:
        page = speak.page()
        told = speak("Page.navigate", page, url=f"{wired.url}/ready")
        assert told["result"].get("errorText"), told
        told = speak(
            "Runtime.evaluate", page, expression="location.href='file:///etc/passwd'; document.title"
        )
        assert "root:" not in json.dumps(speak("Page.getResourceTree", page))


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["", "{", "[]", "1", "{}", '{"id": "x", "method": 1}', "[" * 5000, "\x00"])
def test_what_is_no_command_ends_the_connection_and_not_the_session(sessions, text):
    with Speaking(sessions[0][1]) as speak:
        speak.socket.send(text)
        with pytest.raises(ConnectionClosed):
            speak.socket.recv(20)
    with Speaking(sessions[0][1]) as speak:
        assert "result" in speak("Browser.getVersion")


@pytest.mark.thorough
def test_a_session_that_ended_is_not_spoken_to(wired):  # noqa: F811
    with wired.ask() as client:
        id = client.post("/sessions/start", json={"cdp": True}).json()["session_id"]
        url = client.get(f"/sessions/{id}/debug").json()["ws"]["cdp"]
        Speaking(url).socket.close()
        client.delete(f"/sessions/{id}/stop")
    with pytest.raises(InvalidStatus):
        connect(url, proxy=None)


def test_no_browser_of_a_server_listens_on_a_port(sessions):
    found = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True).stdout
    hosted = [line for line in found.splitlines() if "reenact-hosted-" in line and "--type=" not in line]
    assert hosted
    assert not [line for line in hosted if "--remote-debugging-port" in line]


@pytest.mark.thorough
def test_a_session_without_the_option_has_no_address(wired):  # noqa: F811
    with wired.ask() as client:
        id = client.post("/sessions/start", json={}).json()["session_id"]
        assert client.get(f"/sessions/{id}/debug").json()["ws"]["cdp"] == ""
        client.delete(f"/sessions/{id}/stop")


@pytest.mark.thorough
def test_the_errors_say_what_to_use(sessions):
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(sessions[1][1])
        with pytest.raises(Error, match="addresses are not opened by a server"):
            browser.contexts[0].pages[0].goto("file:///etc/passwd")
        browser.close()
