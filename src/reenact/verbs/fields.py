"""The fields of a verb's options: types, limits and marks, read from the annotations.

Importing pydantic takes longer than all that `reenact list` does. The server makes its models from these fields.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from reenact.core.dataclass import dataclass

REQUIRED: Any = ...
"""The default of a field that has none."""


@dataclass(frozen=True, slots=True)
class Field:
    """The help of a field, and its limits.

    Attributes:
        description: The text of `--help` and of the API's document.
        ge: The least value.
        le: The greatest value.
    """

    description: str
    ge: float | None = None
    le: float | None = None


@dataclass(frozen=True, slots=True)
class Convert:
    """Converts a value before it is checked."""

    by: Callable[[Any], Any]


class NotValid(ValueError):
    """A value that a field does not take.

    Attributes:
        value: The value, or the part of it that is wrong.
        inside: Its places in the lists.
        limit: The sentence about the limit that it exceeds; empty if its type is wrong.
    """

    def __init__(
        self, value: Any, expected: str, inside: tuple[int, ...] = (), *, limit: bool = False
    ) -> None:
        super().__init__(expected)
        self.value, self.inside = value, inside
        self.limit = expected if limit else ""


@dataclass(frozen=True, slots=True)
class OptionField:
    """A field of a verb's options.

    Attributes:
        kind: Its type.
        marks: The other parts of its annotation.
        default: Its default, or `REQUIRED`.
    """

    kind: Any
    marks: tuple[Any, ...] = ()
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        """True if it has no default."""
        return self.default is REQUIRED

    @property
    def about(self) -> Field:
        """Its help and limits."""
        return next((mark for mark in self.marks if isinstance(mark, Field)), Field(""))

    def valid(self, value: Any) -> Any:
        """Return the value in the field's type. Raises NotValid."""
        for mark in self.marks:
            if isinstance(mark, Convert):
                value = mark.by(value)
        found = _as(self.kind, value)
        about = self.about
        if isinstance(found, float) and not isfinite(found):
            raise NotValid(value, "it should be a finite number", limit=True)
        if found is not None and about.ge is not None and not found >= about.ge:
            raise NotValid(value, f"it should be greater than or equal to {about.ge:g}", limit=True)
        if found is not None and about.le is not None and not found <= about.le:
            raise NotValid(value, f"it should be less than or equal to {about.le:g}", limit=True)
        return found


def field_of_annotation(annotation: Any, default: Any = REQUIRED) -> OptionField:
    """Return the field of an annotation."""
    if get_origin(annotation) is Annotated:
        return OptionField(annotation.__origin__, annotation.__metadata__, default)
    return OptionField(annotation, (), default)


def fields_of(kind: type) -> dict[str, OptionField]:
    """Return the fields of a class, by their names, in their order."""
    return {
        name: field_of_annotation(annotation, getattr(kind, name, REQUIRED))
        for name, annotation in get_type_hints(kind, include_extras=True).items()
        if annotation is not ClassVar and get_origin(annotation) is not ClassVar
    }


def choices(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union; any other type by itself."""
    return get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)


def words(kind: Any) -> list[str]:
    """Return the words of a type that lists them; empty for any other."""
    if get_origin(kind) is Literal:
        return [str(word) for word in get_args(kind)]
    return [str(each.value) for each in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []


def _as(kind: Any, value: Any) -> Any:
    """Return a value in a type: as a tuple, a path, an Enum's value. Raises NotValid."""
    origin = get_origin(kind)
    if origin in {Union, UnionType}:
        return _one_of(get_args(kind), value)
    if origin is Literal:
        if value in get_args(kind):
            return value
    elif origin is tuple:
        if isinstance(value, (tuple, list)):
            return tuple(_part(get_args(kind)[0], number, each) for number, each in enumerate(value))
    elif isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    elif kind is float and isinstance(value, int) and not isinstance(value, bool):
        with suppress(OverflowError):
            return float(value)
    elif kind is Path and isinstance(value, str):
        return Path(value)
    elif issubclass(kind, Enum) and value in words(kind):
        return next(each for each in kind if str(each.value) == value)
    raise NotValid(value, f"it should be {_expected(kind)}")


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in kinds:
        return None
    (kind,) = (each for each in kinds if each is not type(None))
    return _as(kind, value)


def _part(kind: Any, number: int, value: Any) -> Any:
    try:
        return _as(kind, value)
    except NotValid as error:
        raise NotValid(error.value, str(error), (number, *error.inside)) from None


def _expected(kind: Any) -> str:
    if listed := words(kind):
        return f"one of {', '.join(listed)}"
    names = {bool: "true or false", int: "a whole number", float: "a number"}
    return "a list" if get_origin(kind) is tuple else names.get(kind, "a text")
