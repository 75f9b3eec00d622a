"""Compare the files at the end of a replay with the recorded ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from reenact.core.files.listing import writable
from reenact.core.files.states import FileState
from reenact.core.files.trees import changes, first_states, whole_roots
from reenact.core.record.given_folders import temporary_folder
from reenact.core.record.places import TOO_WIDE
from reenact.core.replay.replayer import Replayer
from reenact.errors import Departure, Divergence, Mismatch
from reenact.run.files.disk import Laid
from reenact.run.files.final import CUT, LOG, MIXED, MIXED_ROWS, NUMBERED, FinalFiles
from reenact.run.files.placing import kind_of
from reenact.run.files.recorded_changes import RecordedChanges
from reenact.run.files.upper import hidden
from reenact.run.files.uses import ReplayedUses
from reenact.run.reports import logs

DRAWN = "{} (a library has drawn its name, and another one in the replay)"

_PART = re.compile(r"([^0-9A-Za-z])")
_DRAWN = 4
"""The least length of a part of a name that may be drawn at random."""


class FileComparison:
    """Compares the files that the program sees at its end with the recorded states.

    Args:
        recorded: The changes of the process's part of the recording.
        laid: The files that were laid for this run.
        replayer: Gets the first difference, and the files that cannot be compared.
        others: Files that another process changed last are compared when all have ended.
    """

    def __init__(self, recorded: RecordedChanges, laid: Laid, replayer: Replayer, *, others: bool) -> None:
        self._others = others
        self._recording, self._log, self._recorded = recorded.recording, recorded.log, recorded
        self._laid, self._replayer = laid, replayer
        self._whole = whole_roots(recorded.recording)
        process = recorded.log.opened.get("pid")
        self._files = FinalFiles(recorded.recording, laid.here, replayer.terms.raw, process=process)

    def run(self, uses: ReplayedUses, unkept: AbstractSet[Path]) -> None:
        """Name the first path that differs, and the step that changed it last.

        Args:
            uses: The paths that this run has changed.
            unkept: Paths whose recorded changes could not be made.
        """
        replayer = self._replayer
        files, last = self._files, self._files.last
        found = [
            path
            for path in self._touched(first_states(self._recording), last)
            if path not in unkept and not self._is_of_others(path) and not files.same(path)
        ]
        for how, text in (
            (self._is_log, LOG),
            (files.mixed, MIXED),
            (files.mixed_rows, MIXED_ROWS),
            (self._is_cut, CUT),
        ):
            for path in [path for path in found if how(path)]:
                found.remove(path)
                replayer.uncompared.append(text.format(path))
        named = map(NUMBERED.format, files.numbered)
        replayer.uncompared += [each for each in named if each not in replayer.uncompared]
        more = [
            path
            for path, new in uses.changed(self._laid.recorded, last)
            if self._is_kept(path, uses, new=new)
        ]
        for was, now in self._drawn_anew(found):
            found = [path for path in found if not path.is_relative_to(was)]
            more = [path for path in more if not path.is_relative_to(now)]
            replayer.uncompared.append(DRAWN.format(was))
        replayer.compared.append("files")
        replayer.uncompared += self._unknown(last)
        if found:
            step, path = min(
                ((self._step(path), path) for path in found), key=lambda item: (item[0] or 0, item[1])
            )
            self._differs(
                path,
                step,
                tuple(files.differing(path)),
                "at the end is not the recorded one",
                len(found) + len(more),
            )
        elif more:
            self._differs(more[0], None, (), "was changed, and the recorded run did not use it", len(more))

    def _differs(
        self, path: Path, step: int | None, shown: tuple[Mismatch, ...], how: str, count: int
    ) -> None:
        rest = f"; {count - 1} more differ" if count > 1 else ""
        place, detail = f"main/file:{path}", f"the file {path} {how}{rest}"
        self._replayer.divergences.append(Divergence(Departure.CHANGED, place, step, shown, detail))

    def _is_of_others(self, path: Path) -> bool:
        """Return True if another process changed a path last: it may come later than this one's end."""
        return self._others and self._files.writers.get(path, (self._log.process,))[-1] != self._log.process

    def _is_log(self, path: Path) -> bool:
        """Return True for a file that `logging` writes, or has written and renamed."""
        here = str(self._laid.here(path))
        return any(here == log or here.startswith(f"{log}.") for log in logs())

    def _is_cut(self, path: Path) -> bool:
        """Return True if a process that used a path was killed: its last change may not be recorded."""
        cut = [log for log in self._recording.logs if log is not self._log and log.sealed is None]
        writers = self._files.writers.get(path, ())
        if writers and writers[-1] not in {log.process for log in cut}:
            return False
        return any(path in change.states for log in cut for change in changes(log))

    def _is_kept(self, path: Path, uses: ReplayedUses, *, new: bool) -> bool:
        """Return True if a recording would have a change of that path."""
        if not any(path.is_relative_to(root) for root in self._whole):
            return uses.by_program(str(self._laid.here(path)))
        # Among the temporary files, only those are recorded that the program makes.
        temporary = any(str(path.parent) == layer.recorded in TOO_WIDE for layer in self._laid.layers)
        return writable(str(path)) and (new or not temporary)

    def _drawn_anew(self, differing: list[Path]) -> Iterator[tuple[Path, Path]]:
        """Yield temporary files and folders whose random names differ in this run.

        Each with its counterpart in this run.
        """
        temporary = Path(os.path.realpath(temporary_folder()))
        gone = [path for path in differing if kind_of(self._laid.here(path)) == "none"]
        names = {path.relative_to(temporary).parts[0] for path in gone if temporary in path.parents}
        for layer in self._laid.layers:
            if not names or not temporary.is_relative_to(layer.recorded):
                continue
            with suppress(OSError):
                changed = sorted((Path(layer.upper) / temporary.relative_to(layer.recorded)).iterdir())
                made = [each.name for each in changed if not hidden(each)]
                for name in sorted(names):
                    other = next((each for each in made if drawn_alike(name, each)), None)
                    if other is not None:
                        made.remove(other)
                        yield temporary / name, temporary / other

    def _touched(self, first: Mapping[Path, FileState], last: Mapping[Path, FileState]) -> Iterator[Path]:
        """Yield the paths that the recorded run or this one has changed."""
        known = {path for path in last if first.get(path) != last[path]}
        known |= {path for change in self._recorded.all for path in change.states if path in last}
        for layer in self._laid.layers:
            for path in _entries(Path(layer.upper)):
                recorded = Path(layer.recorded) / path.relative_to(layer.upper)
                if recorded in last:
                    known.add(recorded)
        yield from sorted(known)

    def _unknown(self, last: Mapping[Path, FileState]) -> list[str]:
        """Name the files of which neither bytes nor a fingerprint are recorded."""
        names = [
            str(path)
            for path, state in last.items()
            if state.kind == "file" and state.why != "listed" and not (state.blob or state.print)
        ]
        return [f"the content of {len(names)} files ({names[0]} …)"] if names else []

    def _step(self, path: Path) -> int | None:
        """Return the step after which a path was last seen to change."""
        calls = [
            change.call for change in self._recorded.all if path in change.states and change.call is not None
        ]
        return self._replayer.step_of(calls[-1]) if calls and calls[-1] in self._log.calls else None


def drawn_alike(one: str, two: str) -> bool:
    """Return True if two names differ only in parts of equal length, as random ones do."""
    parts, others = _PART.split(one), _PART.split(two)
    if len(parts) != len(others) or parts[0] != others[0] or one == two:
        return False
    pairs = [(a, b) for a, b in zip(parts, others, strict=True) if a != b]
    return all(len(a) == len(b) >= _DRAWN and a.isalnum() and b.isalnum() for a, b in pairs)


def _entries(folder: Path) -> Iterator[Path]:
    """Yield the files, links and marks in a changed layer."""
    for path, folders, files in os.walk(folder):
        yield from (Path(path, name) for name in files)
        yield from (Path(path, name) for name in folders if Path(path, name).is_symlink())
