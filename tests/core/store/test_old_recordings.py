"""Recordings of every format number, made by the version that wrote it, are read for good. Paths of the machine that
made them have been shortened; nothing else was touched.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import reenact
from reenact.core.model.event import FORMAT

RECORDINGS = Path(__file__).parents[2] / "recordings"


@pytest.mark.parametrize(
    "path", sorted(RECORDINGS.glob("v*/*")), ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_an_old_recording_is_read_whole(path):
    recording = reenact.load(path)
    assert recording.status == "ok"
    assert recording.steps
    assert recording.torn == ()
    for step in recording:
        assert step.args
        assert step.call.status == "ok"
        assert step.error is None


def test_there_is_a_real_recording_of_every_format():
    assert {path.name for path in RECORDINGS.iterdir()} >= {f"v{number}" for number in range(1, FORMAT + 1)}


def test_the_model_and_the_tools_of_an_old_recording_are_there():
    steps = list(reenact.load(RECORDINGS / "v1" / "order-agent"))
    assert {step.call.kind for step in steps} == {"model", "tool"}
    assert any(step.call.label == "tool:cancel_order" for step in steps)
