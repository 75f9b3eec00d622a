"""Find the places where a secret may be, in one pass of RE2 or hyperscan.

The first texts of a process are searched literal by literal.

The built-in marks are literal strings. That is deliberate: hyperscan compiles hundreds of literals in some
25 ms, but needs 90 ms for the regular expressions that would mark the same places exactly, and that in each
process. (Keeping the compiled database on disk is no way out: a damaged one crashes the process that scans
with it, or finds nothing, and hyperscan's own checksum does not prevent a forged one.) So a mark says little,
and the look at its place decides.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from reenact.core.model.searches import ended_first, ending, under_way, wait_at_the_end
from reenact.core.redact.names import Names, words_of
from reenact.core.redact.rules import DEFAULT_RULES
from reenact.core.redact.work import TooDense

# There is no wheel for some machines. It is imported where it is used: a short program needs none of it.
_HYPERSCAN = importlib.util.find_spec("hyperscan") is not None
_LITERAL_BYTES = 1 << 14
"""Bytes that a process scans literal by literal first: nothing is compiled."""
_FIRST_BYTES = 1 << 18
"""Bytes that a process scans by RE2 then: it is compiled sooner than hyperscan."""

CASELESS, HINT = 1, 2
"""Flags of a pattern: ignore case; report only that it may be there."""
_LONGEST = 64  # bytes of a literal
_BUILT_IN = DEFAULT_RULES.names | DEFAULT_RULES.headers
_WORDS = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
"""Puts a space in the place of each byte that is no letter and no digit."""
_LEAST_PART, _PART = 3, 5  # letters of a word by which literals are looked for together
_SEPARATORS = ("", "_", "-", ".", " ")
# What may follow a name where it is one: a quote, escaped or not, a separator, or spaces before that.
_AFTER_A_NAME = (
    '"',
    "'",
    r"\"",
    r"\'",
    r"\\",
    r"\t",
    "]",
    ":",
    "=",
    ">",
    "<",
    "%5",
    "\t",
    " =",
    " :",
    "  ",
    "\n",
    "\r",
    r"\n",
    r"\r",
    " '",
)


class MarkPattern(NamedTuple):
    """A pattern for hyperscan; the look at it begins `back` bytes before its end."""

    text: str
    flags: int = 0
    back: int = 0


class _Hyperscan:
    """A compiled hyperscan database that any thread may use.

    hyperscan works in a scratch space, which serves one scan at a time; the spare ones wait in a list, whose
    pop and append are atomic. So threads, a signal handler in the middle of a scan, and a fork all find one
    of their own.
    """

    def __init__(self, marks: Sequence[tuple[bytes, int]], *, literal: bool = False) -> None:
        hyperscan = importlib.import_module("hyperscan")
        self._ended = hyperscan.ScanTerminated
        self._db = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._db.compile(
            expressions=[text for text, _ in marks],
            ids=range(len(marks)),
            flags=[
                (hyperscan.HS_FLAG_CASELESS if flags & CASELESS else 0)
                | (hyperscan.HS_FLAG_SINGLEMATCH if flags & HINT else 0)
                for _, flags in marks
            ],
            literal=literal,
        )
        self._spare: list[Any] = []

    def scan(self, data: bytes, most: float) -> list[tuple[int, int]]:
        """Return the number and the end of each mark.

        Raises:
            TooDense: There are more than `most`.
        """
        try:
            scratch = self._spare.pop()
        except IndexError:
            scratch = self._db.scratch.clone()
        marks: list[tuple[int, int]] = []
        under_way.append(0)  # as `ended_first`, in one step
        try:
            if ending:
                wait_at_the_end()
            # By position, which takes half the time: the flags are 0.
            self._db.scan(data, _mark, 0, (marks, most), scratch)
        except self._ended:
            raise TooDense from None
        finally:
            under_way.pop()
            self._spare.append(scratch)
        return marks


def _mark(number: int, _start: int, end: int, _flags: int, context: Any) -> bool:
    """Keep a mark; return True to end the scan if there are too many."""
    marks, most = context
    marks.append((number, end))
    return bool(len(marks) > most)


def _alternatives(literals: list[bytes]) -> bytes:
    """Return an expression of these literals; none has a NUL."""
    return re.escape(b"\0".join(literals)).replace(b"\0", b"|")


class _Automata:
    """The same by RE2, for machines without a wheel of hyperscan. It is several times slower."""

    def __init__(self, marks: Sequence[tuple[bytes, int]], *, literal: bool = False) -> None:
        re2 = importlib.import_module("re2")
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.never_capture = True
        options.longest_match = True
        # A search for hints takes longer than the looks they call for: report them all.
        self._hints = [(number, 0) for number, (_, flags) in enumerate(marks) if flags & HINT]
        numbered = [(number, *mark) for number, mark in enumerate(marks) if not mark[1] & HINT]
        self._anywhere, self._here = re2._Anchor.UNANCHORED, re2._Anchor.ANCHOR_START
        if literal:
            caseless = _alternatives([text for _, text, flags in numbered if flags])
            exact = _alternatives([text for _, text, flags in numbered if not flags])
            one = b"|".join(each for each in (caseless and b"(?i:%s)" % caseless, exact) if each)
            self._each = None
        else:
            texts = [(b"(?i:%s)" if flags else b"(?:%s)") % text for text, flags in marks]
            one = b"|".join(texts)
            self._each = [ended_first(re2._Regexp(text, options)._regexp.Match) for text in texts]
        self._any = ended_first(re2._Regexp(one, options)._regexp.Match)
        self._texts: dict[bytes, list[tuple[int, bytes | None]]] = {}
        """The literals in small letters: their numbers, and their exact texts if case matters."""
        for number, text, flags in numbered:
            self._texts.setdefault(text.lower(), []).append((number, None if flags else text))
        lengths: dict[bytes, set[int]] = {}
        for text in self._texts:
            lengths.setdefault(text[:2], set()).add(len(text))
        self._lengths = {first: sorted(found) for first, found in lengths.items()}
        """The lengths of the literals with the same first two letters."""

    def scan(self, data: bytes, most: float) -> list[tuple[int, int]]:
        """As `_Hyperscan.scan`."""
        marks: list[tuple[int, int]] = []
        at, length = 0, len(data)
        while (start := self._any(self._anywhere, data, at, length)[0][0]) >= 0:
            marks += self._at(data, start)
            if len(marks) > most:
                raise TooDense
            at = start + 1
        return self._hints + sorted(marks, key=itemgetter(1))

    def _at(self, data: bytes, start: int) -> Iterator[tuple[int, int]]:
        if self._each is not None:
            for number, match in enumerate(self._each):
                if (end := match(self._here, data, start, len(data))[0][1]) >= 0:
                    yield number, end
            return
        lower = data[start : start + _LONGEST].lower()
        for length in self._lengths.get(lower[:2], ()):
            found = self._texts.get(lower[:length], ()) if length <= len(lower) else ()
            for number, exact in found:
                if exact is None or data.startswith(exact, start):
                    yield number, start + length


class _Literals:
    """The same, by a search for each literal: it is ready at once, and slow."""

    def __init__(self, marks: Sequence[tuple[bytes, int]]) -> None:
        self._hints = [(number, text.decode()) for number, (text, flags) in enumerate(marks) if flags & HINT]
        self._by_part: dict[str, list[tuple[int, bytes, int]]] = {}
        """The numbers, texts and flags of the literals with the same part."""
        self._prepared: dict[str, list[tuple[int, int, str, str | None]]] = {}
        """By part: the number, its place in it, small letters, the exact text if case matters."""
        for number, (text, flags) in enumerate(marks):
            if not flags & HINT:
                small = text.lower()
                part = small[:_PART]
                if not part.isalnum():
                    word = max(small.translate(_WORDS).split(), key=len, default=b"")
                    part = word[:_PART] if len(word) >= _LEAST_PART else small
                self._by_part.setdefault(part.decode(), []).append((number, text, flags))

    def scan(self, data: bytes, most: float) -> list[tuple[int, int]]:
        """As `_Hyperscan.scan`."""
        # As text, in which Python searches faster than in bytes.
        given, lower = data.decode("latin-1"), data.lower().decode("latin-1")
        marks: list[tuple[int, int, int]] = []
        for part in self._by_part:
            place = lower.find(part)
            while place >= 0:
                for number, before, text, exact in self._literals(part):
                    at = place - before
                    if (
                        at >= 0
                        and lower.startswith(text, at)
                        and (exact is None or given.startswith(exact, at))
                    ):
                        marks.append((at + len(text), at, number))
                if len(marks) > most:
                    raise TooDense
                place = lower.find(part, place + 1)
        hints = [(number, 0) for number, text in self._hints if text in given]
        return hints + [(number, end) for end, _, number in sorted(marks)]

    def _literals(self, part: str) -> list[tuple[int, int, str, str | None]]:
        found = self._prepared.get(part)
        if found is None:
            found = self._prepared[part] = [
                (
                    number,
                    (small := text.lower().decode()).index(part),
                    small,
                    None if flags else text.decode(),
                )
                for number, text, flags in self._by_part[part]
            ]
        return found


class _Growing:
    """Scans by the engine that is ready soonest, and the more bytes there are by a faster one.

    The results are the same. Threads that meet at a change both compile the next engine: without a lock, which a fork
    could find held.
    """

    def __init__(self, marks: Sequence[tuple[bytes, int]], *, literal: bool = False) -> None:
        self._marks, self._literal = marks, literal
        self._engine: _Hyperscan | _Automata | _Literals
        self._engine = _Literals(marks) if literal else _Automata(marks)
        self._left = _LITERAL_BYTES if literal else _FIRST_BYTES

    def scan(self, data: bytes, most: float) -> list[tuple[int, int]]:
        """As `_Hyperscan.scan`."""
        self._left -= len(data)
        if self._left < 0:
            self._grow(len(data))
        return self._engine.scan(data, most)

    def _grow(self, length: int) -> None:
        """Take the next engine for the text of that length, and for what comes after it."""
        if type(self._engine) is _Literals and (length <= _FIRST_BYTES or not _HYPERSCAN):
            self._engine, self._left = _Automata(self._marks, literal=self._literal), _FIRST_BYTES - length
        elif _HYPERSCAN:
            self._engine = _Hyperscan(self._marks, literal=self._literal)
        if self._left < 0 or not _HYPERSCAN:
            # Later scans call the engine directly.
            self.scan = self._engine.scan  # type: ignore[method-assign]


Database: type[_Growing | _Automata | _Hyperscan] = _Growing


def name_marks(names: Names) -> Iterator[MarkPattern]:
    """Yield literals for the ends of all built-in names.

    A name of one word is a word of prose, too ("pass", "session", the "pin" in "opinion"), so it is marked
    together with what may follow it where it is a name; of one of several words the last two are enough, with
    all separators they may have.
    """
    for spelled in names.ends.values():
        if spelled not in _BUILT_IN:
            continue
        words = words_of(spelled)[-2:]
        if len(words) == 2:
            yield from (MarkPattern(separator.join(words), CASELESS) for separator in _SEPARATORS)
        else:
            yield from (MarkPattern(words[0] + after, CASELESS, len(after)) for after in _AFTER_A_NAME)
            # A flag, and `ENV DB_PASSWORD x`.
            yield from (MarkPattern(f"{before}{words[0]} ", CASELESS, 1) for before in "-_.:")
            yield MarkPattern(f"{words[0].capitalize()} ", back=1)


def tag_marks(names: Names) -> Iterator[MarkPattern]:
    """Yield literals for one-word names in tags: `name=password`, `<password type="text">`."""
    for spelled in names.ends.values():
        if spelled in _BUILT_IN and len(words_of(spelled)) == 1:
            yield from (MarkPattern(f"{before}{spelled}", CASELESS) for before in "=<")


def own_name_marks(names: Names) -> Iterator[MarkPattern]:
    """Yield expressions for the ends of the user's names: "kundenkey" matches "kunden_key", too."""
    for name, spelled in names.ends.items():
        if spelled not in _BUILT_IN:
            words = words_of(spelled)
            parts = words if len(words) > 1 else list(name)
            yield MarkPattern(r"[_\-. ]?".join(map(re.escape, parts)), CASELESS)
