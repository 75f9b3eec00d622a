"""Show recorded trees as plain JSON, for people and filters: no tags, no recorded types.

A tree keeps every Python type by a tag (`{"$tuple": [1, 2]}`), and decoding it needs those types loaded. A
reader of a recording has neither the agent's code nor its libraries; here a dataclass is its fields, a tuple a list.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import orjson

from reenact.core.model.event import Tree


def plain(tree: Tree) -> Any:
    """Return a tree without its tags: only dict, list, str, int, float, bool and None.

    Never raises.
    """
    if type(tree) is dict:
        if len(tree) == 1:
            ((key, inner),) = tree.items()
            known = _PLAIN.get(key)
            if known is not None:
                try:
                    return known(inner)
                except Exception:
                    return inner
        return {key: item if type(item) is str else plain(item) for key, item in tree.items()}
    if type(tree) is list:
        return [item if type(item) is str else plain(item) for item in tree]
    return tree


def binary(tree: Tree) -> bytes | None:
    """Return the bytes of a binary tree; None for other trees, or a blob kept elsewhere."""
    if isinstance(tree, dict) and len(tree) == 1:
        if "$utf8" in tree:
            return str(tree["$utf8"]).encode("utf-8", "surrogatepass")
        if "$bytes" in tree:
            try:
                return base64.b64decode(tree["$bytes"])
            except ValueError:
                return None
    return tree.encode("utf-8", "surrogatepass") if isinstance(tree, str) else None


_ENDS: dict[str | bytes, str | bytes] = {
    "{": "}", "[": "]", '"': '"', b"{": b"}", b"[": b"]", b'"': b'"',
}  # fmt: skip
"""The last letter of JSON texts with a bracket or a quote as their first."""

_DIGITS: frozenset[str | bytes] = frozenset("0123456789").union(bytes([digit]) for digit in b"0123456789")
_NUMBERS: frozenset[str | bytes] = _DIGITS | {"-", b"-"}
_WORDS: frozenset[str | bytes] = frozenset(("true", "false", "null", b"true", b"false", b"null"))


def parsed(text: Any) -> Any:
    """Return the value of a JSON text, or the value itself if it is no JSON text."""
    if isinstance(text, (str, bytes)):
        # Most texts are none, and an error costs more than a look at both ends.
        inside = text.strip()
        first, last = inside[:1], inside[-1:]
        if first in _ENDS:
            likely = last == _ENDS[first]
        elif first in _NUMBERS:
            likely = last in _DIGITS
        else:
            likely = inside in _WORDS
        if not likely:
            return text
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
    return text


def compact(value: Any) -> str:
    """Return a plain value on one line of JSON."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return repr(value)


def error_line(tree: Tree) -> str:
    """Return a recorded exception as a traceback's last line: `ValueError: no such order`."""
    if not isinstance(tree, dict):
        return str(tree)
    name = str(tree.get("type", "")).rpartition(":")
    short = name[2] if name[0] in ("", "builtins") else f"{name[0]}.{name[2]}"
    text = str(tree.get("text") or "")
    return f"{short}: {text}" if text else short


def _pairs(items: list[list[Tree]]) -> dict[str, Any]:
    return {compact(plain(key)): plain(item) for key, item in items}


def _fields(tree: dict[str, Tree]) -> Any:
    fields = {**tree.get("fields", {}), **tree.get("extra", {})}
    return {key: plain(item) for key, item in fields.items()}


def _size(data: str) -> str:
    return f"<{len(base64.b64decode(data))} bytes>"


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "$dict": _pairs,
    "$ordereddict": _pairs,
    "$counter": _pairs,
    "$tuple": plain,
    "$set": plain,
    "$frozenset": plain,
    "$int": str,
    "$float": str,
    "$utf8": str,
    "$bytes": _size,
    "$bytearray": _size,
    "$blob": lambda tree: f"<blob {str(tree)[:19]}…>",
    "$datetime": lambda tree: tree if isinstance(tree, str) else tree["at"],
    "$date": str,
    "$time": str,
    "$timedelta": lambda tree: f"{tree[0] * 86400 + tree[1] + tree[2] / 1e6} s",
    "$decimal": str,
    "$fraction": str,
    "$complex": lambda tree: f"{complex(*tree)}",
    "$uuid": str,
    "$deque": lambda tree: plain(tree[0]),
    "$range": lambda tree: f"range({', '.join(map(str, tree))})",
    "$ellipsis": lambda _: "...",
    "$surrogates": str,
    "$path": str,
    "$enum": lambda tree: str(tree[1]),
    "$dataclass": _fields,
    "$model": _fields,
    "$namedtuple": lambda tree: plain(tree["items"]),
    "$secret": lambda _: "**********",
    "$sub": lambda tree: plain(tree["value"]),
    "$error": error_line,
    "$unkept": lambda tree: f"<not kept: {tree[0]} {tree[1]}>",
}
