"""The syntax of filters.

    filter  = all { "or" all }
    all     = one { ["and"] one }
    one     = "not" one | "(" filter ")" | term
    term    = WORD                  a kind (`tool`, `http`), `model`, `error`, `cancelled`, `unanswered`, or an id
            | WORD ":" PATTERN      a label (`tool:cancel_order`, `http:*/orders`) or a field (`tag:staging`)
            | FIELD OP VALUE        `tokens > 4000`, `text ~ "refund"`, `args.order_id == "ORD-5521"`
            | STRING                text that occurs in the step
    OP      = "==" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"

`docs/filters.md` is for users; `filter` has the meaning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Any, NoReturn, TypeAlias

from reenact.core.dataclass import dataclass
from reenact.core.model.automaton import PatternError, automaton
from reenact.core.patterns import lazy
from reenact.errors import FilterError

FIELDS = {
    "id": "the recording's id",
    "name": "the name that the run was given",
    "tag": "one of the run's tags and labels",
    "note": "the note that a person gave the recording",
    "status": "how the run ended: ok, error, unsealed",
    "step": "the step's number",
    "kind": "model, tool, http …",
    "model": "the language model that was asked",
    "calls": "the tools that a model's answer asks for",
    "tokens": "tokens in and out of a model call",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "cost": "US dollars",
    "duration": "seconds from question to answer",
    "text": "all that is said or passed in the step, as text",
    "error": "the error's type and text",
    "scope": "where in the program it was called",
}
"""The fields that a filter knows, besides `args.…` and `output.…`."""

OF_RECORDING = frozenset({"id", "name", "tag", "note", "status"})
"""The fields that belong to the recording, not to one of its steps."""

FLAGS = {"error": "error", "cancelled": "cancelled", "unanswered": "in flight"}
"""Single words for the end of a step."""


@dataclass(frozen=True, slots=True)
class Term:
    """One comparison: `op` is `is` for a word alone, `:` for a pattern, or an operator."""

    field: str
    op: str
    value: Any


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of its inner condition."""

    inner: Node


@dataclass(frozen=True, slots=True)
class All:
    """All inner conditions hold."""

    inner: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one inner condition holds."""

    inner: tuple[Node, ...]


Node: TypeAlias = Term | Not | All | Some


def terms(node: Node) -> list[Term]:
    """Return all comparisons in a filter."""
    if isinstance(node, Term):
        return [node]
    inner = (node.inner,) if isinstance(node, Not) else node.inner
    return [term for part in inner for term in terms(part)]


_SPACE = lazy(r"\s*")
_WORD = lazy(r"""[^\s()<>=!~:"']+""")
_ID = lazy("(?=.*[0-9])[0-9a-hjkmnp-tv-z]{10}")
"""A recording's id. One in forty has no digit, and looks like a word."""
_OP = lazy(r"==|!=|<=|>=|!~|=|<|>|~")
_VALUE = lazy(r"""[^\s()"'<>=!~][^\s()"']*""")
_BARE = lazy(r"""[^\s()"']+""")
_ROOT = lazy(r"[.\[]")
_NUMBER = lazy(r"[+-]?\d+(\.\d+)?", re.ASCII)
_SHOWN = 500  # characters of a filter that an error repeats
_HUGE = 1 << 63
_UNFIT = lazy("[\0\ud800-\udfff]")
LONGEST = 4000
"""The maximum number of characters of a filter."""
DEEPEST = 50
"""The maximum depth of brackets and `not`."""
_CONSTANTS = {"true": True, "false": False, "null": None}


