"""Ask the user, once, before the program of a foreign recording runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from reenact.cli.printing import say
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import LocalStore
from reenact.core.trust import consent
from reenact.errors import ForeignRecording, UsageError
from reenact.run.launch.program import missing_part
from reenact.team.open import Reaching
from reenact.verbs.marks import INSTEAD


def agreed(
    sources: Sequence[str | RecordedRun],
    words: Sequence[str],
    home: str | os.PathLike[str] | None,
    *,
    run_foreign: bool,
    requests: bool = False,
    starts: bool = True,
    instead: str = INSTEAD,
) -> bool:
    """Return True if the programs of some recordings may run.

    For each foreign one, show the command on a terminal and ask; a yes is remembered.

    Args:
        sources: The recordings.
        words: The user's own command to run instead, which needs no permission.
        home: The folder of the recordings.
        run_foreign: The user has allowed it already.
        requests: True if the recorded requests will be sent again, with any command.
        starts: True if the programs start now: if one cannot, nothing is asked, and its start reports the reason.
        instead: The alternative to running its program, for messages.

    Raises ForeignRecording if the answer is no, or if there is no terminal to ask on.
    """
    if run_foreign or (words and not requests):
        return run_foreign
    root = LocalStore(home).root
    recordings = [each if isinstance(each, RecordedRun) else Reaching(home).load(each) for each in sources]
    foreign = [
        each for each in recordings if (requests or consent.steers(each)) and not consent.allowed(each, root)
    ]
    if starts and not requests and any(missing_part(each, near=True) for each in foreign):
        return False
    for recording in foreign:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            consent.check(recording, root, instead=instead)
        _ask(recording, root, instead)
    return bool(foreign)


def _ask(recording: RecordedRun, root: os.PathLike[str], instead: str) -> None:
    """Show the program's command, and ask. Raises ForeignRecording for any answer but yes."""
    home = LocalStore(root).root
    said = consent.standing_of(recording, home).sentence
    say(f"reenact: recording {consent.escaped(recording.id)}: {said}. To run its program would mean:")
    for title, text in consent.described(recording):
        say(f"  {title:<9} {text}")
    sys.stderr.write("Run it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        more = f"; {instead} needs no permission" if instead else ""
        raise ForeignRecording(
            f"recording {consent.escaped(recording.id)} is foreign: its program was not run{more}"
        )
    with suppress(UsageError):
        consent.accept(recording, home)
