"""What scripts needed help with, over all recordings, and what was learned as a patch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Response

from reenact.errors import UsageError
from reenact.model.filter import Filter
from reenact.server.access import Access, Reader
from reenact.server.routes.asked import MISSING, REFUSED, FilterText, answer
from reenact.server.shapes import HealRuns, Heals, Patch
from reenact.store.index import Index

router = APIRouter(tags=["heals"])

Script = Annotated[str, Query(max_length=4000, description="A script's file, as the heals have it.")]


@router.get("/heals", response_model=Heals, responses=REFUSED)
def heals(access: Reader, filter: FilterText = "") -> Response:
    """The steps of scripts that needed help, over all runs, the last one first."""
    index, healed = Index(access.library.store), _healed()
    try:
        found = healed.heals(index, Filter(filter))
        return answer({"items": [healed.story(one) for one in healed.stories(index, found)]})
    finally:
        index.close()


@router.get("/heals/runs", response_model=HealRuns, responses=REFUSED)
def runs(access: Reader, filter: FilterText = "", script: Script = "") -> Response:
    """Each heal by itself, the newest first."""
    found = reversed(_of(access, script, filter))
    return answer({"items": [_healed().recorded(one) for one in found]})


@router.get("/heals/patch", response_model=Patch, responses=MISSING)
def patch(access: Reader, script: Script) -> Response:
    """What was learned about one script, as a unified diff to review. Only scripts that heals are of are read."""
    own = _of(access, script)
    if not own:
        raise HTTPException(404, "no heal is of that script")
    try:
        text = _healed().suggested([one.heal for one in own])
    except UsageError as error:
        raise HTTPException(400, str(error)) from None
    return answer({"file": script, "patch": text, "readable": Path(script).is_file()})


def _healed() -> Any:
    """Where the browser's part is not installed, there are no heals to be read."""
    try:
        return importlib.import_module("reenact.prose.healed")
    except ModuleNotFoundError as error:
        raise HTTPException(400, f"heals need more ({error.name}): pip install 'reenact[browser]'") from None


def _of(access: Access, script: str, filter: str = "") -> list[Any]:
    index = Index(access.library.store)
    try:
        found = _healed().heals(index, Filter(filter))
    finally:
        index.close()
    return [one for one in found if not script or one.heal.file == script]
