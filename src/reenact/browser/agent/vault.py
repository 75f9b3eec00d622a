"""Secrets that an agent may fill in without showing them to its model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reenact.errors import UsageError

_PLACE = re.compile(r"\{\{\s*([\w.@-]+)\s*\}\}")


class Vault:
    """Names of secrets and their values.

    The model gets only the names; `{{NAME}}` in a value that it fills in is replaced by the secret.

    Args:
        secrets: Maps names to values, or None.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        if secrets is not None and not isinstance(secrets, Mapping):
            raise UsageError(f"vault={type(secrets).__name__}: it is a mapping of names to secrets")
        self._secrets = dict(secrets or {})

    @property
    def names(self) -> list[str]:
        """The names that the model may use."""
        return sorted(self._secrets)

    def filled(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """Return the action with its placeholders replaced by secrets."""
        if not self._secrets or "value" not in action:
            return dict(action)
        return {**action, "value": self._in(action["value"])}

    def _in(self, value: Any) -> Any:
        if isinstance(value, str):
            return _PLACE.sub(lambda found: self._secrets.get(found[1], found[0]), value)
        if isinstance(value, Mapping):
            return {name: self._in(one) for name, one in value.items()}
        return value
