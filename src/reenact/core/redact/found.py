"""Values that were found by their name or place, to be found everywhere else, too."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from reenact.core.patterns import lazy
from reenact.core.redact.known import KnownValues
from reenact.core.redact.names import dense
from reenact.core.redact.shapes import label_of

_LEAST = 12  # characters
_LONGEST = 8192
_MOST = 128  # values
_TOGETHER = 16  # values that are compiled at a time
_RANDOM_RUN = lazy(r"[A-Za-z0-9]{24}")
_CHANGES = 0.3
"""The least number of changes between kinds of letters, for each letter.

The kinds are small letters, capital ones and digits. Camel case has about that many.
"""


class FoundValues:
    """The latest values of secret names in a run: cookies, session keys, access tokens.

    A server that sets a cookie names it once. Printed, or sent in a path, it has no name. Only values
    that look random are kept: an agent's name under `session` must stay readable. Any thread may use it.
    """

    def __init__(self) -> None:
        self.values: dict[str, None] = {}
        self._groups: dict[tuple[str, ...], KnownValues] = {}

    def add(self, values: Iterable[str]) -> bool:
        """Keep the values that look random; return True if one of them is new."""
        new = [value for value in values if value not in self.values and _looks_random(value)]
        for value in new:
            self.values[value] = None
        if len(self.values) > _MOST:
            for value in list(self.values)[:_TOGETHER]:
                self.values.pop(value, None)
        return bool(new)

    def known(self) -> list[KnownValues]:
        """Return the values in groups, so that a new value is compiled with its own group only."""
        values = list(self.values)
        groups = [tuple(values[at : at + _TOGETHER]) for at in range(0, len(values), _TOGETHER)]
        self._groups = {group: self._groups.get(group) or KnownValues(group) for group in groups}
        return list(self._groups.values())


def _looks_random(value: str) -> bool:
    if not _LEAST <= len(value) <= _LONGEST or not dense(value) or label_of(value) != "secret":
        return False  # a value with a shape of its own is found everywhere
    kinds = [_kind(letter) for letter in value if letter.isalnum()]
    changes = sum(one != other for one, other in pairwise(kinds))
    return changes >= _CHANGES * len(kinds) or _RANDOM_RUN.search(value) is not None


def _kind(letter: str) -> int:
    return 0 if letter.isdigit() else 1 if letter.islower() else 2
