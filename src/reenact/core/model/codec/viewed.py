"""The base of inert views: the encoder writes a view as the tree that was read."""

from __future__ import annotations

from typing import Any, Self

from reenact.core.model.event import Tree


class Viewed:
    """The base of inert views, with the tree that was read."""

    __slots__ = ("__tree__",)
    __tree__: Tree


class RecordedTuple(tuple[Any, ...]):  # noqa: SLOT001 - a tuple has no room for slots with names
    """A recorded named tuple, for reading: a plain tuple that also knows the name of its class.

    Equal to any tuple of equal items. The names of the fields are not recorded.

    Attributes:
        type_name: `module:Name` of the class that was recorded.
    """

    type_name: str

    def __new__(cls, items: Any, type_name: str) -> Self:
        made = super().__new__(cls, items)
        made.type_name = type_name
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.type_name

    def __repr__(self) -> str:
        return f"{short(self.type_name)}{super().__repr__()}"


def short(type_name: str) -> str:
    """Return the last part of a class's name, for a repr: `Order` of `shop.orders:Order`."""
    name = type_name.rpartition(":")[2].rpartition(".")[2]
    return name if name.isidentifier() else ascii(name)
