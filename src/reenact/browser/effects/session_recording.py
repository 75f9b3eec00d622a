"""Make a session's calls effects of its recording, from any caller and context.

A session that starts outside of a recording opens one of its own. Every call is then made in the scope of that
recording, also from a context without it (another cell of a notebook, another task).
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import Context, copy_context
from pathlib import Path
from typing import Literal

from reenact.browser.actions.types import MASK
from reenact.browser.camera.footage import Footage, sessions
from reenact.core import boundary
from reenact.core.boundary import Handler, RecordingTurnstile, Run, Scope, Sidecar
from reenact.core.store.local import LocalStore, new_id
from reenact.errors import RecordingError, RecordingNotFound
from reenact.run.api.recording import RecordingInProgress, record

Keep = Literal["always", "failure", "never"]


class SessionRecording:
    """The recording of a session's effects, and the rules for keeping it.

    Args:
        name: The name of the session's own recording.
        keep: When that recording is kept.
        home: The folder of recordings.
        elsewhere: True if a server has the session, and records it.

    Attributes:
        id: The session's id: that of its own recording, or the recording's and a number.
        own: The recording that the session opened for itself, or None.
    """

    def __init__(
        self, name: str, keep: Keep, home: str | os.PathLike[str] | None = None, *, elsewhere: bool = False
    ) -> None:
        self._name = name
        self._elsewhere = elsewhere
        self._home = home
        self._keep = keep
        self._context: Context | None = None
        self._scope: Scope | None = None
        self._entered: AbstractContextManager[None, None] | None = None
        self._number = 1
        self.own: RecordingInProgress | None = None
        self.id = ""

    def begin(self) -> None:
        """Join the current recording, or open one."""
        scope = boundary.current()
        if self._elsewhere:
            # A server records the session; here it is part of an existing recording, if any.
            self._scope = scope
            return
        if scope is None or _replays_block(scope, self._name):
            self.own = record(self._name, home=self._home)
            self._context = copy_context()
            self._context.run(self.own.__enter__)
            scope = self._context.run(boundary.current)
            if scope is not None:
                self._entered = boundary.entered(scope)
                self._entered.__enter__()
        self._scope = scope
        if scope is not None and not scope.hidden:
            self._number = scope.run.root.count("+session") + 1
        self.id = boundary.draw("browser:session", self._known_as)

    def end(self, error: BaseException | None, *, failed: bool) -> None:
        """End the session; `failed` decides if its own recording is kept under `keep="failure"`."""
        if self._entered is not None:
            entered, self._entered = self._entered, None
            with suppress(ValueError):  # the session began in another context
                entered.__exit__(None, None, None)
        if self.own is None or self._context is None:
            return
        own, context, self._context = self.own, self._context, None
        try:
            context.run(own.__exit__, type(error) if error is not None else None, error, None)
        finally:
            if self._keep == "never" or (self._keep == "failure" and not failed and error is None):
                self._drop(own)

    def inside(self) -> AbstractContextManager[None, None]:
        """Run the body in the session's recording."""
        scope = boundary.current()
        mine = self._scope
        if mine is None or (scope is not None and scope.run is mine.run):
            return nullcontext()
        return boundary.entered(mine)

    @property
    def scope(self) -> Scope | None:
        """The scope of the running code, if it is recorded or replayed."""
        scope = boundary.current() or self._scope
        return None if scope is None or scope.hidden else scope

    @property
    def folder(self) -> Path | None:
        """The folder of the recording that this session is in."""
        if self.own is not None:
            return Path(self.own.path)
        if self._scope is None or self._scope.hidden:
            return None
        family = self._scope.run.family
        return None if family is None else family.folder

    def secret(self, value: str, *, typed: bool = False) -> str:
        """Return the token that replaces a secret in the recording; hide the value from now on.

        A `typed` value was written into a secret field.
        """
        scope = self.scope
        return MASK if scope is None else scope.run.handler.secret(value, typed=typed)

    def sidecar(self) -> Sidecar | None:
        """Create a new file for the footage; None where nothing is recorded."""
        scope = self.scope
        if scope is None:
            return None
        for number in range(self._number, self._number + 1000):
            # Another process of the same recording may have sessions too.
            with suppress(FileExistsError):
                return scope.run.handler.sidecar(f"session.{number}.jsonl")
        return None

    def footage(self, id: str) -> Footage:
        """Return the footage of a session. Raises RecordingError."""
        folder = self.folder
        if folder is None or not folder.exists():
            if not id:
                raise RecordingError("the session was not started: there is nothing to see of it")
            folder = self._found(id)
        for one in sessions(folder):
            if one.id == id:
                return one
        raise RecordingError(f"{folder}: nothing was filmed of session {id}")

    def _found(self, id: str) -> Path:
        """Return the folder of a past session, by its recording's id or by `<recording>.<number>`."""
        store = LocalStore(self._home)
        try:
            return store.find(id)
        except RecordingNotFound:
            if "." not in id:
                raise
            return store.find(id.rpartition(".")[0])

    def _known_as(self) -> str:
        if self.own is not None:
            return self.own.id
        folder = self.folder
        return new_id() if folder is None else f"{folder.name}.{self._number}"

    def _drop(self, own: RecordingInProgress) -> None:
        if not own.is_new:
            return  # a replay's recording must stay
        with suppress(RecordingError, OSError):
            LocalStore(self._home).remove(own.path)


def unrecorded() -> AbstractContextManager[None, None]:
    """Run the body without a recording: a session that begins in it opens none."""
    run = Run(Handler(), RecordingTurnstile(), replaying=False)
    return boundary.entered(Scope(run.root.path, run, hidden=True))


def _replays_block(scope: Scope, name: str) -> bool:
    """Return True if the replayed recording is one that a session opened for itself."""
    family = scope.run.family
    return family is not None and family.replays(name)
