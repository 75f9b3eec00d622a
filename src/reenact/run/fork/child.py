"""The recording that a fork makes: it names its parent and the step, and shares its bytes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from reenact import adapters
from reenact.core.boundary import entered
from reenact.core.boundary.turnstile.forking_turns import ForkingTurnstile
from reenact.core.files.trees import first_states
from reenact.core.model import codec
from reenact.core.model.event import FORMAT, Tree
from reenact.core.model.storable import tags_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record.own import own_identity
from reenact.core.record.program import describe
from reenact.core.record.recorder import Recorder
from reenact.core.redact import SecretRules
from reenact.core.store import shared
from reenact.core.store.local import EVENTS, LocalStore
from reenact.core.store.writer import Writer
from reenact.core.trust import Where, consent
from reenact.errors import UsageError
from reenact.run.fork import started
from reenact.run.fork.event_lines import EventLines
from reenact.run.fork.family import run_of
from reenact.run.fork.handler import Forker
from reenact.run.fork.live_files import record_files
from reenact.run.fork.point import ForkPoint
from reenact.run.guard_plan import GuardPlan
from reenact.run.plan import FILES, GUARD, Plan
from reenact.run.processes import replayer_of, rules_of
from reenact.run.replayer import redactor_of, rules_number
from reenact.team import ship

_KEPT = ("argv", "cwd", "hash_seed", "proxy", "tty")


class Child:
    """A fork's recording in progress.

    Args:
        parent: The forked recording.
        point: The point of the fork.
        store: The child's store.
        id: Its id.
        secrets: The rules for secrets, besides those in the parent's header.
        plan: The plan of this process, if it was started to fork.
        turnstile: A turnstile of another kind.
    """

    def __init__(
        self,
        parent: RecordedRun,
        point: ForkPoint,
        store: LocalStore,
        id: str,
        *,
        secrets: SecretRules,
        plan: Plan | None = None,
        turnstile: ForkingTurnstile | None = None,
    ) -> None:
        self.parent = parent
        self.folder = store.folder(id)
        self._point = point
        self._store = store
        self._id = id
        self._plan = plan
        self._children = False
        self._source = Path(parent.path).absolute()
        self._by_reference = self._source.parent == store.recordings
        self._lines = EventLines(self._source)
        self._starts = {line: path for path, line in self._lines.spawned.items()}
        self._rules = _both(rules_of(parent.header), secrets)
        self._guarding = GuardPlan(
            str(self._source),
            point.policy,
            point.terminal,
            folder=plan.report if plan is not None else "",
            command=point.command,
            providers=point.providers,
        )
        self._guarding.check_functions()
        self._writer = _writer(self.folder)
        # Nothing is sent before the end, as the fork may fail and be deleted.
        self._held = ship.begin(store.root, id, late=True)
        salt = str(parent.header.get("salt", ""))
        redactor = redactor_of(parent.header, self._rules)
        log = parent.logs[0]
        first, self._identity = max(log.calls, default=0) + 1, own_identity(store.root)
        self.recorder = Recorder(self._writer, redactor, first=first, identity=self._identity)
        self.recorder.alone = len(parent.logs) == 1
        self.recorder.open(self._header(salt, redactor.header_rules()))
        options = {"live": point.live, "ignore": point.ignore, "policy": "raise"}
        replayer = replayer_of(parent, log, options, turnstile or ForkingTurnstile(len(log.times)))
        self._exchange: str | None = None
        self.forker = Forker(
            replayer,
            self.recorder,
            self._lines,
            log,
            at=point.step.call,
            edit=point.edit,
            share=self._share,
            guard=self._guarding.guard(parent),
        )
        self.forker.refused_elsewhere = lambda: self._guarding.refused if self._children else ""
        self.forker.model = point.model or None
        self.run, self.family = run_of(self.forker, parent, self._replaying_plan(), self._recording_plan)

    def seal(self, ending: Mapping[str, Tree]) -> None:
        """Write the declared state at the end, and the last line."""
        if not self.forker.gone_live:
            # All snapshots so far are the parent's.
            written = self.forker.sharing.written
            self.recorder.snapshots.goes_on(self._lines.snapshots(written), max(written, default=0))
        self.recorder.snapshots.finish(self.run)
        self.recorder.seal({**ending, "again": self.forker.reruns.tree()})
        ship.ended(self._store.root, self._held)

    def drop(self) -> None:
        """Delete the recording: the fork failed."""
        self._writer.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        ship.ended(self._store.root, self._held)

    def close(self) -> None:
        """Remove the folder in which the fork's processes left messages for each other."""
        if self._exchange is not None:
            shutil.rmtree(self._exchange, ignore_errors=True)

    def record_files(self) -> None:
        """Record the files of the live part, on a disk that began as the parent's."""
        asked = self.forker.replayer.cursor.asked
        at = self._point.step.call
        live = None if self._point.edit is not None else at
        calls = self.parent.logs[0].calls.values()
        received = [call for call in calls if call.number in asked and call is not live]
        if not self._by_reference:
            kept = [
                state.blob
                for state in first_states(self.parent).values()
                if state.blob and state.text is None
            ]
            shared.fetch(codec.dumps(kept), [self._source, *shared.ancestors(self._source)], self.folder)
        until = None
        if live is not None:
            until = live.began
            self.forker.sharing.files_before(live.number)
        home = str(self._store.root)
        record_files(self.run, self.recorder, self.parent, received, home, shares=True, until=until)

    # -- within ----------------------------------------------------------------------------------------------

    def _share(self, line: int) -> bool:
        raw = self._lines.raw(line)
        if line in self._starts:
            for log in self.parent.logs[1:]:
                if started.belongs(log, self._starts[line]):
                    started.copy(log, self._source, self.folder, self._id, self._identity)
        if self._by_reference:
            return self._writer.refer(line, raw)
        # The parent is in another store, and may be deleted.
        if b'"$blob"' in raw:
            shared.fetch(raw, [self._source, *shared.ancestors(self._source)], self.folder)
        return self._writer.append(raw)

    def _recording_plan(self) -> Plan:
        """Return the plan of the processes that the live part starts."""
        if not self._guarding.folder:
            with entered(None):
                self._exchange = tempfile.mkdtemp(prefix="reenact-")
            self._guarding = replace(self._guarding, folder=self._exchange)
        self._children = True
        plan = self._own("record", self.folder.absolute(), self._id)
        options = {GUARD: self._guarding.tree(), FILES: self._scratch}
        return replace(plan, began=self.recorder.started, options=options)

    def _replaying_plan(self) -> Plan:
        """Return the plan of the processes that ended before the step: they replay their own files."""
        plan = self._own("replay", self._source, self.parent.id)
        return replace(plan, options={"ignore": self._point.ignore, "policy": "raise", FILES: self._scratch})

    @property
    def _scratch(self) -> str:
        """The folder of the fork's files, or an empty text."""
        return str(self._plan.options.get(FILES, "")) if self._plan is not None else ""

    def _own(self, mode: str, folder: Path, id: str) -> Plan:
        home, patterns = str(self._store.root), tuple(self._rules.patterns)
        if self._plan is not None:
            return replace(self._plan, mode=mode, folder=str(folder), id=id, options={}, patterns=patterns)
        seed = os.environ.get("PYTHONHASHSEED")
        return Plan(mode, id, str(folder), home, "", patterns=patterns, hash_seed=seed)

    def _header(self, salt: str, rules: dict[str, Tree]) -> dict[str, Tree]:
        parent = self.parent.header
        program = parent.get("program") or {}
        # In a process that was started to fork, this is the program; else the parent's header names it. The command of
        # a foreign parent is not copied: it would be trusted as this home's own from then on.
        own = self._plan is not None or consent.allowed(self.parent, self._store.root)
        standing = consent.standing_of(self.parent, self._store.root)
        kept = {name: program[name] for name in _KEPT if name in program and self._plan is None and own}
        if "proxy" in program:
            # The packages of this process are not the program's, which need not be Python.
            kept = {**(kept if own else {"argv": [], "proxy": {}}), "packages": {}}
        if self._plan is not None:
            kept = {name: program[name] for name in ("hash_seed", "tty") if name in program}
        header: dict[str, Tree] = {
            "format": FORMAT,
            "rules": rules_number(self.parent.header),
            "id": self._id,
            "name": self.parent.name,
            "tags": list(tags_of(self.parent.tags)[0]),
            "started": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "entry": parent.get("entry"),
            "ordinal": parent.get("ordinal", 0),
            "process": "main",
            "parent": {
                "id": self.parent.id,
                "step": self._point.step.number,
                "how": "fork",
                **({} if standing.where is Where.HOME else {"origin": standing.where.value}),
            },
            "pid": os.getpid(),
            "program": {**describe(), **kept},
            "adapters": adapters.installed(),
            "salt": salt,
            "secrets": rules,
        }
        return {**header, "model": self._point.model} if self._point.model else header


def _writer(folder: Path) -> Writer:
    try:
        return Writer(folder / EVENTS)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}); set REENACT_HOME") from None


def _both(known: SecretRules, more: SecretRules) -> SecretRules:
    patterns = (*known.patterns, *(pattern for pattern in more.patterns if pattern not in known.patterns))
    return replace(
        more, names=known.names | more.names, headers=known.headers | more.headers, patterns=patterns
    )
