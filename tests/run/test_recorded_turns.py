"""The recorded order of processes at locks and files."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reenact.core.model.event import FILE_USE, names_of
from reenact.run.recorded_turns import RecordedTurns

FILE, FOLDER = "0" * 16, "f" * 16


def turns(*uses, offsets=(0.0, 0.0)):
    """Return the turns of a recording; each use is (number of the process, microseconds, name)."""
    logs = [
        SimpleNamespace(
            process=f"main/{number}",
            opened={"offset": offset},
            locked={
                (f"{FILE_USE}{name}", time): (f"main/{number}", None)
                for of, time, name in uses
                if of == number
            },
        )
        for number, offset in enumerate(offsets)
    ]
    return RecordedTurns(SimpleNamespace(logs=logs))


def order(found, digest=FILE):
    """Return the numbers of the processes that use a file, in order."""
    takes, count = [], 0
    while take := found.taker(f"{FILE_USE}{digest}", count + 1):
        takes.append(int(take.path.removeprefix("main/")))
        count += 1
    return takes


def test_uses_of_several_processes_have_the_order_of_their_times():
    found = turns((0, 10, f"{FILE}=1:r"), (0, 30, f"{FILE}=1:r"), (1, 20, f"{FILE}=1:w"))
    assert order(found) == [0, 1, 0]


def test_each_process_has_its_own_clock():
    found = turns((0, 10, f"{FILE}=1:r"), (1, 0, f"{FILE}=1:w"), offsets=(0.0, 0.00002))
    assert order(found) == [0, 1]


@pytest.mark.parametrize(
    "uses",
    [
        [(0, 10, f"{FILE}=1:w"), (0, 20, f"{FILE}=1:w")],
        [(0, 10, f"{FILE}=1:r"), (1, 20, f"{FILE}=1:r")],
        [(0, 10, f"{FILE}=1:r"), (1, 20, f"{FILE}=1:w"), (1, 30, "")],
    ],
    ids=["of one process", "without a change", "too many"],
)
def test_uses_whose_order_makes_no_difference_have_none(uses):
    assert order(turns(*uses)) == []


def test_a_look_that_found_nothing_comes_before_the_making_of_the_file_at_all_its_paths():
    found = turns(
        (0, 10, f"{FILE}=0+{FOLDER}:w"),
        (1, 15, f"{FOLDER}=7:r"),
        (1, 20, f"{FILE}=0:r"),
        (1, 30, f"{FILE}=5:r"),
    )
    assert order(found) == [1, 0, 1]
    assert order(found, FOLDER) == [1, 0]


def test_a_look_that_found_the_changed_file_stays_behind_the_change():
    found = turns((0, 10, f"{FILE}=4+{FOLDER}:w"), (1, 20, f"{FILE}=5:r"))
    assert order(found) == [0, 1]


def test_a_digest_is_no_path():
    assert names_of(f"{FILE_USE}../../x=1+{FILE}=0+a/b:w") == [f"{FILE_USE}{FILE}"]


def test_many_uses_are_ordered_in_linear_time():
    uses = [(number % 2, number, f"{FILE}=0+{FOLDER}:w") for number in range(40_000)]
    assert len(order(turns(*uses))) == 40_000
