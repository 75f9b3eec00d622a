"""The route of a recording's anomalies, found by named rules."""

from __future__ import annotations

from fastapi import APIRouter

from reenact.analysis.views.findings import FindingsView
from reenact.server.access import Reader
from reenact.server.routes.common import MISSING, Id

router = APIRouter(tags=["anomalies"])


@router.get("/recordings/{id}/anomalies", responses=MISSING)
def anomalies(access: Reader, id: Id) -> FindingsView:
    """Return the findings of the enabled rules, the most suspect step first."""
    return access.library.findings(id)
