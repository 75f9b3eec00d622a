"""Find the tools that change something."""

from __future__ import annotations

import re
from functools import lru_cache

from reenact.analysis.anomalies.case import Use

_VERBS = """approve book buy cancel change charge close create delete deploy drop edit exchange grant insert issue kill
modify order pay post publish purchase refund remove reset return revoke send shutdown terminate transfer_funds
transfer_money update wire write"""
RISKY = tuple(_VERBS.split())
"""The first words of the names of tools that change something."""

_NAMES = "book charge deploy exchange grant issue order purchase refund return wire"
_NOUNS = frozenset(_NAMES.split())
"""Those of them that are also nouns: `order_status` reads, `order_pizza` does not."""

_READS = """check count describe detail details estimate fetch find get history info information list lookup policies
policy price prices query rate rates read schema search show state status summary total totals tracking view"""
_READ = frozenset(_READS.split())
"""The last words of names with such a noun that only read."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def risky(use: Use, patterns: tuple[str, ...]) -> bool:
    """Return True if a use of a tool changes something.

    By default its declaration decides, or else the words of its name; with other patterns only these.
    """
    if patterns != RISKY:
        return _matches(use.name, patterns)
    return _acts(use.name) if use.writes is None else use.writes


@lru_cache(1024)
def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Return True if a tool's name, without its prefix up to the last dot, matches a pattern."""
    last = name.lower().rpartition(".")[2]
    return any(
        last.startswith(one[:-1]) if one.endswith("*") else last == one for one in map(str.lower, patterns)
    )


@lru_cache(1024)
def _acts(name: str) -> bool:
    """Return True if the words of a tool's name say that it changes something."""
    words = [word.lower() for word in _WORD.findall(name.rpartition(".")[2])]
    if not words or (words[0] in _NOUNS and words[-1] in _READ):
        return False
    return words[0] in RISKY or "_".join(words[:2]) in RISKY
