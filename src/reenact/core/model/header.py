"""Parts of a recording's header, as they are read back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reenact.core.patterns import lazy

ID = lazy(r"[\w-]{1,64}", re.ASCII)
"""The pattern of a recording's id."""


def program_of(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the recorded program; empty if there is none, as in an imported run."""
    program = header.get("program")
    return program if isinstance(program, dict) else {}


def salt_of(header: Mapping[str, Any]) -> bytes:
    """Return the salt of the tokens that replace secrets."""
    return bytes.fromhex(str(header.get("salt", "")))


def by_proxy(header: Mapping[str, Any]) -> bool:
    """Return True if the recording was made by the proxy."""
    return "proxy" in program_of(header)
