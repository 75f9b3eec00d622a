"""The browser sessions of the server, open and ended, each of one project.

A session records itself in its project's home, as in a program, and has its own browser and thread.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reenact.browser.agent import Agent
from reenact.browser.isolation.addresses import PUBLIC, Reach
from reenact.browser.isolation.guest import GuestResources
from reenact.browser.session.session import Session
from reenact.core.store.quotas import bytes_of
from reenact.core.store.writer import warn
from reenact.errors import SessionError
from reenact.server.wire.stored_files import SessionFiles

MOST = 8
"""Most open sessions; each is a browser."""

KEPT = 200
"""Most ended sessions in memory; their recordings stay in any case."""

_PULSE = 0.5
"""Seconds between checks for sessions that have ended by themselves."""

WRITTEN = 2 << 30
"""Most bytes of a session's files: the profile of its browser, downloads and uploads."""

_KEPT_BYTES = 8 << 30
"""Most bytes of the files of ended sessions."""

_LOOK = 2.0
"""Seconds between two checks of the files' sizes."""

_GRACE = 1.5
"""Seconds for agents to finish a step when the server stops."""


class UnknownSessionError(SessionError):
    """There is no such session or agent in this project."""


class BusyError(SessionError):
    """The limit of open sessions is reached."""


@dataclass(eq=False)
class Hosted:
    """A session of the server, open or ended.

    Attributes:
        session: The session itself.
        project: The project whose keys have access to it.
        files: Its uploads and downloads; None for a session of an earlier run.
        created: Its start; `used` is the time of its last request, `closed` its end.
        reason: The reason of its end, in words; `cause` is the same as one word.
        agents: The agents that work or worked in it, by id.
        key: The secret in the address of its browser, for programs; valid for this session only.
        ended: Set once its recording is sealed, some time after `closed`.
    """

    session: Session
    project: str
    files: SessionFiles | None
    created: datetime
    used: datetime
    closed: datetime | None = None
    reason: str = ""
    cause: str | None = None
    agents: dict[str, Agent] = field(default_factory=dict)
    key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    ended: threading.Event = field(default_factory=threading.Event, repr=False)

    def __post_init__(self) -> None:
        """Set `ended` if the session is closed already."""
        if self.closed is not None:
            self.ended.set()

    @property
    def id(self) -> str:
        """The session's id."""
        return self.session.id

    def live(self) -> Session:
        """Return the open session. Raises SessionError if it has ended."""
        if self.closed is not None:
            raise SessionError(f"the session is closed ({self.reason}): start a new one")
        self.used = datetime.now(UTC)
        return self.session


