"""Run a recorded command again within a test."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from reenact.errors import ProgramError
from reenact.run import launch


def rerun(
    source: str | os.PathLike[str],
    command: Sequence[str] = (),
    *,
    cwd: str | os.PathLike[str] | None = None,
    live: Iterable[str] = (),
    ignore: Iterable[str] = (),
    on_divergence: str = "raise",
    inserted: str = "refuse",
    tools: Iterable[str] = (),
    policy: Iterable[str] = (),
    run_foreign: bool = False,
) -> launch.Replayed:
    """Replay a recording by running its command, as `reenact replay` does.

    Tests that `reenact keep` writes call this.

        done = rerun("recordings/order.reenact", [sys.executable, "agent.py"], cwd=ROOT)
        assert done.verdict.faithful, done.verdict

    Args:
        source: An id, a prefix of one, or a path.
        command: The command; by default the recorded one.
        cwd: The folder to run it in; by default the recorded one, or for another command the working folder.
        live: Effects that run for real, as for `reenact.replay`.
        ignore: Rules for differences to ignore.
        on_divergence: The reaction to a departure.
        inserted: Under `realign`, the answer to a new call.
        tools: The tools that run again, are answered or run for real, as for `reenact.replay`.
        policy: The calls that may run for real, as for `reenact.replay`.
        run_foreign: Run the recorded command of a foreign recording, too. A command given here needs no permission.

    Returns:
        The verdict, the exit status, and the differences from the recorded run.

    Raises:
        ForeignRecording: The recording is foreign, and its own command would run.
        ProgramError: The program ended without a verdict, or cannot be run.
    """
    options = launch.Options(
        tuple(live), tuple(ignore), on_divergence, inserted, tools=tuple(tools), policy=tuple(policy)
    )
    done = launch.replay(
        os.fspath(source), options, command=list(command), cwd=cwd, quiet=True, run_foreign=run_foreign
    )
    if done.verdict is None:
        raise ProgramError(f"{source} was not replayed: {done.failed}")
    return done
