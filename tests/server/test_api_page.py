"""docs/api.md names every route that reads."""

from __future__ import annotations

import re
from pathlib import Path

from reenact.server.routes import (
    anomalies,
    blobs,
    conversation,
    derived,
    events,
    healed_steps,
    live,
    recording_files,
    recordings,
    steps,
)

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
MODULES = (
    anomalies, blobs, conversation, derived, events, healed_steps, live, recording_files, recordings, steps,
)  # fmt: skip


def test_every_route_that_reads_is_documented_with_its_parameters():
    told = set(re.findall(r"`(GET|POST|PUT|DELETE) (/[^`? ]*)", PAGE))
    for module in MODULES:
        for route in module.router.routes:
            for method in route.methods:
                assert (method, route.path) in told, (method, route.path)
            for parameter in route.dependant.query_params:
                assert re.search(rf"\b{parameter.alias}\b", PAGE), (route.path, parameter.alias)
