"""What those who run a server see of it: whether it is ready, what it counts, what its log says."""

from __future__ import annotations

import io
import json
import re
import time
from collections import namedtuple

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

import reenact
from reenact.browser.isolation import sandbox
from reenact.core.store.base import Piece
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.server import settings
from reenact.server.app import application
from reenact.server.keys import Keys
from reenact.server.operations import logs
from reenact.server.settings import Settings
from reenact.team.ship import upload_format

Usage = namedtuple("Usage", "free")
TOKEN = "0123456789abcdef"


@reenact.tool
def look(order):
    return order


@pytest.fixture
def recorded(tmp_path):
    with reenact.record("one", home=tmp_path / "laptop") as run:
        look("A-1")
    return LocalStore(tmp_path / "laptop").folder(run.id)


@pytest.fixture
def serve(tmp_path):
    """Starts servers: `serve(keyless=True)` gives a client."""
    clients = []

    def start(**more):
        app = application(Settings(tmp_path / "home", ("testserver",), **more))
        clients.append(TestClient(app, client=("127.0.0.1", 5)).__enter__())
        return clients[-1]

    yield start
    for client in clients:
        client.__exit__(None, None, None)


def key(tmp_path, role="write", project="default"):
    text = Keys(tmp_path / "home").make(role=role, project=project)[1]
    return {"Authorization": f"Bearer {text}"}


def told(client, **more):
    """Every sample of the metrics, by its name and labels."""
    answer = client.get("/metrics", **more)
    assert answer.status_code == 200, answer.text
    families = list(text_string_to_metric_families(answer.text))
    return families, {
        (one.name, *sorted(one.labels.items())): one.value for family in families for one in family.samples
    }


def test_health_and_readiness_need_no_key_and_tell_no_secrets(serve, tmp_path):
    client = serve()
    assert client.get("/health").json()["status"] == "ok"
    # It is not ready before it has read its recordings, however long that takes.
    limit = time.monotonic() + 120
    while client.get("/ready").status_code != 200:
        assert time.monotonic() < limit
    for path in ("/ready", "/api/v1/ready"):
        answer = client.get(path)
        assert answer.status_code == 200
        found = answer.json()
        assert found.pop("browsers") == sandbox.told()
        assert found == {
            "ready": True,
            "checks": {"disk": "ok", "home": "ok", "recordings": "ok"},
            "broken": 0,
        }
    assert str(tmp_path) not in answer.text


@pytest.mark.thorough
def test_a_server_that_cannot_do_its_work_says_which_part(serve, monkeypatch):
    client = serve()
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(5))
    client.app.state.checks._lasts = 0
    answer = client.get("/ready")
    assert (answer.status_code, answer.json()["checks"]["disk"]) == (503, "less than 256 MB free")


@pytest.mark.thorough
def test_what_comes_in_is_counted(serve, tmp_path, recorded):
    client, mine = serve(), key(tmp_path, project="shop")
    lines = (recorded / "events.jsonl").read_bytes()
    pieces = [
        Piece(recorded.name, "events.jsonl", 0, lines),
        Piece(recorded.name, "events.jsonl", 10**6, b"{}\n"),
    ]
    assert (
        client.post("/api/v1/uploads", content=upload_format.packed(pieces), headers=mine).status_code == 200
    )
    assert client.get("/api/v1/recordings/nothing", headers=mine).status_code == 404
    _, found = told(client, headers=key(tmp_path, "admin"))
    shop = ("project", "shop")
    assert found["reenact_ingest_pieces_total", ("outcome", "ok"), shop] == 1
    assert found["reenact_ingest_pieces_total", ("outcome", "gap"), shop] == 1
    assert found["reenact_ingest_bytes_total", shop] == len(lines)
    assert found["reenact_ingest_events_total", shop] == lines.count(b"\n")
    assert found["reenact_ingest_acknowledge_seconds_count", shop] == 1
    assert found["reenact_store_recordings", shop] == 1
    assert found["reenact_store_bytes", shop] >= len(lines)
    assert found["reenact_errors_total", ("kind", "RecordingNotFound")] == 1
    route = ("route", "/api/v1/recordings/{id}")
    assert found["reenact_http_requests_total", ("method", "GET"), route, ("status", "404")] == 1
    assert found["reenact_jobs", ("status", "running")] == 0


