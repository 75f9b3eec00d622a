"""The verbs: record, replay, load, find. Every face calls these."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, sleep
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, overload

from reenact import adapters, boundary
from reenact.adapters import stdlib
from reenact.boundary import RecordingTurnstile, Run
from reenact.boundary.scope import _scope
from reenact.errors import DivergenceError, Halt, UsageError
from reenact.family import Recorded, Replayed, replayer_of
from reenact.model import codec
from reenact.model.divergence import Departure, Divergence, Mismatch, Verdict, merged
from reenact.model.event import FORMAT, RULES, Effect, Tree
from reenact.model.recording import Recording
from reenact.plan import Plan
from reenact.record.program import describe
from reenact.record.recorder import Recorder
from reenact.redact import DEFAULT_RULES, Redactor, SecretRules
from reenact.replay.match import mismatches
from reenact.replay.replayer import Inserted, Policy, Replayer
from reenact.store.local import EVENTS, LocalStore, new_id
from reenact.store.writer import Writer, warn

P = ParamSpec("P")
T = TypeVar("T")
Source = str | os.PathLike[str] | Recording

_UNSET: Any = object()

_substitute: Callable[[str, int], Replay | None] | None = None
"""Set by `reenact replay` for a recording that a `record()` block made: gives the replay in the place of the block
of that name and ordinal, or None for any other block."""

_blocks_begun: dict[str, int] = {}


class _Session:
    """What `with` and `async with` share: a run is active in the body."""

    _token: Any = None

    def _begin(self) -> Run | None:
        raise NotImplementedError

    def _end(self, error: BaseException | None) -> None:
        raise NotImplementedError

    def __enter__(self) -> Any:
        adapters.install()
        run = self._begin()
        if run is not None:
            self._token = _scope.set(run.root)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._token is not None:
            _scope.reset(self._token)
        self._end(error)

    async def __aenter__(self) -> Any:
        return self.__enter__()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self.__exit__(kind, error, trace)


class RecordingInProgress(_Session):
    """A recording that is being written; made by `record()`.

    Attributes:
        id: The recording's id, known from the start.
        path: The folder that it is written to, as text.
        output: What the run gave; set it to have it kept (and compared in a replay).
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
    ) -> None:
        self.name = name
        self.tags = tuple(tags)
        self.id = known_as or new_id()
        self.output: Any = _UNSET
        self.ending: dict[str, Tree] = {}
        self.program: dict[str, Tree] = {}
        self.plan: Plan | None = None
        self._rules = rules
        self._entry = entry
        self._ordinal = 0
        self._pid = os.getpid()
        self._replay: Replay | None = None
        self._store = LocalStore(home)
        self.path = str(self._store.folder(self.id))
        self._recorder: Recorder | None = None
        self._run: Run | None = None
        self._family: Recorded | None = None

    def load(self) -> Recording:
        """What is written so far, read back."""
        return self._store.load(self.path)

    def __repr__(self) -> str:
        return f"<recording {self.id} {self.name!r} at {self.path}>"

    def _begin(self) -> Run | None:
        if (scope := boundary.current()) is not None:
            # Recording within a recording or a replay: the outer one has it all.
            self._token = _scope.set(scope.span(f"record:{self.name}"))
            return None
        self._ordinal = _blocks_begun.get(self.name, 0)
        _blocks_begun[self.name] = self._ordinal + 1
        if _substitute is not None:
            return self._replayed(_substitute(self.name, self._ordinal))
        writer = self._open()
        if writer is None:
            return None
        salt = secrets.token_bytes(16)
        self._recorder = Recorder(writer, Redactor(self._rules, salt=salt, environ=dict(os.environ)))
        self._recorder.open(self._header(salt))
        self._run = Run(self._recorder, RecordingTurnstile(), replaying=False)
        self._run.family = self._family = Recorded(self._run, self._recorder, self._plan())
        stdlib.begin(self._run)
        return self._run

    def _replayed(self, replay: Replay | None) -> Run | None:
        """Under `reenact replay` the recorded block is a replay, and the others are not recorded again."""
        if replay is None:
            return None
        self._replay = replay
        self.id, self.path = replay.recording.id, replay.recording.path
        return replay._begin()

    def _plan(self) -> Plan:
        folder = str(Path(self.path).absolute())
        began = self._recorder.started if self._recorder is not None else 0.0
        patterns = tuple(self._rules.patterns)
        if self.plan is not None:
            return replace(self.plan, folder=folder, began=began)
        seed = os.environ.get("PYTHONHASHSEED")
        home = str(self._store.root)
        return Plan("record", self.id, folder, home, "", began=began, patterns=patterns, hash_seed=seed)

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
        warn(f"{self.path} cannot be written ({first.strerror}); recording to {fallback.folder(self.id)} instead")
        self._store, self.path = fallback, str(fallback.folder(self.id))
        return writer

    def _header(self, salt: bytes) -> dict[str, Tree]:
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
            "secrets": {"names": sorted(self._rules.names), "headers": sorted(self._rules.headers)},
        }

    def _end(self, error: BaseException | None) -> None:
        if self._replay is not None:
            self._replay.output = self.output
            try:
                self._replay._end(error)
            except DivergenceError as diverged:
                # Here it is the program that runs on, and nobody waits for a DivergenceError.
                raise Halt(diverged.divergence) from None
            return
        if self._recorder is None or os.getpid() != self._pid:
            # In a fork that leaves the block: it has a file of its own, which ends with the process.
            return
        if self._run is not None:
            stdlib.end(self._run)
        if self._family is not None:
            self._family.finish()
        ending: dict[str, Tree] = {"status": "ok" if error is None else "error", **self.ending}
        if self._run is not None and isinstance(self._run.turnstile, RecordingTurnstile) and self._run.turnstile.uncertain:
            ending["uncertain"] = self._run.turnstile.uncertain
        if self.output is not _UNSET:
            ending["output"] = self._recorder.encode(self.output)
        if error is not None:
            ending["error"] = codec.encode_error(error, codec.Encoder())
        self._recorder.seal(ending)


