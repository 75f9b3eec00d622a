"""Secrets that an agent may fill in without its model ever seeing them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reenact.errors import UsageError

_PLACE = re.compile(r"\{\{\s*([\w.@-]+)\s*\}\}")


class Vault:
    """Names and what they stand for. The model is told the names; `{{NAME}}` in what it fills in becomes the value.

    Args:
        secrets: Names to values, or None.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        if secrets is not None and not isinstance(secrets, Mapping):
            raise UsageError(f"vault={type(secrets).__name__}: it is a mapping of names to secrets")
        self._secrets = dict(secrets or {})

    @property
    def names(self) -> list[str]:
        """What the model may name."""
        return sorted(self._secrets)

    def filled(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """The action with the secrets that it names."""
        if not self._secrets or "value" not in action:
            return dict(action)
        return {**action, "value": self._in(action["value"])}

    def _in(self, value: Any) -> Any:
        if isinstance(value, str):
            return _PLACE.sub(lambda found: self._secrets.get(found[1], found[0]), value)
        if isinstance(value, Mapping):
            return {name: self._in(one) for name, one in value.items()}
        return value
