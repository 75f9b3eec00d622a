"""The tree of `reenact list --tree`: recordings below those from which they were forked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text
from rich.tree import Tree

from reenact.analysis.views.text import ago, many, one_line
from reenact.cli import present
from reenact.core.query.summary import Summary
from reenact.core.store.shared import Parentage

_LONGEST = 60
"""Most characters of a name and of an outcome."""


def show(lines: Sequence[Summary], origins: Mapping[str, Parentage]) -> None:
    """Print the tree."""
    present.out().print(_drawn(lines, origins))


def _drawn(lines: Sequence[Summary], origins: Mapping[str, Parentage]) -> Tree:
    """Return the tree of recordings, with forks below their parents."""
    known = {line.id: line for line in lines}
    below: dict[str, list[str]] = {}
    # `lines` begins with the newest.
    for line in reversed(lines):
        said = origins.get(line.id)
        if said is not None and said.id in known:
            below.setdefault(said.id, []).append(line.id)
    under = {id for ids in below.values() for id in ids}
    root = Tree("", hide_root=True, guide_style="dim")

    def hang(at: Tree, id: str) -> None:
        branch = at.add(_line(known[id], origins.get(id)))
        # Sort forks of one parent by step, and those of one step by age, the oldest first.
        for child in sorted(below.get(id, ()), key=lambda child: origins[child].step or 0):
            hang(branch, child)

    for line in lines:
        if line.id not in under:
            hang(root, line.id)
    return root


def _line(line: Summary, origin: Parentage | None) -> Text:
    parts = [Text(line.id, "yellow")]
    if origin is not None:
        where = f"{origin.how} at {origin.step}" if origin.step is not None else origin.how
        parts.append(Text(where, "cyan"))
    parts += [
        Text(one_line(line.name or line.agent, _LONGEST)),
        present.status(line),
        Text(one_line(line.outcome, _LONGEST), "red" if line.problem else ""),
        Text("" if line.broken else many(line.steps, "step"), "dim"),
        Text("" if line.broken else ago(line.started), "dim"),
    ]
    return Text("  ").join(part for part in parts if part.plain)
