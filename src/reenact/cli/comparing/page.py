"""A comparison as one self-contained page: no script, no font, no external picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import escape

from reenact.analysis.diff import Diff, Difference, Kind, Pair
from reenact.analysis.diff.words import Segment
from reenact.cli import present
from reenact.cli.comparing import told
from reenact.cli.comparing.style import CSS
from reenact.core.query.facts import StepFacts
from reenact.errors import ABSENT

_FOLDED = 400
_SHORT = 200
_AROUND = 120
_GIST = 300
_PAIRS = 100
_WORDS = {Kind.CHANGED: "changed", Kind.INSERTED: "only in B", Kind.DELETED: "only in A", Kind.MOVED: "moved"}
_NOTE = (
    '<p class="note">From here on model calls carry what differs above, in their history or their settings; '
    "that is told once.</p>"
)
# The page fetches nothing and runs nothing, for any content of a recording.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html(found: Diff, *, whole: bool = False) -> str:
    """Return the page, with the first differences of very many, or all if `whole`."""
    title = (
        f"{_e(found.a.recording.name or found.a.id)} and {_e(found.b.recording.name or found.b.id)}, compared"
    )
    parts = [
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{CSS}</style>\n</head>\n<body>\n<h1>First difference of two runs</h1>",
        *_totals(found),
        *_parting(found),
        *_around("The program differs", found.program),
        *_around("The end differs", found.ending),
        "<h2>Steps</h2>",
        *_pairs(found, len(found.pairs) if whole else _PAIRS),
        "</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _e(text: str) -> str:
    # Two runs that differ in a few words have the same pieces on both sides, a hundred thousand of them.
    return _short(text) if len(text) < _SHORT else escape(present.visible(text))


@lru_cache(1 << 14)
def _short(text: str) -> str:
    return escape(present.visible(text))


def _totals(found: Diff) -> Iterator[str]:
    heads = []
    for name, run in (("a", found.a), ("b", found.b)):
        recording = run.recording
        tags = " ".join(f"#{tag}" for tag in recording.tags)
        heads.append(
            f'<th><span class="side-{name}">{name.upper()}</span> <strong>{_e(recording.name)}</strong> '
            f'<code>{_e(run.id)}</code><br><span class="dim">{_e(tags)}</span></th>'
        )
    yield f"<table>\n<tr><th></th>{''.join(heads)}<th></th></tr>"
    for row in told.totals(found):
        cells = "".join(f"<td>{_e(cell)}</td>" for cell in row)
        yield f"<tr>{cells}</tr>"
    yield "</table>"
    yield f"<p>{_e('the same' if found.same else told.counts(found))}</p>"
    for rule in found.ignored:
        yield f"<p>rule applied: <code>{_e(rule)}</code></p>"


def _parting(found: Diff) -> Iterator[str]:
    parting = found.parting
    if parting is None:
        return
    places = [
        f'<a href="#parting">step {step.number}</a> of {side}' if step is not None else f"the end of {side}"
        for step, side in ((parting.a, "A"), (parting.b, "B"))
    ]
    yield (
        f'<div class="parting"><strong>First difference</strong> at {places[0]}, {places[1]}: {_e(parting.why)}'
        f"<br><code>{_e(told.label(found, parting.pair))}</code></div>"
    )


def _around(title: str, differences: Iterable[Difference]) -> Iterator[str]:
    rows = [_difference(difference) for difference in differences]
    if rows:
        yield f'<h2>{_e(title)}</h2>\n<section class="pair">{"".join(rows)}</section>'


def _pairs(found: Diff, most: int) -> Iterator[str]:
    carried = False
    left = most
    for equal, pairs in told.stretches(found.pairs):
        if equal:
            rows = "\n".join(_row(found, pair) for pair in pairs)
            summary = f"{present.many(len(pairs), 'equal step')}: {told.span(pairs)}"
            yield f'<details class="equal"><summary>{_e(summary)}</summary>\n{rows}\n</details>'
            if not carried and any(pair.carried for pair in pairs):
                carried = True
                yield _NOTE
            continue
        shown = pairs[: max(left, 0)]
        left -= len(pairs)
        for pair in shown:
            if found.parting is not None and pair is found.parting.pair:
                yield '<p class="here" id="parting">First difference</p>'
            yield _pair(found, pair, note=pair.carried and not carried)
            carried = carried or pair.carried
    if left < 0:
        more = present.many(-left, "more difference")
        yield f'<p class="note">And {more}; <code>reenact diff --all --html</code> writes them too.</p>'


def _row(found: Diff, pair: Pair) -> str:
    assert pair.a is not None
    gist = present.one_line(told.gist(found.a.of(pair.a)), _GIST)
    return (
        f'<div class="row">{_numbers(pair)}<span class="label">{_e(told.label(found, pair))}</span>'
        f'<span class="gist">{escape(gist)}</span></div>'
    )


def _pair(found: Diff, pair: Pair, *, note: bool) -> str:
    spent = " · ".join(
        f"{side} {took}" for side, took in zip("AB", map(told.took, pair.spent), strict=True) if took
    )
    head = (
        f'<article class="pair {pair.kind.value}">\n<header>{_numbers(pair)}'
        f'<span class="label">{_e(told.label(found, pair))}</span>'
        f'<span class="kind">{_WORDS[pair.kind]}</span><span class="took">{_e(spent)}</span></header>'
    )
    parts = [head]
    parts += [_difference(difference) for difference in pair.differences]
    if note:
        parts.append(_NOTE)
    if not pair.differences:
        parts.append(
            f'<div class="one">{_text(_folded(told.gist(_step(found, pair)), first=True, last=True))}</div>'
        )
    return "\n".join([*parts, "</article>"])


def _step(found: Diff, pair: Pair) -> StepFacts:
    if pair.a is not None:
        return found.a.of(pair.a)
    assert pair.b is not None
    return found.b.of(pair.b)


def _numbers(pair: Pair) -> str:
    a, b = told.numbers(pair)
    return (
        f'<span class="numbers"><span class="side-a">{a or "·"}</span> {told.SIGNS[pair.kind]} '
        f'<span class="side-b">{b or "·"}</span></span>'
    )


def _difference(difference: Difference) -> str:
    who = f' <span class="who">{_e(difference.who)}</span>' if difference.who else ""
    words = difference.words
    if words is None:
        sides = [_value(difference.a, "del"), _value(difference.b, "ins")]
    else:
        sides = [_side(words, "-", "del"), _side(words, "+", "ins")]
    return (
        f'<div class="path"><code>{_e(difference.path)}</code>{who}</div>'
        f'<div class="both">{"".join(map(_text, sides))}</div>'
    )


def _value(value: object, mark: str) -> str:
    if value is ABSENT:
        return '<span class="absent">absent</span>'
    return f"<{mark}>{_e(told.value(value))}</{mark}>"


def _side(words: tuple[Segment, ...], sign: str, mark: str) -> str:
    own = [segment for segment in words if segment.sign in ("=", sign)]
    parts = []
    for place, segment in enumerate(own):
        if segment.sign == "=":
            parts.append(_folded(segment.text, first=place == 0, last=place == len(own) - 1))
        else:
            parts.append(f"<{mark}>{_e(segment.text)}</{mark}>")
    return "".join(parts)


def _folded(text: str, *, first: bool = False, last: bool = False) -> str:
    """Fold the long middle, beginning or end of a text; a click opens it."""
    if len(text) <= _FOLDED:
        return _e(text)
    start, end = _AROUND, len(text) - _AROUND
    if first and last:
        start, end = _FOLDED, len(text)
    elif first:
        start, end = 0, len(text) - _AROUND
    elif last:
        start, end = _AROUND, len(text)
    hidden = text[start:end]
    return (
        f'{_e(text[:start])}<details class="fold"><summary>… {len(hidden):,} characters …</summary>{_e(hidden)}'
        f"</details>{_e(text[end:])}"
    )


def _text(inner: str) -> str:
    return f'<div class="text">{inner}</div>'
