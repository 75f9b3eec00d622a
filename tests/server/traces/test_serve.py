"""What those who run a collector see of it, and that it takes no more than it can keep."""

from __future__ import annotations

import json
import threading
from collections import namedtuple

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from reenact.core.store.local import LocalStore
from reenact.server.traces import Traces
from reenact.server.traces.receiver import Gate, application
from reenact.server.traces.serve import watched

JSON = {"content-type": "application/json"}
TOKEN = "0123456789abcdef"
Usage = namedtuple("Usage", "free")


def spans(trace, count=1):
    some = [{"traceId": trace, "spanId": f"{number:016x}", "name": "x"} for number in range(1, count + 1)]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": some}]}]}).encode()


@pytest.fixture
def traces(tmp_path):
    return Traces(LocalStore(tmp_path))


def client_of(traces, **more):
    app = watched(traces, lambda: None, lambda: None, token=TOKEN)
    return TestClient(app, client=(more.get("host", "127.0.0.1"), 5))


def test_it_is_healthy_ready_and_counts_what_comes(traces):
    client = client_of(traces)
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/ready").json() == {"ready": True, "checks": {"disk": "ok", "home": "ok"}}
    assert client.post("/v1/traces", content=spans("a" * 32, 3), headers=JSON).status_code == 200
    assert client.post("/v1/traces", content=b"{", headers=JSON).status_code == 400
    families = text_string_to_metric_families(client.get("/metrics").text)
    found = {
        (one.name, *sorted(one.labels.values())): one.value for family in families for one in family.samples
    }
    assert found["reenact_spans_total", "", "taken"] == 3
    assert found["reenact_traces_waiting", ""] == 1
    assert found["reenact_http_requests_total", "/v1/traces", "200", "POST"] == 1
    assert found["reenact_http_requests_total", "/v1/traces", "400", "POST"] == 1


def test_metrics_are_for_this_machine_and_for_who_has_the_token(traces):
    far = client_of(traces, host="10.0.0.9")
    assert far.get("/metrics").status_code == 401
    assert client_of(traces).get("/metrics", headers={"X-Forwarded-For": "10.0.0.9"}).status_code == 401
    assert far.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_page_in_a_browser_can_neither_write_traces_nor_read_metrics(traces):
    client = client_of(traces)
    page = {"Origin": "http://page.example:4318", "Host": "page.example:4318"}
    answer = client.post("/v1/traces", content=spans("a" * 32), headers={**JSON, **page})
    assert (answer.status_code, answer.json()["code"]) == (403, 7)
    assert "a web page has sent this request" in answer.json()["message"]
    assert traces.waiting == 0
    assert client.get("/metrics", headers={"Host": "page.example:4318"}).status_code == 401
    assert client.get("/metrics", headers={"Host": "localhost:4318"}).status_code == 200


def test_a_disk_without_room_takes_nothing_and_says_when_to_come_again(traces, monkeypatch):
    client = client_of(traces)
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(5))
    answer = client.post("/v1/traces", content=spans("a" * 32), headers=JSON)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")
    assert answer.json() == {
        "code": 8, "message": "no more spans are accepted: the disk has less than 256 MB free"
    }  # fmt: skip
    assert not list(traces.folder.glob("*"))
    assert client.get("/ready").json()["checks"]["disk"] == "less than 256 MB free"


def test_more_at_once_than_is_held_comes_again(tmp_path):
    body, inside, go = spans("a" * 32), threading.Event(), threading.Event()

    def take(_):
        inside.set()
        go.wait(120)
        return 0

    with TestClient(application(take, gate=Gate(most=len(body) + 10))) as client:
        first = threading.Thread(
            target=client.post, args=("/v1/traces",), kwargs={"content": body, "headers": JSON}
        )
        first.start()
        assert inside.wait(120)
        answer = client.post("/v1/traces", content=body, headers=JSON)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        go.set()
        first.join()
        assert client.post("/v1/traces", content=body, headers=JSON).status_code == 200


def test_spans_of_a_trace_that_an_earlier_collector_recorded_are_named_as_left_out(traces, tmp_path):
    chat = {"traceId": "a" * 32, "spanId": "b" * 16, "name": "chat m",
            "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]}  # fmt: skip
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [chat]}]}]}).encode()
    assert client_of(traces).post("/v1/traces", content=body, headers=JSON).json() == {}
    assert len(traces.settle(0, all=True)) == 1
    later = client_of(Traces(LocalStore(tmp_path)))
    told = later.post("/v1/traces", content=spans("a" * 32, 2), headers=JSON)
    assert told.status_code == 200
    assert told.json()["partialSuccess"]["rejectedSpans"] == "2"
    assert "earlier collector" in told.json()["partialSuccess"]["errorMessage"]
