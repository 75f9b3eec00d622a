"""The error that leaves a block is compared with the recorded one."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

import reenact
from reenact.errors import UsageError
from tests.conftest import Shell


@reenact.tool
def look(place: str) -> str:
    """Give an answer at once."""
    return place


def block(error: Exception | None) -> None:
    look("here")
    if error is not None:
        raise error


@pytest.fixture
def failed(home: str) -> str:
    with pytest.raises(ValueError, match="no order"), reenact.record("failed") as recording:
        block(ValueError("no order at 0xabcdef0123"))
    return recording.id


def test_the_same_error_is_faithful(failed: str) -> None:
    with pytest.raises(ValueError, match="no order"), reenact.replay(failed) as replay:
        block(ValueError("no order at 0xfedcba0123"))
    assert replay.verdict.faithful, str(replay.verdict)
    assert "the error" in replay.verdict.compared


@pytest.mark.parametrize(
    "other", [ValueError("no such order"), KeyError("no order"), None], ids=["text", "type", "none"]
)
def test_another_error_or_none_is_a_divergence(failed: str, other: Exception | None) -> None:
    with pytest.raises(reenact.DivergenceError, match="main/error"), reenact.replay(failed) as replay:
        block(other)
    assert not replay.verdict.faithful


def test_an_error_of_a_block_that_had_none_reaches_the_caller(home: str) -> None:
    with reenact.record("passed") as recording:
        block(None)
    with pytest.raises(KeyError), reenact.replay(recording.id) as replay:
        block(KeyError("new"))
    assert replay.verdict.divergence is not None
    assert replay.verdict.divergence.address == "main/error"


def test_a_replay_that_is_interrupted_by_hand_says_so_alone(home: str) -> None:
    with reenact.record("passed") as recording:
        block(None)
    with pytest.raises(KeyboardInterrupt), reenact.replay(recording.id) as replay:
        raise KeyboardInterrupt
    assert replay.verdict.divergence is None


def test_the_error_of_a_block_in_a_program_that_is_replayed_is_compared(shell: Shell) -> None:
    text = """
        import reenact
        try:
            with reenact.record("failed"):
                raise ValueError("no order")
        except ValueError:
            print("over")
        """
    shell.write("agent.py", text)
    shell.plain("agent.py")
    command = ("--json", "--", sys.executable, "agent.py")
    assert shell.replay(*command).json["verdict"]["faithful"]
    shell.write("agent.py", text.replace("no order", "no such order"))
    [found] = shell.replay(*command).json["verdict"]["divergences"]
    assert found["address"] == "main/error"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_function_that_yields_its_results_is_refused(asynchronous: bool) -> None:
    def several() -> Iterator[str]:
        yield look("here")

    async def later() -> AsyncIterator[str]:
        yield look("here")

    made: Callable[..., object] = later if asynchronous else several
    with pytest.raises(UsageError, match="record the function that iterates over them"):
        reenact.recorded(made)


def test_the_function_that_iterates_over_the_results_is_recorded(home: str) -> None:
    def several() -> Iterator[str]:
        yield look("here")

    @reenact.recorded
    def all_of_them() -> list[str]:
        return list(several())

    assert all_of_them() == ["here"]
    with reenact.replay("last") as replay:
        assert all_of_them() == ["here"]
    assert replay.verdict.faithful, str(replay.verdict)
