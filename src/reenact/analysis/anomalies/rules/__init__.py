"""The built-in rules, one module a family; importing them registers them."""

from reenact.analysis.anomalies.rules import actions, answers, calls, clock, errors, outliers, words

__all__ = ["actions", "answers", "calls", "clock", "errors", "outliers", "words"]
