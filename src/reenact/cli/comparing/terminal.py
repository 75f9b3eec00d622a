"""A comparison on a terminal in colours, or in a pipe with marks of `git diff --word-diff`."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from reenact.analysis.diff import Diff, Difference, Kind, Pair
from reenact.analysis.views.difference import ACTUAL, RECORDED, bracketed, cut
from reenact.analysis.views.difference import sides as sides_of
from reenact.analysis.views.text import many, one_line, visible
from reenact.cli import present
from reenact.cli.comparing import told
from reenact.cli.transcript import TextPage
from reenact.errors import ABSENT

_LONGEST = 600
_PAIRS = 40
_PARTS = 8
_COLOURS = {Kind.SAME: "dim", Kind.CHANGED: "bold", Kind.INSERTED: ACTUAL, Kind.DELETED: RECORDED}
_INDENT = 13


class ComparisonOutput(TextPage):
    """A comparison's output.

    Args:
        found: The comparison.
        console: The console to write to.
        whole: True to write equal steps, too, all pairs, and all texts in full.
    """

    def __init__(self, found: Diff, console: Console, *, whole: bool = False) -> None:
        super().__init__(console, full=whole)
        self.found = found
        self.coloured = console.is_terminal and not console.no_color
        self._carried = False

    def pair(self, pair: Pair) -> None:
        """Write one pair with all its differences."""
        self.line(self._heading(pair), 0, _INDENT)
        if pair.kind in (Kind.INSERTED, Kind.DELETED, Kind.MOVED):
            side, step = (self.found.a, pair.a) if pair.a is not None else (self.found.b, pair.b)
            if step is not None and (gist := told.gist(side.of(step))):
                text = visible(gist) if self.full else one_line(gist, 2 * _LONGEST // 5)
                self.line(Text(text, "dim"), _INDENT)
        shown = pair.differences if self.full else pair.differences[:_PARTS]
        for difference in shown:
            self.difference(difference, _INDENT)
        if len(shown) < len(pair.differences):
            more = many(len(pair.differences) - len(shown), "more difference")
            self.line(Text(f"and {more}; --all shows them", "dim"), _INDENT)
        self.note([pair])

    def note(self, pairs: Iterable[Pair]) -> None:
        """Write once that model calls contain an earlier difference."""
        if not self._carried and any(pair.carried for pair in pairs):
            self._carried = True
            text = "from here on, the history or settings of model calls contain the differences above"
            self.line(Text(f"{text}: told once", "dim italic"), _INDENT)

    def _heading(self, pair: Pair) -> Text:
        a, b = told.pair_numbers(pair)
        text = Text(f"{a:>4} {b:>4}  ", "bold")
        text.append(f"{told.SIGNS[pair.kind]} ", f"bold {_COLOURS.get(pair.kind, '')}")
        text.append(told.label(self.found, pair), "bold" if pair.kind is not Kind.SAME else "")
        if pair.kind in (Kind.MOVED, Kind.INSERTED, Kind.DELETED):
            words = {Kind.INSERTED: "only in B", Kind.DELETED: "only in A", Kind.MOVED: "moved"}
            text.append(f"  {words[pair.kind]}", _COLOURS.get(pair.kind, ""))
        spent = [
            f"{side} {took}" for side, took in zip("AB", map(told.took, pair.spent), strict=True) if took
        ]
        return text.append("".join(f" · {part}" for part in spent), "dim")

    def difference(self, difference: Difference, indent: int) -> None:
        """Write both sides of one difference."""
        self.line(Text(one_line(told.name(difference)), "bold" if self.coloured else ""), indent)
        words = difference.words
        if words is None:
            sides = (difference.a, "A", RECORDED), (difference.b, "B", ACTUAL)
            for value, side, style in sides:
                text = visible(told.value(value))
                missing = value is ABSENT
                shown = text if self.full else cut(text, _LONGEST)
                self._side(side, Text(shown, "dim" if missing else style), indent)
        elif self.coloured:
            for side, own in zip("AB", sides_of(words, full=self.full), strict=True):
                self._side(side, own, indent)
        else:
            self._side("", Text(bracketed(words, full=self.full)), indent)

    def _side(self, side: str, text: Text, indent: int) -> None:
        head = Text(f"{side:<2}", "dim") if side else Text("  ")
        for line in text.split("\n", allow_blank=True):
            self.line(line, indent, 2, head)
            head = Text("  ")


def tell(report: ComparisonOutput) -> None:
    """Write the whole comparison: the runs, their totals, the first difference, and all others."""
    found = report.found
    _heads(report)
    present.show(_totals(found, report.console.width), report.console)
    report.line(Text(""))
    if found.same:
        report.line(Text(f"the same: {many(len(found.pairs), 'step')}", "bold green"))
    else:
        report.line(Text(told.counts(found), "bold"))
    for rule in found.ignored:
        report.line(Text.assemble("rule applied: ", (rule, "bold")))
    _parting(report)
    _around(report, "the program differs", found.program)
    _around(report, "the end differs", found.ending)
    if not found.same or report.full:
        _pairs(report)


def _heads(report: ComparisonOutput) -> None:
    for side, run, style in (("A", report.found.a, RECORDED), ("B", report.found.b, ACTUAL)):
        recording = run.recording
        text = Text().append(f"{side}  ", f"bold {style}").append(f"{run.id}  ", "yellow")
        text.append(one_line(recording.agent) or "recording", "bold")
        tags = one_line(" ".join(f"#{tag}" for tag in recording.tags))
        report.line(text.append(f"  {tags}" if tags else "", "magenta"), 0, 3)


def _totals(found: Diff, width: int) -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="bold", show_edge=False)
    table.add_column("", style="dim", no_wrap=True)
    most = max((min(width, 200) - 40) // 2, 12)
    for title, style in (("A", RECORDED), ("B", ACTUAL)):
        table.add_column(
            title, justify="right", header_style=f"bold {style}", max_width=most, overflow="fold"
        )
    table.add_column("", style="dim", justify="right", no_wrap=True)
    for what, a, b, more in told.totals(found):
        table.add_row(what, Text(one_line(a)), Text(one_line(b)), more)
    return table


def _parting(report: ComparisonOutput) -> None:
    parting = report.found.parting
    if parting is None:
        return
    places = [
        f"step {step.number} of {side}" if step is not None else f"the end of {side}"
        for step, side in ((parting.a, "A"), (parting.b, "B"))
    ]
    report.line(Text(""))
    where = f"at {places[0]}, {places[1]}: {parting.why}"
    report.line(Text().append("First difference ", "bold red").append(where, "bold"), 0, 2)
    if parting.pair.differences:
        report.difference(parting.pair.differences[0], 4)
        return
    for step, side in ((parting.a, report.found.a), (parting.b, report.found.b)):
        if step is not None:
            name = "A" if side is report.found.a else "B"
            gist = one_line(told.gist(side.of(step)), _LONGEST // 3)
            head = Text(f"  {name}  ", f"bold {RECORDED if name == 'A' else ACTUAL}")
            report.line(
                Text(f"{step.number}  ", "bold").append(step.call.label).append(f"  {gist}", "dim"),
                0,
                5,
                head,
            )


def _around(report: ComparisonOutput, title: str, differences: tuple[Difference, ...]) -> None:
    if not differences:
        return
    report.line(Text(""))
    report.line(Text(title, "bold"))
    shown = differences if report.full else differences[:_PARTS]
    for difference in shown:
        report.difference(difference, 2)
    if len(shown) < len(differences):
        report.line(Text(f"and {len(differences) - len(shown)} more; --all shows them", "dim"), 2)


def _pairs(report: ComparisonOutput) -> None:
    report.line(Text(""))
    report.line(Text("   A    B", "dim"))
    parting = report.found.parting
    left = len(report.found.pairs) if report.full else _PAIRS
    for equal, pairs in told.stretches(report.found.pairs):
        if equal and not report.full:
            if left > 0:
                text = f"     …     {many(len(pairs), 'equal step')}: {told.span(pairs)}"
                report.line(Text(text, "dim"))
                report.note(pairs)
            continue
        for pair in pairs:
            if left > 0:
                if parting is not None and pair is parting.pair:
                    report.line(Text("───── first difference", "bold red"))
                report.pair(pair)
            left -= 1
    if left < 0:
        report.line(Text(f"and {many(-left, 'more difference')}; --all shows them", "dim"))
