"""Run a recorded program again in a process of its own, within bounds, and keep the result."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

from reenact.core import system
from reenact.core.dataclass import dataclass
from reenact.core.model.divergence import Verdict
from reenact.core.model.event import Tree
from reenact.core.model.header import program_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import ProgramError
from reenact.run.launch import folder, judged, replaying, reports_in

PATIENCE = 120.0
"""Seconds that a program may take, unless the user says otherwise."""


@dataclass(frozen=True, slots=True)
class Rerun:
    """The result of running a program again on a recording.

    Attributes:
        recording: The recording that answered.
        status: Its exit status; ended by a signal, minus the signal's number; None if it took too long.
        stdout, stderr: Its output.
        verdict: The replay's verdict, or None if the program died without one.
        failed: The reason that there is no verdict, in one sentence.
        halted: The replay was stopped: the program asked a question without an answer.
        output: The output of the recorded block or function, as a tree, in a tuple; empty if there is none.
        written: The standard output in the form of a recording's seal, secrets replaced, or None.
        seconds: Its duration.
        warnings: The differences from the recorded environment, one sentence each.
    """

    recording: RecordedRun
    status: int | None
    stdout: str
    stderr: str
    verdict: Verdict | None
    failed: str = ""
    halted: bool = False
    output: tuple[Tree, ...] = ()
    written: Mapping[str, Tree] | None = None
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()


class Conditions:
    """The conditions of one run; these are the recorded ones.

    Attributes:
        words: Options of the replay besides the given ones.
        seed: Another PYTHONHASHSEED than the recorded one, or None.
    """

    words: Mapping[str, Any] = MappingProxyType({})
    seed: str | None = None

    def folder(self, recorded: str | None) -> str | None:
        """Return the folder to run in."""
        return recorded

    def started(self, process: subprocess.Popen[bytes]) -> None:
        """Do nothing to the started program."""


RECORDED = Conditions()


def rerun(
    recording: RecordedRun,
    words: Mapping[str, Any],
    *,
    command: Sequence[str] = (),
    home: str | os.PathLike[str] | None = None,
    patience: float = PATIENCE,
    verb: str = "reproduce",
    run_foreign: bool = False,
    conditions: Conditions = RECORDED,
) -> Rerun:
    """Run the recorded program again, or another command, without a terminal; keep its output.

    Args:
        recording: The recording that answers.
        words: The options, as `launch.Options.tree` gives them.
        command: Another program than the remembered one; it runs in the current folder.
        home: The folder of the recordings.
        patience: Seconds until it is ended.
        verb: The verb to suggest with another command if this one cannot be run.
        run_foreign: The user lets a foreign recording's program run.
        conditions: The conditions to run it under.

    Raises ForeignRecording, ProgramError or UsageError where it cannot be run.
    """
    with folder() as place:
        start = replaying(
            recording,
            {**words, **conditions.words},
            place,
            command=command,
            home=home,
            verb=verb,
            run_foreign=run_foreign,
            seed=conditions.seed,
        )
        start = replace(start, cwd=conditions.folder(start.cwd))
        began = perf_counter()
        out, err = place / "stdout", place / "stderr"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = start.open(stdout.fileno(), stderr.fileno())
            conditions.started(process)
            status = ended(process, patience)
        seconds = perf_counter() - began
        reports = reports_in(place)
        texts = _text(out), _text(err)
        done = None if status is None else judged(recording, start, status, process.pid, place)
    if done is None:
        text = f"it still ran after {patience:g} seconds, and was ended"
        return Rerun(recording, None, *texts, None, text, halted=True, seconds=seconds)
    main = reports.get("main", {})
    return Rerun(
        recording,
        status,
        *texts,
        done.verdict,
        done.failed,
        halted=any(said.get("halted") for said in reports.values()),
        output=(main["output"],) if "output" in main else (),
        written=main.get("stdout"),
        seconds=seconds,
        warnings=done.warnings,
    )


def where(recording: RecordedRun, command: Sequence[str]) -> Path:
    """Return the folder that the program runs in. Raises ProgramError if it is gone."""
    if command:
        return Path.cwd()
    path = Path(str(program_of(recording.header).get("cwd") or "."))
    if not path.is_dir():
        raise ProgramError(f"the folder that the program ran in is gone: {path}")
    return path


def ended(process: subprocess.Popen[bytes], patience: float) -> int | None:
    """Return the exit status, or None after the time limit. End all processes it has started."""
    try:
        return process.wait(patience)
    except subprocess.TimeoutExpired:
        return None
    finally:
        system.kill_group(process.pid)
        process.wait()


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
