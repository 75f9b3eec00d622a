"""Render a page as Markdown. Recorded texts stand in fences, and cannot become markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reenact.analysis.report.page import Block, Page

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def markdown(page: Page) -> str:
    """The page."""
    parts = [f"# {_line(page.title)}", _line(page.lead)]
    for section in page.sections:
        parts.append(f"## {_line(section.title)}")
        for block in section.blocks:
            parts += _block(block)
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> Iterator[str]:
    if block.kind == "code":
        yield _fenced(block.text)
    elif block.kind == "note":
        yield f"> **Note:** {_line(block.text)}"
    elif block.kind == "facts":
        yield "\n".join(f"- {_line(name)}: {_inline(value)}" for name, value in block.rows)
    elif block.kind == "table":
        head, *others = block.rows
        lines = [head, tuple("---" for _ in head), *(tuple(_line(cell) for cell in row) for row in others)]
        yield "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    elif block.kind == "versus":
        for title, value in block.rows:
            yield f"**{_line(title)}**"
            yield _fenced(value)
    elif block.kind == "step":
        number, began, label, duration, status = block.rows[0]
        failed = f" **{_line(status)}**" if status not in ("ok", "") else ""
        times = f" (at {began}, {duration})" if began else ""
        name = f"{number}. {label}".removeprefix(". ")
        yield f"<details><summary>{_line(name)}{times}{failed}: {_line(block.text)}</summary>"
        for each in block.inside:
            yield from _block(each)
        yield "</details>"
    else:
        yield _line(block.text)


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
