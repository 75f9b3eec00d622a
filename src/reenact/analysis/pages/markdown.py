"""Render a page as Markdown. Recorded texts are in fences, and cannot become markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    Versus,
    Words,
    plain,
)

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def markdown(page: StaticPage) -> str:
    """Return the page."""
    parts = [f"# {_line(page.title)}", _line(plain(page.lead))]
    for section in page.sections:
        parts.append(f"## {_line(section.title)}")
        for block in section.blocks:
            parts += _block(block)
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(words):
            yield _line(plain(words))
        case CodeBlock(words):
            yield _fenced(plain(words))
        case Note(words):
            yield f"> **Note:** {_line(plain(words))}"
        case FactList(rows):
            yield "\n".join(f"- {_line(plain(name))}: {_inline(plain(value))}" for name, value in rows)
        case Grid(titles, rows):
            lines = [
                [_line(plain(cell)) for cell in titles],
                ["---" for _ in titles],
                *([_line(plain(cell)) for cell in row] for row in rows),
            ]
            yield "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        case PictureBlock(kind, _, words):
            yield f"({_line(words)}: image/{kind})"
        case Speech(title, words):
            yield from _titled((title, words))
        case Versus(rows):
            yield from _titled(*rows)
        case Bar() | LaneChart():
            return
        case _:
            yield from _nested(block)


def _titled(*rows: tuple[str, Words]) -> Iterator[str]:
    for title, words in rows:
        yield f"**{_line(title)}**" if title else ""
        yield _fenced(plain(words))


def _nested(block: StepLine | Fold | CardBlock) -> Iterator[str]:
    if isinstance(block, StepLine):
        failed = " **error**" if block.failed else ""
        times = f" (at {_line(block.began)}, {_line(block.duration)})" if block.began else ""
        name = f"{block.number}. {block.kind} {block.name}".removeprefix(". ").rstrip()
        head = f"{_line(name)}{times}{failed}: {_line(block.words)}"
    else:
        head = _line(plain(block.head))
    yield f"<details><summary>{head}</summary>"
    for each in block.inside:
        yield from _block(each)
    yield "</details>"


def _line(value: str) -> str:
    return _MARKUP.sub(r"\\\1", " ".join(value.split())).replace("\\<", "&lt;").replace("\\>", "&gt;")


def _inline(value: str) -> str:
    one = " ".join(value.split())
    ticks = _longest(one) + 1
    space = " " if one.startswith("`") or one.endswith("`") else ""
    return f"{'`' * ticks}{space}{one}{space}{'`' * ticks}"


def _fenced(value: str) -> str:
    fence = "`" * max(3, _longest(value) + 1)
    return f"{fence}text\n{value.strip(chr(10))}\n{fence}"


def _longest(value: str) -> int:
    return max((len(run) for run in re.findall(r"`+", value)), default=0)
