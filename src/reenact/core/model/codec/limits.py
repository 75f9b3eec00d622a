"""Decode plain values of untrusted trees: each is checked, and in proportion to its input."""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from reenact.core.model.event import Tree
from reenact.core.patterns import lazy

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

# 4300 digits are as many as Python itself reads of an int: the cost grows with their square.
_INT = lazy(r"-?[0-9]{1,4300}")
_FRACTION = lazy(r"-?[0-9]{1,4300}(?:/[0-9]{1,4300})?")
_DECIMAL = lazy(
    r"-?(?:[0-9]{1,4300}(?:\.[0-9]{0,4300})?(?:E[+-]?[0-9]{1,6})?|Infinity|s?NaN[0-9]{0,40})", re.IGNORECASE
)
_FLOAT = lazy(r"-?(?:inf|nan)|-?[0-9]{1,400}(?:\.[0-9]{0,400})?(?:e[+-]?[0-9]{1,4})?", re.IGNORECASE)
_ZONE = lazy(r"[A-Za-z0-9_+-]{1,40}(?:/[A-Za-z0-9_+-]{1,40}){0,3}")
_ESCAPED = lazy(r"\\(?:\\|u([0-9a-f]{4}))")
_SAME_HASH = 64


def text(tree: Tree) -> str:
    """Return a text. Raises TypeError for any other tree."""
    if type(tree) is not str:
        raise TypeError(f"a text is wanted, not {type(tree).__name__}")
    return tree


def items(tree: Tree) -> list[Tree]:
    """Return a list. Raises TypeError for any other tree."""
    if type(tree) is not list:
        raise TypeError(f"a list is wanted, not {type(tree).__name__}")
    return tree


def members(tree: Tree) -> dict[str, Tree]:
    """Return an object. Raises TypeError for any other tree."""
    if type(tree) is not dict:
        raise TypeError(f"an object is wanted, not {type(tree).__name__}")
    return tree


def pairs(tree: Tree) -> list[list[Tree]]:
    """Return a list of lists of two. Raises TypeError for any other tree."""
    for pair in items(tree):
        if type(pair) is not list or len(pair) != 2:
            raise TypeError("a list of pairs is wanted")
    return tree  # type: ignore[no-any-return]


def number(tree: Tree) -> int:
    """Return an int. Raises TypeError for any other tree."""
    if type(tree) is not int:
        raise TypeError(f"a whole number is wanted, not {type(tree).__name__}")
    return tree


def _matching(pattern: re.Pattern[str], tree: Tree, what: str) -> str:
    if pattern.fullmatch(text(tree)) is None:
        raise ValueError(f"no {what}, or one with too many digits")
    return tree  # type: ignore[no-any-return]


def whole(tree: Tree) -> int:
    """Return a whole number of at most 4300 digits."""
    return int(_matching(_INT, tree, "whole number"))


def floating(tree: Tree) -> float:
    """Return a float that JSON cannot express (`nan`, `inf`)."""
    return float(_matching(_FLOAT, tree, "float"))


def decimal(tree: Tree) -> Decimal:
    """Return a decimal of at most 4300 digits and an exponent below a million."""
    from decimal import Decimal  # noqa: PLC0415 - few values are decimals

    return Decimal(_matching(_DECIMAL, tree, "decimal"))


def fraction(tree: Tree) -> Fraction:
    """Return a fraction from digits. `Fraction` also reads exponents, which can cost any time."""
    from fractions import Fraction  # noqa: PLC0415 - few values are fractions

    return Fraction(_matching(_FRACTION, tree, "fraction"))


def imaginary(tree: Tree) -> complex:
    """Return a complex number from its two parts."""
    real, imag = (floating(next(iter(part.values()))) if type(part) is dict else part for part in items(tree))
    if type(real) not in (int, float) or type(imag) not in (int, float):
        raise TypeError("two numbers are wanted")
    return complex(real, imag)


def duration(tree: Tree) -> dt.timedelta:
    """Return a duration from days, seconds and microseconds."""
    days, seconds, microseconds = map(number, items(tree))
    return dt.timedelta(days, seconds, microseconds)


def span(tree: Tree) -> range:
    """Return a range, of any length: it takes no memory."""
    start, stop, step = map(number, items(tree))
    return range(start, stop, step)


def binary(tree: Tree) -> bytes:
    """Return bytes from base64."""
    return base64.b64decode(text(tree), validate=True)


def unescaped(tree: Tree) -> str:
    """Return a text with its escaped lone surrogates restored."""
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else "\\", text(tree))


def moment(tree: Tree) -> dt.datetime:
    """Return a datetime, with its fold and the name of its time zone."""
    if type(tree) is str:
        return dt.datetime.fromisoformat(tree)
    found = dt.datetime.fromisoformat(text(members(tree)["at"]))
    if "zone" in tree:
        key = text(tree["zone"])
        # Zones are files: a name that is a path would choose any.
        if _ZONE.fullmatch(key) is None:
            raise ValueError("no name of a time zone")
        zones = import_module("zoneinfo")
        try:
            found = found.replace(tzinfo=zones.ZoneInfo(key))
        except (zones.ZoneInfoNotFoundError, OSError):
            raise ValueError(f"the time zone {key} is not known on this machine: install tzdata") from None
    return found.replace(fold=number(tree.get("fold", 0)))


def spread(keys: Iterable[Any]) -> None:
    """Refuse keys with a common hash: a set or dict of these takes quadratic time.

    Texts are exempt: their hashes are salted anew in each process.
    """
    same = Counter(hash(key) for key in keys if type(key) is not str)
    if same and same.most_common(1)[0][1] > _SAME_HASH:
        raise ValueError("too many members have the same hash")
