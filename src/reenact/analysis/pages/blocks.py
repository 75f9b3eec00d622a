"""A page as data: a title, sections, and blocks of a few kinds, for HTML and Markdown alike.

Modules with something to show (anomalies, a comparison, the API) make sections of blocks, independent of the output
format. All text in a block is plain text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any, Literal

from reenact.analysis.views.text import cut
from reenact.core.dataclass import dataclass
from reenact.core.model import codec
from reenact.core.redact import Redactor

Style = Literal[
    "added", "bad", "badge", "code", "first", "folded", "good", "live", "plain", "quiet", "removed", "second", "strong",
    "warn",
]  # fmt: skip
"""The look of a text: `first` and `second` are two runs, a click opens `folded`."""


@dataclass(frozen=True, slots=True)
class Styled:
    """A part of a text with a look of its own, or a link.

    Attributes:
        text: Its plain text.
        style: Its look.
        link: The address that it leads to: `#` and an anchor of the page, or a relative address.
    """

    text: str
    style: Style = "plain"
    link: str = ""


_LOOKS = ("style", "link", "anchor")
"""The members of blocks that are no text of a page."""

Words = str | Styled | tuple[str | Styled, ...]
"""A text with marked parts."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    words: Words


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Text with its own line ends and spaces."""

    words: Words


@dataclass(frozen=True, slots=True)
class Note:
    """A text that stands out, and the anchor by which links reach it."""

    words: Words
    style: Style = "warn"
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class FactList:
    """Rows of name and value."""

    rows: tuple[tuple[Words, Words], ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, with or without titles; `numeric` aligns all but the first column right."""

    head: tuple[Words, ...]
    rows: tuple[tuple[Words, ...], ...]
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Versus:
    """Titled texts beside each other; `sides` colours them as the first and the second run."""

    rows: tuple[tuple[str, Words], ...]
    sides: bool = False


@dataclass(frozen=True, slots=True)
class Speech:
    """A message of a conversation: role, with a name if there is one, and text."""

    role: str
    words: Words


@dataclass(frozen=True, slots=True)
class PictureBlock:
    """A picture: its kind (`png`), its bytes in base64, and its description."""

    kind: str
    data: str
    words: str


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step on one line, which unfolds to `inside`."""

    number: str
    began: str
    kind: str
    name: str
    words: str
    duration: str
    failed: bool
    inside: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """A line that unfolds to `inside`."""

    head: Words
    inside: tuple[Block, ...]
    anchor: str = ""
    open: bool = False


@dataclass(frozen=True, slots=True)
class CardBlock:
    """A framed part with a heading."""

    head: Words
    inside: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of parts in proportion to their numbers."""

    parts: tuple[tuple[Style, int], ...]


@dataclass(frozen=True, slots=True)
class LaneChart:
    """Bars on named lanes over a time.

    Attributes:
        lanes: The names of the lanes.
        bars: Lane, beginning and length as shares of the time, look, and title of each bar.
        lasts: The length of the time, as text.
    """

    lanes: tuple[str, ...]
    bars: tuple[tuple[int, float, float, Style, str], ...]
    lasts: str


Block = (
    Paragraph
    | CodeBlock
    | Note
    | FactList
    | Grid
    | Versus
    | Speech
    | PictureBlock
    | StepLine
    | Fold
    | CardBlock
    | Bar
    | LaneChart
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page, with its title."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class StaticPage:
    """A whole page.

    Attributes:
        title: Its title.
        lead: One line about it.
        sections: Its parts.
        kind: The kind of page, shown above the title: `Report`.
        wide: Use the whole width of a window, for texts beside each other.
    """

    title: str
    lead: Words
    sections: tuple[Section, ...]
    kind: str = ""
    wide: bool = False


def text(value: str) -> Paragraph:
    """Return a paragraph, cut where it is very long."""
    return Paragraph(cut(value))


def code(value: str) -> CodeBlock:
    """Return text as it is, cut where it is very long."""
    return CodeBlock(cut(value))


def facts(*rows: tuple[str, str]) -> FactList:
    """Return names and values; rows without a value are left out."""
    return FactList(tuple((name, Styled(value, "code")) for name, value in rows if value))


def table(head: Sequence[Words], rows: Sequence[Sequence[Words]], *, numeric: bool = False) -> Grid:
    """Return rows under titles."""
    return Grid(tuple(head), tuple(tuple(row) for row in rows), numeric)


def versus(*rows: tuple[str, str]) -> Versus:
    """Return texts beside each other, cut where they are very long."""
    return Versus(tuple((title, cut(value)) for title, value in rows))


def marks(words: Words) -> tuple[Styled, ...]:
    """Return a text as its marked parts."""
    parts = words if isinstance(words, tuple) else (words,)
    return tuple(part if isinstance(part, Styled) else Styled(part) for part in parts if part)


def plain(words: Words) -> str:
    """Return a text without its marks."""
    return "".join(mark.text for mark in marks(words))


def redacted(page: StaticPage, redactor: Redactor) -> StaticPage:
    """Return the page without secrets: a recording has none, but other parts may.

    Each block is searched by itself: of a text with very many secrets the redactor hides everything.
    """

    def clean(part: Any) -> Any:
        return _like(part, codec.loads(redactor.line(codec.dumps(asdict(part)))))

    sections = tuple(
        replace(clean(replace(section, blocks=())), blocks=tuple(map(clean, section.blocks)))
        for section in page.sections
    )
    made: StaticPage = replace(clean(replace(page, sections=())), sections=sections)
    return made


def _like(model: Any, tree: Any) -> Any:
    """Return a redacted tree in the classes of its model.

    Pictures, looks and numbers stay as they are. Where the redactor put a token in the place of a number, of a look or
    of a whole part, the token replaces each text of that part.
    """
    if is_dataclass(model) and not isinstance(model, (type, PictureBlock)):
        names = [field.name for field in fields(model) if field.name not in _LOOKS]
        parts = tree if isinstance(tree, dict) else dict.fromkeys(names, tree)
        return replace(model, **{name: _like(getattr(model, name), parts[name]) for name in names})
    if isinstance(model, tuple):
        fits = isinstance(tree, list) and len(tree) == len(model)
        return tuple(map(_like, model, tree if fits else [tree] * len(model)))
    if not isinstance(model, str):
        return model
    return tree if isinstance(tree, str) else str(tree.get("$surrogates") if isinstance(tree, dict) else tree)
