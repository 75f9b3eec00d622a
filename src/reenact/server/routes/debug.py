"""Routes of the debugger: open, watch and control a session.

The commands are those of the terminal's line mode.
"""

# ruff: noqa: FAST003 - the recording's id in the path is for the session that each route depends on

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from reenact.core.store import local
from reenact.errors import TooLarge, UsageError
from reenact.run.debugger.commands import COMMANDS
from reenact.run.driver.opening import Opening
from reenact.run.launch import Options
from reenact.server.access import Access, Writer
from reenact.server.debug_state import Standing, Tracked
from reenact.server.debugging import DebugSession, Desk
from reenact.server.permission import allowed
from reenact.server.readers import size_of
from reenact.server.refusals import refusals
from reenact.server.routes.common import Id

router = APIRouter(prefix="/debug", tags=["debugger"])

REFUSED = refusals(400, 401, 403, 404)

LARGEST = 32 << 20
"""Bytes of lines above which a recording cannot be debugged in the server's process."""

_LONGEST = 900_000


class Word(BaseModel):
    """A command of the debugger."""

    name: str
    short: list[str]
    argument: str
    help: str


class Debugged(BaseModel):
    """The recording that is debugged, or null."""

    recording: str | None


class Begin(BaseModel):
    """The options of a debugging session, as of `reenact debug`."""

    command: list[str] = []
    breakpoints: list[str] = []
    live: list[str] = []
    ignore: list[str] = []
    read: bool = False


class DebugCommand(BaseModel):
    """A debugger command and its arguments: `break` and `tool:cancel_order`.

    `here` is the selected step; commands that edit an answer use it if the arguments name no step.
    """

    order: str = Field(min_length=1, max_length=40)
    arguments: str = Field("", max_length=_LONGEST)
    here: int = Field(0, ge=0, le=10_000_000)


class AnswerDraft(BaseModel):
    """A step's answer to edit, as `json` or plain text. `kept` names parts not in the text."""

    step: int
    text: str
    json_text: bool
    kept: str
    edited: bool


class NewAnswer(BaseModel):
    """The text of an answer."""

    text: str = Field(max_length=_LONGEST)


class Checked(BaseModel):
    """The reason that a text is not a valid answer, with the place; null if it is valid."""

    problem: str | None


class Forking(BaseModel):
    """The command that continues live from a step; `whole`: it contains the edited answer."""

    command: str
    words: list[str]
    whole: bool


class ProgramOutput(BaseModel):
    """The output of the program."""

    text: str
    written: int


def desk_of(request: Request, access: Writer) -> Desk:
    """Return the holder of the project's debugging session."""
    desk: Desk = request.app.state.desks.of(access.project)
    return desk


def _session(access: Writer, id: Id, desk: Annotated[Desk, Depends(desk_of)]) -> DebugSession:
    # The open session may belong to another project, so check that this one has the recording.
    access.library.folder(id)
    found = desk.session(id)
    if found is None:
        raise HTTPException(404, f"no debugger is open for {id}: POST /debug/{id} opens one")
    return found


Open = Annotated[DebugSession, Depends(_session)]


@router.get("", responses=refusals(401, 403))
def opened(access: Writer, desk: Annotated[Desk, Depends(desk_of)]) -> Debugged:
    """Return the recording that is debugged now."""
    return Debugged(recording=desk.recording)


@router.get("/commands", responses=refusals(401, 403))
def commands(access: Writer) -> list[Word]:
    """Return the debugger's commands."""
    return [
        Word(name=each.name, short=list(each.short), argument=each.argument, help=each.help)
        for each in COMMANDS
    ]


@router.post("/{id}", responses={**REFUSED, **refusals(409)})
def begin(
    request: Request, access: Writer, id: Id, how: Begin, desk: Annotated[Desk, Depends(desk_of)]
) -> Standing:
    """Debug a recording: run its program to the first question. An open session is ended."""
    if not request.app.state.settings.running:
        raise HTTPException(
            403, "this server does not start programs: use `reenact console` on your own machine"
        )
    run_foreign = request.app.state.settings.run_foreign
    return desk.open(_opening(access, id, how, run_foreign=run_foreign)).state()


