"""The recorded command."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from reenact.core.model.header import by_proxy, program_of
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.record.program import option_takes_value
from reenact.core.store.local import LocalStore
from reenact.core.trust import consent
from reenact.errors import ProgramError
from reenact.run.launch.process import executable_of


def command_of(
    recording: RecordedRun,
    command: Sequence[str],
    *,
    home: str | os.PathLike[str] | None,
    run_foreign: bool = False,
    verb: str = "replay",
) -> tuple[list[str], str, str | None]:
    """Return the given or the recorded command, its executable, and its folder.

    Without a folder it runs in the current one. Raises as `remembered` does, and UsageError without such a program.
    """
    argv, cwd = list(command), None
    if not command:
        argv, cwd = remembered(recording, home=home, run_foreign=run_foreign, verb=verb)
    return argv, executable_of(argv), cwd


def remembered(
    recording: RecordedRun,
    *,
    home: str | os.PathLike[str] | None,
    run_foreign: bool,
    verb: str,
) -> tuple[list[str], str]:
    """Return the recorded command and its folder.

    Args:
        recording: The recording.
        home: The folder of the recordings, with the keys that decide if this one is foreign.
        run_foreign: The user lets a foreign recording's program run.
        verb: A verb to suggest with another command.

    Raises:
        ForeignRecording: It comes from elsewhere, or was changed, and the user has not agreed.
        ProgramError: The command or the folder cannot be used.
    """
    # `prove` runs no other command.
    word, _, more = ("reproduce" if verb == "prove" else verb).partition(" ")
    options = f" {more}" if more else ""
    # An exported file is not known by its id.
    named = shlex.quote(recording.path) if Path(recording.path).is_file() else recording.id
    other = f"say what to run: reenact {word} {named}{options} -- python agent.py"
    root = LocalStore(home).root
    allowed = run_foreign or consent.allowed(recording, root)
    # A program that cannot run needs no consent.
    missing = missing_part(recording, near=not allowed)
    if missing:
        raise ProgramError(f"{missing}; {other}")
    if not allowed:
        consent.check(recording, root, instead=other)
    return _argv(recording), _folder(recording)


def missing_part(recording: RecordedRun, *, near: bool = False) -> str:
    """Return in words the part of the recorded program that is missing here, or an empty text.

    Args:
        recording: The recording.
        near: Do not check paths on other machines: none is contacted without consent.
    """
    argv, cwd = _argv(recording), _folder(recording)
    if not argv:
        why = "the proxy ran beside it" if by_proxy(recording.header) else "was it imported?"
        return f"recording {recording.id} has no recorded program ({why})"
    if near and any(_elsewhere(path) for path in (cwd, *argv)):
        return ""
    if not os.path.isdir(cwd):  # noqa: PTH112 - no error for a name that no system takes
        return f"the folder that the program ran in is gone: {consent.escaped(cwd)}"
    if shutil.which(argv[0]) is None:
        what = (
            "the program is gone" if by_proxy(recording.header) else "the Python that ran the program is gone"
        )
        return f"{what}: {consent.escaped(argv[0])}"
    # Only for Python: in another language's command line, the words that are files are unknown.
    file = script_of(argv) if not by_proxy(recording.header) else None
    if file is not None and not os.path.exists(Path(cwd, file)):  # noqa: PTH110
        return f"the program is gone: {consent.escaped(str(Path(cwd, file)))}"
    return ""


def _argv(recording: RecordedRun) -> list[str]:
    return [str(word) for word in program_of(recording.header).get("argv") or ()]


def _folder(recording: RecordedRun) -> str:
    return str(program_of(recording.header).get("cwd") or "")


def _elsewhere(path: str) -> bool:
    """Return True for a path that may be on another machine: a network share, or in `/net`."""
    return path[:2].replace("\\", "/") == "//" or path.startswith("/net/")


def script_of(argv: Sequence[str]) -> str | None:
    """Return the file that a Python's command line names.

    None for a module, code, or standard input.
    """
    rest = iter(argv[1:])
    for word in rest:
        if word in ("-m", "-c", "-"):
            return None
        if option_takes_value(word):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None
