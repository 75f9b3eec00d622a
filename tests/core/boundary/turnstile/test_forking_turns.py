"""While a thread goes over to the world, what comes behind the step of the fork waits for it."""

from __future__ import annotations

import threading

import pytest

from reenact.core.boundary.turnstile.forking_turns import ForkingTurnstile


@pytest.mark.parametrize("behind", [1, 4])
def test_nothing_behind_the_step_passes_before_the_step_goes_live(behind):
    for _ in range(20):
        turnstile, passed = ForkingTurnstile(6), []
        turnstile.thread_begins()

        def ask(turnstile=turnstile, passed=passed):
            turnstile.thread_begins()
            turnstile.pass_sync(0, None)
            turnstile.pass_sync(behind, lambda: passed.append("behind the step"))
            turnstile.thread_ends()

        turnstile.thread_started()
        other = threading.Thread(target=ask)
        other.start()
        with turnstile.reaching(1):
            passed.append("the step")
            turnstile.open()
        other.join()
        turnstile.thread_ends()
        assert passed == ["the step", "behind the step"]


def test_what_comes_before_the_step_passes_first():
    turnstile, passed = ForkingTurnstile(6), []
    turnstile.thread_begins()

    def ask():
        turnstile.thread_begins()
        for place in range(3):
            turnstile.pass_sync(place, lambda place=place: passed.append(place))
        turnstile.thread_ends()

    turnstile.thread_started()
    other = threading.Thread(target=ask)
    other.start()
    with turnstile.reaching(3):
        passed.append("the step")
        turnstile.open()
    other.join()
    assert passed == [0, 1, 2, "the step"]
