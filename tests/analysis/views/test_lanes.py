"""Steps on the lanes of a timeline."""

from __future__ import annotations

from reenact.analysis.views.lanes import lanes, named
from reenact.core.query.facts import RecordingFacts
from reenact.core.store.local import load
from tests.hostile.forge import forge_folder


def test_calls_that_never_return_share_the_last_of_so_many_lanes(tmp_path):
    lines = [{"event": "opened", "format": 2, "id": "many", "process": "main"}]
    lines += [
        {
            "event": "called",
            "call": n,
            "in": None,
            "at": "main",
            "kind": "tool",
            "name": "t",
            "n": n - 1,
            "args": {},
            "t": n / 1000,
        }
        for n in range(1, 1001)
    ]
    facts = RecordingFacts(load(forge_folder(tmp_path / "many", lines)))
    found = lanes(facts, [0] * 1000)
    assert len(found.lanes) == 256
    assert len(found.bars) == 1000


def test_scopes_of_one_name_share_a_lane():
    assert named("main/agent:browser/agent:step~7") == named("main/agent:browser/agent:step") == "agent:step"
    assert named("main/task.1") == ""
