"""The filter language of lists, search, breakpoints and reports: the meaning of a filter.

`grammar` has the syntax; `docs/filters.md` documents both. Nothing is read here: the caller gives the facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any, Protocol, TypeAlias, TypeVar

from reenact.core.model.automaton import automaton
from reenact.core.model.plain import compact
from reenact.core.patterns import lazy
from reenact.core.query.grammar import OF_RECORDING, All, Node, Not, Parser, Some, Term, terms
from reenact.errors import FilterError


class Facts(Protocol):
    """The facts that a filter tests, of a step or a recording."""

    def get(self, field: str) -> Any:
        """Return the value of a field (a list has several), or None.

        Besides `FIELDS` it knows `label`, `ended` (`ok`, `error`, `cancelled`, `in flight`), and paths below `args.`
        and `output.`.
        """


F = TypeVar("F", bound=Facts)
Test: TypeAlias = Callable[[Facts], bool]


class Filter:
    """A parsed filter.

    Args:
        text: The filter as written; an empty one matches everything.
        also: Further fields of recordings that it may test; the caller's facts must know them.

    Raises:
        FilterError: It does not parse; the text points at the column.
    """

    def __init__(self, text: str, *, also: Collection[str] = ()) -> None:
        self.text = text
        self.node = Parser(text, also).parse()
        of_recording = OF_RECORDING.union(also)
        parts = self.node.inner if isinstance(self.node, All) else (self.node,)
        self._head = [_test(part) for part in parts if _fields(part) <= of_recording]
        self._steps = [part for part in parts if not _fields(part) <= of_recording]
        if mixed := {field for part in self._steps for field in _fields(part)}.intersection(also):
            raise FilterError(
                f"filter: {min(mixed)} speaks of the recording: it goes beside what is said of steps (with `and`), "
                "and not into one `or` or `not (...)` with it"
            )
        self._tests = [_test(part) for part in self._steps]
        self._never = bool(self._steps) and all(isinstance(part, Not) for part in self._steps)

    def matches(self, facts: Facts) -> bool:
        """Return True if the filter matches a step."""
        return self.head(facts) and self.holds(facts)

    def holds(self, step: Facts) -> bool:
        """Return True if its conditions on steps hold for one step."""
        return all(test(step) for test in self._tests)

    def select(self, recording: Facts, steps: Iterable[F]) -> list[F] | None:
        """Return the matching steps of a recording, or None if the recording does not match.

        A recording matches when one of its steps does. Conditions on the recording only (`tag:x`) need no step: then
        the list is empty. And `not error`, with no other condition on steps, selects recordings without such a step.
        """
        if not self.head(recording):
            return None
        if not self._tests:
            return []
        if self._never:
            return [] if all(map(self.holds, steps)) else None
        return [step for step in steps if self.holds(step)] or None

    @property
    def candidates(self) -> Node:
        """Return the condition for an index: the matching, or the forbidden steps."""
        if self._never:
            return Some(tuple(part.inner for part in self._steps if isinstance(part, Not)))
        return All(tuple(self._steps))

    def meant(self, candidates: Iterable[int]) -> tuple[int, ...] | None:
        """Return the result of `select`, from the numbers of the steps that match `candidates`."""
        found = tuple(candidates)
        if self._never:
            return None if found else ()
        return found or None

    def head(self, recording: Facts) -> bool:
        """Return True if its conditions on the recording itself hold."""
        return all(test(recording) for test in self._head)

    @property
    def about_steps(self) -> bool:
        """True if it has conditions on steps."""
        return bool(self._tests)

    def unmatched(self, kinds: Collection[str]) -> str:
        """Explain the first term with a kind that no step has, as such a word may be meant as text.

        Args:
            kinds: All kinds of effects. Empty if each term has one of them.
        """
        for term in terms(self.node):
            named = term.field == "label"
            kind, _, name = str(term.value).partition(":") if named else (str(term.value), "", "")
            if not (named or (term.field == "kind" and term.op == "is")) or kind in kinds or "*" in kind:
                continue
            if named or kind.startswith("#"):
                return f"no step is of kind '{kind}': for a tag or label, write 'tag:{name or kind[1:]}'"
            return f"no step is of kind '{kind}': for text, write '\"{kind}\"', for an id 'id:{kind}*'"
        return ""

    def __repr__(self) -> str:
        return f"Filter({self.text!r})"


def _fields(node: Node) -> frozenset[str]:
    return frozenset(term.field for term in terms(node))


# -- meaning -------------------------------------------------------------------------------------------------


def _test(node: Node) -> Test:
    if isinstance(node, Term):
        return _compare(node)
    if isinstance(node, Not):
        test = _test(node.inner)
        return lambda facts: not test(facts)
    tests = [_test(part) for part in node.inner]
    if isinstance(node, All):
        return lambda facts: all(test(facts) for test in tests)
    return lambda facts: any(test(facts) for test in tests)


def _compare(term: Term) -> Test:
    field, test = term.field, holds(term)
    return lambda facts: test(facts.get(field))


def holds(term: Term) -> Callable[[Any], bool]:
    """Return the test of a term: True if one of the field's values matches."""
    one = _holds(term)

    def test(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return any(one(item) for item in value)
        return value is not None and one(value)

    return test


def literal(term: Term) -> bytes | None:
    """Return the literal text of a `~` term in lower case; None for a pattern or non-ASCII text."""
    if term.op not in ("~", "!~") or not term.value.isascii():
        return None
    bare = _ESCAPED.sub(r"\1", term.value)
    plain = not _SPECIAL.search(term.value) or re.escape(bare) == term.value
    return fold(bare) if plain else None


def fold(text: str) -> bytes:
    """Return a text in lower case as bytes (ASCII only): a search in bytes is ten times as fast."""
    return text.encode("utf-8", "surrogatepass").lower()


_SPECIAL = lazy(r"[\\.^$*+?{}\[\]|()]")
_ESCAPED = lazy(r"\\([^a-zA-Z0-9])")


def _holds(term: Term) -> Callable[[Any], bool]:
    """Return the test of a term for one value. A value of another type does not match."""
    op, wanted = term.op, term.value
    if op == "is":
        return bool if wanted is True else lambda value: value == wanted
    if op == ":":
        pattern = glob(wanted)
        return lambda value: pattern.fullmatch(_text(value)) is not None
    if op in ("~", "!~"):
        inside = literal(term)
        if inside is not None:
            return lambda value: (inside in fold(_text(value))) == (op == "~")
        found = automaton(wanted, ignore_case=True).found
        return lambda value: found(_text(value).encode("utf-8", "surrogatepass")) == (op == "~")
    if op in ("==", "!="):
        return lambda value: (value == wanted or _text(value) == _text(wanted)) == (op == "==")
    order: Callable[[Any, Any], bool] = _ORDER[op]
    kinds = (str,) if isinstance(wanted, str) else (int, float)
    if wanted is None or isinstance(wanted, bool):
        return lambda _: False
    return lambda value: isinstance(value, kinds) and not isinstance(value, bool) and order(value, wanted)


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)


@lru_cache(256)
def glob(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with `*` and `?` to a regular expression: whole match, case ignored.

    The part after a `*` is taken at its first match, without backtracking: the time is linear in the text.
    """
    first, *within = pattern.split("*")
    body = _letters(first) + "".join(f"(?>.*?{_letters(part)})" for part in within[:-1])
    if within:
        body += f"(?>.*(?=.{{{len(within[-1])}}}\\Z)){_letters(within[-1])}"
    return re.compile(body, re.IGNORECASE | re.DOTALL)


def _letters(part: str) -> str:
    return "".join("." if letter == "?" else re.escape(letter) for letter in part)
