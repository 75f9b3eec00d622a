"""Figures that other suites measure (`make soak`: kills, full disks, thousands of recordings) and leave as JSON.

Each file in `benchmarks/results/` is one object: `{"title": …, "how": …, "figures": [{"what": …, "target": …,
"found": …, "met": true}]}`.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.plan import Plan
from benchmarks.report import Figure, Section

FOLDER = Path(__file__).parent / "results"


def measure(plan: Plan) -> Section:
    """What is there, read in."""
    section = Section("6. Faithfulness and durability", "Measured by `make soak`, which leaves its figures here.")
    for path in sorted(FOLDER.glob("*.json")):
        plan.tell(f"reading {path.name}")
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            found = [Figure(f["what"], str(f.get("target", "")), str(f["found"]), f.get("met")) for f in data["figures"]]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            section.notes.append(f"`{path.name}` cannot be read: {type(error).__name__} {error}")
            continue
        section.figures += found
        if data.get("how"):
            section.notes.append(f"{data.get('title', path.stem)}: {data['how']}")
    if not section.figures and not section.notes:
        section.notes.append("No figures yet: run `make soak` first.")
    return section
