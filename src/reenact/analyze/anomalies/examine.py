"""Ask the rules about one recording."""

from __future__ import annotations

from reenact.analyze.anomalies.anomaly import Anomaly, ordered
from reenact.analyze.anomalies.baseline import Baseline
from reenact.analyze.anomalies.case import Case
from reenact.analyze.anomalies.config import Choice
from reenact.model.recording import Recording


def examine(
    recording: Recording | Case, choice: Choice | None = None, baseline: Baseline | None = None
) -> list[Anomaly]:
    """What the chosen rules find, the most suspect step first.

    A rule that raises costs its own findings only: it is said in their place.
    """
    case = recording if isinstance(recording, Case) else Case(recording)
    found: list[Anomaly] = []
    for asked in (choice or Choice()).rules:
        options = dict(asked.options)
        if asked.rule.baseline:
            if baseline is None:
                continue
            options["baseline"] = baseline
        try:
            for one in asked.rule.check(case, **options):
                found.append(
                    Anomaly(
                        asked.rule.name,
                        asked.severity or one.severity or asked.rule.severity,
                        one.step,
                        one.sentence,
                        one.evidence,
                        one.others,
                        asked.rule.weight,
                    )
                )
        except Exception as error:
            text = f"the rule {asked.rule.name} failed on this recording ({type(error).__name__}: {error})"
            found.append(Anomaly(asked.rule.name, "info", None, text))
    return ordered(found)
