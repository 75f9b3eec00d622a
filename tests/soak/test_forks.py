"""Random concurrent programs, each forked at a random step: the child replays faithfully, and ends in the same state.

A failure names its seed and style. To look at it alone:

    REENACT_SOAK_SEED=<seed> pytest tests/soak/test_forks.py -m slow -k <style>
"""

from __future__ import annotations

import os
import random
import time

import pytest

import reenact
from tests.soak.programs import Program
from tests.soak.tables import keep, progress, size, table

ALLOWED = {"loops": 0.05}
"""Threads with event loops of their own that share state without a lock: beyond what is promised, as for replays."""

_rows = []


@pytest.fixture(scope="module", autouse=True)
def _report():
    yield
    if _rows:
        table("forks of random concurrent programs", _rows)
        keep("soak", {"forks": _rows})


pytestmark = pytest.mark.usefixtures("quick_switches")


def forked(seed, style):
    """Record a random program, fork it anywhere, replay the child. Returns what is wrong, and whether it is in doubt."""
    with reenact.record(f"fork {style} {seed}") as recording:
        Program(seed, style=style).run()
    parent = recording.load()
    if not parent.steps:
        return "", False
    at = random.Random(seed).randint(1, len(parent.steps))
    doubt = bool(parent.logs[0].sealed.get("uncertain"))
    try:
        with reenact.fork(parent, at=at) as fork:
            state = Program(seed, style=style).run()
        child = fork.recording
        doubt |= bool(child.logs[0].sealed.get("uncertain"))
        with reenact.replay(child) as replay:
            again = Program(seed, style=style).run()
    except (reenact.DivergenceError, reenact.ForkStopped) as error:
        return f"seed {seed}, step {at}: {error}", doubt
    if replay.verdict.faithful and again == state:
        return "", doubt
    return f"seed {seed}, step {at}: {replay.verdict}; state equal: {again == state}", doubt


@pytest.mark.sampled
@pytest.mark.parametrize("style", ["mixed", "async", "sync"])
def test_a_few_random_programs_fork_and_replay(style, home):
    found = [forked(seed, style) for seed in range(6)]
    assert [text for text, doubt in found if text and not doubt] == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("style", ["mixed", "async", "sync", "wide", "loops"])
def test_every_fork_replays_faithfully_and_ends_in_the_same_state(style, home):
    one = os.environ.get("REENACT_SOAK_SEED")
    mine = [int(one)] if one else range(size(300 if style != "wide" else 20, 10))
    began = time.perf_counter()
    found = [forked(seed, style) for seed in progress(mine, len(mine), f"{style} programs forked")]
    wrong = [text for text, doubt in found if text and not doubt]
    doubtful = sum(bool(text) for text, doubt in found if doubt)
    _rows.append({"style": style, "forks": len(mine), "not faithful": len(wrong), "in doubt": doubtful, "seconds": time.perf_counter() - began})  # fmt: skip
    assert len(wrong) <= len(mine) * ALLOWED.get(style, 0) + (style in ALLOWED), "\n".join(wrong)
    assert doubtful <= max(1, len(mine) // 50)