class Parser:
    """Reads one filter from left to right."""

    def __init__(self, text: str, also: Collection[str] = ()) -> None:
        self._text = text
        self._also = also
        self._at = 0
        self._deep = 0

    def parse(self) -> Node:
        """Return the whole text as a tree. Raises FilterError, which points at the column."""
        if len(self._text) > LONGEST:
            raise FilterError(f"filter: it has {len(self._text)} characters; {LONGEST} are the most")
        if unfit := _UNFIT.search(self._text):
            raise FilterError(
                f"filter, column {unfit.start() + 1}: the character U+{ord(unfit[0]):04X} is not allowed in a text"
            )
        if not self._ahead():
            return All(())
        node = self._any()
        if self._ahead():
            self._fail("this ')' has no matching '('")
        return node

    def _any(self) -> Node:
        parts = [self._all()]
        while self._keyword("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Some(tuple(parts))

    def _all(self) -> Node:
        parts = [self._one()]
        while self._ahead() not in ("", ")") and not self._keyword("or", take=False):
            self._keyword("and")
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _one(self) -> Node:
        self._deep += 1
        if self._deep > DEEPEST:
            self._fail(f"brackets and 'not' may be nested {DEEPEST} levels deep at most")
        node = self._single()
        self._deep -= 1
        return node

    def _single(self) -> Node:
        if self._keyword("not"):
            return Not(self._one())
        letter = self._ahead()
        if letter == "(":
            opened = self._at
            self._at += 1
            node = self._any()
            if self._ahead() != ")":
                self._fail("this '(' is never closed", opened)
            self._at += 1
            return node
        if letter in ("'", '"'):
            return Term("text", "~", re.escape(self._string()))
        return self._term()

    def _term(self) -> Node:
        start = self._at
        match = _WORD.match(self._text, self._at)
        if match is None or match[0].lower() in ("and", "or"):
            self._fail("expected a word such as tool:cancel_order, error, or tokens > 4000")
        word = match[0]
        self._at = match.end()
        if self._text[self._at : self._at + 1] == ":":
            self._at += 1
            return self._labelled(word)
        if self._ahead() and (op := _OP.match(self._text, self._at)) is not None:
            self._at = op.end()
            return self._compared(word, "==" if op[0] == "=" else op[0], start)
        if word in FLAGS:
            return Term("ended", "is", FLAGS[word])
        if word == "model":
            return Term("model", "is", True)
        if self._known(word):
            self._fail(f"expected an operator after '{word}': one of == != < <= > >= ~ !~ or :", self._at)
        return Term("id", ":", word) if _ID.fullmatch(word) else Term("kind", "is", word)

    def _labelled(self, word: str) -> Node:
        quoted = self._text[self._at : self._at + 1] in ("'", '"')
        match = None if quoted else _BARE.match(self._text, self._at)
        if not quoted and match is None:
            self._fail(f"expected a name or pattern right after '{word}:'")
        pattern = self._string() if match is None else match[0]
        if match is not None:
            self._at = match.end()
        if self._known(word):
            return Term(word, ":", pattern)
        return Term("label", ":", f"{word}:{pattern}")

    def _compared(self, word: str, op: str, start: int) -> Node:
        if not self._known(word):
            near = ", ".join(sorted({*FIELDS, *self._also})) + ", args.…, output.…"
            self._fail(f"there is no field '{word}'; there are {near}", start)
        letter, at = self._ahead(), self._at
        quoted = letter in ("'", '"')
        match = None if quoted else _VALUE.match(self._text, self._at)
        if not quoted and match is None:
            self._fail(f"expected a value after '{op}'")
        raw = self._string() if match is None else match[0]
        if match is not None:
            self._at = match.end()
        if op in ("~", "!~"):
            return self._matched(word, op, raw, at)
        if quoted:
            return Term(word, op, raw)
        value = _constant(raw)
        if isinstance(value, (int, float)) and not abs(value) < _HUGE:
            self._fail("this number is too large: put an id that is so long into quotes", at)
        return Term(word, op, value)

    def _matched(self, word: str, op: str, raw: str, at: int) -> Term:
        """Return a term with a pattern, and check that Python accepts it: the search is Python's."""
        try:
            re.compile(raw)
        except (re.error, RecursionError, OverflowError) as error:
            self._fail(f"no regular expression: {error}", at)
        try:
            automaton(raw, ignore_case=True)
        except PatternError as error:
            self._fail(str(error), at)
        return Term(word, op, raw)

    def _string(self) -> str:
        opened, quote = self._at, self._text[self._at]
        said: list[str] = []
        place = self._at + 1
        while place < len(self._text):
            letter = self._text[place]
            if letter == quote:
                self._at = place + 1
                return "".join(said)
            if letter == "\\" and self._text[place + 1 : place + 2] in (quote, "\\"):
                place += 1
                letter = self._text[place]
            said.append(letter)
            place += 1
        return self._fail(f"this {quote} is never closed", opened)

    def _known(self, word: str) -> bool:
        return word in FIELDS or word in self._also or _ROOT.split(word, maxsplit=1)[0] in ("args", "output")

    def _ahead(self) -> str:
        """Return the next letter after spaces, or an empty text at the end."""
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._text[self._at : self._at + 1]

    def _keyword(self, word: str, *, take: bool = True) -> bool:
        self._ahead()
        match = _WORD.match(self._text, self._at)
        if match is None or match[0].lower() != word or self._text[match.end() : match.end() + 1] == ":":
            return False
        if take:
            self._at = match.end()
        return True

    def _fail(self, what: str, at: int | None = None) -> NoReturn:
        place = self._at if at is None else at
        if len(self._text) > _SHOWN:
            raise FilterError(f"filter, column {place + 1}: {what}")
        shown = self._text.translate({ord(letter): " " for letter in "\n\r\t"})
        wide = sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in shown[:place])
        raise FilterError(f"filter, column {place + 1}: {what}\n  {shown}\n  {' ' * wide}^")


def _constant(raw: str) -> Any:
    if _NUMBER.fullmatch(raw):
        return float(raw) if "." in raw else int(raw)
    return _CONSTANTS.get(raw, raw)
