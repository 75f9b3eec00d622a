"""Find the checkable statements of a text (ids, amounts, names), and the known facts."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import islice
from math import inf

from reenact.core.dataclass import dataclass

# An id, or another word as a whole, since no part of it is an id.
_ID = re.compile(r"\b(?:(?=[\w-]*[A-Za-z])(?=[\w-]*\d)([A-Za-z0-9][\w-]{3,}\b)|[A-Za-z0-9][\w-]*+)")
# "24-hour", "10th", "5kg", "utf-8": words with a number in them, which are no ids.
_MEASURE = re.compile(r"\d+-?[a-z]+(?:-[a-z]+)*|[a-z]+-\d{1,2}|(?:19|20)\d\ds?(?:-\d\d)+", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.-])([$€£]\s?)?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?!\w|-\w)(\s?%)?")
_NAME = re.compile(r"\b[A-Z][a-zà-ÿ-]{2,}(?: (?:[A-Z]\. )?[A-Z][a-zà-ÿ-]{2,}\b)+(?!['\u2019])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_PAIRS = 120
_SMALL = 100
_MANY = range(1, 10)


@dataclass(frozen=True, slots=True)
class Stated:
    """The statements of a text: ids, amounts with their text, names of several words."""

    ids: tuple[str, ...] = ()
    amounts: tuple[tuple[str, float], ...] = ()
    names: tuple[str, ...] = ()


def stated(text: str) -> Stated:
    """Return the ids, amounts and names in a text, without code in fences."""
    prose = _CODE.sub(" ", text)
    ids = [one for one in dict.fromkeys(_ids(prose)) if not _MEASURE.fullmatch(one)]
    amounts: dict[float, str] = {}
    for match in _NUMBER.finditer(prose):
        money, whole, part, percent = match.groups()
        value = float(whole.replace(",", "") + (part or ""))
        # Small whole numbers are counts, hours, and numbers of list items.
        if money or percent or part or value >= _SMALL:
            amounts.setdefault(value, match[0].strip())
    names = dict.fromkeys(_NAME.findall(prose))
    return Stated(tuple(ids), tuple((text, value) for value, text in amounts.items()), tuple(names))


def _ids(text: str) -> Iterator[str]:
    return filter(None, _ID.findall(text))


@dataclass
class KnownFacts:
    """The facts in a run's prompts and results so far."""

    words: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    numbers: dict[float, None] = field(default_factory=dict)
    _recent: Numbers | None = field(default=None, init=False, repr=False)

    def learn(self, texts: Iterable[str]) -> None:
        """Add the facts of some texts."""
        self._recent = None
        for text in texts:
            self.words.update(word.lower() for word in _WORD.findall(text))
            self.ids.update(one.lower() for one in _ids(text))
            for match in _NUMBER.finditer(text):
                self.numbers[float(match[2].replace(",", "") + (match[3] or ""))] = None
            for digits in re.findall(r"\d+(?:\.\d+)?", text):
                self.numbers.setdefault(float(digits), None)

    def unknown(self, said: Stated) -> list[str]:
        """Return the statements that are new and follow from no single calculation."""
        found = [one for one in said.ids if one.lower() not in self.ids]
        found += [text for text, value in said.amounts if not self._follows(value, text)]
        found += [
            name for name in said.names if all(word.lower() not in self.words for word in _WORD.findall(name))
        ]
        return found

    def _follows(self, value: float, text: str) -> bool:
        if value in self.numbers:
            return True
        if self._recent is None:
            self._recent = Numbers(one for one in islice(reversed(self.numbers), _PAIRS) if one)
        # Half of its last digit: results are rounded.
        near = 0.5001 / 10 ** len(text.partition(".")[2].rstrip("% "))
        return self._recent.make(value, near)


class Numbers:
    """A few positive numbers, and the results of one calculation with them.

    Each number determines the range of the other one of a pair, and few are in it: trying all pairs took most of the
    time of examining a long run.

    Args:
        numbers: The numbers.
    """

    def __init__(self, numbers: Iterable[float]) -> None:
        self._sorted = sorted(numbers)

    def make(self, value: float, near: float) -> bool:
        """Return True if known numbers yield a value by one calculation.

        The result is one of them, a small multiple of one, or a sum, difference, product, quotient or percentage of
        two, within `near` of the value.
        """
        low, high, found = value - near, value + near, self._between
        for many in _MANY:
            if any(abs(one * many - value) < near for one in found(low / many, high / many)):
                return True
        for one in self._sorted:
            if (
                any(abs(one + other - value) < near for other in found(low - one, high - one))
                or any(abs(one - other - value) < near for other in found(one - high, one - low))
                or any(abs(one * other - value) < near for other in found(low / one, high / one))
                or any(abs(one / other - value) < near for other in found(one / high, _over(one, low)))
                or any(
                    abs(100 * one / other - value) < near
                    for other in found(100 * one / high, _over(100 * one, low))
                )
            ):
                return True
        return False

    def _between(self, least: float, most: float) -> list[float]:
        """Return the numbers in a slightly wider range."""
        slack = 1e-9 * (abs(least) + (abs(most) if most != inf else 0.0)) + 1e-12
        return self._sorted[
            bisect_left(self._sorted, least - slack) : bisect_right(self._sorted, most + slack)
        ]


def _over(number: float, low: float) -> float:
    return number / low if low > 0 else inf