@pytest.mark.thorough
def test_names_and_labels_are_as_prometheus_wants_them(serve):
    client = serve(keyless=True)
    for path in ("/", "/nope.php", "/api/v1/recordings", "/api/v1/zzz", f"/api/v1/recordings/{'x' * 30}"):
        client.get(path)
    client.request("BREW", "/pot")
    families, found = told(client)
    for family in families:
        if not family.name.startswith("reenact_"):
            continue
        assert family.documentation.endswith("."), family.name
        assert re.fullmatch(r"[a-z][a-z0-9_]*", family.name)
        for sample in family.samples:
            assert (sample.name.endswith("_total")) == (family.type == "counter"), sample.name
            assert "_ms" not in sample.name
    # What somebody asks for makes no label.
    asked = {value for labels in found for name, value in labels[1:] if name in {"route", "method"}}
    assert not [
        value for value in asked if "nope" in value or "xxx" in value or "zzz" in value or value == "BREW"
    ]
    assert {"/{page}", "none", "/api/v1/recordings/{id}"} <= asked


@pytest.mark.thorough
def test_metrics_are_for_an_admin_of_the_server_or_for_who_has_the_token(serve, tmp_path):
    client = serve(metrics_token=TOKEN)
    refused = [
        {},
        key(tmp_path, "write"),
        key(tmp_path, "admin", "shop"),
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": "Bearer "},
    ]
    assert [client.get("/metrics", headers=one).status_code for one in refused] == [401] * 5
    told(client, headers=key(tmp_path, "admin"))
    told(client, headers={"Authorization": f"Bearer {TOKEN}"})
    # It opens nothing else.
    assert client.get("/api/v1/me", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 401


def test_a_token_that_can_be_guessed_is_refused():
    assert settings.token_of({}) == ""
    with pytest.raises(UsageError, match="at least 16"):
        settings.token_of({settings.TOKEN: "secret"})


@pytest.mark.thorough
def test_the_log_has_a_line_for_each_request_and_nothing_secret_in_it(serve, tmp_path, recorded):
    client, mine = serve(), key(tmp_path, project="shop")
    stream = io.StringIO()
    end = logs.begin("json", stream)
    try:
        content = upload_format.packed(
            [Piece(recorded.name, "events.jsonl", 0, (recorded / "events.jsonl").read_bytes())]
        )
        first = client.post("/api/v1/uploads", content=content, headers={**mine, "X-Request-ID": "abc-1"})
        second = client.get(
            "/files/default/x.mp4?expires=1&signature=SIGNED", headers={"X-Request-ID": "a b\n"}
        )
        client.get("/api/v1/recordings?filter=text~'card 4111'", headers=mine)
    finally:
        end()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(one["route"], one["status"], one["project"]) for one in lines] == [
        ("/api/v1/uploads", 200, "shop"),
        ("/files/{path}", 403, None),
        ("/api/v1/recordings", lines[2]["status"], "shop"),
    ]
    assert {one["event"] for one in lines} == {"request"}
    assert all(one["ms"] >= 0 and one["level"] == "info" for one in lines)
    assert first.headers["X-Request-ID"] == lines[0]["request_id"] == "abc-1"
    assert re.fullmatch(r"[0-9a-f]{16}", second.headers["X-Request-ID"])
    for secret in (mine["Authorization"].split()[1], "SIGNED", "4111", "A-1", "x.mp4"):
        assert secret not in stream.getvalue()
