"""Exceptions as trees, and back."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from types import MemberDescriptorType
from typing import Any, Protocol

from reenact.core.model.codec import limits
from reenact.core.model.codec.decode import Decoder, shown
from reenact.core.model.codec.types import METHODS, find_type, mro, static, type_name
from reenact.core.model.codec.written import printable
from reenact.core.model.event import Tree

_CAUSES = 4


class Encodes(Protocol):
    """Encodes the values that an exception carries."""

    def encode(self, value: Any) -> Tree:
        """Return the tree of a value."""


class RecordedError(Exception):
    """Stands for an exception of a class of the program's, if the class is unknown or not used.

    All reading gives this; a replay only if it has not loaded the class. Its text is the recorded one. The recorded
    attributes are read as its own: `error.status_code`.

    Attributes:
        type_name: `module:Name` of the recorded class.
        text: The recorded text.
        attributes: Its recorded attributes, by name.
    """

    def __init__(
        self, type_name: str, text: str, why: str = "", attributes: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(f"{text} (recorded as {shown(type_name)}, {why})" if why else text)
        self.type_name = type_name
        self.text = text
        self.attributes = dict(attributes or {})

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["attributes"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None

    def __repr__(self) -> str:
        return f"<{shown(self.type_name)}: {shown(self.text)}>"


def encode_error(error: BaseException, encoder: Encodes, depth: int = 0) -> Tree:
    """Encode an exception: its type, arguments, text, attributes and causes."""
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
        # Libraries wrap each other's errors: the cause says what happened.
        cause = encode_error(error.__cause__, encoder, depth + 1)
        tree["cause"] = cause if error.__cause__.__traceback__ is not None else {**cause, "raised": False}
    return tree


def _copied(error: OSError) -> tuple[Any, ...]:
    reduced = error.__reduce__()
    return reduced[1] if isinstance(reduced, tuple) and isinstance(reduced[1], tuple) else error.args


def viewed(decoder: Decoder, tree: Tree) -> BaseException:
    """Return the exception of a tree for reading: one of Python's own, or a `RecordedError`."""
    name, arguments, attributes = _parts(decoder, tree)
    kind = BUILT_IN.get(name)
    error = built(kind, kind, arguments) if kind is not None else None
    if error is None:
        error = RecordedError(name, limits.text(tree["text"]), "", attributes)
        error.args = (tree["text"], *arguments[1:]) if arguments else error.args
    else:
        into_attributes(error, attributes)
    _caused(decoder, error, tree)
    return error


def rebuilt(decoder: Decoder, tree: Tree) -> BaseException:
    """Return the exception of a tree for a replay, of its own class if possible.

    The class must be loaded and have no code that runs when an object is deleted; otherwise the result is a
    `RecordedError` with the reason.
    """
    name, arguments, attributes = _parts(decoder, tree)
    kind = find_type(name)
    native = native_of(kind) if kind is not None else None
    error = None
    why = "which is not loaded in this program"
    if kind is not None and native is not None:
        why = "which cannot be built again"
        if static(kind, "__del__") is None:
            error = built(kind, native, arguments)
    if error is None:
        error = RecordedError(name, limits.text(tree["text"]), why)
    else:
        into_attributes(error, attributes)
    _caused(decoder, error, tree)
    if error.__cause__ is not None and limits.members(tree["cause"]).get("raised", True):
        _catch([error.__cause__])
    return error


def _catch(errors: list[BaseException]) -> None:
    """Raise and catch the only error of a list: errors are printed with tracebacks.

    The list is emptied, so that the frame of the traceback does not refer to the error.
    """
    try:
        raise errors.pop()
    except BaseException:
        return


def _parts(decoder: Decoder, tree: Tree) -> tuple[str, list[Any], dict[str, Any]]:
    members = limits.members(tree)
    limits.text(members["text"])
    return (
        limits.text(members["type"]),
        decoder.items(members["args"]),
        decoder.fields(members.get("attributes", {})),
    )


def _caused(decoder: Decoder, error: BaseException, tree: Tree) -> None:
    if "cause" in tree:
        error.__cause__ = decoder.value({"$error": tree["cause"]})


def built(kind: Any, native: Any, arguments: list[Any]) -> BaseException | None:
    """Build an exception without its class's own `__new__` and `__init__`; None if that fails."""
    try:
        error: BaseException = native.__new__(kind, *arguments)
        error.args = tuple(arguments)
        # OSError and its like keep part of their arguments elsewhere than in `args`.
        if issubclass(kind, (OSError, UnicodeError, SyntaxError, StopIteration, SystemExit, ImportError)):
            native.__init__(error, *arguments)
    except Exception:
        return None
    return error


def into_attributes(error: BaseException, attributes: Mapping[str, Any]) -> None:
    """Set an exception's recorded attributes, past its properties; never replace a method."""
    own = BaseException.__dict__["__dict__"].__get__(error)
    for name, item in attributes.items():
        known = static(type(error), name)
        if name.startswith("__") or isinstance(known, METHODS):
            continue
        if type(known) is MemberDescriptorType:
            known.__set__(error, item)
        else:
            own[name] = item


def native_of(kind: type) -> Any:
    """Return the one of Python's own exceptions that a class derives from, or None."""
    return next((base for base in mro(kind) if base in _NATIVE), None)


_NATIVE = frozenset(
    kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, BaseException)
)

BUILT_IN: dict[str, Any] = {f"builtins:{kind.__name__}": kind for kind in _NATIVE}
"""Python's own exceptions, by their recorded names."""
