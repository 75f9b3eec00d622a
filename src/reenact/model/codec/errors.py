"""Exceptions as trees, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reenact.model.codec.types import find_type, type_name
from reenact.model.codec.written import printable
from reenact.model.event import Tree

if TYPE_CHECKING:
    from reenact.model.codec.encode import Encoder

_CAUSES = 4


class RecordedError(Exception):
    """Stands in a replay for an exception whose type cannot be found there. `type_name` says which it was."""

    def __init__(self, type_name: str, text: str) -> None:
        super().__init__(f"{text} (recorded as {type_name}, which is not loaded in this program)")
        self.type_name = type_name
        self.text = text


def encode_error(error: BaseException, encoder: Encoder, depth: int = 0) -> Tree:
    """An exception as a tree: its type, arguments, text, attributes and the exceptions that it was raised from."""
    attributes = {name: item for name, item in vars(error).items() if not name.startswith("__")}
    if isinstance(error, OSError) and error.errno is not None and error.errno not in error.args[:1]:
        # A subclass has put arguments of its own in the place of the system's.
        attributes |= {"errno": error.errno, "strerror": error.strerror}
    tree: dict[str, Any] = {
        "type": type_name(type(error)),
        "text": printable(str(error)),
        # OSError keeps its file names out of `args`, but gives them where it is copied.
        "args": [
            encoder.encode(item) for item in (_copied(error) if isinstance(error, OSError) else error.args)
        ],
    }
    if attributes:
        tree["attributes"] = {name: encoder.encode(item) for name, item in attributes.items()}
    if error.__cause__ is not None and depth < _CAUSES:
        # Libraries wrap each other's errors, and tell by the cause what happened.
        tree["cause"] = encode_error(error.__cause__, encoder, depth + 1)
    return tree


def _copied(error: OSError) -> tuple[Any, ...]:
    reduced = error.__reduce__()
    return reduced[1] if isinstance(reduced, tuple) and isinstance(reduced[1], tuple) else error.args


def restored(tree: Tree, decode: Callable[[Tree], Any]) -> BaseException:
    """The exception of a tree, its parts decoded: of its own type where that is loaded, else a `RecordedError`."""
    kind = find_type(tree["type"])
    if kind is None or not issubclass(kind, BaseException):
        return RecordedError(tree["type"], tree["text"])
    arguments = [decode(item) for item in tree["args"]]
    try:
        error = kind.__new__(kind, *arguments)
        error.args = tuple(arguments)
        # OSError and its like keep part of their arguments elsewhere than in `args`.
        if isinstance(error, (OSError, UnicodeError, SyntaxError, StopIteration, SystemExit, ImportError)):
            # The built-in constructor only: a subclass's may want other arguments than it passed on.
            built_in: Any = next(base for base in kind.__mro__ if base.__module__ == "builtins")
            built_in.__init__(error, *arguments)
    except Exception:
        return RecordedError(tree["type"], tree["text"])
    for name, item in tree.get("attributes", {}).items():
        object.__setattr__(error, name, decode(item))
    if "cause" in tree:
        error.__cause__ = restored(tree["cause"], decode)
    return error
