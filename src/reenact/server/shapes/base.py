"""The base class and common types of all answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Json = Any
"""A recorded value: whatever JSON the program had there."""

Status = Literal["ok", "error", "stopped", "unsealed", "broken"]
Severity = Literal["error", "warning", "info"]
Ended = Literal["ok", "error", "cancelled", "in flight"]


class Shape(BaseModel):
    """An answer; nothing is in it that is not said here."""

    model_config = ConfigDict(extra="forbid")
