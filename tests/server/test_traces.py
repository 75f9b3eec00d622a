"""Traces that are sent to a server, by the exporter that programs have: one address for all that a team sends."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from reenact.core.store.local import LocalStore
from reenact.server.keys import Keys


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def key(home):
    return Keys(home).make(role="write", project="shop")[1]


def free():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def server(home, port):
    """The command, as a process; killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "reenact", "serve", "--keys", "--port", str(port), "--home", home],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "REENACT_STORE": ""},
    )  # fmt: skip
    try:
        until = time.monotonic() + 60
        while True:
            with contextlib.suppress(httpx.HTTPError):
                httpx.get(f"http://127.0.0.1:{port}/health")
                break
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def spans(traces, each=2):
    """Spans of agents' runs, as an SDK makes them."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("test")
    for number in range(traces):
        with tracer.start_as_current_span(f"invoke_agent a{number}") as outer:
            outer.set_attribute("gen_ai.operation.name", "invoke_agent")
            for _ in range(each - 1):
                with tracer.start_as_current_span("chat m") as inner:
                    inner.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})
    return kept.get_finished_spans()


def exporter(port, key, **more):
    return OTLPSpanExporter(
        f"http://127.0.0.1:{port}/v1/traces", headers={"Authorization": f"Bearer {key}"},
        compression=Compression.Gzip, **more,
    )  # fmt: skip


@pytest.mark.thorough
def test_what_was_acknowledged_is_recorded_once_though_the_server_is_killed(home, key):
    port, some = free(), spans(12)
    with server(home, port):
        assert exporter(port, key).export(some[:12]) is SpanExportResult.SUCCESS
    # Killed before it has made recordings of all. Who got no answer sends all again.
    with server(home, port):
        assert exporter(port, key).export(some) is SpanExportResult.SUCCESS
        store = LocalStore(home / "projects" / "shop")
        until = time.monotonic() + 120
        while len(store.ids()) < 12:
            assert time.monotonic() < until, len(store.ids())
            time.sleep(0.2)
        assert exporter(port, "rnt_none").export(some[:1]) is SpanExportResult.FAILURE
        read = Keys(home).make(role="read", project="shop")[1]
        assert exporter(port, read).export(some[:1]) is SpanExportResult.FAILURE
    assert {store.load(id).tags for id in store.ids()} == {store.load(store.ids()[0]).tags}
    assert {len(store.load(id).steps) for id in store.ids()} == {1}


@pytest.mark.thorough
def test_the_exporter_comes_again_after_the_status_that_we_give_when_it_is_too_much():
    """The conduct that back-pressure by status relies on, of the exporter that Python programs have."""
    came = []

    class Busy(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append((time.monotonic(), self.rfile.read(int(self.headers["content-length"]))))
            status = {1: 429, 2: 503}.get(len(came), 200)
            self.send_response(status)
            if status != 200:
                self.send_header("Retry-After", "1")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Busy)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    with listening:
        sent = exporter(listening.server_address[1], "k", timeout=120).export(spans(1))
        listening.shutdown()
    assert sent is SpanExportResult.SUCCESS
    assert len({body for _, body in came}) == 1
    assert all(later - earlier >= 0.9 for (earlier, _), (later, _) in itertools.pairwise(came))
    assert len(came) == 3
