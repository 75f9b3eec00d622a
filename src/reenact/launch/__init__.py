"""Starting a program so that it is recorded or replayed, whatever it is and however it is started.

The program's terminal, streams, exit status and signals stay its own. What becomes of the recording it tells
in a folder that it is given; a process that dies without a word is said to have done so.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from reenact.adapters.stdlib.processes import option_takes_value
from reenact.errors import ProgramError, RecordingError, UsageError
from reenact.model.divergence import Departure, Divergence, Mismatch, Verdict, merged, verdict_of
from reenact.model.recording import Recording
from reenact.plan import Plan
from reenact.record.snapshot import risky_filter
from reenact.replay.match import Rules
from reenact.store.local import EVENTS, LocalStore, load, new_id

LIBRARIES = (
    "aiohttp", "anthropic", "anyio", "google-genai", "httpx", "httpx2", "langchain-core", "langgraph", "mcp", "openai",
    "openai-agents", "pydantic", "pydantic-ai", "pydantic-ai-slim", "requests", "urllib3",
)  # fmt: skip
"""Packages whose version may matter to a replay, where the recording does not say which the program imported."""

STDOUT = "stdout"
"""The rule that lets a program write something else than recorded."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a program that was to be recorded.

    Attributes:
        status: Its exit status as the shell sees it; of a program ended by a signal, minus the signal's number.
        recording: What it left behind, or None.
        failed: Why nothing was recorded, in one sentence.
    """

    status: int
    recording: Recording | None = None
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a program that was replayed.

    Attributes:
        recording: What was replayed.
        verdict: What the replay amounted to, or None where it died without one.
        status: The program's exit status.
        failed: Why there is no verdict, in one sentence.
        warnings: What differs from when it was recorded, one sentence each.
    """

    recording: Recording
    verdict: Verdict | None
    status: int
    failed: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """How to replay; the words are those of `reenact.replay()`."""

    live: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    on_divergence: str = "raise"
    inserted: str = "refuse"
    pace: str = "fast"

    def tree(self) -> dict[str, Any]:
        """For the plan of a process. Raises UsageError for what cannot be meant."""
        for name, value, known in (
            ("on-divergence", self.on_divergence, ("raise", "realign", "live")),
            ("inserted", self.inserted, ("refuse", "live")),
            ("pace", self.pace, ("fast", "real")),
        ):
            if value not in known:
                raise UsageError(f"--{name} {value}: it is one of {', '.join(known)}")
        rules = tuple(rule for rule in self.ignore if rule != STDOUT)
        Rules(rules)
        return {
            "live": list(self.live),
            "ignore": list(rules),
            "policy": self.on_divergence,
            "inserted": self.inserted,
            "pace": self.pace,
            "silent": STDOUT in self.ignore,
        }


# -- record --------------------------------------------------------------------------------------------------


def record(
    command: Sequence[str],
    *,
    name: str = "",
    tags: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    risky: str = "",
    every: int = 0,
) -> Recorded:
    """Run a command; the first Python in it, and what that starts, is recorded. `quiet` sends what it writes to
    standard error. `risky` and `every` (0: as always) say when the tracked state is kept.

    Raises UsageError where there is nothing to run, FilterError where `risky` does not parse.
    """
    risky_filter(risky)
    executable = _executable(command)
    store = LocalStore(home)
    known_as = new_id()
    with folder() as place:
        plan = Plan(
            "record",
            known_as,
            str(store.folder(known_as)),
            str(store.root),
            str(place),
            name=name,
            tags=tuple(tags),
            risky=risky,
            every=every,
        )
        seed = str(random.SystemRandom().randrange(1, 2**32))
        status, pid = _run(
            command, executable, {**os.environ, **plan.environ(os.environ, seed=seed)}, quiet=quiet
        )
        reports = reports_in(place)
    failed = next((str(said["failed"]) for said in reports.values() if "failed" in said), "")
    said = reports.get("main", {})
    if "path" not in said:
        text = f"no Python that could be recorded was started by `{_shown(command)}`"
        return Recorded(status, failed=failed or text)
    path = Path(str(said["path"]))
    _correct(path / EVENTS, status, mine=said.get("pid") == pid)
    try:
        return Recorded(status, load(path))
    except RecordingError as error:
        return Recorded(status, failed=str(error))


