"""Find the tools that change something."""

from __future__ import annotations

from functools import lru_cache

_VERBS = """approve book buy cancel change charge close create delete deploy drop edit exchange grant insert issue kill
modify order pay post publish purchase refund remove reset return revoke send shutdown terminate transfer_funds
transfer_money update wire write"""

RISKY = tuple(f"{verb}*" for verb in _VERBS.split())
"""The tools whose calls change something, as patterns of their names."""


@lru_cache(1024)
def risky(name: str, patterns: tuple[str, ...]) -> bool:
    """Return True if a tool's name, without its prefix up to the last dot, matches a pattern."""
    last = name.lower().rpartition(".")[2]
    return any(
        last.startswith(one[:-1]) if one.endswith("*") else last == one for one in map(str.lower, patterns)
    )
