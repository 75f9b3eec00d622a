"""A test and its recording. This module is imported with the first marked test."""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any
from unittest import TestCase

import pytest

from reenact.analysis.views.difference import divergence_lines
from reenact.core.model.divergence import ERROR, Verdict
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store import bundle
from reenact.core.store.local import SUFFIX, LocalStore, load
from reenact.errors import Divergence, DivergenceError, ReenactError, UsageError
from reenact.run.api.recording import record
from reenact.run.api.replaying import Replay, replay
from reenact.team import ship
from reenact.testing.pytest import mode
from reenact.verbs.configuration import POLICY, settings
from reenact.verbs.replay import Options

_ODD = re.compile(r"[^\w.\[\]-]+")
_LONGEST = 120
"""Letters of a test in the name of its recording."""

_OPTIONS = ("live", "ignore", "on_divergence", "inserted", "pace", "tools", "policy")


class Taped:
    """The fixture `reenact`: a test's recording.

    Attributes:
        path: The recording's file.
        mode: `replay`, `record`, `update` or `off`.
        recording: The replayed recording; None while recording.
        verdict: The verdict of the replay so far; None while recording.
    """

    def __init__(self, path: Path, mode: str, options: dict[str, Any], node: str) -> None:
        self.path = path
        self.mode = mode
        self._options = options
        self._node = node
        self._replay: Replay | None = None
        self.begun = False
        """True if the test has run in its session."""
        self.departure = ""
        """The divergence of a test that left its recording, or why it could not run on it."""
        self.failed: _Recorded | None = None
        """The recording of the test if it failed while it was recorded, until pytest has judged it."""

    @property
    def recording(self) -> RecordedRun | None:
        return self._replay.recording if self._replay is not None else None

    @property
    def verdict(self) -> Verdict | None:
        return self._replay.verdict if self._replay is not None else None

    def session(self) -> Any:
        """Return the context manager that the test runs in."""
        self.begun, self.departure = True, ""
        recording = self.mode == "update" or (self.mode == "record" and not self.path.exists())
        if self.mode == "off":
            return _Off()
        if recording:
            return _Recorded(self, self._node)
        if not self.path.exists():
            self.departure = (
                f"there is no recording {_short(self.path)}; make it with: "
                f"pytest --reenact=record {self._node!r}"
            )
            pytest.fail(self.departure, pytrace=False)
        try:
            self._replay = replay(str(self.path), **self._options)
        except (ReenactError, TypeError) as error:
            self.departure = f"reenact: {error}"
            pytest.fail(self.departure, pytrace=False)
        return _Replayed(self, self._replay, self._node)


class _Off:
    """Runs a test without a recording."""

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


class _Recorded:
    """Records a test; the recording becomes its file if it passes, or fails as an xfail."""

    def __init__(self, taped: Taped, node: str) -> None:
        self._taped = taped
        self._home = Path(tempfile.mkdtemp(prefix="reenact-"))
        ship.keep_here(self._home)
        self._session = record(node, home=self._home)

    def __enter__(self) -> None:
        self._session.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self._session.__exit__(kind, error, trace)
        if isinstance(error, (Exception, pytest.fail.Exception, pytest.xfail.Exception)):
            self._taped.failed = self
        else:
            self.end(keep=error is None)

    def end(self, *, keep: bool) -> None:
        """Keep the recording as the test's file, or delete it."""
        path = self._taped.path
        try:
            if keep:
                path.parent.mkdir(parents=True, exist_ok=True)
                bundle.export(LocalStore(self._home), self._session.id, path, force=True)
        finally:
            shutil.rmtree(self._home, ignore_errors=True)


class _Replayed:
    """Replays a test, which fails at a divergence."""

    def __init__(self, taped: Taped, session: Replay, node: str) -> None:
        self._taped = taped
        self._session = session
        self._node = node

    def __enter__(self) -> None:
        self._session.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._session.__exit__(kind, error, trace)
        except DivergenceError as diverged:
            if error is None and diverged.divergence.address == ERROR:
                # Recorded, it failed as an xfail, and it passes now with the same answers: that is for pytest to judge.
                return
            told = _failure_text(diverged.divergence, self._session.recording, self._taped.path, self._node)
            self._taped.departure = told
            if not isinstance(error, Exception):
                # From None, because the exception that stopped the program says the same, and would be printed first.
                raise pytest.fail.Exception(told, pytrace=False) from None
            # The test's own failure is more important; the divergence is added as its likely cause.
            error.add_note(told)


_WRAPPED = pytest.StashKey[Callable[..., Any]]()


