"""Sessions that a server has for others: whose they are, how many there may be, and how they end."""

from __future__ import annotations

import json
import threading
import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from reenact import load
from reenact.server.wire.hosted import Hosted, Hosting
from reenact.server.wire.stored_files import SessionFiles
from tests.browser.conftest import LASTING
from tests.conftest import LONGEST
from tests.server.wire.conftest import Wired


@pytest.fixture(scope="module")
def opened(wired):
    """A client of the project `mine`, and the id of a session that it has open."""
    with wired.ask(wired.key(project="mine")) as client:
        id = client.post("/api/v1/sessions/start", json=LASTING).json()["session_id"]
        yield client, id
        client.delete(f"/api/v1/sessions/{id}/stop")


def detail(answer):
    """The status of a refusal, and its one line."""
    said = answer.json()["detail"]
    assert isinstance(said, str)
    assert "\n" not in said
    return answer.status_code, said


def test_a_session_belongs_to_the_project_of_its_key(wired, opened):
    _, id = opened
    asks = [
        ("GET", ""), ("DELETE", "/stop"), ("GET", "/offset"), ("GET", "/steps"), ("GET", "/replay"), ("GET", "/debug"),
        ("GET", "/cookies"), ("GET", "/network/logs"), ("GET", "/workflow/code"), ("POST", "/page/execute"),
        ("POST", "/page/observe"), ("POST", "/page/scrape"), ("POST", "/page/screenshot"), ("GET", "/files"),
    ]  # fmt: skip
    with wired.ask(wired.key(project="theirs")) as other:
        for base in ("", "/api/v1"):
            for method, path in asks:
                answer = other.request(
                    method,
                    f"{base}/sessions/{id}{path}",
                    json={"type": "reload"} if method == "POST" else None,
                )
                assert detail(answer) == (404, f"there is no session {id} here"), path
        started = other.post("/api/v1/agents/start", json={"session_id": id, "task": "Look"})
        assert started.status_code == 404
        assert other.get("/sessions/", params={"only_active": False}).json() == []


def test_who_may_read_looks_and_does_nothing(wired, opened):
    _, id = opened
    with wired.ask(wired.key("read", project="mine")) as reader:
        assert reader.get(f"/sessions/{id}").json()["status"] == "active"
        for method, path in (
            ("POST", "/page/execute"),
            ("GET", "/cookies"),
            ("GET", "/debug"),
            ("DELETE", "/stop"),
        ):
            body = {"type": "reload"} if method == "POST" else None
            assert reader.request(method, f"/sessions/{id}{path}", json=body).status_code == 403
        assert reader.post("/sessions/start", json={}).status_code == 403
    with wired.ask("nobody") as stranger:
        assert stranger.get(f"/sessions/{id}").status_code == 401
        assert stranger.get("/health").json()["status"] == "ok"


def test_the_servers_own_files_are_out_of_reach(opened):
    client, id = opened
    at = f"/api/v1/sessions/{id}/page"
    for body in (
        {"type": "goto", "url": "file:///etc/passwd"},
        {"type": "upload_file", "selector": "#a", "file_path": "/etc/passwd"},
    ):
        assert client.post(f"{at}/execute", json=body).status_code == 400
    assert client.post(f"{at}/observe", json={"url": "file:///etc"}).status_code == 400
    for code in ("location = 'file:///etc/passwd'", "window.open('file:///etc/passwd')"):
        client.post(f"{at}/execute", json={"type": "evaluate_js", "code": code})
        seen = client.post(f"{at}/execute", json={"type": "scrape"}).json()
        assert "root:" not in json.dumps(seen)


def test_what_makes_no_sense_is_refused_in_one_line(opened):
    client, id = opened
    agent = {"session_id": id, "task": "Look"}
    for path, body in (
        ("agents/start", {**agent, "max_steps": "many"}),
        ("agents/start", {**agent, "max_steps": 1000}),
        ("agents/start", {**agent, "response_format": "text"}),
        ("agents/start", {**agent, "url": "file:///etc/passwd"}),
        ("agents/start", {**agent, "agent_id": "../a"}),
        ("agents/start", {**agent, "vault_id": "v"}),
        ("sessions/start", {"extra_http_headers": "x"}),
        ("sessions/start", {"cdp_url": "http://127.0.0.1:9222"}),
        (f"sessions/{id}/cookies", {"cookies": [{"name": "a", "value": "b"}]}),
        (f"sessions/{id}/page/execute", {"type": "click"}),
        (f"sessions/{id}/page/expect", {"url": {"pattern": "(a+)+$"}}),
    ):
        assert detail(client.post(f"/api/v1/{path}", json=body))[0] in {400, 409}, body


def test_its_files_are_listed_fetched_and_removed(opened):
    client, id = opened
    files = f"/api/v1/sessions/{id}/files"
    kept = client.post(files, files={"file": ("../a.html", b"<script>alert(1)</script>")}).json()
    assert (kept["filename"], kept["size"], kept["source"]) == ("a.html", 25, "user_upload")
    large = client.post(files, files={"file": ("large", b"\0" * 3_000_000)}).json()
    assert large["size"] == 3_000_000
    given = client.get(f"{files}/{kept['id']}")
    assert given.content == b"<script>alert(1)</script>"
    assert given.headers["content-type"] == "application/octet-stream"
    assert given.headers["content-disposition"].startswith("attachment")
    assert client.delete(f"{files}/{kept['id']}").json()["success"]
    assert detail(client.get(f"{files}/{kept['id']}"))[0] == 404
    assert detail(client.post(files, json={}))[0] == 400


