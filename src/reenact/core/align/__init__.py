"""Align two sequences: the steps of two runs, or a run's questions with its recording's."""

from reenact.core.align.pairing import Pairing, nearest
from reenact.core.align.subsequence import Pairs, Run, common, common_runs, gaps, increasing

__all__ = ["Pairing", "Pairs", "Run", "common", "common_runs", "gaps", "increasing", "nearest"]
