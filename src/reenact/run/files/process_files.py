"""Begin the files of a replayed process.

The modules that lay files out are imported for recordings with files alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.core import system
from reenact.core.files.trees import has_files
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.replayer import Replayer
from reenact.run.files.uses import ReplayedUses, store_of
from reenact.run.plan import LIVE

if TYPE_CHECKING:
    from reenact.core.boundary.file_sensor import RedirectedView
    from reenact.core.model.log import Log
    from reenact.run.files.replayed import ReplayedFiles


def files_of(
    recording: RecordedRun,
    log: Log,
    replayer: Replayer,
    scratch: str,
    *,
    block: bool = False,
    say: Callable[[str], None] | None = None,
) -> ReplayedFiles | None:
    """Begin a process with that scratch folder; return None for one without, or `LIVE`.

    A `block` is given scratch here: it runs in the user's own process. `say` gets the notes.
    """
    say = say or replayer.remark
    if scratch == LIVE:
        say("the program ran on the user's own files (--files live), not on the recorded ones")
    if not system.FILES:
        replayer.uncompared.append(system.WITHOUT_FILES)
        return None
    if scratch == LIVE or not (scratch or (block and has_files(recording))):
        return None
    if block and replayer.real.commands:
        # They would use the user's files, and the block others.
        replayer.uncompared.append("files (commands run for real, so the block ran on the user's own files)")
        return None
    from reenact.run.files.replayed import ReplayedFiles  # noqa: PLC0415 - for recordings with files alone

    return ReplayedFiles.begun(recording, log, replayer, scratch, say=say)


def sensor_of(
    files: ReplayedFiles | None, recording: RecordedRun, replayer: Replayer, scratch: str
) -> ReplayedUses | None:
    """Return the sensor for the files of a process; None if their changes are not watched.

    A run that has changed no file has no scratch: its replay changes none of the user's.
    """
    if files is not None:
        return files.uses
    if not recording.header.get("files") or scratch == LIVE or has_files(recording):
        return None
    return ReplayedUses(lambda _: False, replayer, store_of(recording))


def redirect(scratch: str) -> RedirectedView | None:
    """Redirect a process of a fork's live part to the fork's files; None behind an overlay."""
    from reenact.run.files.disk import Laid  # noqa: PLC0415 - as above
    from reenact.run.files.replayed import redirected  # noqa: PLC0415

    laid = Laid.read(Path(scratch))
    return None if laid.entered else redirected(laid)
