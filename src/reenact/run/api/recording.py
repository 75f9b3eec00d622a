"""`record`: record the effects of a block."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact import adapters
from reenact.adapters import loops, stdlib
from reenact.core import boundary, system
from reenact.core.boundary import Family, RecordingTurnstile, Run, Scope, entered, tracked
from reenact.core.boundary.current import current_scope
from reenact.core.model.event import FORMAT, RULES, Tree
from reenact.core.model.storable import name_of, tags_of
from reenact.core.query.risky import EVERY, risky_filter
from reenact.core.record.given_folders import folders_of
from reenact.core.record.own import own_identity
from reenact.core.record.places import Places
from reenact.core.record.program import describe
from reenact.core.record.recorder import Recorder
from reenact.core.redact import DEFAULT_RULES, Redactor, SecretRules
from reenact.core.store.local import EVENTS, LocalStore, new_id
from reenact.core.store.writer import Writer, warn
from reenact.errors import DivergenceError, ForkStop, ForkStopped, Halt, UsageError
from reenact.run import state_at_end
from reenact.run.api.run_context import RunContext
from reenact.run.plan import Plan
from reenact.run.recorded import RECORDED, RecordedProcesses
from reenact.run.streams import StandardStreams
from reenact.team import ship

if TYPE_CHECKING:
    from reenact.run.api.forking import Fork, Recording
    from reenact.run.api.replaying import Replay

_substitute: Callable[[str, int], Any] | None = None
_blocks_begun: dict[str, int] = {}


def substitute(claimed: Callable[[str, int], Any]) -> None:
    """Replace recorded blocks by replays, under `reenact replay` (or `fork`, `resume`).

    `claimed` returns the replay in place of the block of that name and ordinal, or None for any other block.
    """
    global _substitute
    _substitute = claimed


class RecordingInProgress(RunContext):
    """A recording in progress; made by `record()`.

    Attributes:
        id: The recording's id, known from the start.
        path: The folder that it is written to, as text.
        output: The run's output; set it to keep it (a replay compares it).
        active: The run, once it has begun.
    """

    def __init__(
        self,
        name: str,
        *,
        tags: Iterable[str],
        home: str | os.PathLike[str] | None,
        rules: SecretRules,
        entry: str,
        known_as: str = "",
        risky: str = "",
        every: int | None = None,
        files: bool | Iterable[str | os.PathLike[str]] = True,
    ) -> None:
        self.name = name_of(name)
        self.tags, problems = tags_of(tags)
        for problem in problems:
            warn(f"{problem}: it is left out of the recording")
        self.id = known_as or new_id()
        self.ending: dict[str, Tree] = {}
        self.program: dict[str, Tree] = {}
        self.plan: Plan | None = None
        self.parent: dict[str, Tree] = {}
        self.function: dict[str, Any] = {}
        self._risky, self._every = risky, EVERY if every is None else every
        self._filter = risky_filter(risky)
        if self._every < 1:
            raise UsageError(f"snapshot_every={every}: it is a number of steps, 1 or more")
        self._rules = rules
        self._files = folders_of(files)
        self._entry = entry
        self._ordinal = 0
        self._pid = os.getpid()
        self._replay: Replay | Fork | None = None
        self._block: Family | None = None
        self._store = _store_of(home)
        self.path = str(self._store.folder(self.id))
        self._recorder: Recorder | None = None
        self.active: Run | None = None
        self._family: RecordedProcesses | None = None
        self._held: ship.Held | None = None
        self._streams: StandardStreams | None = None

    def load(self) -> Recording:
        """Read the recording so far."""
        from reenact.run.api.forking import loaded  # noqa: PLC0415 - few programs read what they record

        return loaded(self._store.load(self.path), self._store.root)

    @property
    def is_new(self) -> bool:
        """True if it records a run of this process; False in a replay, and in a forked process."""
        return self._replay is None and self._block is None and self._pid == os.getpid()

    def __repr__(self) -> str:
        return f"<recording {self.id} {self.name!r} at {self.path}>"

    def begin_run(self) -> Run | None:
        if (scope := boundary.current()) is not None:
            family = scope.run.family
            if family is not None and family.begins_block(self.name):
                # The block that is being replayed.
                self._block = family
                self._token = current_scope.set(scope.run.root)
            else:
                # A recording inside of a recording or replay: the outer one records all.
                self._token = current_scope.set(scope.span(f"record:{self.name}"))
            return None
        self._ordinal = _blocks_begun.get(self.name, 0)
        _blocks_begun[self.name] = self._ordinal + 1
        if _substitute is not None:
            return self._replayed(_substitute(self.name, self._ordinal))
        writer = self._open()
        if writer is None:
            return None
        if self.plan is None:
            # Else the parent process sends it, and may have to complete its last line first.
            self._held = ship.begin(self._store.root, self.id)
        salt = system.random_bytes(16)
        redactor = Redactor(self._rules, salt=salt, environ=dict(os.environ))
        self._recorder = Recorder(writer, redactor, identity=own_identity(self._store.root))
        self._recorder.snapshots.every, self._recorder.snapshots.risky = self._every, self._filter
        RECORDED.add(self.id)
        self._recorder.open(self._header(salt, redactor.header_rules()))
        self.active = Run(self._recorder, RecordingTurnstile(), replaying=False)
        tracked.of_run(self.active)
        if self._files is not None:
            places = Places.of_program(self._files, store=str(self._store.root))
            self.active.files = self._recorder.record_files(places, salt)
        self.active.family = self._family = RecordedProcesses(
            self.active, self._recorder, self._plan(), _record_fork
        )
        stdlib.begin(self.active)
        loops.check(self.active)
        if self.plan is None:
            # The output of a whole program is recorded by its process.
            self._streams = StandardStreams(self.active)
            self._streams.install()
        return self.active

    def _replayed(self, replay: Replay | Fork | None) -> Run | None:
        """Replay the recorded block under `reenact replay`; other blocks are not recorded again."""
        if replay is None:
            return None
        self._replay = replay
        run = replay.begin_run()
        self.id, self.path = replay.recording.id, replay.recording.path
        return run

    def _plan(self) -> Plan:
        folder = str(Path(self.path).absolute())
        began = self._recorder.started if self._recorder is not None else 0.0
        patterns = tuple(self._rules.patterns)
        if self.plan is not None:
            return replace(self.plan, folder=folder, began=began)
        seed = os.environ.get("PYTHONHASHSEED")
        home = str(self._store.root)
        plan = Plan("record", self.id, folder, home, "", began=began, patterns=patterns, hash_seed=seed)
        return replace(plan, risky=self._risky, every=self._every, files=self._files)

    def _open(self) -> Writer | None:
        try:
            return Writer(self._store.folder(self.id) / EVENTS)
        except OSError as error:
            first = error
        fallback = LocalStore(Path("~").expanduser() / ".reenact-recovered")
        try:
            writer = Writer(fallback.folder(self.id) / EVENTS)
        except OSError:
            warn(f"nothing is recorded: {self.path} cannot be written ({first.strerror}); set REENACT_HOME")
            return None
        warn(
            f"{self.path} cannot be written ({first.strerror}); recording to {fallback.folder(self.id)} instead"
        )
        self._store, self.path = fallback, str(fallback.folder(self.id))
        return writer

    def _header(self, salt: bytes, rules: dict[str, Tree]) -> dict[str, Tree]:
        return {
            "format": FORMAT,
            "rules": RULES,
            "id": self.id,
            "name": self.name,
            "tags": list(self.tags),
            "started": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "entry": self._entry,
            "ordinal": self._ordinal,
            "process": "main",
            "pid": os.getpid(),
            "program": {**describe(), **self.program},
            "adapters": adapters.installed(),
            "salt": salt.hex(),
            "secrets": rules,
            **({"files": True} if self._files is not None else {}),
            **({"parent": self.parent} if self.parent else {}),
            **self._function(),
        }

    def _function(self) -> dict[str, Tree]:
        """Return the recorded function and its arguments, to run it again."""
        if not self.function or self._recorder is None:
            return {}
        given = {name: self._recorder.encode(value) for name, value in self.function["args"].items()}
        return {"function": {"name": self.function["name"], "args": given}}

    def end_run(self, error: BaseException | None) -> None:
        if self._block is not None:
            self._block.ends_block(self.output)
            return
        if self._replay is not None:
            self._replay.output = self.output
            try:
                self._replay.end_run(error)
            except DivergenceError as diverged:
                # The program runs on, and no caller expects a DivergenceError.
                raise Halt(diverged.divergence) from None
            except ForkStopped as stopped:
                raise ForkStop(str(stopped)) from None
            return
        if self._recorder is None or os.getpid() != self._pid:
            # A forked process leaves the block: its own file ends with the process.
            return
        if self._streams is not None:
            self._streams.uninstall()
        state = state_at_end.sealed(self.active) if self.active is not None else {}
        if self.active is not None:
            stdlib.end(self.active)
            self._recorder.snapshots.finish(self.active)
            tracked.ended(self.active)
        if self._family is not None:
            self._family.finish()
        ending = {**self.sealing(self.active, self._recorder, error), **state}
        if self._streams is not None:
            ending |= self._streams.tree()
        self._recorder.seal(ending)
        self._sent()

    def _sent(self) -> None:
        """Let the last line be sent, now that it is written."""
        ship.ended(self._store.root, self._held)


def record(
    name: str = "",
    *,
    tags: Iterable[str] = (),
    home: str | os.PathLike[str] | None = None,
    secrets: SecretRules = DEFAULT_RULES,
    risky: str = "",
    snapshot_every: int | None = None,
    files: bool | Iterable[str | os.PathLike[str]] = True,
) -> RecordingInProgress:
    """Record the effects in the body of a `with` (or `async with`) statement.

        with reenact.record("support") as recording:
            agent.run_sync("Cancel my order ORD-5521")

    Args:
        name: The name in `reenact list`; for example the agent's name.
        tags: Words to find it by.
        home: The folder to record to; by default `$REENACT_HOME`, or `.reenact` here.
        secrets: The rules for secrets, which never reach the disk; extend `DEFAULT_RULES`.
        risky: A filter, `"tool:cancel_*"`: before each such effect the tracked state is kept.
        snapshot_every: After how many steps the tracked state is looked at; 5 by default.
        files: Folders whose files are recorded beside those of the working folder and of the program's script; False:
            no files are recorded.

    Raises:
        FilterError: `risky` does not parse.
        UsageError: `risky` asks for what is known only afterwards, `snapshot_every` is no number of steps, or one of
            `files` is no folder.
    """
    return RecordingInProgress(
        name,
        tags=tags,
        home=home,
        rules=secrets,
        entry="block",
        risky=risky,
        every=snapshot_every,
        files=files,
    )


def _record_fork(plan: Plan, run: Run) -> Scope:
    # The imports here are not the program's.
    with entered(None):
        from reenact.run.members import record_fork  # noqa: PLC0415 - few programs fork

    return record_fork(plan, run)


def _store_of(home: str | os.PathLike[str] | None) -> LocalStore:
    """Return the store of a folder; warn if the configuration file is not valid."""
    try:
        return LocalStore(home)
    except UsageError as error:
        warn(f"{error}; recorded to .reenact here")
        return LocalStore(".reenact")
