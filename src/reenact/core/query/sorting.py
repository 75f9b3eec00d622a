"""The orders of a list of recordings, for the terminal, the screens and the server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from reenact.core.query.summary import Summary

T = TypeVar("T")

SORTS: dict[str, Callable[[Summary], Any]] = {
    "started": lambda line: line.moment,
    "agent": lambda line: line.agent.lower(),
    "name": lambda line: line.name.lower(),
    "status": lambda line: "broken" if line.broken else line.status,
    "prompt": lambda line: line.prompt.lower(),
    "outcome": lambda line: (line.broken or line.outcome).lower(),
    "model": lambda line: ", ".join(line.models).lower(),
    "steps": lambda line: line.steps,
    "failed": lambda line: line.failed,
    "tokens": lambda line: line.input_tokens + line.output_tokens,
    "cost": lambda line: line.cost,
    "duration": lambda line: line.duration,
}
"""The value by which recordings are sorted, by order; None where it is not known."""

TEXTS = ("agent", "name", "status", "prompt", "outcome", "model")
"""The orders of texts: from A to Z on terminals. All others begin with the greatest."""

TITLES = {"when": "started", "time": "duration"}
"""The titles of columns that differ from the names of their orders."""


def ordered(items: Iterable[T], sort: str, line: Callable[[T], Summary]) -> list[T]:
    """Return items in descending order of a value, those without one last.

    Equal ones keep their order.

    Args:
        items: The items.
        sort: A name in `SORTS`; with `-` in front, ascending.
        line: Returns the recording of an item.
    """
    key = SORTS[sort.removeprefix("-")]
    values = [(key(line(item)), item) for item in items]
    known = [pair for pair in values if pair[0] is not None and pair[0] != ""]
    unknown = [item for value, item in values if value is None or value == ""]
    known.sort(key=lambda pair: pair[0], reverse=not sort.startswith("-"))
    return [*(item for _, item in known), *unknown]


def order_of(column: str) -> str | None:
    """Return the order of a column: its usual one, or with `-` in front the reverse one.

    None if there is no such column.
    """
    name = column.removeprefix("-")
    name = TITLES.get(name, name)
    if name not in SORTS:
        return None
    return f"-{name}" if (name in TEXTS) is not column.startswith("-") else name
