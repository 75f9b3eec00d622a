"""What filters ask of one recording that is loaded."""

from __future__ import annotations

import pytest

import reenact
from reenact.analysis.interchange.importers import Happened, ImportedRun, keep
from reenact.core.query.facts import RecordingFacts, steps_where
from reenact.core.query.filter import Filter
from reenact.core.store.local import LocalStore
from reenact.errors import FilterError


@pytest.fixture
def recording(tmp_path):
    effects = [
        Happened(
            "tool",
            "cancel_order",
            {"order_id": f"ORD-{number}"},
            {"n": [number]},
            "late" if number == 2 else None,
        )
        for number in range(4)
    ]
    store = LocalStore(tmp_path)
    return store.load(keep(store, ImportedRun("orders", effects, ("staging",))))


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", (1, 2, 3, 4)),
        ("tool:cancel_order and args.order_id == ORD-1", (2,)),
        ("error", (3,)),
        ("not error", (1, 2, 4)),
        ("step > 2 and not error", (4,)),
        ("tag:staging", (1, 2, 3, 4)),
        ("tag:prod or output.n[0] == 3", (4,)),
        ("tag:prod", ()),
        ("model", ()),
    ],
)
def test_each_step_is_taken_by_itself(recording, text, steps):
    assert steps_where(recording, text) == steps
    assert RecordingFacts(recording).where(Filter(text)) == steps


def test_a_filter_that_does_not_parse_points_at_its_column(recording):
    with pytest.raises(FilterError, match="column 9"):
        steps_where(recording, "tokens >")
    assert issubclass(FilterError, reenact.ReenactError)
