"""Anomalies: named rules that report odd facts in a recording, with place and evidence.

Pure: they read a recording and nothing else. `docs/diagnose.md` lists the rules, `benchmarks/DIAGNOSE.md` says how
well each of them does on labelled runs.
"""

from reenact.analysis.anomalies import rules
from reenact.analysis.anomalies.anomaly import SEVERITIES, Anomaly, Severity, ordered
from reenact.analysis.anomalies.baseline import Baseline
from reenact.analysis.anomalies.case import Case, Said, Use
from reenact.analysis.anomalies.config import Choice
from reenact.analysis.anomalies.examine import examine
from reenact.analysis.anomalies.registry import RULES, Rule, RuleFinding, installed, rule

__all__ = [
    "RULES",
    "SEVERITIES",
    "Anomaly",
    "Baseline",
    "Case",
    "Choice",
    "Rule",
    "RuleFinding",
    "Said",
    "Severity",
    "Use",
    "examine",
    "installed",
    "ordered",
    "rule",
    "rules",
]