def _correct(path: Path, status: int, *, mine: bool) -> None:
    """`raise SystemExit(3)` leaves no trace within the process; its parent knows how it ended."""
    if not mine or not path.is_file():
        return
    data = path.read_bytes()
    start = data.rfind(b"\n", 0, len(data) - 1) + 1
    try:
        line = orjson.loads(data[start:])
    except ValueError:
        return
    if line.get("event") != "sealed" or line.get("exit") == status:
        return
    line |= {"exit": status, "status": "error" if status else "ok"}
    part = path.with_suffix(".part")
    part.write_bytes(data[:start] + orjson.dumps(line) + b"\n")
    part.chmod(0o600)
    part.replace(path)


# -- replay --------------------------------------------------------------------------------------------------


def replay(
    ref: str,
    options: Options,
    *,
    command: Sequence[str] = (),
    cwd: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    quiet: bool = False,
) -> Replayed:
    """Run the recorded program again, or another command, answered from the recording. `quiet` sends what it writes
    to standard error.

    Raises RecordingError, ProgramError or UsageError where it cannot be run.
    """
    words = options.tree()
    recording = LocalStore(home).load(ref)
    with folder() as place:
        start = replaying(recording, words, place, command=command, home=home)
        where = start.cwd if cwd is None else os.fspath(cwd)
        status, pid = _run(start.argv, start.executable, start.environ, cwd=where, quiet=quiet)
        reports = reports_in(place)
    return judged(recording, start.argv, status, pid, reports)


