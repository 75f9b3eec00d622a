"""Lines that come from elsewhere continue a file as their sums say, or are refused by name."""

from __future__ import annotations

import pytest

from reenact.core.store.base import Damaged, Piece
from reenact.core.store.intake import LocalIntake
from reenact.core.store.local import LocalStore
from tests.hostile.forge import forge

ID = "abc"
LINES = [
    {"event": "opened", "format": 2, "id": ID, "pid": 1},
    *({"event": "noted", "what": "hole", "text": f"{number}", "t": 1.0} for number in range(4)),
    {"event": "sealed", "status": "ok", "t": 2.0},
]
GOOD = forge(LINES)
HEADER = GOOD.index(b"\n") + 1


@pytest.fixture
def take(tmp_path):
    intake = LocalIntake(LocalStore(tmp_path / "home"))
    yield lambda data, at=0, name="events.jsonl": intake.take([Piece(ID, name, at, data)])[0]
    intake.close()


def whole(lines):
    return b"".join(line + b"\n" for line in lines)


def test_lines_are_taken_wherever_a_sender_divides_them(take, tmp_path):
    lines, at = GOOD.splitlines(keepends=True), 0
    for line in lines:
        assert take(line, at).status == "ok"
        at += len(line)
    # Again from the first line on, as after an answer that was lost.
    assert take(GOOD).status == "ok"
    assert (tmp_path / "home" / "recordings" / ID / "events.jsonl").read_bytes() == GOOD


@pytest.mark.parametrize("divided", [False, True])
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: [*lines[:2], *lines[3:]], 3),
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], 3),
        (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], 3),
        (lambda lines: [*lines[:3], lines[3].replace(b'"t":1.0', b'"t":1.5'), *lines[4:]], 4),
        (lambda lines: [*lines[:3], lines[3][:-41] + b"}", *lines[4:]], 4),
        (lambda lines: [*lines[:5], lines[5].replace(b'"ok"', b'"no"')], 6),
    ],
)
def test_a_line_that_was_changed_removed_doubled_or_moved_is_named(take, tmp_path, change, line, divided):
    data = whole(change(GOOD.splitlines()))
    at = HEADER if divided else 0
    if divided:
        assert take(data[:HEADER]).status == "ok"
    taken = take(data[at:], at)
    assert isinstance(taken, Damaged)
    place = f"line {line - 1} after byte {HEADER}" if divided else f"line {line}"
    assert taken.detail.startswith(f"events.jsonl, {place}: damaged: it ")
    folder = tmp_path / "home" / "recordings" / ID
    assert folder.exists() == divided
    # The right ones are taken afterwards.
    assert take(GOOD).status == "ok"


def test_lines_of_the_first_format_have_no_sums(take):
    assert take(b'{"event":"opened","format":1,"id":"abc"}\n').status == "ok"
    assert take(b'{"event":"opened","format":1,"id":"abc"}\n{"event":"noted"}\n').status == "ok"


def test_a_header_that_was_changed_to_the_first_format_keeps_its_sum(take):
    assert isinstance(take(GOOD.replace(b'"format":2', b'"format":1', 1)), Damaged)


def test_a_file_of_another_process_is_checked_as_well(take):
    take(GOOD)
    other = GOOD.replace(b'"pid":1', b'"pid":2', 1)
    assert isinstance(take(other, name="events.2.jsonl"), Damaged)
    assert take(forge([{**LINES[0], "pid": 2}, *LINES[1:]]), name="events.2.jsonl").status == "ok"
