"""A comparison as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reenact.analysis.diff import Diff, Difference, Kind, Pair
from reenact.analysis.diff.words import Segment
from reenact.analysis.pages.blocks import (
    Block,
    CardBlock,
    CodeBlock,
    Fold,
    Note,
    Paragraph,
    Section,
    StaticPage,
    Style,
    Styled,
    Versus,
    Words,
    table,
)
from reenact.analysis.views.text import many, one_line
from reenact.cli.comparing import told
from reenact.core.query.facts import StepFacts
from reenact.core.store.local import argument_of
from reenact.errors import ABSENT

_FOLDED = 400
_AROUND = 120
_GIST = 300
_PAIRS = 100
_WORDS = {Kind.CHANGED: "changed", Kind.INSERTED: "only in B", Kind.DELETED: "only in A", Kind.MOVED: "moved"}
_STYLES: dict[Kind, Style] = {
    Kind.CHANGED: "warn", Kind.INSERTED: "second", Kind.DELETED: "first", Kind.MOVED: "live"
}  # fmt: skip
_PARTING = "parting"
_NOTE = Note(
    "From here on model calls carry what differs above, in their history or their settings; that is told once.",
    "quiet",
)


def page(found: Diff, *, whole: bool = False) -> StaticPage:
    """Return the page, with the first differences of very many, or all if `whole`."""
    names = [run.recording.agent or run.id for run in (found.a, found.b)]
    sections = [
        Section("Overview", tuple(_totals(found))),
        Section("The program differs", tuple(_differences(found.program))),
        Section("The end differs", tuple(_differences(found.ending))),
        Section("Steps", tuple(_pairs(found, len(found.pairs) if whole else _PAIRS))),
    ]
    lead = "the same" if found.same else told.counts(found)
    shown = tuple(section for section in sections if section.blocks)
    return StaticPage(f"{names[0]} and {names[1]}", lead, shown, kind="Comparison of two runs", wide=True)


def _totals(found: Diff) -> Iterator[Block]:
    if (parting := found.parting) is not None:
        yield Note(
            (
                Styled("First difference", "strong"), " at ", _place(parting.a, "A"), ", ", _place(parting.b, "B"),
                f": {parting.why} ", Styled(told.label(found, parting.pair), "code"),
            ),
            "bad",
        )  # fmt: skip
    titles = [_title(run.recording.agent, run.id, side) for run, side in ((found.a, "A"), (found.b, "B"))]
    yield table(["", *titles, ""], told.totals(found), numeric=True)
    for rule in found.ignored:
        yield Paragraph(("rule applied: ", Styled(rule, "code")))


def _title(name: str, id: str, side: str) -> Words:
    return (
        Styled(f"{side} ", "first" if side == "A" else "second"),
        Styled(f"{name} ", "strong"),
        Styled(id, "code"),
    )


def _place(step: object, side: str) -> Styled:
    number = getattr(step, "number", None)
    return (
        Styled(f"the end of {side}")
        if number is None
        else Styled(f"step {number} of {side}", link=f"#{_PARTING}")
    )


def _pairs(found: Diff, most: int) -> Iterator[Block]:
    carried = False
    left = most
    for equal, pairs in told.stretches(found.pairs):
        if equal:
            head = f"{many(len(pairs), 'equal step')}: {told.span(pairs)}"
            yield Fold(Styled(head, "quiet"), (table((), [_row(found, pair) for pair in pairs]),))
            if not carried and any(pair.carried for pair in pairs):
                carried = True
                yield _NOTE
            continue
        shown = pairs[: max(left, 0)]
        left -= len(pairs)
        for pair in shown:
            if found.parting is not None and pair is found.parting.pair:
                yield Note(Styled("First difference", "strong"), "bad", _PARTING)
            yield CardBlock(
                _head(found, pair), tuple(_inside(found, pair, note=pair.carried and not carried))
            )
            carried = carried or pair.carried
    if left < 0:
        more = many(-left, "more difference")
        refs = f"{argument_of(found.a.recording)} {argument_of(found.b.recording)}"
        whole = Styled(f"reenact diff {refs} --all --html all.html", "code")
        yield Note((f"And {more}; ", whole, " writes them too."), "quiet")


def _row(found: Diff, pair: Pair) -> tuple[Words, ...]:
    assert pair.a is not None
    gist = one_line(told.gist(found.a.of(pair.a)), _GIST)
    return _numbers(pair), Styled(told.label(found, pair), "code"), Styled(gist, "quiet")


def _head(found: Diff, pair: Pair) -> Words:
    took = " · ".join(
        f"{side} {spent}" for side, spent in zip("AB", map(told.took, pair.spent), strict=True) if spent
    )
    name, kind = Styled(told.label(found, pair), "strong"), Styled(_WORDS[pair.kind], _STYLES[pair.kind])
    return (*_numbers(pair), name, kind, Styled(took, "quiet"))


def _inside(found: Diff, pair: Pair, *, note: bool) -> Iterator[Block]:
    yield from _differences(pair.differences)
    if note:
        yield _NOTE
    if not pair.differences:
        yield CodeBlock(tuple(_folded(told.gist(_step(found, pair)), first=True, last=True)))


def _step(found: Diff, pair: Pair) -> StepFacts:
    if pair.a is not None:
        return found.a.of(pair.a)
    assert pair.b is not None
    return found.b.of(pair.b)


def _numbers(pair: Pair) -> tuple[str | Styled, ...]:
    a, b = told.pair_numbers(pair)
    return (
        Styled(a or "·", "first"),
        Styled(f" {told.SIGNS[pair.kind]} ", "quiet"),
        Styled(b or "·", "second"),
    )


def _differences(differences: Iterable[Difference]) -> Iterator[Block]:
    for one in differences:
        yield Paragraph((Styled(one.path, "code"), Styled(f" {one.who}" if one.who else "", "quiet")))
        words = one.words
        if words is None:
            sides: list[Words] = [_value(one.a, "removed"), _value(one.b, "added")]
        else:
            sides = [tuple(_side(words, "-", "removed")), tuple(_side(words, "+", "added"))]
        yield Versus(tuple(("", side) for side in sides), sides=True)


def _value(value: object, style: Style) -> Styled:
    return Styled("absent", "quiet") if value is ABSENT else Styled(told.value(value), style)


def _side(words: tuple[Segment, ...], sign: str, style: Style) -> Iterator[str | Styled]:
    own = [segment for segment in words if segment.sign in ("=", sign)]
    for place, segment in enumerate(own):
        if segment.sign == "=" and len(segment.text) <= _FOLDED:
            yield segment.text
        elif segment.sign == "=":
            yield from _folded(segment.text, first=place == 0, last=place == len(own) - 1)
        else:
            yield Styled(segment.text, style)


def _folded(text: str, *, first: bool = False, last: bool = False) -> Iterator[str | Styled]:
    """Fold the long middle, beginning or end of a text; a click opens it."""
    if len(text) <= _FOLDED:
        yield text
        return
    start, end = _AROUND, len(text) - _AROUND
    if first and last:
        start, end = _FOLDED, len(text)
    elif first:
        start, end = 0, len(text) - _AROUND
    elif last:
        start, end = _AROUND, len(text)
    yield text[:start]
    yield Styled(text[start:end], "folded")
    yield text[end:]