@dataclass(frozen=True, slots=True)
class Start:
    """How a program is started."""

    argv: list[str]
    executable: str
    environ: dict[str, str]
    cwd: str | None

    def open(self, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
        """Start it without a terminal, in a session of its own; what it writes goes to these descriptors.

        Raises UsageError where it cannot be run.
        """
        try:
            return subprocess.Popen(  # noqa: S603 - to run what the user asks for is the point
                self.argv,
                executable=self.executable,
                env=self.environ,
                cwd=self.cwd,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"{self.argv[0]} cannot be run: {error.strerror}") from None


def replaying(
    recording: Recording,
    words: dict[str, Any],
    place: Path,
    *,
    command: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    verb: str = "replay",
) -> Start:
    """How to start a program so that it replays. Its processes leave word in the folder `place`.

    Raises ProgramError or UsageError where it cannot be run.
    """
    argv, cwd = (list(command), None) if command else remembered(recording, verb=verb)
    executable = _executable(argv)
    path = str(Path(recording.path).absolute())
    environ = dict(os.environ)
    program = recording.header.get("program") or {}
    if program.get("hash_seed") is not None:
        environ.pop("PYTHONHASHSEED", None)
    plan = Plan("replay", recording.id, path, str(LocalStore(home).root), str(place), options=words)
    environ |= plan.environ(environ, seed=program.get("hash_seed"))
    return Start(argv, executable, environ, cwd)


def judged(
    recording: Recording, argv: Sequence[str], status: int, pid: int, reports: dict[str, Any]
) -> Replayed:
    """What a replay amounted to: of its command, exit status and process id, and the words left (`reports_in`)."""
    failed = next((str(said["failed"]) for said in reports.values() if "failed" in said), "")
    said = reports.get("main", {})
    if failed or "verdict" not in said:
        how = f"ended by {ended_by(status)}" if status < 0 else f"exit status {status}"
        text = f"the program died without a verdict ({how})"
        if not reports:
            text = f"no Python that could replay was started by `{_shown(argv)}` ({how})"
        return Replayed(recording, None, status, failed or text)
    others = [each for name, each in sorted(reports.items()) if name != "main" and "verdict" in each]
    verdict = merged([verdict_of(each["verdict"]) for each in (said, *others)])
    if not verdict.divergences:
        verdict = merged([verdict, _completeness(recording, reports, status, mine=said.get("pid") == pid)])
    return Replayed(recording, verdict, status, warnings=tuple(_differing(recording, said)))


def _completeness(recording: Recording, reports: dict[str, Any], status: int, *, mine: bool) -> Verdict:
    """What only the parent sees: a Python of the command that was not started, another exit status."""
    found = [
        Divergence(Departure.MISSING, log.process, detail="the process was not started")
        for log in recording.logs
        if "/" not in log.process and log.process not in reports
    ]
    sealed = recording.logs[0].sealed or {}
    recorded = sealed.get("exit")
    if mine and recording.header.get("entry") == "program" and recorded is not None and recorded != status:
        differs = (Mismatch("exit", recorded, status),)
        detail = "the program ended with another exit status"
        found.append(Divergence(Departure.CHANGED, "main/exit", None, differs, detail))
    return Verdict(recording.id, divergences=tuple(found))


def remembered(recording: Recording, *, verb: str = "replay") -> tuple[list[str], str]:
    """The command and the folder that a recording remembers. Raises ProgramError where they are of no use."""
    program = recording.header.get("program") or {}
    argv = [str(word) for word in program.get("argv") or ()]
    word, _, more = verb.partition(" ")
    options = f" {more}" if more else ""
    other = f"say what to run: reenact {word} {recording.id}{options} -- python agent.py"
    if not argv:
        raise ProgramError(f"recording {recording.id} remembers no program (it was imported?); {other}")
    cwd = str(program.get("cwd") or "")
    if not Path(cwd).is_dir():
        raise ProgramError(f"the folder that the program ran in is gone: {cwd}; {other}")
    if shutil.which(argv[0]) is None:
        raise ProgramError(f"the Python that ran the program is gone: {argv[0]}; {other}")
    file = _script(argv)
    if file is not None and not Path(cwd, file).exists():
        raise ProgramError(f"the program is gone: {Path(cwd, file)}; {other}")
    return argv, cwd


def _script(argv: Sequence[str]) -> str | None:
    """The file that a Python's command line names; None for a module, code, or standard input."""
    rest = iter(argv[1:])
    for word in rest:
        if word in ("-m", "-c", "-"):
            return None
        if option_takes_value(word):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


def _differing(recording: Recording, said: dict[str, Any]) -> Iterator[str]:
    program = recording.header.get("program") or {}
    old, new = str(program.get("python") or ""), str(said.get("python") or "")
    if old and new and old.split(".")[:2] != new.split(".")[:2]:
        yield f"recorded on Python {old}, replayed on {new}"
    sealed = recording.logs[0].sealed or {}
    known = sealed.get("packages")
    if not isinstance(known, dict):
        known = {
            name: version for name, version in (program.get("packages") or {}).items() if name in LIBRARIES
        }
    installed = said.get("packages") or {}
    changed = [
        f"{name} {version} (now {installed.get(name) or 'not installed'})"
        for name, version in sorted(known.items())
        if name != "reenact" and installed.get(name) != version
    ]
    if changed:
        yield f"recorded with other versions: {', '.join(changed)}"


# -- running -------------------------------------------------------------------------------------------------


def _executable(command: Sequence[str]) -> str:
    if not command:
        raise UsageError("no command given; write it behind two dashes: reenact record -- python agent.py")
    found = shutil.which(command[0])
    if found is None:
        raise UsageError(f"no such program: {command[0]}")
    return found


@contextmanager
def folder() -> Iterator[Path]:
    """A folder where processes leave word, for as long as the body runs."""
    path = tempfile.mkdtemp(prefix="reenact-")
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def reports_in(place: Path) -> dict[str, Any]:
    """What the processes have said there, by their scope paths."""
    found: dict[str, Any] = {}
    for path in sorted(place.glob("*.json")):
        try:
            tree = orjson.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        found[str(tree.get("process") or path.stem)] = tree
    return {name: tree for name, tree in found.items() if "/" not in name}


def _run(
    command: Sequence[str],
    executable: str,
    environ: dict[str, str],
    *,
    cwd: str | None = None,
    quiet: bool = False,
) -> tuple[int, int]:
    """Run it to its end. Ctrl-C reaches it from the terminal as it reaches us; other signals are passed on."""
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, frame: object) -> None:
        if child is not None and child.returncode is None:
            child.send_signal(number)

    before = {}
    for number in (
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGUSR1,
        signal.SIGUSR2,
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            continue
        # A function, not SIG_IGN, which the child would inherit. The terminal itself tells the child of its keys.
        typed = number in (signal.SIGINT, signal.SIGQUIT)
        before[number] = signal.signal(number, _heard if typed and sys.stdin is not None else pass_on)
    try:
        child = subprocess.Popen(  # noqa: S603 - to run what the user asks for is the point
            list(command),
            executable=executable,
            env=environ,
            cwd=cwd,
            stdout=sys.stderr.fileno() if quiet else None,
        )
        return _wait(child), child.pid
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be run: {error.strerror}") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heard(number: int, frame: object) -> None:
    """A key of the terminal: the program hears of it by itself, and decides."""


def _wait(child: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def ended_by(status: int) -> str:
    """The name of the signal that ended a program, of its negative status."""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _shown(command: Sequence[str]) -> str:
    text = " ".join(command)
    return text if len(text) <= 80 else text[:79] + "…"
