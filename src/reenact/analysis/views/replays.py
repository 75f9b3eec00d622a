"""The results of running a recorded program again: replay, reproduce, prove, bisect, fork."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from reenact.analysis.attempts import Attempt, Reproduces, Reproduction
from reenact.analysis.decisive import Alike, Change
from reenact.analysis.decisive import Result as Judged
from reenact.analysis.views.base import Json, View
from reenact.analysis.world import RepeatedQuestion
from reenact.core.model.divergence import Verdict, verdict_tree
from reenact.errors import Departure


class MismatchView(View):
    """A part of an effect that differs, with its path."""

    path: str
    recorded: Json
    actual: Json


class DivergenceView(View):
    """The place where a replay leaves its recording; `step` is None for a call that no step has."""

    kind: Departure
    address: str
    step: int | None
    mismatches: tuple[MismatchView, ...]
    detail: str
    hint: str


class VerdictView(View):
    """The verdict of a replay; `reenact.Verdict` says what each field means."""

    faithful: bool
    recording: str
    served: int
    live: dict[str, int]
    rules: tuple[str, ...]
    missing: tuple[tuple[int, str], ...]
    divergences: tuple[DivergenceView, ...]
    notes: tuple[str, ...]
    kinds: dict[str, int]
    again: dict[str, int]
    answered: dict[str, str]
    compared: tuple[str, ...]
    uncompared: tuple[str, ...]
    changed_since: tuple[str, ...]


class ReplayedView(View):
    """A replay: the verdict, or the reason that there is none."""

    recording: str
    exit: int
    warnings: tuple[str, ...]
    failed: str | None = None
    verdict: VerdictView | None = None


class AttemptView(View):
    """One of several replays, with its verdict or failure; no exit status: it took too long."""

    exit: int | None
    seconds: float
    failed: str | None
    verdict: VerdictView | None


class AskedView(View):
    """A recorded read-only question, asked again: the change of its answer."""

    steps: tuple[int, ...]
    label: str
    change: str
    detail: str
    mismatches: tuple[MismatchView, ...]
    left_out: tuple[str, ...]


class ReproductionView(View):
    """Several replays of a recording, judged together.

    Attributes:
        recording: The recording's id.
        result: The result.
        where: The first different or flaky place; for a program that cannot run, the reason.
        uncovered: The inputs that the recording does not cover, one sentence each.
        attempts: The replays, in order.
        world: The read-only questions, asked again; absent if they were not to be asked.
    """

    recording: str
    result: Reproduces
    where: str | None
    uncovered: tuple[str, ...]
    attempts: tuple[AttemptView, ...]
    world: tuple[AskedView, ...] = ()


class ProvingReplayView(View):
    """A replay under unusual conditions."""

    number: int
    conditions: tuple[str, ...]
    faithful: bool
    step: int | None
    departure: str | None
    exit: int | None
    seconds: float


class ProofView(View):
    """Replays of a recording under unusual conditions.

    Attributes:
        recording: The recording's id.
        proved: The number of faithful replays; None if the recording is not proved.
        result: The result in a sentence.
        departed: The number of replays that left the recording.
        advice: The likely causes and their remedies.
        not_applied: The conditions that could not be made here, with the reasons.
        uncovered: The inputs that the recording does not cover, one sentence each.
        replays: The replays, in order.
    """

    recording: str
    proved: int | None
    result: str
    departed: int
    advice: tuple[str, ...]
    not_applied: dict[str, str]
    uncovered: tuple[str, ...]
    replays: tuple[ProvingReplayView, ...]


class ChangeView(View):
    """An answer, or a series of reads, that differs between the two runs."""

    name: str
    step: int | None
    other: int | None
    alike: Alike
    bad: str
    good: str
    reads: tuple[str, str] | None


class TrialView(View):
    """A replay of the bad run with some answers of the good run.

    `approximate`: the number of questions that were answered by the nearest recorded one.
    """

    changes: tuple[str, ...]
    result: Judged
    why: str | None
    approximate: int
    seconds: float


class BisectionView(View):
    """The search for the decisive answers.

    Attributes:
        summary: The result in a sentence.
        bad: The bad run's id.
        good: The good run's id.
        changes: The fewest answers with which the bad run turns good; empty if there are none.
        minimal: No part of them does.
        spent: The trials were used up.
        turns_back: The good run turns bad with the bad run's answers; None if that could not be tried.
        runs: The number of executions of the program.
        trials: The trials, in order.
        notes: Further facts for a careful reader.
    """

    summary: str
    bad: str
    good: str
    changes: tuple[ChangeView, ...]
    minimal: bool
    spent: bool
    turns_back: bool | None
    runs: int
    trials: tuple[TrialView, ...]
    notes: tuple[str, ...]


class ForkedView(View):
    """A fork: the new recording (None: nothing was forked), and the labels of what ran for real."""

    parent: str
    step: int
    recording: str | None
    how: str
    reason: str | None
    exit: int
    ran: tuple[str, ...]


def verdict_view(verdict: Verdict) -> VerdictView:
    """Return the verdict of a replay as a view."""
    tree = verdict_tree(verdict)
    divergences = tuple(
        DivergenceView(**{**one, "mismatches": tuple(MismatchView(**each) for each in one["mismatches"])})
        for one in tree["divergences"]
    )
    return VerdictView(**{**tree, "divergences": divergences})


def attempt_view(attempt: Attempt) -> AttemptView:
    """Return one of several replays as a view."""
    return AttemptView(
        exit=attempt.status,
        seconds=round(attempt.seconds, 3),
        failed=attempt.failed or None,
        verdict=verdict_view(attempt.verdict) if attempt.verdict is not None else None,
    )


def reproduction_view(
    done: Reproduction, asked: Sequence[RepeatedQuestion] | None = None
) -> ReproductionView:
    """Return several replays as a view; `asked`: the questions that were asked again, if any."""
    world = {} if asked is None else {"world": tuple(_asked_view(each) for each in asked)}
    return ReproductionView(
        recording=done.recording,
        result=done.result,
        where=done.where or None,
        uncovered=tuple(done.uncovered),
        attempts=tuple(attempt_view(each) for each in done.attempts),
        **world,
    )


def _asked_view(asked: RepeatedQuestion) -> AskedView:
    tree = asdict(asked)
    return AskedView(**{**tree, "mismatches": tuple(MismatchView(**each) for each in tree["mismatches"])})


def change_view(change: Change) -> ChangeView:
    """Return a difference between two runs as a view."""
    return ChangeView(**asdict(change))
