"""A recording's steps: a page of them on their lines, and one whole."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Response

from reenact.analysis.views import changes
from reenact.analysis.views import recording as shape
from reenact.server.access import Access, Reader
from reenact.server.cache import Loaded
from reenact.server.routes.common import MISSING, FilterText, Id, Offset, answer
from reenact.server.routes.events import lines_of
from reenact.server.shapes.recording import Found
from reenact.server.shapes.steps import Messages, Rows, StepShape

router = APIRouter(tags=["steps"])

Number = Annotated[int, Path(ge=1, le=1 << 31, description="The step's number, from 1.")]

_BLOB = re.compile(rb'"sha256:([0-9a-f]{64})"')


@router.get("/recordings/{id}/steps", response_model=Rows, responses=MISSING)
def steps(
    access: Reader,
    id: Id,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    filter: FilterText = "",
) -> Response:
    """Steps on their lines, in the order in which they were asked."""
    with access.library.opened(id) as loaded:
        meant = loaded.facts.where(filter) if filter.strip() else range(1, len(loaded.facts.steps) + 1)
        rules = access.library.rules(id)
        items = [with_rules(loaded, number, rules) for number in meant[offset : offset + limit]]
        return answer({"items": items, "total": len(meant)})


@router.get("/recordings/{id}/search", response_model=Found, responses=MISSING)
def search(
    access: Reader,
    id: Id,
    q: Annotated[str, Query(max_length=4000, description="A filter; a text is in quotes.")],
) -> Response:
    """The numbers of the steps that a filter means."""
    with access.library.opened(id) as loaded:
        return answer({"steps": list(loaded.facts.where(q))})


@router.get(
    "/recordings/{id}/steps/{number}",
    response_model=StepShape,
    response_model_exclude_unset=True,
    responses=MISSING,
)
def step(access: Reader, id: Id, number: Number) -> Response:
    """One step with all that is kept of it."""
    with access.library.opened(id) as loaded:
        _there(loaded, number)
        return answer(_whole(access, id, loaded, number))


@router.get("/recordings/{id}/steps/{number}/messages", response_model=Messages, responses=MISSING)
def messages(access: Reader, id: Id, number: Number) -> Response:
    """All that a model saw in a step: the whole of its prompt."""
    with access.library.opened(id) as loaded:
        _there(loaded, number)
        turn = loaded.facts.turn(number)
        if turn is None:
            raise HTTPException(404, f"step {number} is not a model call")
        seen = [shape.message(message) for message in turn.call.messages]
        return answer({"items": seen, "new": len(seen) - len(turn.new)})


def with_rules(loaded: Loaded, number: int, rules: dict[int, list[str]] | None) -> dict[str, Any]:
    """Return a step's row, with the anomaly rules that matched it; null where not examined."""
    return {**loaded.row(number), "anomalies": rules.get(number, []) if rules is not None else None}


def _there(loaded: Loaded, number: int) -> None:
    if number > (last := len(loaded.facts.steps)):
        raise HTTPException(
            404, f"there is no step {number}: they go from 1 to {last}" if last else "it has no steps"
        )


def _whole(access: Access, id: str, loaded: Loaded, number: int) -> dict[str, Any]:
    facts = loaded.facts.steps[number - 1]
    rules = access.library.rules(id)
    found = shape.step(facts)
    told = changes.state(loaded.recording, number)
    lines = lines_of(loaded, facts)
    return {
        **with_rules(loaded, number, rules),
        "address": facts.call.address,
        "args": found["args"],
        "output": found["output"],
        "model": found.get("model"),
        "changed": changes.prompt(loaded.facts, facts),
        "nested": [with_rules(loaded, inner, rules) for inner in loaded.nested(number)],
        "state": told[0],
        "state_changes": told[1],
        "events": [line.decode("utf-8", "replace") for line in lines],
        "blobs": sorted({match.decode() for line in lines for match in _BLOB.findall(line)}),
    }
