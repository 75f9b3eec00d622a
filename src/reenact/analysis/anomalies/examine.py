"""Apply the rules to one recording."""

from __future__ import annotations

from collections.abc import Iterable

from reenact.analysis.anomalies.anomaly import Anomaly, ordered
from reenact.analysis.anomalies.baseline import Baseline
from reenact.analysis.anomalies.case import Case
from reenact.analysis.anomalies.config import Choice, ConfiguredRule
from reenact.analysis.anomalies.registry import RULES, RuleFinding
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import MissingExtra, RecordingError

_LED = 0.15


def examine(
    recording: RecordedRun | Case, choice: Choice | None = None, baseline: Baseline | None = None
) -> list[Anomaly]:
    """Return the findings of the chosen rules, the most suspect step first.

    The findings of a rule that raises are replaced by its error; those of other rules stay.

    Raises:
        RecordingError: No call in the recording has an outcome.
    """
    case = recording if isinstance(recording, Case) else Case(recording)
    if not any(step.call.outcome is not None for step in case.facts):
        there = (
            f"none of its {len(case.facts.steps)} steps has an answer"
            if case.facts.steps
            else "it has no steps"
        )
        raise RecordingError(f"recording {case.recording.id} cannot be diagnosed: {there}")
    found: list[Anomaly] = []
    # An agent that leads others repeats their results: its anomalies began with theirs.
    led = {said.step for said in case.said if case.leader and said.agent == case.leader}
    for asked in (choice or Choice()).rules:
        options = dict(asked.options)
        if asked.rule.baseline:
            if baseline is None:
                continue
            options["baseline"] = baseline
        try:
            found += [_anomaly(asked, one, led) for one in asked.rule.check(case, **options)]
        except MissingExtra as error:
            found.append(Anomaly(asked.rule.name, "info", None, str(error)))
        except Exception as error:
            text = f"the rule {asked.rule.name} failed on this recording ({type(error).__name__}: {error})"
            found.append(Anomaly(asked.rule.name, "info", None, text))
    return ordered(found)


def _anomaly(asked: ConfiguredRule, one: RuleFinding, led: set[int]) -> Anomaly:
    return Anomaly(
        asked.rule.name,
        asked.severity or one.severity or asked.rule.severity,
        one.step,
        one.sentence,
        one.evidence,
        one.others,
        asked.rule.weight * (_LED if one.step in led else 1.0),
    )


def rank(found: Iterable[Anomaly]) -> float:
    """Return the suspicion of the run, from 0 to 1: each rule with findings counts once."""
    good = 1.0
    for _, weight in {(one.rule, RULES[one.rule].weight) for one in found if one.rule in RULES}:
        good *= 1.0 - weight
    return 1.0 - good
