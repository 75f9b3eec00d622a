"""The base class of all views, and the types that several of them use."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, cast, dataclass_transform, get_args

Json: TypeAlias = Any
"""A recorded value: any JSON."""

Status = Literal["ok", "error", "stopped", "unsealed", "broken"]
Severity = Literal["error", "warning", "info"]
Ended = Literal["ok", "error", "cancelled", "in flight"]

AnyView = TypeVar("AnyView", bound="View")

_STATUSES = frozenset(get_args(Status))


@dataclass_transform(kw_only_default=True, frozen_default=True)
class View:
    """A part of a recording, or a result about one, in the form that every interface shows.

    A field that was not given is absent from the JSON; one that was given as None is null. The server checks a view's
    values by a pydantic model made from its annotations; a command imports no pydantic.
    """

    _names: ClassVar[frozenset[str]] = frozenset()
    _required: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        own = frozenset(name for name in vars(cls).get("__annotations__", ()) if not name.startswith("_"))
        cls._names |= own
        cls._required = (cls._required | own) - frozenset(name for name in cls._names if hasattr(cls, name))

    def __init__(self, **given: Any) -> None:
        if not self._required <= given.keys() <= self._names:
            wrong = sorted((self._required - given.keys()) | (given.keys() - self._names))
            raise TypeError(f"{type(self).__name__}: {', '.join(wrong)}: missing or unknown")
        vars(self).update(given)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: a view does not change")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
        )

    def plain(self) -> dict[str, Any]:
        """Return the given fields by name; their values are not converted."""
        return dict(vars(self))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return import_module("reenact.analysis.views.schemas").schema_of(cls, handler)


def changed(view: AnyView, **values: Any) -> AnyView:
    """Return the view with other values."""
    return type(view)(**view.plain() | values)


def fields(value: Any) -> Any:
    """Return a view as a dict, and any other value as Python writes it: for orjson's `default`."""
    return value.plain() if isinstance(value, View) else repr(value)


def known_status(word: str) -> Status:
    """Return a recording's status; `error` for a word that no version of Reenact writes."""
    return cast("Status", word) if word in _STATUSES else "error"
