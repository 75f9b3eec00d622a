"""Let standard streams be terminals in a replay if they were in the recording.

On a terminal, programs write other text than into a pipe, and libraries read other variables.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from reenact.core.model.header import program_of
from reenact.run.child import stdin


def here() -> dict[str, bool]:
    """Return which of the standard streams are terminals, by name."""
    return {
        "stdin": stdin.is_terminal(),
        **{name: _is_terminal(getattr(sys, name)) for name in ("stdout", "stderr")},
    }


def recorded(header: Mapping[str, Any]) -> dict[str, bool]:
    """Return which of them were terminals in a recording; without those that an old one omits."""
    told = program_of(header).get("tty") or {}
    return {name: bool(told[name]) for name in ("stdin", "stdout", "stderr") if name in told}


def pretend(told: Mapping[str, bool]) -> None:
    """Let standard output and error be terminals, or none, as in the recording."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and name in told:
            with suppress(AttributeError):
                stream.isatty = _always(told[name])


def _always(answer: bool) -> Any:
    return lambda: answer


def _is_terminal(stream: Any) -> bool:
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:
        return False
