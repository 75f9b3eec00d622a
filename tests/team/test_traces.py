"""Traces that come to a server of a team: their recordings go to the team's store."""

from __future__ import annotations

import time

import pytest
from fastapi.testclient import TestClient

from reenact.core.store.local import LocalStore
from reenact.errors import RecordingNotFound
from reenact.server.app import application
from reenact.server.keys import Keys
from reenact.server.settings import Settings


def spans(*numbers):
    """A run's trace as JSON: its agent, and so many model calls."""
    some = [{"traceId": "a" * 32, "spanId": f"{number + 1:016x}", "name": "chat m", "parentSpanId": "" if not number else f"{1:016x}",
             "startTimeUnixNano": str(10**18 + number), "endTimeUnixNano": str(10**18 + number + 5),
             "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat" if number else "invoke_agent"}}]}
            for number in numbers]  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": some}]}]}


def until(ask, wanted):
    last = time.monotonic() + 60
    while (found := ask()) != wanted:
        assert time.monotonic() < last, found
        time.sleep(0.1)


@pytest.mark.thorough
def test_what_comes_of_a_trace_goes_to_the_store_and_anew_when_the_trace_goes_on(place, team, tmp_path):
    app = application(Settings(home=tmp_path / "one", hosts=("testserver",), team=place))
    key = Keys(tmp_path / "one").make(role="write")[1]
    with TestClient(app, headers={"Authorization": f"Bearer {key}"}) as one:
        told(one, team, tmp_path)


def told(one, team, tmp_path):
    def steps():
        try:
            return [len(team.load(id).steps) for id in team.ids()]
        except RecordingNotFound:
            # Between the one that is gone and the one that takes its place.
            return None

    assert one.post("/v1/traces", json=spans(0, 1)).status_code == 200
    until(steps, [1])
    assert one.post("/v1/traces", json=spans(2, 3)).json() == {}
    until(steps, [3])
    here = LocalStore(tmp_path / "one")
    (id,) = team.ids()
    assert (team.find(id) / "events.jsonl").read_bytes() == (here.folder(id) / "events.jsonl").read_bytes()
    until(lambda: list((tmp_path / "one" / "made").iterdir()), [])
