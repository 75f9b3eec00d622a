"""Environment variables of the program's own pydantic-settings classes.

Such a class copies the whole environment and takes the variables of its fields from the copy. Only these variables are
recorded, at the first read in a run, also those that are not set.

Source: `EnvSettingsSource` of pydantic-settings 2.16.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from types import ModuleType
from typing import Any

from reenact.adapters.hooks import patch
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers, environ
from reenact.core.boundary import Run

Variables = Mapping[str, str | None]

_none_type: Callable[[str], str] = str
"""The library's type of a value that stands for None."""


def install(module: ModuleType) -> None:
    """Patch the source that reads the environment."""
    global _none_type
    _none_type = vars(sys.modules[module.EnvSettingsSource.__module__])["EnvNoneType"]
    patch(module.EnvSettingsSource, "_load_env_vars", _recorded, library="pydantic_settings")


def _recorded(original: Callable[[Any], Variables]) -> Callable[[Any], Variables]:
    def load(source: Any) -> Variables:
        variables = original(source)
        if (scope := listening()) is None or not _of_program(source.settings_cls):
            return variables
        return _answered(scope.run, source, variables)

    return load


def _of_program(settings: type) -> bool:
    module = sys.modules.get(settings.__module__)
    return module is not None and callers.module_kind(callers.namespace(module)) == callers.OWN


def _answered(run: Run, source: Any, variables: Variables) -> Variables:
    """Return the variables, with the recorded values for those of the fields."""
    names = {
        name
        for field, info in source.settings_cls.model_fields.items()
        for _, name, _ in source._extract_field_info(info, field)
    }
    delimiter = source.env_nested_delimiter
    prefixes = tuple(sorted(name + delimiter for name in names)) if delimiter else ()
    result = {
        name: value
        for name, value in variables.items()
        if name not in names and not name.startswith(prefixes)
    }
    if prefixes:
        nested = sorted(variables.keys() - result.keys() - names)
        # A name like `key__*` would make a secret of the names.
        mark = blake2b("=".join(prefixes).encode(), digest_size=6).hexdigest()
        names.update(_names(environ.variable(run, f"nested:{mark}", lambda: "=".join(nested))))
    for name in sorted(names):
        value = environ.variable(run, name, partial(variables.get, name))
        if value is not None:
            result[name] = _none_type(value) if value == source.env_parse_none_str else value
    return result


def _names(text: str | None) -> list[str]:
    return [name for name in (text or "").split("=") if name]
