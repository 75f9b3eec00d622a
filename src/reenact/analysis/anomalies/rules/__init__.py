"""The built-in rules, one module a family; importing them registers them."""

from reenact.analysis.anomalies.rules import actions, calls, clock, failures, model_answers, outliers, words

__all__ = ["actions", "calls", "clock", "failures", "model_answers", "outliers", "words"]
