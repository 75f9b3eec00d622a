"""The columns of a list of recordings, and the list in a pipe, without importing rich."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TypeAlias

from reenact.analysis.views.text import (
    WIDE,
    ago,
    count,
    marks,
    money,
    numbers,
    one_line,
    seconds,
    visible,
    without_tokens,
)
from reenact.core.query.summary import Summary
from reenact.core.store.shared import Parentage
from reenact.core.trust import Book
from reenact.core.trust.proofs import Proof

Cell: TypeAlias = tuple[tuple[str, str], ...]
"""Pieces of text, each with its style."""

Column: TypeAlias = tuple[str, bool, list[Cell]]
"""A title, True if its cells are aligned to the right, and its cells."""

_PIPED = 60
"""Maximum characters of a prompt and an outcome in a pipe; `--json` has them in full."""

_STATUS = {"ok": "green", "error": "red", "stopped": "yellow", "unsealed": "yellow", "broken": "bold red"}


def columns(
    lines: list[Summary],
    all_ids: list[str],
    steps: dict[str, tuple[int, ...]],
    width: int,
    *,
    book: Book | None = None,
    proofs: Mapping[str, Proof] = MappingProxyType({}),
    parents: Mapping[str, Parentage] = MappingProxyType({}),
) -> list[Column]:
    """Return the columns of a list of recordings, without empty ones."""
    longest = _PIPED if width >= WIDE else 0
    lengths = short_lengths(all_ids)
    used = [line.input_tokens + line.output_tokens for line in lines]
    found: list[Column] = [
        ("id", False, [_id(line.id, lengths[line.id]) for line in lines]),
        ("when", True, [_cell("" if line.broken else ago(line.started), "dim") for line in lines]),
        ("agent", False, [_cell(one_line(line.agent or "-")) for line in lines]),
        ("status", False, [(status(line),) for line in lines]),
        ("origin", False, [_cell(origin(line, book), "yellow") for line in lines]),
        ("made by", False, [_cell(_made_by(parents.get(line.id)), "magenta") for line in lines]),
        ("proved", True, [_cell(_times(proofs.get(line.id)), "green") for line in lines]),
        ("prompt", False, [_cell(one_line(without_tokens(line.prompt), longest)) for line in lines]),
        ("outcome", False, [_outcome(line, longest) for line in lines]),
        ("steps", True, [_cell("" if line.broken else str(line.steps)) for line in lines]),
        ("found in", False, [_cell(numbers(steps.get(line.id, ())), "cyan") for line in lines]),
        ("model", False, [_cell(one_line(", ".join(line.models))) for line in lines]),
        ("tokens", True, [_cell(count(tokens) if tokens else "") for tokens in used]),
        ("cost", True, [_cell(money(line.cost)) for line in lines]),
        ("time", True, [_cell(seconds(line.duration) if line.duration else "", "dim") for line in lines]),
        ("tags", False, [_cell(marks(line.tags, line.note), "magenta") for line in lines]),
    ]
    return [column for column in found if any(map(text_of, column[2]))]


def in_a_pipe() -> bool:
    """Return True if standard output is not a terminal, and is not treated as one."""
    return not sys.stdout.isatty() and not os.environ.get("FORCE_COLOR")


def printed(found: list[Column]) -> str:
    """Return the lines of a list in a pipe, without colours."""
    padded = []
    for title, right, cells in found:
        texts = [title, *map(text_of, cells)]
        widths = [_width(text) for text in texts]
        widest = max(widths)
        spaces = [" " * (widest - width) for width in widths]
        padded.append(
            [
                f"{space}{text}" if right else f"{text}{space}"
                for text, space in zip(texts, spaces, strict=True)
            ]
        )
    return "".join("  ".join(row).rstrip() + "\n" for row in zip(*padded, strict=True))


def text_of(cell: Cell) -> str:
    """Return the text of a cell, without its styles."""
    return "".join(visible(text) for text, _ in cell)


def short_lengths(ids: list[str]) -> dict[str, int]:
    """Return the number of letters of each id that identify it."""
    lengths = {}
    ordered = sorted(ids)
    for place, id in enumerate(ordered):
        beside = [ordered[other] for other in (place - 1, place + 1) if 0 <= other < len(ordered)]
        shared = max((_shared(id, other) for other in beside), default=0)
        lengths[id] = min(max(shared + 1, 3), len(id))
    return lengths


def status(line: Summary) -> tuple[str, str]:
    """Return the status of a run and its colour."""
    word = "broken" if line.broken else line.status
    return word, _STATUS.get(word, "")


def origin(line: Summary, book: Book | None) -> str:
    """Return a warning about the origin of a recording, or its signer; empty for most.

    Unsealed recordings are marked by their status.
    """
    standing = book.of_line(line) if book is not None else None
    if standing is None:
        return ""
    words = [word for word in standing.words if word != "unsealed"]
    return " ".join(words) if words else f"by {standing.name}" if standing.name else ""


def _cell(text: str, style: str = "") -> Cell:
    return ((text, style),)


def _made_by(parent: Parentage | None) -> str:
    """Return the verb that made a recording from another one, and that one: `fork of 7xbrm`."""
    return f"{one_line(parent.how) or 'fork'} of {one_line(parent.id, 8)}" if parent is not None else ""


def _times(proof: Proof | None) -> str:
    return f"{proof.times}\N{MULTIPLICATION SIGN}" if proof is not None else ""


def _id(id: str, length: int) -> Cell:
    return (visible(id[:length]), "bold yellow"), (visible(id[length:]), "dim")


def _outcome(line: Summary, longest: int) -> Cell:
    if line.broken:
        # Only the list reports this error.
        return _cell(one_line(line.broken), "red")
    return _cell(one_line(without_tokens(line.outcome), longest), "red" if line.problem else "")


def _width(text: str) -> int:
    """Return the columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    width: int = import_module("rich.cells").cell_len(text)
    return width


def _shared(one: str, other: str) -> int:
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one)
    )
