"""Routes of saved views: filters and orders of the list, for all users of a project."""

from __future__ import annotations

import pathlib
from contextlib import suppress
from typing import Annotated

import orjson
from fastapi import APIRouter, HTTPException, Path
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from reenact.core import private
from reenact.core.store.lock import locked
from reenact.server.access import Reader, Writer
from reenact.server.refusals import refusals
from reenact.server.routes.uploads import no_room

router = APIRouter(prefix="/views", tags=["recordings"])

MOST = 50
"""Most views of a project."""

_FILE = "views.json"
_LONGEST = 60
_PATTERN = r"^[^/.][^/]*$"
"""The pattern of a name, which is a part of an address: no slash, and no dot at its start."""


class SavedView(BaseModel):
    """A filter and an order of the list of recordings, under a name."""

    name: str = Field(max_length=_LONGEST, pattern=_PATTERN, description="Its name, once in a project.")
    filter: str = Field(max_length=4000, description="In the language of filters; empty for all.")
    sort: str = Field(pattern=r"^(-?[a-z]{1,20})?$", description="As of the list; empty for its own.")


class SavedViewList(BaseModel):
    """The saved views of a project."""

    items: list[SavedView]


_LIST = TypeAdapter(list[SavedView])


@router.get("")
def listed(access: Reader) -> SavedViewList:
    """Return the saved views of the project, in the order of saving."""
    return SavedViewList(items=_read(access.library.store.root))


@router.put("", responses=refusals(409))
def save(access: Writer, view: SavedView) -> SavedViewList:
    """Save a view, or replace one of the same name."""
    root = access.library.store.root
    with locked(root / f"{_FILE}.lock"):
        items = [*(each for each in _read(root) if each.name != view.name), view]
        if len(items) > MOST:
            raise HTTPException(409, f"the project has {MOST} saved views already: remove one")
        return _write(root, items)


@router.delete("/{name}")
def forget(
    access: Writer, name: Annotated[str, Path(max_length=_LONGEST, pattern=_PATTERN)]
) -> SavedViewList:
    """Remove a view, if it exists."""
    root = access.library.store.root
    with locked(root / f"{_FILE}.lock"):
        return _write(root, [each for each in _read(root) if each.name != name])


def _read(root: pathlib.Path) -> list[SavedView]:
    """Return the views in the project's folder; none if the file is damaged."""
    with suppress(OSError, ValidationError):
        return _LIST.validate_json((root / _FILE).read_bytes())[:MOST]
    return []


def _write(root: pathlib.Path, items: list[SavedView]) -> SavedViewList:
    try:
        private.folder(root)
        private.write(root / _FILE, orjson.dumps([each.model_dump() for each in items]))
    except OSError as error:
        raise no_room(f"the view cannot be kept here: {error.strerror}") from None
    return SavedViewList(items=items)
