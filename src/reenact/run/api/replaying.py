"""`replay` and `load`: run code again on a recording."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any
from zlib import crc32

from reenact.adapters import loops, stdlib
from reenact.core import boundary
from reenact.core.boundary import Run, tracked
from reenact.core.model.divergence import Verdict, merged
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.match import mismatches
from reenact.core.replay.policy import ActionPolicy, configured_policy
from reenact.core.replay.replay_state import Inserted, Policy
from reenact.core.replay.replayer import Replayer
from reenact.core.store.local import LocalStore
from reenact.core.system import perf_counter
from reenact.errors import Departure, Divergence, DivergenceError, Halt, Mismatch, UsageError
from reenact.run.api import final
from reenact.run.api.run_context import UNSET, RunContext
from reenact.run.debugger.prompt import prompting
from reenact.run.files.process_files import files_of, sensor_of
from reenact.run.plan import ACTS, DEBUG, FILES, LIVE, RECORDED, SHIFTED, Plan
from reenact.run.processes import ReplayedProcesses, replay_fork, replayer_of
from reenact.run.replayer import tell_of
from reenact.run.streams import StandardStreams, compare_streams

if TYPE_CHECKING:
    from reenact.run.debugger.breaks import Breakpoints, Stop
    from reenact.run.files.replayed import ReplayedFiles

Source = str | os.PathLike[str] | RecordedRun


class Replay(RunContext):
    """A replay; made by `replay()`.

    Attributes:
        recording: The replayed recording.
        output: Set it as in the recording, to have the two compared.
        breakpoints: The places to stop; may be changed while it runs.
        terminal: The path of the terminal of a `breakpoint()`, if that is not standard input.
    """

    def __init__(
        self,
        recording: RecordedRun,
        options: dict[str, Any],
        pace: str,
        *,
        breakpoints: Iterable[str | int] = (),
        on_break: Callable[[Stop], object] | None = None,
    ) -> None:
        if pace not in ("fast", "real") and not pace.startswith(SHIFTED):
            raise UsageError(f"pace={pace!r} is not one of 'fast', 'real'")
        self.recording = recording
        self._written = tuple(breakpoints)
        if self._written:
            # Refuse invalid breakpoints at once.
            self.breakpoints  # noqa: B018
        self._on_break = on_break
        self._options = options
        self._pace = pace
        self._replayer: Replayer | None = None
        self._run: Run | None = None
        self._family: ReplayedProcesses | None = None
        self._pid = os.getpid()
        self._others: list[Verdict] = []
        self._streams: StandardStreams | None = None
        self.plan: Plan | None = None
        self.terminal = ""
        self.scratch = ""
        """The scratch folder of this process's files, if it was started with one."""
        self._files: ReplayedFiles | None = None

    def __repr__(self) -> str:
        begun = (
            "not begun"
            if self._replayer is None
            else "diverged"
            if self.verdict.divergences
            else "no departure"
        )
        return f"<replay of {self.recording.id}: {begun}>"

    @cached_property
    def breakpoints(self) -> Breakpoints:
        """The breakpoints, which may be changed while the replay stops."""
        from reenact.run.debugger.breaks import Breakpoints  # noqa: PLC0415 - few replays have any

        return Breakpoints(self.recording, self._written)

    @property
    def verdict(self) -> Verdict:
        """The verdict so far: final once the body has ended."""
        return merged([self.replayer.verdict(self.recording.id), *self._others])

    @property
    def begun(self) -> bool:
        """True once the body has begun."""
        return self._replayer is not None

    @property
    def replayer(self) -> Replayer:
        """The handler behind this replay."""
        if self._replayer is None:
            raise UsageError("the replay has not begun: use it in a `with` statement")
        return self._replayer

    def begin_run(self) -> Run:
        if boundary.current() is not None:
            raise UsageError("a replay cannot begin inside a recording or another replay")
        loops.check(None)
        log = self.recording.logs[0]
        self._replayer = replayer_of(self.recording, log, self._options)
        for note in self.recording.notes:
            self._replayer.remark(f"the recording says: {note}")
        self._replayer.uncompared += [
            f"an order that is not recorded ({race})" for race in self.recording.races
        ]
        if self._pace == "real":
            self._replayer.turnstile.set_pace(RecordedPace(log.times))
        elif self._pace.startswith(SHIFTED):
            self._replayer.turnstile.set_pace(ShiftedPace(self._pace, len(log.times)))
        self._run = Run(self._replayer, self._replayer.turnstile, replaying=True)
        tell_of(self._run, self.recording.header)
        self._files = files_of(
            self.recording, log, self._replayer, self.scratch, block=self.plan is None and not self.scratch
        )
        if self._files is not None:
            self._run.scratch, self._run.waits = self._files.covers, self._files.waits
            self._run.view, self._run.commands = self._files.view, self._files.asked
        self._run.files = sensor_of(self._files, self.recording, self._replayer, self.scratch)
        self._run.family = self._family = ReplayedProcesses(
            self._run, self._replayer, self.recording, log, self._plan(), join=replay_fork
        )
        tracked.of_run(self._run)
        stdlib.begin(self._run)
        self._listen()
        if self._on_break is not None:
            from reenact.run.debugger.breaks import Breaks  # noqa: PLC0415 - as above

            Breaks(self._replayer, self.recording, self.breakpoints, self._on_break).attach()
        self._hook = prompting(self._replayer.turnstile, self.terminal)
        return self._run

    def end_run(self, error: BaseException | None) -> None:
        if self._run is None or self._replayer is None or os.getpid() != self._pid:
            return
        try:
            self._conclude(self._run, self._replayer, error)
        finally:
            if self._files is not None:
                self._files.end()

    def _conclude(self, run: Run, replayer: Replayer, error: BaseException | None) -> None:
        if self._streams is not None:
            self._streams.uninstall()
        whole = error is None or self.recording.status == "error"
        if whole:
            final.compare(run, self.recording, replayer)
        stdlib.end(run)
        self._hook.restore()
        tracked.ended(run)
        replayer.finish(whole=whole)
        if self._family is not None:
            self._family.finish()
            self._others = self._family.verdicts()
            self._family.close()
        if self._files is not None:
            self._files.tell_of_code()
        if whole and self._files is not None and not any(other.divergences for other in self._others):
            # Files of other processes are compared by the parent of a whole program, except under the debugger.
            self._files.compare(others=self.plan is not None and DEBUG not in self.plan.options)
        if whole and self._streams is not None:
            self._compare_streams(self._streams)
        told = final.compare_error(self.recording, replayer, error)
        self._compare_output()
        poison = replayer.poison
        if poison is not None:
            raise DivergenceError(poison.divergence) from (None if isinstance(error, Halt) else error)
        raises = self._options["policy"] == "raise" and not told
        if raises and (divergence := self.verdict.divergence) is not None:
            raise DivergenceError(divergence) from error

    def moved(self) -> None:
        """Go on in this process, a copy of the one that began the replay."""
        self._pid = os.getpid()
        if self._files is not None:
            self._files.rewind()
        if self._streams is not None:
            self._streams.moved()

    def _plan(self) -> Plan:
        path, home = str(Path(self.recording.path).absolute()), str(LocalStore().root)
        options = {**self._options, FILES: self.scratch} if self.scratch else self._options
        if self.plan is not None:
            return replace(self.plan, options=options)
        seed = os.environ.get("PYTHONHASHSEED")
        return Plan("replay", self.recording.id, path, home, "", options=options, hash_seed=seed)

    def _listen(self) -> None:
        """Count the output of a block; that of a whole program is counted by its process."""
        if self.plan is not None or self._family is None:
            return
        self._streams = StandardStreams(self._run)
        self._streams.install()
        self.replayer.prints.write = self._streams.out.print
        self._family.on_block, self._family.on_block_end = self._streams.again, self._streams.uninstall

    def _compare_streams(self, heard: StandardStreams) -> None:
        replayer = self.replayer
        sealed = self.recording.logs[0].sealed or {}
        if sealed.get("stdout") is None or replayer.divergences or replayer.gone_live:
            return
        if self.recording.header.get("entry") != "block":
            replayer.uncompared.append("standard output (the recording is that of a whole program)")
            return
        actual = {name: replayer.terms.clean(tree) for name, tree in heard.tree().items()}
        found, rules, compared = compare_streams(sealed, actual, replayer.rules, replayer.terms)
        replayer.compared += compared
        replayer.rules.applied.update(dict.fromkeys(rules))
        if found is not None:
            replayer.divergences.append(found)

    def _compare_output(self) -> None:
        sealed = self.recording.logs[0].sealed
        if self.output is UNSET and self._family is not None:
            self.output = self._family.output
        if sealed is None or "output" not in sealed or self.replayer.divergences:
            return
        if self.output is UNSET:
            self.replayer.uncompared.append("the result (set replay.output)")
            return
        self.replayer.compared.append("the result")
        actual = self.replayer.terms.tree(self.output)
        found = mismatches("output", {"output": sealed["output"]}, {"output": actual}, self.replayer.rules)
        if found:
            shown = tuple(Mismatch(m.path.removeprefix("args."), m.recorded, m.actual) for m in found)
            self.replayer.divergences.append(
                Divergence(Departure.CHANGED, "main/output", len(self.recording.steps) or None, shown)
            )


