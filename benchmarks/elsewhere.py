"""Figures that other suites measure (`make soak`: kills, full disks, thousands of recordings) and leave as JSON.

Each file in `benchmarks/results/` is one object. A value of it that is an object, or a list of objects, becomes a
table; `figures` (a list of `{"what", "target", "found", "met"}`) are shown like those measured here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.plan import Plan
from benchmarks.report import Figure, Section, Table

FOLDER = Path(__file__).parent / "results"


def measure(plan: Plan) -> Section:
    """What is there, read in."""
    section = Section(
        "7. Faithfulness and durability", "Measured by `make soak`, which leaves its figures here."
    )
    for path in sorted(FOLDER.glob("*.json")):
        plan.tell(f"reading {path.name}")
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            _take(section, path.stem, data)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            section.notes.append(f"`{path.name}` cannot be read: {type(error).__name__} {error}")
    if not section.figures and not section.tables and not section.notes:
        section.notes.append("No figures yet: run `make soak` first.")
    return section


def _take(section: Section, name: str, data: dict[str, Any]) -> None:
    for given in data.pop("figures", []):
        found = Figure(given["what"], str(given.get("target", "")), str(given["found"]), given.get("met"))
        section.figures.append(found)
    said = []
    for key, value in data.items():
        rows = value if isinstance(value, list) else [value]
        if rows and all(isinstance(row, dict) for row in rows):
            section.tables += _tables(f"{name}: {key}", rows)
        else:
            said.append(f"{key} {_shown(value)}")
    if said:
        section.notes.append(f"{name}: {', '.join(said)}")


def _tables(title: str, rows: list[dict[str, Any]]) -> list[Table]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return [Table([title, *columns], [["", *(_shown(row.get(key, "")) for key in columns)] for row in rows])]


def _shown(value: Any) -> str:
    return f"{value:,.1f}" if isinstance(value, float) else str(value)
