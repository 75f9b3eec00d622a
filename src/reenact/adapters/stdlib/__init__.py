"""The standard library's inputs: clocks, randomness, the environment, and unrecorded input."""

from __future__ import annotations

from reenact.adapters.stdlib import (
    clock,
    early,
    entropy,
    environ,
    interpreters,
    named_pipes,
    seal,
    signals,
    start_options,
    unseen,
)
from reenact.core.boundary import Run


def begin(run: Run) -> None:
    """Begin a recording or replay, before the program runs in it."""
    early.rebind()
    seal.begin(run)
    unseen.begin(run)
    clock.begin(run)
    entropy.begin(run)
    environ.begin(run)
    start_options.begin(run)
    signals.begin(run)


def begin_in_fork(run: Run) -> None:
    """Go on with a recording or replay in a fork of the process."""
    signals.begin(run)


def end(run: Run) -> None:
    """End a recording or replay, before the recording is sealed."""
    signals.end(run)
    seal.end(run)
    unseen.end(run)
    entropy.end(run)
    clock.end(run)
    environ.end(run)
    start_options.end(run)
    interpreters.end(run)
    named_pipes.end()
