"""Try each step of a script on its page, changed in several ways."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from reenact.browser.actions import types as do
from reenact.browser.camera.footage import sessions
from reenact.browser.effects.session_recording import unrecorded
from reenact.browser.heal.harden.mutations import KINDS
from reenact.browser.heal.harden.recorded_pages import RecordedPages
from reenact.browser.heal.harden.repeated_session import RepeatedSession
from reenact.browser.heal.harden.script_run import ScriptAction, ScriptRun, run
from reenact.browser.heal.harden.trial import PageChange, StepTrial, attempt
from reenact.browser.heal.harden.worst import WorstChange, worst
from reenact.browser.session.session import Session
from reenact.core.store.base import Progress
from reenact.errors import RecordingError, UsageError

MUTATIONS = 4
"""Number of changes tried for each step by default."""


@dataclass(frozen=True)
class StepTrials:
    """One step of the script, and its result on each changed page.

    Attributes:
        step: The step.
        trials: One for each change that applies to its element.
        unreached: The reason that it could not be tried, or empty.
        worst: The smallest change that makes its selector act on another element, or None.
    """

    step: ScriptAction
    trials: tuple[StepTrial, ...]
    unreached: str = ""
    worst: WorstChange | None = None


@dataclass(frozen=True)
class Hardened:
    """The results of a hardened script.

    Attributes:
        script: Its file.
        recording: The recording of its successful run.
        pages: `recorded`: the pages came from that recording. `live`: they were loaded again.
        why_live: The reason for `live`, or empty.
        asked_live: Requests that were sent nevertheless, because the recording does not have their answers.
        steps: Its steps that act on an element.
        left: Its parts that could not be repeated.
    """

    script: Path
    recording: str
    pages: Literal["recorded", "live"]
    why_live: str
    asked_live: int
    steps: tuple[StepTrials, ...]
    left: tuple[str, ...]

    @property
    def trials(self) -> list[StepTrial]:
        """The trials of all steps."""
        return [trial for one in self.steps for trial in one.trials]

    @property
    def holds(self) -> bool:
        """True if every step was tried, and each one held or was saved.

        A stopped step is good only if its element is gone.
        """
        return not any(broken(trial) for trial in self.trials) and not any(
            one.unreached for one in self.steps
        )


def broken(trial: StepTrial) -> bool:
    """Return True if a step stopped although its element exists, or acted on a wrong element."""
    return trial.ending in {"wrong", "misled"} or (trial.ending == "stopped" and trial.change.kind != "gone")


def harden(
    script: Path,
    argv: Sequence[str] = (),
    *,
    mutations: int = MUTATIONS,
    seed: int = 0,
    told: Progress = lambda *_: None,
) -> Hardened:
    """Run and record an unchanged script, then run each of its steps on changed pages.

    Args:
        script: A Python script of plain `session.execute` calls.
        argv: Its arguments.
        mutations: Number of changes for each step: 1 to all kinds.
        seed: The same seed makes the same changes.
        told: Called with the number of the step that is tried, and the number of all steps.

    Raises:
        UsageError: The script does not exist, fails, or has nothing to try.
    """
    if not 1 <= mutations <= len(KINDS):
        raise UsageError(f"--mutations {mutations}: 1 to {len(KINDS)} (of each step: {', '.join(KINDS)})")
    course = run(script, argv)
    return asyncio.run(_hardened(course, mutations, seed, told))


async def _hardened(course: ScriptRun, mutations: int, seed: int, told: Progress) -> Hardened:
    served = _served(course)
    why_live = "" if served else "the recording keeps no pages"
    with unrecorded():
        async with _session(course) as session:
            track = RepeatedSession(session, course, served or None)
            await track.begin()
            if served:
                failed = await track.walk(len(course.steps))
                if failed:
                    why_live = f"on the recorded ones the script did not pass ({failed})"
                    await track.go_live()
            steps = [
                await _tried(track, step, mutations, seed, told)
                for step in course.steps
                if isinstance(step.action, do.Aimed)
            ]
    folder = course.session.recording.folder
    return Hardened(
        course.script,
        Path(folder).name if folder else "",
        "live" if why_live else "recorded",
        why_live,
        served.live if served and not why_live else 0,
        tuple(steps),
        tuple(course.left),
    )


def _served(course: ScriptRun) -> RecordedPages:
    folder = course.session.recording.folder
    if folder is None or not Path(folder).is_dir():
        raise UsageError(
            f"{course.script}: nothing was kept of its run; harden needs a session with save_replay_on='always'"
        )
    try:
        footage = next(one for one in sessions(Path(folder)) if one.id == course.session.id)
    except StopIteration:
        raise RecordingError(f"{folder}: nothing was filmed of session {course.session.id}") from None
    return RecordedPages(footage)


def _session(course: ScriptRun) -> Session:
    """Return a session with the script's options and a browser of its own.

    The browser is emptied between two tries.
    """
    options = {
        one.name: getattr(course.session.options, one.name)
        for one in dataclasses.fields(course.session.options)
    }
    options |= {"profile": None, "cdp_url": None, "save_replay_on": "never", "raise_on_failure": False}
    options |= {"max_duration_minutes": 0, "idle_timeout_minutes": 0, "headless": True}
    return Session(**options)


async def _tried(
    track: RepeatedSession, step: ScriptAction, mutations: int, seed: int, told: Progress
) -> StepTrials:
    assert isinstance(step.action, do.Aimed)
    draw = random.Random(f"{seed} {step.number}")
    trials: list[StepTrial] = []
    failed: str | None = None
    for kind in draw.sample(list(KINDS), len(KINDS)):
        if len(trials) == mutations:
            break
        told(step.number, len(track.course.steps))
        failed = await track.walk(step.number - 1)
        if failed:
            break
        trial = await attempt(track.session, step.action, PageChange(kind, draw.randrange(1 << 30)))
        if trial is not None:
            trials.append(trial)
    return StepTrials(
        step,
        tuple(trials),
        failed or ("" if trials else "its element could not be changed (it is in a frame)"),
        await worst(track, step, seed) if trials and not failed else None,
    )


def as_data(found: Hardened) -> dict[str, Any]:
    """Return the results as plain data, for JSON."""
    return {
        "script": str(found.script),
        "recording": found.recording,
        "pages": found.pages,
        "why_live": found.why_live,
        "asked_live": found.asked_live,
        "holds": found.holds,
        "left": list(found.left),
        "steps": [
            {
                "number": one.step.number,
                "line": one.step.line,
                "action": one.step.told,
                "unreached": one.unreached,
                "trials": [dataclasses.asdict(trial) for trial in one.trials],
                "worst": None if one.worst is None else dataclasses.asdict(one.worst),
            }
            for one in found.steps
        ],
    }
