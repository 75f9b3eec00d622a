"""`reenact diff`: two recordings compared, step by step.

Steps are aligned by their content (`alignment`), so that an inserted one shifts no other. The differences of a pair are
found field by field and word by word (`differences`, `words`). The first difference of the runs is marked (`parting`).
"""

from reenact.analysis.diff.compare import compare
from reenact.analysis.diff.result import Diff, Difference, Kind, Pair, Parting, Side, Spent

__all__ = ["Diff", "Difference", "Kind", "Pair", "Parting", "Side", "Spent", "compare"]
