"""The output of `reenact list`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text
from rich.tree import Tree

from reenact.analysis.views.text import ago, many, one_line
from reenact.cli import present
from reenact.cli.context import Context
from reenact.cli.printing import say
from reenact.core.query.summary import Summary
from reenact.core.store.base import Looked
from reenact.core.store.shared import Origin
from reenact.verbs.list import Options, Result


def show(result: Result, options: Options, context: Context) -> None:
    """Print the list as a table or a tree, and remarks on it to standard error."""
    found = result.listed
    lines = [hit.summary for hit in found.hits]
    if lines and not context.json:
        if options.tree:
            present.out().print(_drawn(lines, result.origins))
        else:
            steps = {hit.summary.id: hit.steps for hit in found.hits if result.wanted.about_steps}
            width = present.out().width
            present.show(
                present.listed(lines, list(found.ids), steps, width, book=result.book, proofs=result.proofs)
            )
    if options.why:
        say(_work(found.looked, result.searched))
    if not lines and not result.searched:
        say(f"no recordings in {result.place}; `reenact record -- python agent.py` makes one")
    elif not lines:
        word = result.unknown
        hint = f"; no step is of kind '{word}': for text, write '\"{word}\"'" if word else ""
        say(f"no recordings match ({result.searched} searched){hint}")
    elif found.matching is None:
        say(f"the newest {len(lines)}; --all shows the others")
    elif len(lines) < found.matching:
        say(f"{len(lines)} of {found.matching}; --all shows the others")


def _work(looked: Looked | None, total: int) -> str:
    """Return the work of a search in words."""
    if looked is None:
        return "index: columns of recordings; no steps were looked into"
    steps = many(looked.steps, "step")
    return f"index: {looked.index}; looked into {looked.recordings} of {total} recordings, {steps}"


def _drawn(lines: Sequence[Summary], origins: Mapping[str, Origin]) -> Tree:
    """Return recordings under those that they were forked from."""
    known = {line.id: line for line in lines}
    below: dict[str, list[str]] = {}
    # They come the newest first.
    for line in reversed(lines):
        said = origins.get(line.id)
        if said is not None and said.id in known:
            below.setdefault(said.id, []).append(line.id)
    under = {id for ids in below.values() for id in ids}
    root = Tree("", hide_root=True, guide_style="dim")

    def hang(at: Tree, id: str) -> None:
        branch = at.add(_line(known[id], origins.get(id)))
        # Of one parent in the order of their steps, and of one step the oldest first.
        for child in sorted(below.get(id, ()), key=lambda child: origins[child].step or 0):
            hang(branch, child)

    for line in lines:
        if line.id not in under:
            hang(root, line.id)
    return root


def _line(line: Summary, origin: Origin | None) -> Text:
    parts = [Text(line.id, "yellow")]
    if origin is not None:
        where = f"{origin.how} at {origin.step}" if origin.step is not None else origin.how
        parts.append(Text(where, "cyan"))
    parts += [
        Text(one_line(line.name)),
        present.status(line),
        Text("" if line.broken else many(line.steps, "step"), "dim"),
        Text("" if line.broken else ago(line.started), "dim"),
    ]
    return Text("  ").join(part for part in parts if part.plain)
