"""Where a step was asked for, and how a plain program waits, in a notebook too."""

from __future__ import annotations

import asyncio

import pytest

from reenact.browser.heal.caller import here, place


async def four(*, broken=False):
    await asyncio.sleep(0)
    if broken:
        raise KeyError("four")
    return 4


def test_a_plain_program_waits(session):
    assert here(session, four) == 4
    with pytest.raises(KeyError, match="four"):
        here(session, lambda: four(broken=True))


async def test_so_does_a_cell_of_a_notebook_whose_loop_is_busy_with_it(session):
    assert here(session, four) == 4
    with pytest.raises(KeyError, match="four"):
        here(session, lambda: four(broken=True))


def test_the_place_is_the_callers_own():
    found = place()
    assert found.file == __file__
    assert found.function == "test_the_place_is_the_callers_own"