class Hosting:
    """All sessions of the server.

    Args:
        most: Most open sessions.
        reach: The machines whose pages they may open.
    """

    def __init__(self, most: int = MOST, reach: Reach = PUBLIC) -> None:
        self._most = most
        self._reach = reach
        self._all: dict[str, Hosted] = {}
        self._starting = 0
        self._stopping = False
        self._lock = threading.Lock()
        self._pulse: threading.Thread | None = None

    # -- open, find, stop ------------------------------------------------------------------------------------

    def start(self, project: str, home: Path, options: Mapping[str, Any]) -> Hosted:
        """Open a session in a project's home.

        Raises:
            BusyError: The limit of open sessions is reached, or the server is stopping.
            UsageError: An invalid option.
            SessionError: The browser does not start.
        """
        with self._lock:
            if self._stopping:
                raise BusyError("the server is about to stop")
            if sum(one.closed is None for one in self._all.values()) + self._starting >= self._most:
                raise BusyError(
                    f"{self._most} sessions are open, as many as this server allows: stop one first"
                )
            self._starting += 1
        try:
            return self._started(project, home, options)
        finally:
            with self._lock:
                self._starting -= 1

    def find(self, project: str, id: str) -> Hosted:
        """Return a project's session. Raises UnknownSessionError, also for other projects' ones."""
        with self._lock:
            found = self._all.get(id)
        if found is None or found.project != project:
            raise UnknownSessionError(f"there is no session {id} here")
        return found

    def by_key(self, id: str, key: str) -> Hosted:
        """Return the session with this key. Raises UnknownSessionError."""
        with self._lock:
            found = self._all.get(id)
        # Compare even if there is no such session, so that the time does not reveal it.
        right = secrets.compare_digest(key.encode(), (found.key if found is not None else "").encode())
        if found is None or not right or found.closed is not None:
            raise UnknownSessionError(f"there is no session {id} here")
        return found

    def of(self, project: str) -> list[Hosted]:
        """Return a project's sessions, the newest first."""
        with self._lock:
            return [one for one in reversed(self._all.values()) if one.project == project]

    def agent(self, project: str, id: str) -> tuple[Hosted, Agent]:
        """Return a project's agent and its session. Raises UnknownSessionError."""
        for hosted in self.of(project):
            if id in hosted.agents:
                return hosted, hosted.agents[id]
        raise UnknownSessionError(f"there is no agent {id} here")

    def stop(self, hosted: Hosted, *, reason: str = "it was stopped", cause: str = "manual") -> None:
        """End a session, or wait until another thread has ended it."""
        with self._lock:
            first = hosted.closed is None
            if first:
                hosted.closed, hosted.reason, hosted.cause = datetime.now(UTC), reason, cause
        if not first:
            hosted.ended.wait()
            return
        try:
            for agent in _at_work(hosted):
                agent.halt()
            hosted.session.stop()
        except Exception as error:
            warn(f"session {hosted.id} did not end well: {type(error).__name__}: {error}")
        finally:
            hosted.ended.set()

    def close(self) -> None:
        """Stop all agents, then all sessions; open no more."""
        with self._lock:
            self._stopping = True
            running = [one for one in self._all.values() if not one.ended.is_set()]
        for hosted in running:
            for agent in _at_work(hosted):
                agent.halt()
        deadline = time.monotonic() + _GRACE
        while any(True for one in running for _ in _at_work(one)) and time.monotonic() < deadline:
            time.sleep(0.02)
        threads = [
            threading.Thread(target=self.stop, args=(one,), kwargs={"reason": "the server stopped"})
            for one in running
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for hosted in list(self._all.values()):
            _clear(hosted)

    # -- within ----------------------------------------------------------------------------------------------

    def _started(self, project: str, home: Path, options: Mapping[str, Any]) -> Hosted:
        folder = Path(tempfile.mkdtemp(prefix="reenact-hosted-"))
        files = SessionFiles(folder)
        try:
            guest = GuestResources(folder, self._reach)
            session = Session(guest=guest, home=home, downloads=files.downloads, **options).start()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        now = datetime.now(UTC)
        hosted = Hosted(session, project, files, created=now, used=now)
        with self._lock:
            self._all[session.id] = hosted
            self._forget()
            late = self._stopping
            if self._pulse is None:
                self._pulse = threading.Thread(target=self._watch, name="reenact-sessions", daemon=True)
                self._pulse.start()
        if late:
            self.stop(hosted, reason="the server stopped")
            raise BusyError("the server is about to stop")
        return hosted

    def _forget(self) -> None:
        ended = [id for id, one in self._all.items() if one.closed is not None]
        left = _KEPT_BYTES
        for number, id in enumerate(reversed(ended), 1):
            left -= _size(self._all[id])
            if number > KEPT or left < 0:
                _clear(self._all.pop(id))

    def _watch(self) -> None:
        """Close sessions that fill the disk, and seal those that a time limit has ended."""
        looked = 0.0
        while not self._stopping:
            time.sleep(_PULSE)
            with self._lock:
                running = [one for one in self._all.values() if one.closed is None]
            look = time.monotonic() - looked > _LOOK
            looked = time.monotonic() if look else looked
            for hosted in running:
                with suppress(Exception):
                    if (why := hosted.session.core.driver.ended) is not None:
                        self.stop(hosted, reason=why, cause=_cause(why))
                    elif look and _size(hosted) > WRITTEN:
                        why = f"its pages wrote more than {WRITTEN >> 30} GB to the disk"
                        self.stop(hosted, reason=why, cause="error")


def _size(hosted: Hosted) -> int:
    return bytes_of(hosted.files.folder) if hosted.files is not None else 0


def _clear(hosted: Hosted) -> None:
    if hosted.files is not None:
        shutil.rmtree(hosted.files.folder, ignore_errors=True)


def _at_work(hosted: Hosted) -> Iterator[Agent]:
    for agent in list(hosted.agents.values()):
        if agent.active:
            yield agent


def _cause(why: str) -> str:
    if "was idle" in why:
        return "idle_timeout"
    return "max_duration" if "had run" in why else "error"
