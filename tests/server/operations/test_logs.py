"""The log: one line each, whatever stands in it."""

from __future__ import annotations

import io
import json
import logging

import pytest

from reenact.server.operations import logs


@pytest.fixture
def log():
    """Begins logs: `log("json")` gives what is written."""
    ends = []

    def begin(form):
        stream = io.StringIO()
        ends.append(logs.begin(form, stream))
        return stream

    yield begin
    for end in ends:
        end()


def test_an_event_is_an_object_on_a_line_of_its_own(log):
    written = log("json")
    assert logs.event("request", route="/r/{id}", status=200, project=None)
    logs.event("store_away", logging.WARNING, error="a\nb")
    first, second = map(json.loads, written.getvalue().splitlines())
    assert first.pop("time").endswith("+00:00")
    assert first == {"level": "info", "event": "request", "route": "/r/{id}", "status": 200, "project": None}
    assert (second["level"], second["event"], second["error"]) == ("warning", "store_away", "a\nb")


def test_a_library_s_error_is_one_line_without_its_traceback(log):
    written = log("json")
    try:
        raise ValueError("what was\nrecorded")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
    logging.getLogger("uvicorn.error").info("Started server process")
    (line,) = written.getvalue().splitlines()
    told = json.loads(line)
    assert (told["event"], told["logger"], told["error"]) == ("library", "uvicorn.error", "ValueError")
    assert "recorded" not in line


def test_text_is_for_people_and_is_one_line_too(log):
    written = log("text")
    logs.event("request", route="/api/v1/me", status=200, ms=1.5, project=None, odd="a\n b")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request\nreceived")
    lines = written.getvalue().splitlines()
    assert lines[0].endswith("info request route=/api/v1/me status=200 ms=1.5 odd='a\\n b'")
    assert lines[1].endswith("warning Invalid HTTP request received")


def test_without_a_log_nobody_is_told():
    assert not logs.event("request", status=200)