def wrap(item: pytest.Function) -> None:
    """Let a test run on its recording; once, as a failed test may be run again."""
    if item.stash.get(_WRAPPED, None) is not item.obj:
        item.obj = item.stash[_WRAPPED] = in_session(item, item.obj)
    if isinstance(item.instance, TestCase):
        # unittest calls the method by its name; pytest gives it the wrapped one only if it is not async.
        setattr(item.instance, item.name, item.obj)
    taped(item).begun = False


def check(item: pytest.Item, report: pytest.TestReport) -> None:
    """Fail a test that passed without its recording, and one that left it, although it may fail."""
    known = item.stash.get(_TAPED, None)
    if known is not None and known.failed is not None:
        failed, known.failed = known.failed, None
        failed.end(keep=report.skipped and hasattr(report, "wasxfail"))
    if report.passed and (known is None or not known.begun):
        report.outcome = "failed"
        report.longrepr = (
            f"reenact: {item.nodeid} ran without its recording: {type(item).__name__} is not supported"
        )
    elif known is not None and known.departure and hasattr(report, "wasxfail"):
        del report.wasxfail
        report.outcome, report.longrepr = "failed", known.departure


def in_session(item: pytest.Function, test: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a test so that it runs on its recording. Async tests stay async."""
    if inspect.iscoroutinefunction(test):

        @functools.wraps(test)
        async def arun(*args: Any, **kwargs: Any) -> Any:
            with taped(item).session():
                return await test(*args, **kwargs)

        return arun

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> Any:
        with taped(item).session():
            return test(*args, **kwargs)

    return run


_TAPED = pytest.StashKey[Taped]()


def taped(item: pytest.Function) -> Taped:
    """Return the recording of a test."""
    known = item.stash.get(_TAPED, None)
    if known is None:
        marker = item.get_closest_marker("reenact")
        assert marker is not None
        unknown = sorted(set(marker.kwargs) - {*_OPTIONS, "file"})
        if unknown or len(marker.args) > 1:
            given = unknown[0] if unknown else str(marker.args[1])
            pytest.fail(
                f"@pytest.mark.reenact does not take {given}; it takes a file, and {', '.join(_OPTIONS)}",
                pytrace=False,
            )
        file = marker.args[0] if marker.args else marker.kwargs.get("file")
        marked = {name: value for name, value in marker.kwargs.items() if name in _OPTIONS}
        options = {**_configured(), **marked}
        known = Taped(_path(item, file), mode(item.config), options, item.nodeid)
        item.stash[_TAPED] = known
    return known


def _configured() -> dict[str, Any]:
    """Return the options of `reenact replay` in the configuration file.

    The replay itself adds the policy.
    """
    try:
        found = settings("replay", Options)
    except UsageError as error:
        pytest.fail(f"reenact: {error}", pytrace=False)
    return {name: setting.value for name, setting in found.items() if name in _OPTIONS and name != POLICY}


def _path(item: pytest.Function, given: str | None) -> Path:
    folder = item.path.parent
    if given is not None:
        path = folder / given
        return path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
    folder = folder / "recordings" / item.path.stem
    plain = f"{item.cls.__qualname__}.{item.name}" if item.cls is not None else item.name
    name = _ODD.sub("-", plain)[:_LONGEST]
    if name != plain:
        # Others may have the same name.
        name += f"-{hashlib.sha256(plain.encode()).hexdigest()[:8]}"
    path = folder / f"{name}{SUFFIX}"
    return path if path.exists() else _earlier(item, folder) or path


def _earlier(item: pytest.Function, folder: Path) -> Path | None:
    """Return this test's recording of a version before 0.2, whose name others may share."""
    owner = f"{item.cls.__name__}." if item.cls is not None else ""
    path = folder / f"{owner}{_ODD.sub('-', item.name)}{SUFFIX}"
    try:
        made_by = load(path).name if path.exists() else ""
    except (ReenactError, OSError):
        return None
    return path if made_by.partition("::")[2] == item.nodeid.partition("::")[2] else None


def _failure_text(divergence: Divergence, recording: RecordedRun, path: Path, node: str) -> str:
    """Return the message of a test's failure for a divergence."""
    text, *parts = divergence_lines(divergence)
    # An extra call after the last step has a number that does not exist.
    shown = divergence.step if divergence.step is not None and divergence.step <= len(recording.steps) else ""
    lines = [
        f"the test no longer matches its recording: {text}",
        *parts,
        f"  look at it:       reenact show {_short(path)} {shown}".rstrip(),
        f"  if it is intended: pytest --reenact=update {node!r}",
    ]
    return "\n".join(lines)


def _short(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
