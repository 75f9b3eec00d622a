"""Traces that are sent to a server count for the quotas of their project."""

from __future__ import annotations

import json

import pytest

from reenact.core.store.quotas import IntakeLimits
from reenact.server.request_memory import MOST
from tests.server.asking import Asking


def trace(number):
    """A trace of one model call."""
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "about": "word " * 500}
    span = {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat",
        "attributes": [{"key": name, "value": {"stringValue": text}} for name, text in attributes.items()],
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


def sent(asked, number):
    answer = asked.client.post(
        "/v1/traces", content=trace(number), headers={"content-type": "application/json"}
    )
    return answer.status_code, answer.json().get("message")


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (IntakeLimits(recordings=2), "the project has 2 recordings at most"),
        (IntakeLimits(project=5000), "the project has 5000 bytes at most"),
        (IntakeLimits(free=1 << 62), "the server's disk is full"),
    ],
)
def test_spans_for_a_full_project_are_to_be_sent_again(tmp_path, limits, why):
    with Asking(tmp_path / "home", limits=limits) as asked:
        answers = [sent(asked, number) for number in range(1, 10)]
    assert answers[-1][0] == 503
    assert why in answers[-1][1]


def test_recordings_of_traces_count_as_soon_as_they_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr("reenact.server.traces.traces.QUIET", 0.0)
    with Asking(tmp_path / "home", limits=IntakeLimits(recordings=2)) as asked:
        assert [sent(asked, number)[0] for number in (1, 2, 3)] == [200, 200, 503]
        asked.listed(2)
        assert sent(asked, 3)[0] == 503
        # An existing recording may grow.
        assert sent(asked, 2)[0] == 200


def test_a_project_that_sends_much_at_once_does_not_block_another_one(tmp_path):
    with Asking(tmp_path / "home") as asked:
        collecting = asked.app.state.collecting
        collecting.gate("greedy").hold(MOST)
        assert sent(asked, 1)[0] == 200
        collecting.gate("default").hold(MOST)
        assert sent(asked, 2) == (429, "too many requests at once; send this one again later")
