"""Align the entries of two sequences: the steps of two runs, or the questions of a run with those of its recording."""

from reenact.core.align.pairing import Pairing, nearest
from reenact.core.align.subsequence import Pairs, common, gaps, increasing

__all__ = ["Pairing", "Pairs", "common", "gaps", "increasing", "nearest"]
