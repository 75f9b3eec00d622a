"""A file of the lesson's: JSON that a person reads, written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from reenact.core import private
from reenact.errors import UsageError


def write(filepath: str | os.PathLike[str], value: Any) -> Path:
    """Write JSON, creating the folder if missing; return the path.

    Raises UsageError if it fails.
    """
    target = Path(filepath)
    text = json.dumps(value, indent=2, default=str, ensure_ascii=False)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        private.write(target, text + "\n")
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}") from None
    return target
