"""The rules that come with Reenact, one module a family; importing them adds them to the registry."""

from reenact.analysis.anomalies.rules import actions, answers, calls, clock, errors, outliers, words

__all__ = ["actions", "answers", "calls", "clock", "errors", "outliers", "words"]
