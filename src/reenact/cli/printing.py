"""Print lines on standard error, and JSON on standard output, without importing rich."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import Any

import orjson

from reenact.analysis.views.base import fields
from reenact.analysis.views.text import visible

_OBEYED = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]")


def say(text: str) -> None:
    """Write one line to standard error; ignore a closed stream."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"{visible(text)}\n")
        sys.stderr.flush()


def dump(value: Any) -> None:
    """Write a value as JSON to standard output; it may contain views."""
    text = orjson.dumps(value, default=fields, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    sys.stdout.write(json_escaped(text) + "\n")


def json_escaped(text: str) -> str:
    """Escape the control characters that JSON does not escape, those above a space."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
