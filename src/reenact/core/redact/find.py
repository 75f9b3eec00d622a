"""Find secrets: scan for marks, then look at each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from reenact.core.model.automaton import Automaton, byte_automaton
from reenact.core.redact.binary import in_text
from reenact.core.redact.column_names import row_marks
from reenact.core.redact.declared import declared_marks
from reenact.core.redact.decoded import ESCAPES
from reenact.core.redact.marks import HINT, Database, MarkPattern, name_marks, own_name_marks, tag_marks
from reenact.core.redact.named import NamedSecrets
from reenact.core.redact.names import Names
from reenact.core.redact.placed import LINE_BEGIN, line_marks, passwords, place_marks
from reenact.core.redact.rules import SecretRules
from reenact.core.redact.shell_commands import command_marks
from reenact.core.redact.tabular import table_marks
from reenact.core.redact.text import FoundSecret, Look, hit, plain
from reenact.core.redact.work import LOOKS_A_HIT, Work

_SIGNS = "@%&"
"""An address with a password has the first, other escapes the others."""

_FEW_LINES = 1 << 16  # bytes with ports that are tried by `re` first
_WINDOW = 4096  # bytes in which a match of a user's pattern is looked for at first


class _Marked:
    """Some marks, and the looks at them."""

    def __init__(self, marks: list[tuple[MarkPattern, Look]], *, literal: bool) -> None:
        self._looks = [(look, mark.back) for mark, look in marks]
        self.database = Database([(mark.text.encode(), mark.flags) for mark, _ in marks], literal=literal)

    def look(self, data: bytes, marks: list[tuple[int, int]], work: Work) -> list[FoundSecret]:
        work.spend(len(marks))
        hits: list[FoundSecret] = []
        for number, end in marks:
            look, back = self._looks[number]
            found = len(hits)
            hits += look(data, end - back, work)
            if len(hits) > found:
                work.spend(LOOKS_A_HIT)
        return hits


class Finder:
    """All compiled rules except exact values; immutable, shared by redactors with equal rules."""

    def __init__(self, rules: SecretRules) -> None:
        self.names = Names(rules)
        named = NamedSecrets(self.names)
        marks: list[tuple[MarkPattern, Look]] = [(mark, named.look) for mark in name_marks(self.names)]
        marks += [(mark, named.look_in_tag) for mark in tag_marks(self.names)]
        marks += [(mark, named.look) for mark in table_marks(self.names)]
        marks += [*place_marks(), *command_marks(), *row_marks(self.names), *declared_marks()]
        self._first_hint = len(marks)
        hints = (*ESCAPES, *_SIGNS, *(f"{digit}:" for digit in range(10)))
        marks += [(MarkPattern(text, HINT), _nothing) for text in hints]
        self._marked = _Marked(marks, literal=True)
        self.marks = self._marked.database
        """Scans for the places where a secret may be."""
        self._own: list[tuple[MarkPattern, Look]] = [
            (mark, named.look) for mark in own_name_marks(self.names)
        ]
        self._compiled: _Marked | None = None
        self._few_lines = 0 if self._own else _FEW_LINES
        self._patterns = [byte_automaton(text) for text in rules.patterns]
        self.built_in = not (self._own or self._patterns)
        """True without rules of the user: a text without marks then holds nothing."""

    def find(self, data: bytes, work: Work, marks: list[tuple[int, int]] | None = None) -> list[FoundSecret]:
        """Return all secrets in data, in no order and perhaps overlapping.

        Note in `work` if the data has no escapes.

        Args:
            data: Any bytes.
            work: Bounds the looks.
            marks: Those of `marks`, if they are known.

        Raises:
            TooDense: That would cost more than `work` allows.
        """
        marks = self.marks.scan(data, work.left) if marks is None else marks
        work.escapes, lines = False, bool(self._own)
        if marks:
            first = self._first_hint
            hints = [number - first for number, _ in marks if number >= first]
            if hints:
                marks = [mark for mark in marks if mark[0] < first]
                work.escapes = min(hints) < len(ESCAPES)
                # A line of `.pgpass` has a port, and a colon after it.
                lines = lines or max(hints) >= len(ESCAPES) + len(_SIGNS)
        others = self._expressions().database.scan(data, work.left) if lines and self._may_have(data) else []
        if not marks and not others and not self._patterns and b"@" not in data:
            return []
        work.begin()
        hits = self._marked.look(data, marks, work)
        if b"@" in data:
            hits += passwords(data, work)
        if others:
            hits += self._expressions().look(data, others, work)
        hits = list(in_text(data, hits)) if hits else hits
        for pattern in self._patterns:
            hits += _matches(pattern, data, work)
        return hits

    def _expressions(self) -> _Marked:
        if self._compiled is None:
            # Not before: few texts need them.
            self._compiled = _Marked([*self._own, *line_marks()], literal=False)
        return self._compiled

    def _may_have(self, data: bytes) -> bool:
        """Return False if no expression matches in the text.

        The first texts are tried by `re`: the expressions take longer to compile than a short program runs.
        """
        if self._few_lines > 0:
            self._few_lines -= len(data)
            return LINE_BEGIN.search(data) is not None
        return True


def _nothing(_data: bytes, _at: int, _work: Work) -> Iterator[FoundSecret]:
    """Find nothing: a hint is no secret."""
    return iter(())


def _matches(pattern: Automaton, data: bytes, work: Work) -> Iterator[FoundSecret]:
    """Yield all hits of a user's pattern: its first group, if it has one.

    A match is looked for in a window that grows until one ends within it, so that a pattern whose matches are short
    does not read all that follows for each of them.
    """
    at, window, length = 0, len(data) if pattern.found(data) else -1, len(data)
    window = min(window, _WINDOW)
    while at <= length and window > 0:
        end = min(length, at + window)
        spans = pattern.spans(data, at, end)
        start, stop = spans[0]
        if end < length and (start < 0 or stop == end):
            window *= 2
            continue
        if start < 0:
            return
        work.spend(LOOKS_A_HIT)
        window = _WINDOW
        first, last = spans[1] if pattern.groups and spans[1][0] >= 0 else spans[0]
        yield from hit(data, first, last, plain(data[first:last], 0))
        at = max(stop, at + 1)


@lru_cache(maxsize=16)
def finder(rules: SecretRules) -> Finder:
    return Finder(rules)  # some milliseconds, so once for all redactors of a process