class RecordedPace:
    """Waits before each outcome as long as was recorded."""

    def __init__(self, times: list[float]) -> None:
        self._times = times
        self._began = perf_counter()

    def __call__(self, place: int) -> None:
        left = self._times[place] - (perf_counter() - self._began)
        if left > 0:
            sleep(left)


class ShiftedPace:
    """Waits before each outcome for a time that does not depend on the recorded one.

    Args:
        seed: Chooses the delays.
        total: The number of outcomes. All delays together take at most two seconds.
    """

    def __init__(self, seed: str, total: int) -> None:
        self._seed = seed
        self._most = min(0.02, 2 / max(total, 1))

    def __call__(self, place: int) -> None:
        # Not `random`: its generators may be the program's own, recorded ones.
        sleep(self._most * (crc32(f"{self._seed} {place}".encode()) / 0xFFFFFFFF))


def replay(
    source: Source,
    *,
    live: Iterable[str] = (),
    ignore: Iterable[str] = (),
    on_divergence: Policy = "raise",
    inserted: Inserted = "refuse",
    tools: Iterable[str] = (),
    policy: Iterable[str] = (),
    pace: str = "fast",
    files: str = RECORDED,
    breakpoints: Iterable[str | int] | str | int = (),
    on_break: Callable[[Stop], object] | None = None,
    home: str | os.PathLike[str] | None = None,
) -> Replay:
    """Run code again, offline, every answer served from a recording.

        with reenact.replay("last") as replay:
            agent.run_sync("Cancel my order ORD-5521")
        print(replay.verdict)

    Args:
        source: An id, an unambiguous prefix of one, `"last"`, a path, or a Recording.
        live: Kinds (`"tool"`) or labels (`"tool:cancel_order"`) that run for real; what happens inside them is
            still answered from the recording, unless it is let through too.
        ignore: Parts that are not compared, such as `"args.body.seed"`, `"http:* args.headers.x-trace"`, or `"order"`.
        on_divergence: `"raise"` stops at the first departure. `"realign"` is for edited programs: departures are
            named, and all other calls keep their own answers. `"live"` goes live from the first departure on.
        inserted: Under `"realign"`, whether a new call is refused (`"refuse"`) or answered live (`"live"`).
        tools: `"rerun"` (the default): a tool whose inside was recorded whole runs its own code again, and its
            result is compared; `"answer"`: tools do not run; `"live"`: they run for real. For one tool:
            `"refund=answer"`.
        policy: What may run for real, where calls do: `"refund=live"`, `"api.example.com=refuse"`. Without a rule,
            calls of models run, and calls that only read; others are refused. See docs/fork.md.
        pace: `"fast"`, or `"real"` to take as long as the recorded run.
        files: `"recorded"`: the code sees the recorded files, and writes to scratch; `"live"`: to your own.
        breakpoints: The places to stop: steps' numbers, `"divergence"`, `"state"`, or filters (docs/filters.md) such as
            `"error"` or `"tool:cancel_order"`.
        on_break: Called at each of them, in the program's own thread, with a `Stop`: it tells the step, the arguments,
            the program's frame, and may give another answer. By default pdb opens there.
        home: The folder of the recordings; by default `$REENACT_HOME`, or `.reenact` here.

    Raises:
        RecordingError: There is no such recording, or it cannot be read.
        DivergenceError: At the end of the body, where the program left its recording.
        FilterError: A breakpoint that does not parse; the text points at the column.
    """
    options: dict[str, Any] = {
        "live": _words(live),
        "ignore": _words(ignore),
        "policy": on_divergence,
        "inserted": inserted,
    }
    rules = ActionPolicy((*configured_policy(), *_words(policy)))
    options |= {"tools": _words(tools), ACTS: {"words": rules.words}}
    recording = source if isinstance(source, RecordedRun) else load(source, home=home)
    points = (breakpoints,) if isinstance(breakpoints, (str, int)) else tuple(breakpoints)
    if points and on_break is None:
        from reenact.run.debugger.breaks import Stop  # noqa: PLC0415 - as above

        on_break = Stop.pdb
    if files not in (RECORDED, LIVE):
        raise UsageError(f"files={files!r} is not one of {RECORDED!r}, {LIVE!r}")
    session = Replay(recording, options, pace, breakpoints=points, on_break=on_break)
    session.scratch = LIVE if files == LIVE else ""
    return session


def load(source: str | os.PathLike[str], *, home: str | os.PathLike[str] | None = None) -> RecordedRun:
    """Read a recording: by id, unambiguous prefix, `"last"`, or path. Raises RecordingError."""
    from reenact.team.open import Reaching  # noqa: PLC0415 - a replayed program finds its recording by the path

    return Reaching(home).load(source)


def _words(value: Iterable[str]) -> tuple[str, ...]:
    # live="tool" is meant as live=["tool"], not as four letters.
    return (value,) if isinstance(value, str) else tuple(value)
