"""Checks of an outcome: by a command, by a Python function, or by the good run's output."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reenact.analysis.decisive import Result
from reenact.core.model import codec
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.counterparts import unmarked
from reenact.errors import UsageError
from reenact.run.output import masked
from reenact.verbs.reproduce.rerun import Rerun

Predicate = Callable[[Rerun], bool | None]
"""Returns True for a good outcome, False for a bad one; None if undecided."""

Check = Callable[[Rerun], Result]

_SKIP = 125
_CANNOT = (126, 127)


def by_command(command: str, folder: Path, patience: float) -> Check:
    """Check with a shell command in the program's folder: exit status 0 good, 125 undecided.

    The program's output is in the files `$REENACT_STDOUT` and `$REENACT_STDERR`, its exit status in `$REENACT_EXIT`,
    and the id of the recording that answered it in `$REENACT_ID`.
    """

    def check(done: Rerun) -> Result:
        with tempfile.TemporaryDirectory(prefix="reenact-") as place:
            out, err = Path(place, "stdout"), Path(place, "stderr")
            out.write_text(done.stdout, encoding="utf-8")
            err.write_text(done.stderr, encoding="utf-8")
            variables = {
                "REENACT_STDOUT": str(out),
                "REENACT_STDERR": str(err),
                "REENACT_EXIT": str(done.status),
                "REENACT_ID": done.recording.id,
            }
            try:
                status = subprocess.run(  # noqa: S602 - the user's own command line
                    command,
                    shell=True,
                    cwd=folder,
                    env={**os.environ, **variables},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    timeout=patience,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise UsageError(f"the check `{command}` still ran after {patience:g} seconds") from None
        if status.returncode in _CANNOT:
            said = status.stderr.decode("utf-8", "replace").strip().splitlines()
            raise UsageError(f"the check `{command}` cannot be run: {said[-1] if said else 'not found'}")
        if status.returncode < 0 or status.returncode >= 128:
            raise UsageError(f"the check `{command}` was ended by a signal (exit status {status.returncode})")
        if status.returncode == _SKIP:
            return Result.UNDECIDED
        return Result.BAD if status.returncode else Result.GOOD

    return check


def by_predicate(predicate: Predicate) -> Check:
    """Check with a Python function."""
    name = getattr(predicate, "__name__", "the check")

    def check(done: Rerun) -> Result:
        try:
            said = predicate(done)
        except Exception as error:
            raise UsageError(
                f"the check {name} raised {type(error).__name__}: {error} "
                f"(on a run of {done.recording.id}, exit status {done.status})"
            ) from error
        if said is not None and not isinstance(said, bool):
            raise UsageError(
                f"the check {name} gave {said!r}: it must return True (good), False (bad) or None"
            )
        return Result.UNDECIDED if said is None else Result.GOOD if said else Result.BAD

    return check


def by_output(bad: RecordedRun, good: RecordedRun) -> Check:
    """Check that the output (declared, else standard output) equals the good run's.

    Raises UsageError if that distinguishes nothing.
    """
    sealed = [recording.logs[0].sealed or {} for recording in (bad, good)]
    use = "say what is good: --check 'a command'"
    if "output" in sealed[1]:
        wanted = codec.packed(sealed[1]["output"])
        if "output" in sealed[0] and codec.packed(sealed[0]["output"]) == wanted:
            raise UsageError(f"{bad.id} and {good.id} gave the same output; {use}")
        return lambda done: (
            Result.GOOD if done.output and codec.packed(done.output[0]) == wanted else Result.BAD
        )
    written = [each.get("stdout") for each in sealed]
    if not isinstance(written[1], dict) or not written[1].get("length"):
        raise UsageError(f"the good run {good.id} kept no output; {use}")
    if isinstance(written[0], dict) and _lines(written[0]) == _lines(written[1]):
        raise UsageError(f"{bad.id} and {good.id} wrote the same output; {use}")
    expected = _lines(written[1])
    return lambda done: (
        Result.GOOD if done.written is not None and _lines(done.written) == expected else Result.BAD
    )


def _lines(written: Mapping[str, Any]) -> list[str]:
    """Return the output's lines for comparison. The rest of a long output counts by its hash."""
    text = str(written.get("text"))
    rest = [str(written.get("sha256"))] if written.get("length", 0) > len(text) else []
    known = unmarked(masked(text).encode("utf-8", "surrogatepass"))
    return [*known.decode("utf-8", "surrogatepass").splitlines(), *rest]
