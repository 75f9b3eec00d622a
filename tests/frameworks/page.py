"""`docs/frameworks.md`, made of what the tests have shown: each row belongs to one version of one framework."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.frameworks.frameworks import CELLS, FRAMEWORKS, REFUSAL, REFUSED

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "frameworks.md"
PINS = {
    "current": ("constraints.txt", "constraints-browser-use.txt"),
    "May 2026": ("constraints-older.txt", "constraints-browser-use-older.txt"),
}
"""The two sets of versions that are tested, by what the page calls them: files, of which the first to name one counts."""

WRITING = bool(os.environ.get("REENACT_RESULTS"))
"""Whether this run of the tests writes the page, or compares it."""

GREEN, FAILS, ABSENT, UNKNOWN = "✓", "no", "\N{EN DASH}", "?"


def pinned():
    """The pinned versions: {"current": {package: version}, ...}."""
    found = {}
    for name, files in PINS.items():
        found[name] = {}
        for file in reversed(files):
            text = (ROOT / file).read_text(encoding="utf-8")
            found[name] |= re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE)
    return found


def when(title, version):
    """Which of the two sets a version belongs to, in the page's words, or nothing."""
    package = next((known.package for known in FRAMEWORKS if known.title == title), None)
    return ", ".join(name for name, pins in pinned().items() if pins.get(package) == version)


def read():
    """The page's rows as they are: {(title, version): {cell: symbol}}."""
    rows = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else ():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == len(CELLS) + 2 and " (" in cells[1]:
            title = re.sub(r"\[(.+)\]\(.+\)", r"\1", cells[0])
            symbols = [re.sub(r"\[\^.+\]", "", cell) for cell in cells[2:]]
            version = cells[1].partition(" (")[0]
            rows[title, version] = (
                {REFUSED: GREEN} if symbols[0] == REFUSED else dict(zip(CELLS, symbols, strict=True))
            )
    return rows


def write(shown):
    """The page with what has just been shown in the place of what it said: {(title, version, cell): symbol}."""
    rows = {key: dict(cells) for key, cells in read().items()}
    for (title, version, cell), symbol in shown.items():
        rows.setdefault((title, version), {})[cell] = symbol
    PAGE.write_text(render(rows), encoding="utf-8")


def render(rows):
    """The whole page."""
    notes: dict[str, int] = {}
    table = ["| framework | version | " + " | ".join(CELLS) + " |", "| --- | --- |" + " --- |" * len(CELLS)]
    about = ["| framework | recorded at | its program |", "| --- | --- | --- |"]
    for known in FRAMEWORKS:
        mine = {version: cells for (title, version), cells in rows.items() if title == known.title}
        for version in sorted(mine, key=_number, reverse=True):
            if label := when(known.title, version):
                cells = _cells(known, version, mine[version], notes)
                table.append(f"| {known.title} | {version} ({label}) | " + " | ".join(cells) + " |")
        program = f"[`{known.program.name}`](../tests/frameworks/programs/{known.program.name})"
        about.append(f"| [{known.title}]({known.page}) | {known.hook} | {program} |")
    said = [f"[^{number}]: {note[0].upper()}{note[1:]}." for note, number in notes.items()]
    cells = [f"| {cell} | {what} |" for cell, what in CELLS.items()]
    return TEXT.format(
        table="\n".join(table),
        about="\n".join(about),
        notes="\n".join(said),
        cells="\n".join(cells),
        absent=ABSENT,
    )


def _cells(known, version, shown, notes):
    """One row's symbols, each with the number of its reason where it has one."""
    if version in known.refused:
        note = f"[^{notes.setdefault(known.unsealed or REFUSAL, len(notes) + 1)}]"
        return [REFUSED + note if shown.get(REFUSED) == GREEN else UNKNOWN] + [ABSENT] * (len(CELLS) - 1)
    found = []
    for cell in CELLS:
        reason = known.absent.get(cell) or known.no.get(cell)
        symbol = ABSENT if cell in known.absent else shown.get(cell, UNKNOWN)
        note = f"[^{notes.setdefault(reason, len(notes) + 1)}]" if reason else ""
        found.append(symbol + note)
    return found


def _number(version):
    return [int(part) for part in re.findall(r"\d+", version)]


TEXT = """\
# Frameworks

<!-- Written by the tests: make frameworks frameworks-older frameworks-browser-use. Its text: tests/frameworks/page.py. -->

The tests run one program for each framework, written as its documentation teaches, on a scripted provider with the real wire
format. The program calls two tools at the same time, one of which fails the first time, and streams answers. It is recorded
without a change, forked, and replayed with the provider switched off. The tests write the table below, and fail if it
differs from their results.

![Programs with four libraries are recorded, and replayed as recorded after their provider was stopped](pictures/frameworks.svg)

{table}

{notes}

✓ a test shows it. no: a test shows that it fails. {absent}: does not apply. Two versions are tested: the one in
`constraints.txt`, and the one of half a year before (`constraints-older.txt`). browser-use has its own environments
(`make frameworks-browser-use`). If an adapter does not find every place that it hooks in a library's version, it hooks none and
prints one line: the agents of that version are recorded by their HTTP only.

Other tests cover [the recording proxy](proxy.md) with SDKs of other languages, and websockets in threads
([realtime APIs](sdks.md#realtime-apis-websockets)).

## Columns

| column | test |
| --- | --- |
{cells}

## Where each framework is recorded

{about}

Programs with OpenAI's chat format are also tested on a real, local language model (`make soak`): recorded, and replayed with
the same output after the model is stopped.

## Another framework

1. Write `tests/frameworks/programs/NAME.py`, a script as a user of the library would write it. Do not name it like the library.
2. In its docstring, add the block that says how to find its calls in a recording; `tests/frameworks/frameworks.py` describes the
   keys.
3. Read the provider's URL and key from the environment, as the library does.
4. Ask `travel.QUESTION` with the tools `weather(city)` and `rate(currency)`, both in one turn. Stream each answer, and print every
   chunk followed by `|`. Print the results of the tools. Then ask `travel.THEN` without streaming, and print the answer. Print
   nothing inside a tool.
5. If the provider does not know the library's format, add a class to `tests/frameworks/provider.py`.
6. `make frameworks frameworks-older frameworks-browser-use` runs all programs in both versions and writes this page.
"""
