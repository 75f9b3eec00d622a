"""Match patterns on foreign texts with automata, in time linear in the text.

Python's own `re` backtracks, so one hostile text or pattern can take hours. RE2 never does; so it has no
backreferences and no look-around. This is the one place where patterns of users, of filters and of recordings become
automata.
"""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from typing import Any

from reenact.core.model.searches import ended_first
from reenact.core.patterns import lazy
from reenact.errors import UsageError

LONGEST = 1000
"""The maximum number of characters of a pattern."""

_MEMORY = 2 << 20  # bytes that the automaton of one pattern may take
_SIZE = 300  # instructions of one pattern: on the worst text each of them costs its time on each byte
# As Python reads them in a pattern of text: outside of a class, within one.
_UNICODE = {
    "w": (r"[\p{L}\p{N}_]", r"\p{L}\p{N}_"),
    "W": (r"[^\p{L}\p{N}_]", None),
    "d": (r"\p{Nd}", r"\p{Nd}"),
    "D": (r"\P{Nd}", r"\P{Nd}"),
    "s": (r"[\s\x0b\x1c-\x1f\x{85}\p{Z}]", r"\s\x0b\x1c-\x1f\x{85}\p{Z}"),
    "S": (r"[^\s\x0b\x1c-\x1f\x{85}\p{Z}]", None),
    "Z": (r"\z", None),
}
_ATOM = lazy(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|\[\^?\]?|\]|\\|[^\\\[\]]+", re.DOTALL)


class PatternError(UsageError):
    """A pattern that no automaton can find. Its text is one line."""


class Automaton:
    """A pattern, compiled. Any thread may use it."""

    __slots__ = ("groups", "size", "spans")

    def __init__(self, pattern: bytes, options: Any) -> None:
        compiled = _re2()._Regexp(pattern, options)
        self.groups: int = compiled.groups
        """The number of groups."""
        self.size: int = compiled.programsize
        """The number of instructions."""
        anchor = _re2()._Anchor.UNANCHORED
        match = compiled._regexp.Match
        self.spans: Any = ended_first(lambda data, at, end: match(anchor, data, at, end))
        """Returns the spans of the first match in data[at:end], and of its groups.

        (-1, -1) for none.
        """

    def found(self, data: bytes) -> bool:
        """Return True if the pattern matches anywhere in the data."""
        return bool(self.spans(data, 0, len(data))[0][0] >= 0)


@lru_cache(maxsize=1)
def _re2() -> Any:
    return importlib.import_module("re2")  # some milliseconds, for those who have patterns


@lru_cache(maxsize=256)
def automaton(pattern: str, *, ignore_case: bool = False) -> Automaton:
    r"""Compile a pattern in Python's syntax; texts are UTF-8, and \w, \d and \s mean Unicode's.

    Raises:
        PatternError: It is longer than `LONGEST`, would need too much memory, or is no regular expression: it has a
            backreference, looks ahead or behind, or is malformed.
    """
    byte_automaton(pattern)  # checks the size, which Unicode classes would enlarge
    return _compiled(_translated(pattern), "UTF8", ignore_case=ignore_case, said=pattern)


@lru_cache(maxsize=256)
def byte_automaton(pattern: str) -> Automaton:
    r"""Compile a pattern over bytes, as in `re`: \w, \d and \s mean those of ASCII.

    Raises:
        PatternError: As for `automaton`.
    """
    found = _compiled(_translated(pattern, unicode=False), "LATIN1", ignore_case=False, said=pattern)
    if found.size > _SIZE:
        raise PatternError(
            f"the pattern {_short(pattern)} is too large: {found.size} instructions; {_SIZE} are the most"
        )
    return found


def _compiled(pattern: str, encoding: str, *, ignore_case: bool, said: str) -> Automaton:
    if len(said) > LONGEST:
        raise PatternError(f"the pattern {_short(said)} has {len(said)} characters; {LONGEST} are the most")
    re2 = _re2()
    options = re2.Options()
    options.encoding = getattr(re2.Options.Encoding, encoding)
    options.log_errors = False
    options.max_mem = _MEMORY
    options.case_sensitive = not ignore_case
    try:
        return Automaton(pattern.encode("utf-8", "surrogatepass"), options)
    except re2.error as error:
        raise PatternError(f"the pattern {_short(said)} does not compile: {_why(error)}") from None


def _short(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 60 else pattern[:57] + "...")


def _why(error: Exception) -> str:
    why = error.args[0] if error.args else ""
    text = why.decode("utf-8", "replace") if isinstance(why, bytes) else str(why)
    if "invalid perl operator" in text or re.search(r"invalid escape sequence: \\[1-9]", text):
        return f"{text.rpartition(': ')[2]} looks around or back, which takes too long on a hostile text"
    if "repetition size" in text or "too large" in text:
        return f"{text}; it is too large"
    return text


def _translated(pattern: str, *, unicode: bool = True) -> str:
    """Return a pattern in RE2's syntax. Each character is read once."""
    out: list[str] = []
    within = False
    for atom in _ATOM.findall(pattern[: LONGEST + 1]):
        if atom[0] == "\\" and len(atom) > 1:
            out.append(_escape(atom, within=within, unicode=unicode))
        elif atom[0] == "[" and not within:
            # A bracket right after it is a character of the class, not its end.
            within = True
            out.append(atom.replace("]", r"\]"))
        else:
            within = within and not atom.endswith("]")
            plain = atom.replace("[", r"\[")
            # `$` is at the end, or before a last newline; texts are only searched, so it may take that.
            out.append(plain if within or not unicode else plain.replace("$", r"(?:$|\n\z)"))
    return "".join(out)


def _escape(atom: str, *, within: bool, unicode: bool) -> str:
    kind = atom[1]
    if kind in "uU" and len(atom) > 2:
        # Over bytes a character is the bytes of its UTF-8.
        digits = atom[2:]
        return rf"\x{{{digits}}}" if unicode else chr(min(int(digits, 16), 0x10FFFF))
    if not unicode:
        return r"\z" if kind == "Z" else atom
    outside, inside = _UNICODE.get(kind, (atom, atom))
    return (inside or atom) if within else outside
