"""The pydantic models of views, by which the server checks and documents its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast, get_origin, get_type_hints

from reenact.analysis.views.base import View

if TYPE_CHECKING:
    from pydantic import BaseModel

_MODELS: dict[type[View], type[BaseModel]] = {}


def model_of(kind: type[View]) -> type[BaseModel]:
    """Return a model with the fields of a view, always the same one."""
    if kind not in _MODELS:
        _MODELS[kind] = _made(kind)
    return _MODELS[kind]


def schema_of(kind: type[View], handler: Any) -> Any:
    """Return the schema by which pydantic reads a view: it becomes its model."""
    from pydantic_core import core_schema  # noqa: PLC0415 - of an extra

    return core_schema.no_info_before_validator_function(_given, handler.generate_schema(model_of(kind)))


def _made(kind: type[View]) -> type[BaseModel]:
    from pydantic import ConfigDict, create_model  # noqa: PLC0415 - of an extra

    fields = {
        name: (annotation, getattr(kind, name, ...))
        for name, annotation in get_type_hints(kind, include_extras=True).items()
        if get_origin(annotation) is not ClassVar
    }
    made: type[BaseModel] = cast("Any", create_model)(
        kind.__name__,
        __config__=ConfigDict(frozen=True, extra="forbid", defer_build=True),
        __doc__=kind.__doc__,
        __module__=kind.__module__,
        **fields,
    )
    return made


def _given(value: Any) -> Any:
    return value.plain() if isinstance(value, View) else value
