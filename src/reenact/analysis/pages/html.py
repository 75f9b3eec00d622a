"""Write a page as one HTML file without scripts, fonts, pictures or network access.

This module is the one place where text becomes markup: `escaped` is called for every text and every attribute.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files

from reenact.analysis.pages.blocks import (
    Bar,
    Block,
    CardBlock,
    CodeBlock,
    FactList,
    Fold,
    Grid,
    LaneChart,
    Note,
    Paragraph,
    PictureBlock,
    Speech,
    StaticPage,
    StepLine,
    Style,
    Styled,
    Versus,
    Words,
    plain,
)
from reenact.analysis.views.text import visible, without_tokens
from reenact.core.dataclass import dataclass

_SHEETS = files("reenact.analysis.pages")
TOKENS = (_SHEETS / "tokens.css").read_text(encoding="utf-8")
"""Colours and fonts of every page, in light and in dark."""

STYLE = TOKENS + (_SHEETS / "page.css").read_text(encoding="utf-8")
"""The stylesheet of static pages."""

NUMBER = 1
"""The number of a page's form, with a film's data, which the viewer must know."""

_TAGS: dict[Style, str] = {"code": "code", "strong": "strong", "removed": "del", "added": "ins"}
_SHORT = 200
_LONG = 48
"""The length of a text in a table, in characters, from which it may be broken anywhere."""
_FITS, _FITTING_LINES = 500, 12
"""The maximum characters and lines of a text that fits into its box on any screen."""


def policy(style: str, script: str = "", **sources: str) -> str:
    """Return a content security policy that allows this style and this script alone.

    Args:
        style: The text of the page's style element.
        script: The text of its script, if it has one.
        sources: Further directives, `img_src="data:"`.
    """
    allowed = {"style_src": _hash(style)} | ({"script_src": _hash(script)} if script else {}) | sources
    rules = "; ".join(f"{name.replace('_', '-')} {source}" for name, source in allowed.items())
    return f"default-src 'none'; {rules}; base-uri 'none'; form-action 'none'"


def policies(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return a policy for pages around a player, whose frame obeys it, too."""
    rules = f"style-src {' '.join(map(_hash, styles))}; script-src {' '.join(map(_hash, scripts))}"
    own = "img-src blob: data:; media-src blob:"
    return f"default-src 'none'; {rules}; {own}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


POLICY = policy(STYLE)
"""The policy of static pages: they run nothing and fetch nothing."""
_PICTURED = policy(STYLE, img_src="data:")


