"""RESULTS.md: a table for each question, with the target, the figure, and whether it is met."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("openai", "httpx2", "pydantic-ai-slim", "pydantic", "orjson", "hyperscan")


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured. `met` is None where there is no target."""

    what: str
    target: str
    found: str
    met: bool | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A comparison: the first column names who."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(slots=True)
class Section:
    """One question, how it was measured, and what came out."""

    title: str
    how: str
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def figure(self, what: str, target: str, found: str, met: bool | None = None) -> None:
        """Add one figure."""
        self.figures.append(Figure(what, target, found, met))


def write(
    sections: Iterable[Section], path: Path, *, command: str, took: float, quick: bool, head: str = ""
) -> None:
    """Write the results, under another `head` than the usual. What was `put` there, and what stands under
    `## Besides`, by hand, stays.
    """
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = [
        (head or _HEAD).format(machine=_machine(), versions=_versions(), command=command, took=_minutes(took))
    ]
    if quick:
        parts.append(_QUICK)
    kept = list(sections)
    parts.append(_summary(kept))
    parts += [_section(section) for section in kept]
    stays = re.search(f"\n(?:{_PART}|{_BESIDES})", before)
    path.write_text("\n".join(parts) + (before[stays.start() :] if stays else ""), encoding="utf-8")


def put(section: Section, path: Path, *, command: str, took: float, quick: bool) -> None:
    """Write one section as a part of a page, in the place of what was put there under its title. All else stays."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    how = f"Written by `{command}` ({_minutes(took)}): {_machine()}."
    text = _section(replace(section, how=f"{how}\n\n{_QUICK * quick}{section.how}"))
    part = f"{_PART}\n{text}"
    own = re.compile(
        rf"{_PART}\n## {re.escape(section.title)}\n.*?(?=\n(?:{_PART}|{_BESIDES})|\Z)", re.DOTALL
    )
    if own.search(before):
        after = own.sub(lambda _: part, before, count=1)
    else:
        head, besides, by_hand = before.partition(f"\n{_BESIDES}")
        after = f"{head.rstrip()}\n\n{part}{besides}{by_hand}".lstrip()
    path.write_text(after, encoding="utf-8")


_PART = "<!-- a part of its own -->"
_BESIDES = "## Besides\n"
_QUICK = "**A quick run: a look at whether all of it works. Its figures are not to be quoted.**\n"

_HEAD = """\
# What Reenact costs

Written by `{command}` ({took}). Misses are listed as they are.

- Machine: {machine}
- Versions: {versions}
- CPU is `time.process_time` of the measuring process, all threads; wall is `time.perf_counter`. The machine is shared:
  batches with and without a recorder, ours and the peers', alternate in one run, each subject in a process of its own.
  **What a recorder adds is the difference between two neighbouring batches of the same process.** A figure
  `a (b)` is the median of all rounds and, in parentheses, the least.
"""


def _summary(sections: list[Section]) -> str:
    figures = [figure for section in sections for figure in section.figures if figure.met is not None]
    if not figures:
        return ""
    missed = [figure for figure in figures if not figure.met]
    text = f"\n**{len(figures) - len(missed)} of {len(figures)} targets met.**"
    if missed:
        text += " Missed:\n\n" + "\n".join(f"- {f.what}: {f.found}, target {f.target}" for f in missed)
    return text + "\n"


def _section(section: Section) -> str:
    lines = [f"## {section.title}", "", section.how, ""]
    if section.figures:
        rows = [(f.what, f.target, f.found, _verdict(f.met)) for f in section.figures]
        lines += [_table(Table(("", "target", "measured", ""), rows)), ""]
    for table in section.tables:
        lines += [_table(table), ""]
    lines += [f"- {note}" for note in section.notes]
    return "\n".join(lines).rstrip() + "\n"


def _verdict(met: bool | None) -> str:
    return "" if met is None else "met" if met else "**missed**"


def _table(table: Table) -> str:
    rows = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _machine() -> str:
    name = platform.processor() or platform.machine()
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            name = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{os.cpu_count()} cores, {name}, {platform.system()}, load {load} at the end; {when}"


def _versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
