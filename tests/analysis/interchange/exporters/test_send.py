"""A trace is delivered whole, or one line says why not."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from reenact.analysis.interchange.exporters.otel import deliver, headers_of, send
from reenact.analysis.interchange.importers.otel.span import Span
from reenact.errors import ReenactError, UsageError

SPANS = [Span("a" * 32, "b" * 16, "chat x", began=1, ended=2)]


@pytest.fixture
def endpoint():
    """A server that answers as it is told: `answer(status, body, type)`; `seen` has what came."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            server.seen.append((self.path, dict(self.headers), body))
            status, data, kind = server.reply
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_): ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen, server.reply = [], (200, b"", "application/x-protobuf")
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_it_is_sent_as_compressed_protobuf_with_the_headers(endpoint):
    assert deliver(SPANS, endpoint.url, {"x-key": "k"}) == f"{endpoint.url}/v1/traces"
    deliver(SPANS, f"{endpoint.url}/otlp/v1/traces")
    (path, headers, body), (other, _, _) = endpoint.seen
    assert (path, other) == ("/v1/traces", "/otlp/v1/traces")
    sent = {name.lower(): value for name, value in headers.items()}
    assert (sent["content-type"], sent["content-encoding"], sent["x-key"]) == (
        "application/x-protobuf",
        "gzip",
        "k",
    )
    request = ExportTraceServiceRequest()
    request.ParseFromString(gzip.decompress(body))
    assert request.resource_spans[0].scope_spans[0].spans[0].name == "chat x"


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ((401, b'{"code": 16, "message": "no\\n key"}', "application/json"), "401 Unauthorized: no key"),
        ((400, b"\x08\x03\x12\x05wrong", "application/x-protobuf"), "400 Bad Request: wrong"),
        ((404, b"<html>", "text/html"), "404 Not Found; is it an OTLP endpoint"),
        ((503, b"later", "text/plain"), "503 Service Unavailable: later"),
        ((302, b"", "text/plain"), "302 Found"),
        ((200, b'{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}}', "application/json"), "without 3 of its spans: too old"),
        ((200, ExportTraceServiceResponse(partial_success={"rejected_spans": 2}).SerializeToString(), "application/x-protobuf"), "without 2 of its spans"),
    ],
)  # fmt: skip
def test_a_refusal_whole_or_in_part_is_one_line(endpoint, reply, says):
    endpoint.reply = reply
    with pytest.raises(ReenactError, match=says) as caught:
        deliver(SPANS, endpoint.url)
    assert endpoint.url in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_endpoint_that_is_down_is_said(endpoint):
    endpoint.shutdown()
    endpoint.server_close()
    with pytest.raises(ReenactError, match="could not be sent"):
        deliver(SPANS, endpoint.url)


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://x:99999", "http://x:y"])
def test_what_is_no_url_of_an_endpoint_is_refused(url):
    with pytest.raises(UsageError, match="OTLP endpoint over HTTP"):
        send.endpoint(url)
    assert send.endpoint("localhost:4318") == "http://localhost:4318/v1/traces"


def test_headers_come_from_the_environment_and_those_given_go_above():
    environ = {
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b, other=1",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "other=2",
    }
    assert headers_of(["X-Key: c:d", "new=e"], environ) == {"x-key": "c:d", "other": "2", "new": "e"}
    with pytest.raises(UsageError, match="'NAME: VALUE'"):
        headers_of(["secret"], {})
    with pytest.raises(UsageError, match="NAME=VALUE"):
        headers_of([], {"OTEL_EXPORTER_OTLP_HEADERS": "oops"})
