"""The port: what is OTLP is acknowledged when it is kept, anything else is refused with its status and one line."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import time
import weakref
import zlib
from pathlib import Path
from random import Random

import httpx
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from starlette.testclient import TestClient

from reenact.server.traces import receiver as collecting

DATA = (
    Path(__file__).parents[2] / "analysis" / "interchange" / "importers" / "traces" / "pydantic_ai.pb"
).read_bytes()
JSON = {"content-type": "application/json"}
PROTOBUF = {"content-type": "application/x-protobuf"}
SPAN = {"traceId": "a" * 32, "spanId": "b" * 16, "name": "x"}
GOOD = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}).encode()


NESTED = {"stringValue": "x"}
for _ in range(300):
    NESTED = {"arrayValue": {"values": [NESTED]}}


PLAIN = "x"
for _ in range(300):
    PLAIN = [PLAIN]


def one_span(**members):
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{**SPAN, **members}]}]}]}).encode()


def of_protobuf(**members):
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(name="x", **members)
    return request.SerializeToString()


@pytest.fixture
def taken():
    return []


@pytest.fixture
def client(taken):
    return TestClient(collecting.application(taken.extend))


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (DATA, {}),
        (gzip.compress(DATA), {"content-encoding": "gzip"}),
        (gzip.compress(DATA[:99]) + gzip.compress(DATA[99:]), {"content-encoding": "gzip"}),
        (zlib.compress(DATA), {"content-encoding": "deflate"}),
    ],
)
def test_protobuf_is_taken_compressed_or_not(client, taken, body, headers):
    answer = client.post("/v1/traces", content=body, headers={**PROTOBUF, **headers})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-protobuf")
    assert ExportTraceServiceResponse.FromString(answer.content).partial_success.rejected_spans == 0
    assert len(taken) == 4


def test_json_is_taken_and_an_empty_request_is_fine(client, taken):
    answer = client.post(
        "/v1/traces",
        content=gzip.compress(GOOD),
        headers={"content-type": "application/json; charset=utf-8", "content-encoding": "gzip"},
    )
    assert (answer.status_code, answer.json()) == (200, {})
    assert [span.name for span in taken] == ["x"]
    assert client.post("/v1/traces", content=b"", headers=PROTOBUF).status_code == 200


def test_a_parent_of_zeros_is_none(client, taken):
    zeros = {"parent_span_id": b"\0" * 8, "trace_id": b"\1" * 16, "span_id": b"\1" * 8}
    client.post("/v1/traces", content=one_span(parentSpanId="0" * 16), headers=JSON)
    client.post("/v1/traces", content=of_protobuf(**zeros), headers=PROTOBUF)
    assert [span.parent for span in taken] == ["", ""]


@pytest.mark.parametrize(
    ("request_", "status", "says"),
    [
        ((b"{", JSON), 400, "no JSON"),
        ((b"[]", JSON), 400, "resourceSpans"),
        ((b'{"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}', JSON), 400, "no id of a trace"),
        ((b"\xff\xff", PROTOBUF), 400, "not an OTLP protobuf"),
        ((b"zipped", {**JSON, "content-encoding": "gzip"}), 400, "no gzip"),
        ((gzip.compress(GOOD)[:-9], {**JSON, "content-encoding": "gzip"}), 400, "ends early"),
        ((gzip.compress(b"") * 101, {**JSON, "content-encoding": "gzip"}), 400, "more than 100 members"),
        ((one_span(traceId=""), JSON), 400, "scopeSpans[0].spans[0]: '' is not a valid id (16 bytes"),
        ((one_span(traceId="0" * 32), JSON), 400, "is not a valid id (16 bytes"),
        ((one_span(spanId="0" * 16), JSON), 400, "is not a valid id (8 bytes"),
        ((of_protobuf(trace_id=b"\1" * 15, span_id=b"\1" * 8), PROTOBUF), 400, "is not a valid id (16 bytes"),
        ((of_protobuf(trace_id=b"\1" * 16), PROTOBUF), 400, "the span 'x': '' is not a valid id (8 bytes"),
        ((one_span(attributes=[{"key": "x", "value": NESTED}]), JSON), 400, "more than 100 deep"),
        ((one_span(attributes=[{"key": "x", "value": PLAIN}]), JSON), 400, "more than 100 deep"),
        (
            (one_span(attributes=[{"key": "x", "value": {"stringValue": PLAIN}}]), JSON),
            400,
            "more than 100 deep",
        ),
        ((GOOD, {**JSON, "content-encoding": "br"}), 415, "'br' is not supported"),
        ((GOOD, {"content-type": "text/plain"}), 415, "'text/plain' is not supported"),
        ((GOOD, {}), 415, "'' is not supported"),
    ],
)
def test_a_malformed_request_gets_its_status_and_one_line(client, taken, request_, status, says):
    body, headers = request_
    answer = client.post("/v1/traces", content=body, headers=headers)
    assert answer.status_code == status
    text = answer.json()["message"] if headers == JSON else answer.content.decode("utf-8", "replace")
    assert says in text
    assert "\n" not in text.rstrip("\n")
    assert taken == []


def test_an_error_is_a_status_of_google_s_in_the_form_of_the_request(client):
    answer = client.post("/v1/traces", content=b"\xff\xff", headers=PROTOBUF)
    assert answer.headers["content-type"] == "application/x-protobuf"
    assert answer.content[:3] == b"\x08\x03\x12"
    size, text = answer.content[3] & 127 | answer.content[4] << 7, answer.content[5:]
    assert size == len(text) > 127
    assert b"not an OTLP protobuf" in text


@pytest.mark.parametrize("packed", [False, True])
def test_too_much_is_refused_packed_or_not(client, monkeypatch, packed):
    monkeypatch.setattr(collecting, "MOST", 1000)
    body = b"x" * 5000
    headers = {**JSON, "content-encoding": "gzip"} if packed else JSON
    answer = client.post("/v1/traces", content=gzip.compress(body) if packed else body, headers=headers)
    assert answer.status_code == 413


PARTS = ("spans", "scopes", "resources", "attributes", "values", "events")


def in_protobuf(*, spans=0, scopes=0, resources=0, attributes=0, values=0, events=0):
    """A request with so many empty parts of a kind."""
    request = ExportTraceServiceRequest()
    for _ in range(resources):
        request.resource_spans.add()
    found = request.resource_spans.add()
    for _ in range(scopes):
        found.scope_spans.add()
    first = found.scope_spans.add()
    for number in range(spans + 1):
        one = first.spans.add(trace_id=b"\1" * 16, span_id=(number + 1).to_bytes(8, "big"))
    for _ in range(attributes):
        one.attributes.add()
    for _ in range(events):
        one.events.add()
    array = one.attributes.add().value.array_value
    for _ in range(values):
        array.values.add()
    return request.SerializeToString()


def in_logs(records):
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    for _ in range(records):
        scope.log_records.add()
    return request.SerializeToString()


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        *(("traces", in_protobuf(**{part: 1000 if part != "spans" else 30}), PROTOBUF) for part in PARTS),
        ("logs", in_logs(30), PROTOBUF),
        ("traces", b'{"resourceSpans":[],"x":[' + b"{}," * 999 + b"{}]}", JSON),
        ("traces", json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [SPAN] * 30}]}]}).encode(), JSON),
    ],
    ids=[*PARTS, "log records", "values in JSON", "spans in JSON"],
)
def test_more_values_than_fit_into_memory_are_refused(monkeypatch, path, body, headers):
    monkeypatch.setattr(collecting, "_MOST_VALUES", 1000)
    taken = []
    client = TestClient(collecting.application(taken.extend))
    answer = client.post(f"/v1/{path}", content=body, headers=headers)
    assert (answer.status_code, taken) == (413, [])
    assert b"a smaller batch size helps" in answer.content
    assert client.post("/v1/traces", content=DATA, headers=PROTOBUF).status_code == 200


def test_a_refused_request_leaves_nothing_in_memory(client, monkeypatch):
    class Document:
        pass

    kept = []

    def refuse(*_):
        document = Document()
        kept.append(weakref.ref(document))
        raise ValueError("no OTLP")

    monkeypatch.setattr(collecting.wire, "from_protobuf", refuse)
    gc.disable()
    try:
        assert client.post("/v1/traces", content=DATA, headers=PROTOBUF).status_code == 400
        assert kept[0]() is None
    finally:
        gc.enable()


def test_large_requests_are_read_one_at_a_time(monkeypatch):
    monkeypatch.setattr(collecting, "_LARGE", 100)
    at_once, most = [], []

    def take(spans):
        at_once.append(spans)
        most.append(len(at_once))
        time.sleep(0.05)
        at_once.remove(spans)
        return 0

    async def several():
        transport = httpx.ASGITransport(collecting.application(take))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            sent = (client.post("/v1/traces", content=GOOD, headers=JSON) for _ in range(4))
            return [answer.status_code for answer in await asyncio.gather(*sent)]

    assert asyncio.run(several()) == [200] * 4
    assert most == [1] * 4


def test_what_cannot_be_kept_is_to_be_sent_again():
    def full(_):
        raise OSError(28, "No space left on device")

    answer = TestClient(collecting.application(full)).post("/v1/traces", content=GOOD, headers=JSON)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "No space left" in answer.json()["message"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/traces", 405), ("POST", "/v1/metrics", 404), ("GET", "/", 404)],
)
def test_any_other_request_is_told_where_traces_go(client, method, path, status):
    answer = client.request(method, path)
    assert (answer.status_code, "POST /v1/traces" in answer.text) == (status, True)


def test_recordings_are_made_as_it_runs_and_at_its_end(taken):
    done = []
    with TestClient(
        collecting.application(
            taken.extend, lambda: done.append("settled"), every=0.01, end=lambda: done.append("ended")
        )
    ) as client:
        client.post("/v1/traces", content=GOOD, headers=JSON)
        for _ in range(200):
            if done:
                break
            client.get("/")
    assert done[0] == "settled"
    assert done[-1] == "ended"


def test_log_records_of_the_conventions_are_taken_and_others_are_not_kept(client, taken):
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    scope.log_records.add(
        trace_id=b"a" * 16, span_id=b"b" * 8, event_name="gen_ai.user.message"
    ).body.string_value = "hi"
    scope.log_records.add(trace_id=b"a" * 16, span_id=b"b" * 8).body.string_value = "starting"
    assert client.post("/v1/logs", content=request.SerializeToString(), headers=PROTOBUF).status_code == 200
    record = {"traceId": "a" * 32, "spanId": "b" * 16, "attributes": [{"key": "event.name", "value": {"stringValue": "gen_ai.choice"}}],
              "body": {"kvlistValue": {"values": [{"key": "index", "value": {"intValue": "0"}}]}}}  # fmt: skip
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]})
    assert client.post("/v1/logs", content=body, headers=JSON).status_code == 200
    assert [(span.loose, span.events[0].name) for span in taken] == [
        (True, "gen_ai.user.message"),
        (True, "gen_ai.choice"),
    ]
    assert taken[0].events[0].attributes == {"content": "hi"}
    assert taken[1].events[0].attributes["index"] == 0


def test_no_damage_to_a_request_is_more_than_a_refusal(client):
    random = Random(7)
    for _ in range(150):
        body = bytearray(DATA)
        for _ in range(random.randint(1, 6)):
            body[random.randrange(len(body))] = random.randrange(256)
        assert client.post("/v1/traces", content=bytes(body), headers=PROTOBUF).status_code in (200, 400)


@pytest.mark.parametrize(
    "value", [None, 5, [], {"arrayValue": {"values": 5}}, {"kvlistValue": {"values": [5]}}, {"intValue": "9" * 40}, {"doubleValue": {}}]
)  # fmt: skip
def test_an_odd_value_in_json_is_taken_or_refused(client, value):
    span = {**SPAN, "attributes": [{"key": "a", "value": value}]}
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert client.post("/v1/traces", content=body, headers=JSON).status_code in (200, 400)
