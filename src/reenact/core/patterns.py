"""Regular expressions, compiled at their first use and equal in each Python."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from importlib import import_module
from typing import Any, AnyStr, cast

__all__ = ["compiled", "lazy"]

_WRONG_REPEATS = sys.version_info < (3, 11, 5)
"""True for Pythons that match `(?:ab?c)*+` wrongly (CPython's issue 106052)."""

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled at its first use.

    Compiling the patterns of the redactor and of the checks takes longer than a short program runs, and a process uses
    a few of them.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    """Has the methods of a compiled pattern as attributes, from its first use on."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = compiled(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(found, method))
        return getattr(found, name)


def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a compiled pattern in which possessive repeats are right in each Python."""
    return _with_atomic_groups(pattern, flags) if _WRONG_REPEATS else re.compile(pattern, flags)


@lru_cache(maxsize=512)
def _with_atomic_groups(pattern: AnyStr, flags: int) -> re.Pattern[AnyStr]:
    """Compile `X*+` as the atomic group `(?>X*)`, which is the same."""
    parser = import_module("re._parser")
    tree = parser.parse(pattern, flags)
    _replace(tree, parser, import_module("re._constants"))
    return cast("re.Pattern[AnyStr]", import_module("re._compiler").compile(tree, flags))


def _replace(part: Any, parser: Any, codes: Any) -> None:
    if not isinstance(part, parser.SubPattern):
        for inner in part if isinstance(part, list | tuple) else ():
            _replace(inner, parser, codes)
        return
    for at, (code, inner) in enumerate(part.data):
        _replace(inner, parser, codes)
        if code is codes.POSSESSIVE_REPEAT:
            part.data[at] = codes.ATOMIC_GROUP, parser.SubPattern(part.state, [(codes.MAX_REPEAT, inner)])
