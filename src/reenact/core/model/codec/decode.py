"""Decode trees: the common part of viewing and rebuilding.

It touches no class of the program.
"""

from __future__ import annotations

import datetime as dt
import pathlib
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from typing import Any

from reenact.core.model.codec import limits
from reenact.core.model.codec.written import dumps, loads, printable, tagged
from reenact.core.model.event import Tree
from reenact.errors import CorruptRecording, UnsafeValue

NOT_LOADED = "(its type is not loaded in this program)"

_MALFORMED = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError)


class Unkept:
    """Stands for a part of a value that was not kept, or whose type is not loaded."""

    def __init__(self, type_name: str, text: str) -> None:
        self.type_name = type_name
        self.text = text

    def __getattr__(self, name: str) -> Any:
        # Copying asks an object for its attributes before it has any.
        known = "text" in vars(self) and not name.startswith("__")
        raise AttributeError(f"{self!r} has no {name!r} in a replay" if known else name)

    def __repr__(self) -> str:
        return f"<not kept in the recording: {shown(self.type_name)} {shown(self.text)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unkept) and (self.type_name, self.text) == (other.type_name, other.text)

    def __hash__(self) -> int:
        return hash((self.type_name, self.text))


def shown(text: str) -> str:
    """Return a recorded text on one line, without characters that a terminal obeys."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in printable(text))


class Decoder:
    """Decodes trees.

    Args:
        readers: By tag, the function that decodes the tag's content.
        key: Refuses an unsuitable member of a set or key of a dict.
    """

    __slots__ = ("_key", "_readers")

    def __init__(
        self, readers: Mapping[str, Callable[[Decoder, Tree], Any]], key: Callable[[Any], None] | None = None
    ) -> None:
        self._readers = readers
        self._key = key

    def read(self, tree: Tree) -> Any:
        """Return the value of a tree; they share nothing.

        Raises CorruptRecording for an invalid tree.
        """
        try:
            data = dumps(tree)
            # Without a tag the tree is the value, and reading JSON copies it faster than a walk.
            if not tagged(data):
                return loads(data)
            return self.value(tree if type(tree) is dict or type(tree) is list else loads(data))
        except RecursionError:
            raise CorruptRecording("a recorded value is nested too deeply to be read") from None
        except (CorruptRecording, UnsafeValue):
            raise
        except _MALFORMED as error:
            raise CorruptRecording(f"a recorded value cannot be read: {_said(error)}") from None

    def value(self, tree: Tree) -> Any:
        """Return the value of a tree within a value."""
        if type(tree) is dict:
            if len(tree) == 1:
                ((tag, inner),) = tree.items()
                known = self._readers.get(tag)
                if known is not None:
                    try:
                        return known(self, inner)
                    except _MALFORMED as error:
                        if isinstance(error, CorruptRecording):
                            raise
                        text = f"a recorded value cannot be read: its {tag} is malformed ({_said(error)})"
                        raise CorruptRecording(text) from None
            return self.fields(tree)
        if type(tree) is list:
            return self.items(tree)
        return tree

    def fields(self, tree: Tree) -> dict[str, Any]:
        """Return the values of an object's members."""
        found = {}
        for name, item in limits.members(tree).items():
            found[name] = item if type(item) is str else self.value(item)
        return found

    def items(self, tree: Tree) -> list[Any]:
        """Return the values of a list's items."""
        found = []
        for item in limits.items(tree):
            # A comprehension would be one frame more for each level.
            found.append(item if type(item) is str else self.value(item))  # noqa: PERF401
        return found

    def keys(self, trees: list[Tree]) -> list[Any]:
        """Return the values of trees that become members of a set or keys of a dict."""
        found = []
        for tree in trees:
            key = tree if type(tree) is str else self.value(tree)
            # A tuple whose type was lost on its way.
            key = tuple(key) if type(key) is list else key
            if self._key is not None:
                self._key(key)
            found.append(key)
        limits.spread(found)
        return found

    def pairs(self, tree: Tree) -> list[tuple[Any, Any]]:
        """Return keys with their values."""
        found = limits.pairs(tree)
        keys = self.keys([pair[0] for pair in found])
        return [(key, self.value(pair[1])) for key, pair in zip(keys, found, strict=True)]


def _said(error: BaseException) -> str:
    return shown(str(error))[:120] or type(error).__name__


def _counter(decoder: Decoder, tree: Tree) -> Counter[Any]:
    found: Counter[Any] = Counter()
    dict.update(found, decoder.pairs(tree))
    return found


def _deque(decoder: Decoder, tree: Tree) -> deque[Any]:
    items, most = limits.items(tree)
    return deque(decoder.items(items), None if most is None else limits.number(most))


def _bytearray(decoder: Decoder, tree: Tree) -> bytearray:
    data = decoder.value(tree)
    if type(data) is not bytes:
        raise TypeError("bytes are wanted")
    return bytearray(data)


def _unkept(_: Decoder, tree: Tree) -> Unkept:
    name, text = map(limits.text, limits.items(tree))
    return Unkept(name, text)


PLAIN: dict[str, Callable[[Decoder, Tree], Any]] = {
    "$dict": lambda decoder, tree: dict(decoder.pairs(tree)),
    "$tuple": lambda decoder, tree: tuple(decoder.items(tree)),
    "$set": lambda decoder, tree: set(decoder.keys(limits.items(tree))),
    "$frozenset": lambda decoder, tree: frozenset(decoder.keys(limits.items(tree))),
    "$int": lambda _, tree: limits.whole(tree),
    "$float": lambda _, tree: limits.floating(tree),
    "$utf8": lambda _, tree: limits.text(tree).encode(),
    "$bytes": lambda _, tree: limits.binary(tree),
    "$bytearray": _bytearray,
    "$datetime": lambda _, tree: limits.moment(tree),
    "$date": lambda _, tree: dt.date.fromisoformat(limits.text(tree)),
    "$time": lambda _, tree: dt.time.fromisoformat(limits.text(tree)),
    "$timedelta": lambda _, tree: limits.duration(tree),
    "$decimal": lambda _, tree: limits.decimal(tree),
    "$fraction": lambda _, tree: limits.fraction(tree),
    "$complex": lambda _, tree: limits.imaginary(tree),
    "$uuid": lambda _, tree: uuid.UUID(limits.text(tree)),
    "$ordereddict": lambda decoder, tree: OrderedDict(decoder.pairs(tree)),
    "$counter": _counter,
    "$deque": _deque,
    "$range": lambda _, tree: limits.span(tree),
    "$ellipsis": lambda _, __: ...,
    "$surrogates": lambda _, tree: limits.unescaped(tree),
    "$path": lambda _, tree: pathlib.Path(limits.text(tree)),
    "$unkept": _unkept,
}
"""The tags of Python's own types, with their decoders."""

CLASSES = (
    "$enum", "$dataclass", "$model", "$namedtuple", "$secret", "$sub", "$request", "$response", "$error",
)  # fmt: skip
"""The tags of values of classes."""

TAGS = (*PLAIN, *CLASSES)
"""The tags that a tree may have, less `$blob`, which is the store's."""
