"""A page as data: sections of a few kinds of blocks, for HTML and Markdown alike.

Each contributor (anomalies, a comparison, attempts to reproduce) makes a `Section`, without knowledge of the output
format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reenact.core.model import codec
from reenact.core.redact import Redactor

LONGEST = 6000
"""Letters of one text that a page shows."""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a section.

    Attributes:
        kind: `text` (a paragraph), `code` (as it is), `note` (a warning), `facts` (rows of name and value), `table`
            (rows, the first the titles), `versus` (rows of title and text, to be compared), `step` (one line that
            unfolds to what is inside).
        text: Its text; empty for `facts`, `table` and `versus`.
        rows: Cells, row by row. Of a `step`: number, when, kind and name, how long, status.
        inside: The content of an unfolded step.
    """

    kind: str
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    inside: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page, with its title."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page: its title, one line about it, its sections."""

    title: str
    lead: str
    sections: tuple[Section, ...]


def text(value: str) -> Block:
    """A paragraph."""
    return Block("text", cut(value))


def code(value: str) -> Block:
    """Text as it is, cut where it is very long."""
    return Block("code", cut(value))


def note(value: str) -> Block:
    """A warning."""
    return Block("note", value)


def facts(*rows: tuple[str, str]) -> Block:
    """Names and values; rows without a value are left out."""
    return Block("facts", rows=tuple(row for row in rows if row[1]))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Block:
    """Rows under titles."""
    return Block("table", rows=(tuple(head), *(tuple(row) for row in rows)))


def versus(*rows: tuple[str, str]) -> Block:
    """Texts beside each other."""
    return Block("versus", rows=tuple((title, cut(value)) for title, value in rows))


def cut(value: str, longest: int = LONGEST) -> str:
    """A text, and where it is very long its beginning and end."""
    if len(value) <= longest:
        return value
    head, tail = longest * 2 // 3, longest // 3
    return f"{value[:head]}\n… {len(value) - head - tail} letters left out …\n{value[-tail:]}"


# Control characters, and those that turn the direction of writing, would show another text than is there.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(value: str) -> str:
    """Return a text for a page: active control characters are spelled out, `<U+202E>`."""
    known = value.replace("\r\n", "\n").encode("utf-8", "replace").decode()
    return _CONTROL.sub(lambda match: f"<U+{ord(match[0]):04X}>", known)


def redacted(page: Page, redactor: Redactor) -> Page:
    """Return the page without secrets: a recording has none, but other parts may."""
    clean: dict[str, Any] = codec.loads(redactor.line(codec.dumps(asdict(page))))
    sections = tuple(Section(each["title"], _blocks(each["blocks"])) for each in clean["sections"])
    return Page(clean["title"], clean["lead"], sections)


def _blocks(trees: list[dict[str, Any]]) -> tuple[Block, ...]:
    return tuple(
        Block(each["kind"], each["text"], tuple(tuple(row) for row in each["rows"]), _blocks(each["inside"]))
        for each in trees
    )