def record(
    name: str = "",
    *,
    tags: Iterable[str] = (),
    home: str | os.PathLike[str] | None = None,
    secrets: SecretRules = DEFAULT_RULES,
) -> RecordingInProgress:
    """Record what the body of a `with` (or `async with`) statement does.

        with reenact.record("support") as recording:
            agent.run_sync("Cancel my order ORD-5521")

    Args:
        name: What `reenact list` shows; the agent's name, say.
        tags: Words to find it by.
        home: The folder to record to; by default `$REENACT_HOME`, or `.reenact` here.
        secrets: What never reaches the disk; extend `DEFAULT_RULES`.
    """
    return RecordingInProgress(name, tags=tags, home=home, rules=secrets, entry="block")


@overload
def recorded(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def recorded(*, name: str = ..., tags: Iterable[str] = ...) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def recorded(function: Any = None, /, *, name: str = "", tags: Iterable[str] = ()) -> Any:
    """Record each call of a function (sync or async), with its result as the recording's output."""
    if function is None:
        return functools.partial(recorded, name=name, tags=tags)
    title = name or function.__qualname__

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def arecorded(*args: Any, **kwargs: Any) -> Any:
            async with record(title, tags=tags) as recording:
                recording.output = await function(*args, **kwargs)
                return recording.output

        return arecorded

    @functools.wraps(function)
    def srecorded(*args: Any, **kwargs: Any) -> Any:
        with record(title, tags=tags) as recording:
            recording.output = function(*args, **kwargs)
            return recording.output

    return srecorded


class Replay(_Session):
    """A replay; made by `replay()`.

    Attributes:
        recording: What is replayed.
        output: Set it as in the recording, to have the two compared.
    """

    def __init__(self, recording: Recording, options: dict[str, Any], pace: str) -> None:
        if pace not in ("fast", "real"):
            raise UsageError(f"pace={pace!r} is not one of 'fast', 'real'")
        self.recording = recording
        self.output: Any = _UNSET
        self._options = options
        self._pace = pace
        self._replayer: Replayer | None = None
        self._run: Run | None = None
        self._family: Replayed | None = None
        self._pid = os.getpid()
        self._others: list[Verdict] = []
        self.plan: Plan | None = None

    @property
    def verdict(self) -> Verdict:
        """What the replay amounts to: final once the body has ended."""
        return merged([self.replayer.verdict(self.recording.id), *self._others])

    @property
    def replayer(self) -> Replayer:
        """The handler behind this replay."""
        if self._replayer is None:
            raise UsageError("the replay has not begun: use it in a `with` statement")
        return self._replayer

    def _begin(self) -> Run:
        if boundary.current() is not None:
            raise UsageError("a replay cannot begin inside a recording or another replay")
        log = self.recording.logs[0]
        self._replayer = replayer_of(self.recording, log, self._options)
        for note in self.recording.notes:
            self._replayer.note(f"the recording says: {note}")
        if self._pace == "real":
            self._replayer.turnstile.set_pace(_Pace(log.times))
        self._run = Run(self._replayer, self._replayer.turnstile, replaying=True)
        self._run.family = self._family = Replayed(self._run, self.recording, log, self._plan())
        stdlib.begin(self._run)
        return self._run

    def _end(self, error: BaseException | None) -> None:
        if self._run is None or self._replayer is None or os.getpid() != self._pid:
            return
        stdlib.end(self._run)
        self._replayer.finish(whole=error is None or self.recording.status == "error")
        if self._family is not None:
            self._family.finish()
            self._others = self._family.verdicts()
            self._family.close()
        self._compare_output()
        poison = self._replayer.poison
        if poison is not None:
            raise DivergenceError(poison.divergence) from (None if isinstance(error, Halt) else error)
        if self._options["policy"] == "raise" and (divergence := self.verdict.divergence) is not None:
            raise DivergenceError(divergence) from error

    def _plan(self) -> Plan:
        path, home = str(Path(self.recording.path).absolute()), str(LocalStore().root)
        if self.plan is not None:
            return replace(self.plan, options=self._options)
        seed = os.environ.get("PYTHONHASHSEED")
        return Plan("replay", self.recording.id, path, home, "", options=self._options, hash_seed=seed)

    def _compare_output(self) -> None:
        sealed = self.recording.logs[0].sealed
        if self.output is _UNSET or sealed is None or "output" not in sealed or self.replayer.divergences:
            return
        actual = codec.Encoder().encode(self.output)
        found = mismatches("output", {"output": sealed["output"]}, {"output": actual}, self.replayer.rules)
        if found:
            shown = tuple(Mismatch(m.path.removeprefix("args."), m.recorded, m.actual) for m in found)
            self.replayer.divergences.append(
                Divergence(Departure.CHANGED, "main/output", len(self.recording.steps) or None, shown)
            )


class _Pace:
    """Waits before each outcome as long as was recorded."""

    def __init__(self, times: list[float]) -> None:
        self._times = times
        self._began = perf_counter()

    def __call__(self, place: int) -> None:
        left = self._times[place] - (perf_counter() - self._began)
        if left > 0:
            sleep(left)


def replay(
    source: Source,
    *,
    live: Iterable[str] = (),
    ignore: Iterable[str] = (),
    on_divergence: Policy = "raise",
    inserted: Inserted = "refuse",
    pace: str = "fast",
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
        ignore: Parts that need not match, such as `"args.body.seed"`, `"http:* args.headers.x-trace"`, or `"order"`.
        on_divergence: `"raise"` stops at the first departure. `"realign"` is for edited programs: departures are
            named, and all other calls keep their own answers. `"live"` goes live from the first departure on.
        inserted: Under `"realign"`, whether a new call is refused (`"refuse"`) or answered live (`"live"`).
        pace: `"fast"`, or `"real"` to take as long as the recorded run.
        home: The folder of the recordings; by default `$REENACT_HOME`, or `.reenact` here.

    Raises:
        RecordingError: There is no such recording, or it cannot be read.
        DivergenceError: At the end of the body, where the program left its recording.
    """
    options = {"live": _words(live), "ignore": _words(ignore), "policy": on_divergence, "inserted": inserted}
    recording = source if isinstance(source, Recording) else load(source, home=home)
    return Replay(recording, options, pace)


def load(source: str | os.PathLike[str], *, home: str | os.PathLike[str] | None = None) -> Recording:
    """Read a recording: by id, unambiguous prefix, `"last"`, or path. Raises RecordingError."""
    return LocalStore(home).load(source)


@overload
def tool(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def tool(*, name: str = ..., kind: str = ...) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def tool(function: Any = None, /, *, name: str = "", kind: str = "tool") -> Any:
    """Make a function an effect: sync or async, plain or a generator. Its arguments are matched, its result kept."""
    if function is None:
        return functools.partial(tool, name=name, kind=kind)
    title = name or function.__name__
    signature = inspect.signature(function)

    def effect_of(args: Any, kwargs: Any) -> Effect:
        try:
            bound = dict(signature.bind(*args, **kwargs).arguments)
        except TypeError:
            bound = {"args": args, "kwargs": kwargs}
        return Effect(kind, title, bound)

    return functools.wraps(function)(_shell(function, effect_of))


def _shell(function: Any, effect_of: Callable[[Any, Any], Effect]) -> Any:
    def live(args: Any, kwargs: Any) -> Any:
        return functools.partial(function, *args, **kwargs)

    if inspect.isasyncgenfunction(function):
        return lambda *args, **kwargs: boundary.astream(effect_of(args, kwargs), live(args, kwargs))
    if inspect.isgeneratorfunction(function):
        return lambda *args, **kwargs: boundary.stream(effect_of(args, kwargs), live(args, kwargs))
    if inspect.iscoroutinefunction(function):

        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            if boundary.current() is None:
                return await function(*args, **kwargs)
            return await boundary.aperform(effect_of(args, kwargs), live(args, kwargs))

        return asynchronous

    def synchronous(*args: Any, **kwargs: Any) -> Any:
        if boundary.current() is None:
            return function(*args, **kwargs)
        return boundary.perform(effect_of(args, kwargs), live(args, kwargs))

    return synchronous


class effect:  # noqa: N801 - read as a verb: `reenact.effect("db", "orders").perform(...)`
    """A boundary of your own (level 3): what the answer depends on, and how to get it live.

        rows = reenact.effect("db", "orders", sql=sql).perform(lambda: connection.execute(sql).fetchall())

    Args:
        kind: The family, a word of your own.
        name: Which one of its kind.
        args: All that the answer depends on.
    """

    def __init__(self, kind: str, name: str, /, **args: Any) -> None:
        self._effect = Effect(kind, name, args)

    def perform(self, live: Callable[[], T]) -> T:
        """The answer: `live()`, or in a replay the recorded one."""
        return boundary.perform(self._effect, live)

    async def aperform(self, live: Callable[[], Any]) -> Any:
        """`perform` for an async answer."""
        return await boundary.aperform(self._effect, live)

    def stream(self, live: Callable[[], Any]) -> Any:
        """The chunks of `live()`, an iterator or async iterator, or the recorded ones."""
        if inspect.isasyncgenfunction(live) or asyncio.iscoroutinefunction(live):
            return boundary.astream(self._effect, live)
        return boundary.stream(self._effect, live)


@contextmanager
def span(name: str) -> Iterator[None]:
    """Name a stretch of the program, so that what happens in it keeps its identity when code around it changes."""
    with boundary.span(name):
        yield


def _words(value: Iterable[str]) -> tuple[str, ...]:
    # live="tool" is meant as live=["tool"], not as four letters.
    return (value,) if isinstance(value, str) else tuple(value)
