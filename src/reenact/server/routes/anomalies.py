"""The route of a recording's anomalies, found by named rules."""

from __future__ import annotations

from fastapi import APIRouter, Response

from reenact.server.access import Reader
from reenact.server.routes.common import MISSING, Id, answer
from reenact.server.shapes.recording import Findings

router = APIRouter(tags=["anomalies"])


@router.get("/recordings/{id}/anomalies", response_model=Findings, responses=MISSING)
def anomalies(access: Reader, id: Id) -> Response:
    """The findings of the rules that are on, the most suspect step first."""
    return answer(access.library.findings(id))
