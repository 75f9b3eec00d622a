"""A verdict on a terminal: replayed steps, and the divergence, recorded against actual."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from reenact.analysis.views.difference import difference, written
from reenact.analysis.views.text import many
from reenact.analysis.views.verdict import as_options, word
from reenact.core.model.divergence import Verdict
from reenact.errors import Divergence, Mismatch

_SHOWN = 8
_MISSING = 10


def panel(verdict: Verdict, *, name: str = "") -> Panel:
    """The whole verdict, in a frame."""
    said, color = headline(verdict)
    title = Text.assemble(
        (said, f"bold {color}"), f"  {verdict.recording}", (f"  {name}" if name else "", "dim")
    )
    return Panel(Group(*_parts(verdict)), title=title, title_align="left", border_style=color, expand=False)


def headline(verdict: Verdict) -> tuple[str, str]:
    """One word for a verdict, and its colour."""
    color = "green" if verdict.faithful else "red" if verdict.divergences else "yellow"
    return word(verdict), color


def _parts(verdict: Verdict) -> Iterator[RenderableType]:
    yield _answered(verdict)
    if again := sum(verdict.again.values()):
        yield Text(f"{many(again, 'tool call')} ran again, with the recorded answers inside", "dim")
    for label, reason in sorted(verdict.answered.items()):
        yield Text.assemble("did not run: ", (label, "bold"), f" ({reason})")
    if (tools := verdict.kinds.get("tool", 0) - again) > 0 and not verdict.answered:
        yield Text(f"the code of {many(tools, 'tool call')} did not run; --live tool runs it", "dim")
    if len(verdict.compared) > 1:
        yield Text(f"compared: {', '.join(verdict.compared)}", "dim")
    for label, count in sorted(verdict.live.items()):
        yield Text.assemble("ran for real: ", (label, "bold"), f" \N{MULTIPLICATION SIGN} {count}")
    for rule in verdict.rules:
        yield Text.assemble("rule applied: ", (rule, "bold"))
    for note in verdict.notes:
        yield Text.assemble(("! ", "yellow"), note)
    for divergence in verdict.divergences:
        yield Text()
        yield from departure(divergence)
    named = {divergence.step for divergence in verdict.divergences}
    left = [(step, address) for step, address in verdict.missing if step not in named]
    if left:
        yield Text()
        yield Text(f"not requested: {len(left)} recorded {'step' if len(left) == 1 else 'steps'}", "yellow")
        for step, address in left[:_MISSING]:
            yield Padding(Text(f"{step:>4}  {address}"), (0, 0, 0, 2))
        if len(left) > _MISSING:
            yield Padding(Text(f"      and {len(left) - _MISSING} more", "dim"), (0, 0, 0, 2))


def _answered(verdict: Verdict) -> Text:
    line = Text(f"{many(verdict.served, 'answer')} served from the recording")
    if len(verdict.kinds) > 1:
        line.append(": " + ", ".join(f"{count} {kind}" for kind, count in sorted(verdict.kinds.items())))
    return line


def departure(divergence: Divergence) -> Iterator[RenderableType]:
    """One departure: where, and recorded against actual."""
    where = f"step {divergence.step}  " if divergence.step is not None else ""
    yield Text.assemble((divergence.kind.value, "bold red"), "  ", (where, "bold"), divergence.address)
    if divergence.detail:
        yield Padding(Text(divergence.detail), (0, 0, 0, 2))
    for mismatch in divergence.mismatches[:_SHOWN]:
        yield Padding(_mismatch(mismatch), (0, 0, 0, 2))
    if (more := len(divergence.mismatches) - _SHOWN) > 0:
        yield Padding(Text(f"and {more} more differences", "dim"), (0, 0, 0, 2))
    if divergence.hint:
        yield Padding(Text(as_options(divergence.hint), "dim"), (0, 0, 0, 2))


def _mismatch(mismatch: Mismatch) -> RenderableType:
    old, new = written(mismatch.recorded), written(mismatch.actual)
    recorded, actual = difference(old, new)
    return Group(
        Text(mismatch.path, "bold"),
        Text.assemble(("  recorded  ", "dim"), recorded),
        Text.assemble(("  actual    ", "dim"), actual),
    )
