"""Routes of patches, which are made from the heals in all recordings."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, Field

from reenact.analysis.views.healed_steps import AppliedView, PatchView
from reenact.errors import UsageError
from reenact.server.access import Access, Reader, Writer
from reenact.server.refusals import refusals
from reenact.server.routes.common import MISSING
from reenact.verbs import heals
from reenact.verbs.interface import Context, optional

router = APIRouter(tags=["heals"])

Script = Annotated[str, Query(max_length=4000, description="A script's file, as the heals have it.")]


@router.get("/heals/patch", responses=MISSING)
def patch(request: Request, access: Reader, script: Script) -> PatchView:
    """Return the heals of a script as a unified diff. Scripts without heals are not read.

    A server that may not run programs reads a script only if it is exactly the one that was run: otherwise a client
    could upload a recording that names any file.
    """
    own, running = _own(access, script), request.app.state.settings.running
    made = _made(script, own, running=running)
    if made is None:
        text = "" if Path(script).is_file() else _healed().suggested([one.heal for one in own])
        return PatchView(file=script, patch=text, readable=False, mark="", refusal=None)
    return PatchView(
        file=script,
        patch=made.text(),
        readable=True,
        mark=_mark(made),
        refusal=_refusal(made, running=running),
    )


class Applying(BaseModel):
    """The patch to apply, named by the mark of the one that was reviewed."""

    script: str = Field(max_length=4000)
    mark: str = Field(
        max_length=100, description="The value that `GET /heals/patch` returned with the patch."
    )


@router.post("/heals/patch", responses=refusals(400, 401, 403, 404, 409))
def apply(request: Request, access: Writer, asked: Applying) -> AppliedView:
    """Apply the reviewed patch to a script on the server's disk.

    It must be exactly the script that was run, without uncommitted changes in git. If git does not track it, its old
    text is kept beside it.
    """
    running = request.app.state.settings.running
    if not running:
        raise HTTPException(403, _NOT_HERE)
    made = _made(asked.script, _own(access, asked.script), running=running)
    if made is None:
        raise HTTPException(404, f"{asked.script} is not on the server's machine")
    if _mark(made) != asked.mark:
        raise HTTPException(
            409, "the script or its heals have changed since that patch was shown: load it again"
        )
    if (refusal := _refusal(made, running=running)) is not None:
        raise HTTPException(409, refusal)
    try:
        said = _healed().write(made)
    except (UsageError, OSError) as error:
        raise HTTPException(409, str(error)) from None
    return AppliedView(file=asked.script, changed=len(made.changed), kept=said)


_NOT_HERE = "this server changes no files: apply the patch where the script is, or start it with --running"


def _own(access: Access, script: str) -> list[Any]:
    """Return the heals of one script. Raises HTTPException if there are none."""
    own = [*heals.run(heals.Options(file=script, runs=True), Context(access.library.store.root)).heals]
    if not own:
        raise HTTPException(404, "no heals of that script")
    return own


def _made(script: str, own: list[Any], *, running: bool) -> Any:
    """Return the patch of a script on this machine; None if it is not here, or may not be read."""
    healed, file = _healed(), Path(script)
    try:
        data = file.read_bytes() if file.is_file() else None
    except OSError:
        data = None
    if data is None or not (running or healed.digest(script, data) in {one.heal.source for one in own}):
        return None
    try:
        trials = _trials(own) if running else healed.untried([one.heal for one in own])
        return healed.patched(file, data, [one.heal for one in own], [one.recording for one in own], trials)
    except UsageError as error:
        raise HTTPException(400, str(error)) from None


def _trials(own: list[Any]) -> list[Any]:
    """Try a patch on the recorded pages, in a browser on this machine, once for the same heals."""
    key = tuple((one.recording, one.step) for one in own)
    with _TRYING:
        if key not in _tried:
            if len(_tried) >= _KEPT:
                _tried.clear()
            _tried[key] = _healed().trials((one.folder, one.heal) for one in own)
        return _tried[key]


_tried: dict[tuple[Any, ...], list[Any]] = {}
_TRYING = threading.Lock()
_KEPT = 100
"""Most trials that are remembered."""


def _mark(made: Any) -> str:
    """Return a digest of a patch and of the text that it changes.

    It changes with the patch, and with the script.
    """
    return hashlib.sha256(made.text().encode("utf-8", "surrogateescape") + b"\0" + made.old).hexdigest()


def _refusal(made: Any, *, running: bool) -> str | None:
    """Return the reason to refuse a patch here, or None."""
    if not running:
        return _NOT_HERE
    now = _healed().digest(str(made.file), made.old)
    if any(heal.source != now for heal in made.changed):
        return "the script has changed since it was run: run it again, or apply the patch by hand"
    return None


def _healed() -> Any:
    return optional("reenact.browser.heal.heal_view", "browser", "a patch of a script")