def test_only_so_many_are_open_at_once(tmp_path):
    from reenact.server.wire.hosted import BusyError

    hosting = Hosting(most=0)
    with pytest.raises(BusyError, match="0 sessions are open, as many as this server allows"):
        hosting.start("default", tmp_path, {})


def test_a_server_that_stops_waits_for_a_session_that_is_just_ending(monkeypatch):
    ending, sealed, order = threading.Event(), threading.Event(), []

    class SlowSession:
        id = "slow"

        def stop(self):
            ending.set()
            sealed.wait(60)
            order.append("sealed")

    hosting, now = Hosting(), datetime.now(UTC)
    hosted = Hosted(SlowSession(), "default", None, created=now, used=now)
    monkeypatch.setitem(hosting._all, hosted.id, hosted)
    idle = threading.Thread(target=hosting.stop, args=(hosted,), kwargs={"reason": "it was idle"})
    idle.start()
    assert ending.wait(60)

    def close():
        hosting.close()
        order.append("stopped")

    server = threading.Thread(target=close)
    server.start()
    server.join(0.2)
    sealed.set()
    idle.join(60)
    server.join(60)
    assert order == ["sealed", "stopped"]
    assert hosted.reason == "it was idle"


WRITES = """
async () => {
  const folder = await navigator.storage.getDirectory();
  for (let part = 0; part < 12; part++) {
    const file = await (await folder.getFileHandle(`part${part}`, { create: true })).createWritable();
    await file.write(new Uint8Array(10_000_000).fill(part + 1));
    await file.close();
  }
}
"""


def test_a_session_whose_pages_fill_the_disk_is_ended(tmp_path, pages, monkeypatch):
    monkeypatch.setattr("reenact.server.wire.hosted.WRITTEN", 60_000_000)
    wired = Wired(tmp_path / "home", keyless=True)
    with wired.ask("any") as client:
        id = client.post("/sessions/start", json=LASTING).json()["session_id"]
        other = client.post("/sessions/start", json=LASTING).json()["session_id"]
        run = f"/sessions/{id}/page/execute"
        client.post(run, json={"type": "goto", "url": pages("done.html")})
        client.post(run, json={"type": "evaluate_js", "code": f"void ({WRITES})()"})
        end = time.monotonic() + LONGEST
        while (told := client.get(f"/sessions/{id}").json())["status"] == "active":
            assert time.monotonic() < end
            time.sleep(0.1)
        assert told["reason"].startswith("its pages wrote more than")
        assert client.get(f"/sessions/{other}").json()["status"] == "active"
    assert wired.stop()


def test_the_files_of_ended_sessions_are_kept_up_to_a_size(tmp_path, monkeypatch):
    monkeypatch.setattr("reenact.server.wire.hosted._KEPT_BYTES", 250)
    hosting, now = Hosting(), datetime.now(UTC)
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        files = SessionFiles(tmp_path / str(number))
        (files.downloads / "page").write_bytes(bytes(100))
        session = SimpleNamespace(id=str(number))
        hosting._all[session.id] = Hosted(session, "default", files, created=now, used=now, closed=now)
    hosting._forget()
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["3", "4"]
    assert [one.id for one in hosting.of("default")] == ["4", "3"]


@pytest.mark.thorough
def test_an_idle_session_ends_by_itself_and_the_others_with_the_server(tmp_path, opened):
    wired = Wired(tmp_path / "home", keyless=True)
    with wired.ask("any") as client:
        idle = client.post("/sessions/start", json={"idle_timeout_minutes": 0.02}).json()["session_id"]
        other = client.post("/sessions/start", json={}).json()["session_id"]
        end = time.monotonic() + 30
        while (told := client.get(f"/sessions/{idle}").json())[
            "status"
        ] == "active" and time.monotonic() < end:
            time.sleep(0.1)
        assert (told["status"], told["close_reason"]) == ("closed", "idle_timeout")
        late = client.post(f"/sessions/{idle}/page/execute", json={"type": "reload"})
        assert detail(late)[0] == 409
        assert "it was idle" in detail(late)[1]
        assert client.get(f"/sessions/{other}/debug").json()["ws"]["cdp"] == ""
        files = wired.app.state.hosting.find("default", other).files.folder
        assert files.exists()
    assert wired.stop()
    for id in (idle, other):
        assert load(id, home=wired.home).status == "ok"
    assert not files.exists()
    # Another server of the same home still knows what was recorded.
    again = Wired(tmp_path / "home")
    with again.ask() as client:
        known = client.get(f"/sessions/{other}").json()
        assert (known["status"], known["recording"]) == ("closed", other)
        assert client.get(f"/sessions/{other}/replay").json()["mp4_url"].startswith(f"{again.url}/files/")
    assert again.stop()
