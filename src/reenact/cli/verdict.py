"""A verdict on a terminal: replayed steps, and the divergence, recorded against actual."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from reenact.analysis.views.text import many, one_line
from reenact.analysis.views.verdict import as_options, facts, unrequested, word
from reenact.cli.framing import Framed
from reenact.core.model.divergence import Verdict
from reenact.errors import Divergence, Mismatch

_SHOWN = 8
_MISSING = 10
_STYLES = {"plain": "", "quiet": "dim", "warning": "yellow"}


def panel(verdict: Verdict, *, name: str = "") -> Framed:
    """Return the whole verdict, in a frame for a terminal."""
    color = "green" if verdict.faithful else "red" if verdict.divergences else "yellow"
    title = Text.assemble(
        (word(verdict), f"bold {color}"),
        f"  {verdict.recording}",
        (f"  {one_line(name)}" if name else "", "dim"),
    )
    return Framed(title, Group(*_parts(verdict)), color)


def _parts(verdict: Verdict) -> Iterator[RenderableType]:
    for fact in facts(verdict):
        style = _STYLES[fact.tone]
        rest = "" if fact.tone == "warning" else style
        yield Text.assemble((fact.before, style), (fact.subject, "bold"), (fact.after, rest))
    for divergence in verdict.divergences:
        yield Text()
        yield from divergence_parts(divergence)
    if left := unrequested(verdict):
        yield Text()
        yield Text(f"not requested: {many(len(left), 'recorded step')}", "yellow")
        for step, address in left[:_MISSING]:
            yield Padding(Text(f"{step:>4}  {address}"), (0, 0, 0, 2))
        if len(left) > _MISSING:
            yield Padding(Text(f"      and {len(left) - _MISSING} more", "dim"), (0, 0, 0, 2))


def divergence_parts(divergence: Divergence) -> Iterator[RenderableType]:
    """Yield one divergence: its place, and recorded against actual."""
    where = f"step {divergence.step}  " if divergence.step is not None else ""
    yield Text.assemble(
        (divergence.kind.value, "bold red"), "  ", (where, "bold"), one_line(divergence.address)
    )
    if divergence.detail:
        yield Padding(Text(one_line(divergence.detail)), (0, 0, 0, 2))
    for mismatch in divergence.mismatches[:_SHOWN]:
        yield Padding(_mismatch(mismatch), (0, 0, 0, 2))
    if (more := len(divergence.mismatches) - _SHOWN) > 0:
        yield Padding(Text(f"and {more} more differences", "dim"), (0, 0, 0, 2))
    if divergence.hint:
        yield Padding(Text(one_line(as_options(divergence.hint)), "dim"), (0, 0, 0, 2))


def _mismatch(mismatch: Mismatch) -> RenderableType:
    # Imported here because a faithful replay has no mismatches.
    recorded, actual = import_module("reenact.analysis.views.difference").recorded_and_actual(mismatch)
    return Group(
        Text(one_line(mismatch.path), "bold"),
        Text.assemble(("  recorded  ", "dim"), recorded),
        Text.assemble(("  actual    ", "dim"), actual),
    )