def head(title: str, style: str = STYLE, allowed: str = POLICY) -> str:
    """Return the beginning of a page, up to its body, with its policy and its style."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{allowed}">\n'
        f'<meta name="referrer" content="no-referrer">\n<meta name="reenact-page" content="{NUMBER}">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n"
    )


def page_html(
    page: StaticPage, attached: tuple[str, bytes] | None = None, player: PlayerPage | None = None
) -> str:
    """Return the page.

    Args:
        page: Its content.
        attached: The name and content of a file to save from it.
        player: A page of its own that plays in a frame below the head.
    """
    pictured = any(isinstance(block, PictureBlock) for section in page.sections for block in section.blocks)
    allowed = _PICTURED if pictured else POLICY
    if player is not None:
        allowed = policies((STYLE, player.style), (player.script,))
    sections = [(f"section-{number}", section) for number, section in enumerate(page.sections, 1)]
    film = '<a href="#film">Film</a>' if player is not None else ""
    links = film + "".join(
        f'<a href="#{anchor}">{escaped(section.title)}</a>' for anchor, section in sections
    )
    parts = [
        f'{head(page.title, STYLE, allowed)}<body{_class("wide" if page.wide else "")}>\n<header class="top">',
        f'<p class="kind">{escaped(page.kind)}</p>' if page.kind else "",
        f'<h1>{escaped(page.title)}</h1>\n<p class="lead">{words_html(page.lead)}</p>',
        _saving(*attached) if attached is not None else "",
        f'<nav aria-label="Sections">{links}</nav>' if len(sections) > 1 else "",
        "</header>\n<main>",
        _framed(player) if player is not None else "",
    ]
    for anchor, section in sections:
        parts.append(f'<section id="{anchor}">\n<h2>{escaped(section.title)}</h2>')
        parts += [block_html(block) for block in section.blocks]
        parts.append("</section>")
    return "\n".join([*filter(None, parts), "</main>\n</body>\n</html>\n"])


@dataclass(frozen=True, slots=True)
class PlayerPage:
    """A whole page that plays a film by its own script.

    Attributes:
        markup: The page.
        style: The text of its style element, and `script` that of its script: the policy names both by their hash.
        frames: True if it builds pages in frames of its own, for which it needs an origin.
    """

    markup: str
    style: str
    script: str
    frames: bool = False


def _framed(player: PlayerPage) -> str:
    markup = player.markup.replace("&", "&amp;").replace('"', "&quot;")
    sandbox = "allow-scripts allow-same-origin" if player.frames else "allow-scripts"
    return (
        '<section id="film">\n<h2>Film</h2>\n'
        f'<iframe class="film" sandbox="{sandbox}" title="The browser session" srcdoc="{markup}"></iframe>\n'
        "</section>"
    )


def _saving(name: str, data: bytes) -> str:
    address = f"data:application/zip;base64,{base64.b64encode(data).decode()}"
    size = f"{len(data) / 1000:,.1f} kB"
    return (
        f'<p><a class="save" download="{escaped(name)}" href="{address}">Save {escaped(name)}</a> {size}</p>'
    )


def block_html(block: Block) -> str:
    """Return a block of a page."""
    return "".join(_block(block))


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(words):
            yield f"<p>{words_html(words)}</p>"
        case CodeBlock(words):
            shown = words_html(words)
            yield f"<pre{_focusable(shown)}>{shown}</pre>"
        case Note(words, style, anchor):
            yield f"<p{_id(anchor)}{_class('note', style)}>{words_html(words)}</p>"
        case Speech(role, words):
            yield f"<div{_class('said', _known('role', role.partition(' ')[0]))}>{_titled(role, words)}</div>"
        case PictureBlock(kind, data, words):
            yield f'<p><img class="shown" src="data:image/{kind};base64,{data}" alt="{escaped(words)}"></p>'
        case FactList(rows):
            cells = (f"<dt>{words_html(name)}</dt><dd>{words_html(value)}</dd>" for name, value in rows)
            yield f"<dl>{''.join(cells)}</dl>" if rows else ""
        case Grid():
            yield from _grid(block)
        case Versus(rows, sides):
            texts = (f"<div>{_titled(title, words)}</div>" for title, words in rows)
            yield f"<div{_class('versus', 'sides' if sides else '')}>{''.join(texts)}</div>"
        case Bar(parts):
            yield from _bar(parts)
        case LaneChart():
            yield from _chart(block)
        case _:
            yield from _nested(block)


def _titled(title: str, words: Words) -> str:
    name = f"<b>{escaped(title)}</b>" if title else ""
    shown = words_html(words)
    return f'{name}<div class="text"{_focusable(shown)}>{shown}</div>'


def _focusable(shown: str) -> str:
    """Return the attribute that lets the keyboard reach a text that may scroll within its box."""
    return ' tabindex="0"' if len(shown) > _FITS or shown.count("\n") > _FITTING_LINES else ""


def _nested(block: StepLine | Fold | CardBlock) -> Iterator[str]:
    if isinstance(block, CardBlock):
        yield f'<article>\n<div class="head">{words_html(block.head)}</div>\n'
        yield from map(block_html, block.inside)
        yield "</article>\n"
        return
    if isinstance(block, StepLine):
        yield from _step(block)
    else:
        yield f"<details{_id(block.anchor)}{' open' if block.open else ''}>"
        yield f'<summary class="head">{words_html(block.head)}</summary>'
    yield f'<div class="inside">{"".join(map(block_html, block.inside))}</div></details>\n'


def _step(step: StepLine) -> Iterator[str]:
    cells = (
        ("number", step.number),
        ("time", step.began),
        (f"kind {_known('kind', step.kind)}", step.kind),
        ("name", step.name),
        ("what", step.words),
        ("time took", step.duration),
    )
    spans = "".join(f"<span{_class(name)}>{escaped(text)}</span>" for name, text in cells)
    yield f"<details{_class('step', 'bad' if step.failed else '')}><summary>{spans}</summary>"


def _grid(grid: Grid) -> Iterator[str]:
    # A table wider than a phone scrolls in its own box, not with the page.
    yield f'<div class="wide-table" tabindex="0"><table{_class("numeric" if grid.numeric else "")}>'
    if grid.head:
        shown = [words_html(cell) for cell in grid.head]
        cells = "".join(f"<th>{each}</th>" if each else "<td></td>" for each in shown)
        yield f"<thead><tr>{cells}</tr></thead>"
    yield "<tbody>"
    for row in grid.rows:
        yield f"<tr>{''.join(map(_cell, row))}</tr>"
    yield "</tbody></table></div>\n"


def _cell(words: Words) -> str:
    return f"<td{_class('long' if len(plain(words)) > _LONG else '')}>{words_html(words)}</td>"


def _bar(parts: Iterable[tuple[Style, int]]) -> Iterator[str]:
    whole, before = sum(number for _, number in parts) or 1, 0.0
    yield '<svg class="bar" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">'
    for style, number in parts:
        width = 100 * number / whole
        yield f'<rect{_class(style)} x="{before:.3f}" width="{width:.3f}" height="2"></rect>'
        before += width
    yield "</svg>\n"


def _chart(chart: LaneChart) -> Iterator[str]:
    label = f"Timeline: {len(chart.bars)} steps on {len(chart.lanes)} lanes in {chart.lasts}"
    yield f'<div class="wide-table" tabindex="0"><div class="lanes" role="img" aria-label="{escaped(label)}">'
    for lane, name in enumerate(chart.lanes):
        yield f'<span>{escaped(name)}</span><svg viewBox="0 0 1000 10" preserveAspectRatio="none">'
        for _, begin, length, style, title in (bar for bar in chart.bars if bar[0] == lane):
            place = f'x="{1000 * begin:.2f}" width="{max(1000 * length, 2):.2f}"'
            yield f'<rect{_class(style)} {place} height="10"><title>{escaped(title)}</title></rect>'
        yield "</svg>"
    yield f"</div></div><p>{escaped(chart.lasts)}</p>\n"


def words_html(words: Words) -> str:
    """Return a text with its marked parts."""
    parts = words if isinstance(words, tuple) else (words,)
    # A text of thousands of words is as many parts, half of them without a mark.
    return "".join(escaped(part) if isinstance(part, str) else _marked(part) for part in parts)


def _marked(mark: Styled) -> str:
    inner = escaped(mark.text)
    if mark.style == "folded":
        summary = f"<summary>… {len(mark.text):,} characters …</summary>"
        return f'<details class="folded">{summary}{inner}</details>'
    if tag := _TAGS.get(mark.style, ""):
        inner = f"<{tag}>{inner}</{tag}>"
    elif mark.style != "plain":
        inner = f"<span{_class(mark.style)}>{inner}</span>"
    return f'<a href="{escaped(mark.link)}">{inner}</a>' if mark.link else inner


def _id(name: str) -> str:
    return f' id="{escaped(name)}"' if name else ""


def _known(prefix: str, name: str) -> str:
    """Return a class for a recorded role or kind, never one of the page itself."""
    return f"{prefix}-{name}" if name.isalnum() else ""


def _class(*names: str) -> str:
    found = " ".join(filter(None, names))
    return f' class="{escaped(found)}"' if found else ""


def escaped(text: str) -> str:
    """Return a text as markup, for an element's content or an attribute in quotes."""
    # Cached: two runs that differ in a few words have up to a hundred thousand equal pieces.
    return _escaped(text) if len(text) < _SHORT else html.escape(visible(without_tokens(text)))


@lru_cache(1 << 14)
def _escaped(text: str) -> str:
    return html.escape(visible(without_tokens(text)))
