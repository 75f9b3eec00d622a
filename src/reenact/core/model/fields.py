"""Classes whose objects keep their fields in a `__dict__`: dataclasses and pydantic models."""

from __future__ import annotations

import dataclasses
from enum import Enum
from functools import lru_cache
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.model import codec


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """A class whose objects keep their fields in a `__dict__`: its recorded name and fields."""

    name: str
    names: tuple[str, ...]
    model: bool

    def parts(self, value: Any) -> dict[str, Any] | None:
        """Return the fields of an object, or None if they lie elsewhere."""
        own: dict[str, Any] = value.__dict__
        if self.model:
            return own.copy()
        if tuple(own) == self.names:
            return own
        try:
            return {name: own[name] for name in self.names}
        except KeyError:
            return None

    def given(self, value: Any) -> tuple[Any, ...] | None:
        """Return a pydantic model's set of given fields, or None if it has more than fields."""
        if not self.model:
            return ()
        if value.__pydantic_extra__ or value.__pydantic_private__:
            return None
        return (sorted(value.__pydantic_fields_set__),)


@lru_cache(1024)
def shape_of(kind: type) -> ObjectShape | None:
    """Return the shape of a class, or None for any other class."""
    if issubclass(kind, (Enum, BaseException)) or not kind.__dictoffset__:
        return None
    if dataclasses.is_dataclass(kind):
        return ObjectShape(
            codec.type_name(kind), tuple(field.name for field in dataclasses.fields(kind)), model=False
        )
    if hasattr(kind, "__pydantic_validator__") and hasattr(kind, "__pydantic_fields__"):
        return ObjectShape(codec.type_name(kind), (), model=True)
    return None


def without_fields(value: Any) -> Any:
    """Return the same model without its fields, to keep its other parts."""
    bare = object.__new__(type(value))
    object.__setattr__(bare, "__dict__", {})
    for name in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__"):
        object.__setattr__(bare, name, getattr(value, name, None))
    return bare
