"""What the slow suites print and leave behind: a progress bar, a table at the end, a file of results."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

SHORT = os.environ.get("REENACT_SOAK") == "short"
"""Whether the short form is asked for, as CI does."""

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def size(whole: int, short: int) -> int:
    """How much of it this run does; `REENACT_SOAK=500` names a number of its own."""
    asked = os.environ.get("REENACT_SOAK", "")
    return int(asked) if asked.isdigit() else -(-short // 3) if SHORT else whole


class Screen:
    """Where progress goes: past pytest's capturing, so that somebody who waits for minutes sees it."""

    uncaptured: Callable[[], AbstractContextManager[object]] = nullcontext

    @classmethod
    def show(cls, text: str) -> None:
        with cls.uncaptured():
            sys.stderr.write(text)
            sys.stderr.flush()


def progress(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The items, with a bar on a terminal and a line for every tenth elsewhere."""
    began = time.monotonic()
    with Screen.uncaptured():
        lively = sys.stderr.isatty()
    for number, item in enumerate(items, 1):
        yield item
        if lively or number == total or number % max(1, total // 10) == 0:
            bar = "█" * (30 * number // total)
            text = f"{what:<34} {bar:<30} {number:>6}/{total} {time.monotonic() - began:6.1f} s"
            Screen.show(("\r" if lively else "") + text + ("" if lively and number < total else "\n"))


def table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows of equal columns, so that they are seen although pytest captures what tests print."""
    columns = list(rows[0])
    widths = [max(len(name), *(len(_text(row[name])) for row in rows)) for name in columns]
    lines = ["  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True))]
    lines += ["  ".join(_text(row[n]).ljust(w) for n, w in zip(columns, widths, strict=True)) for row in rows]
    Screen.show("\n".join(["", title, *lines, ""]) + "\n")


def keep(name: str, results: dict[str, Any]) -> None:
    """Leave the figures of a whole run for the benchmarks page."""
    if os.environ.get("REENACT_SOAK") or os.environ.get("REENACT_SOAK_SEED"):
        return
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{name}.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    known |= results | {"measured": time.strftime("%Y-%m-%d"), "cores": os.cpu_count()}
    path.write_text(json.dumps(known, indent=1) + "\n")


def _text(value: Any) -> str:
    return (
        f"{value:,.1f}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )
