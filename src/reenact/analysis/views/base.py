"""The base class of all views, and the types that several of them use."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast, get_args

from pydantic import BaseModel, ConfigDict

Json: TypeAlias = Any
"""A recorded value: any JSON."""

Status = Literal["ok", "error", "stopped", "unsealed", "broken"]
Severity = Literal["error", "warning", "info"]
Ended = Literal["ok", "error", "cancelled", "in flight"]

_STATUSES = frozenset(get_args(Status))


class View(BaseModel):
    """A part of a recording, or a result about one, in the form that every interface shows.

    A field that was not given is absent from the JSON; one that was given as None is null.
    """

    # A command builds only the few views that it shows.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def plain(self) -> dict[str, Any]:
        """Return the given fields by name; their values are not converted."""
        given = self.__pydantic_fields_set__
        return {name: value for name, value in self.__dict__.items() if name in given}


def fields(value: Any) -> Any:
    """Return a view as a dict, and any other value as Python writes it: for orjson's `default`."""
    return value.plain() if isinstance(value, View) else repr(value)


def known_status(word: str) -> Status:
    """Return a recording's status; `error` for a word that no version of Reenact writes."""
    return cast("Status", word) if word in _STATUSES else "error"