def _opening(access: Access, id: str, how: Begin, *, run_foreign: bool) -> Opening:
    folder = access.library.folder(id)
    if size_of(folder) > LARGEST:
        raise TooLarge(
            f"recording {id} has more than {LARGEST >> 20} MB, and a debugger here would hold up the server: "
            f"`reenact debug {id}` in a terminal has no such limit"
        )
    recording = local.load(folder)
    if not recording.steps:
        raise UsageError(f"recording {id} has no steps: there is nothing to debug")
    options = Options(tuple(how.live), tuple(how.ignore))
    options.tree()
    home = access.library.store.root
    words = tuple(how.command)
    if not (run_foreign or how.read or words):
        allowed(recording, home)
    return Opening(recording, words, options, home, tuple(how.breakpoints), how.read, run_foreign)


@router.get("/{id}", responses=REFUSED)
def stands(session: Open) -> Standing:
    """Return the state of the program."""
    return session.state()


@router.delete("/{id}", status_code=204, responses=REFUSED)
def end(session: Open, desk: Annotated[Desk, Depends(desk_of)]) -> None:
    """End the program, and the session."""
    desk.close()


@router.post("/{id}/orders", responses=REFUSED)
def order(session: Open, given: DebugCommand) -> Standing:
    """Execute a debugger command; return the program's state. `running` continues: see /live."""
    return session.order(f"{given.order} {given.arguments}".strip(), given.here)


@router.get("/{id}/live", responses={**REFUSED, 200: {"content": {"text/event-stream": {}}}})
async def live(session: Open) -> EventSourceResponse:
    """Stream `state` (a Standing) now, and after every change."""
    return EventSourceResponse(_states(session), headers={"Cache-Control": "no-store"})


async def _states(session: DebugSession) -> AsyncIterator[ServerSentEvent]:
    async for state in session.changes():
        yield ServerSentEvent(state.model_dump_json(), event="state")
    yield ServerSentEvent("{}", event="over")


@router.get("/{id}/output", responses=REFUSED)
def output(session: Open) -> ProgramOutput:
    """Return the program's output up to now."""
    return ProgramOutput(text=session.output(), written=session.state().written)


@router.get("/{id}/steps/{step}/state", responses=REFUSED)
def tracked(session: Open, step: int) -> list[Tracked]:
    """Return the tracked state at a step: the program's current one, or the recorded one."""
    return session.tracked(step)


@router.get("/{id}/steps/{step}/answer", responses=REFUSED)
def draft(session: Open, step: int) -> AnswerDraft:
    """Return a step's answer as text to edit."""
    found, edited = session.draft(step)
    return AnswerDraft(
        step=step, text=found.text, json_text=found.suffix == ".json", kept=found.kept, edited=edited
    )


@router.post("/{id}/steps/{step}/answer", responses=REFUSED)
def amend(session: Open, step: int, given: NewAnswer) -> Standing:
    """Give a step another answer. A program that was past it goes back there."""
    return session.answer(step, given.text)


@router.post("/{id}/steps/{step}/answer/check", responses=REFUSED)
def check(session: Open, step: int, given: NewAnswer) -> Checked:
    """Check a text as an answer while it is typed."""
    try:
        session.meant(step, given.text)
    except UsageError as error:
        return Checked(problem=str(error))
    return Checked(problem=None)


@router.get("/{id}/fork", responses=REFUSED)
def forking(session: Open, step: Annotated[int, Query(ge=1)]) -> Forking:
    """Return the command that continues live from a step."""
    words, edit = session.forking(step)
    return Forking(command=shlex.join(words), words=words, whole=edit is None or "--set" in words)
