"""Record a program's standard output and standard error, and compare them after a replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from reenact.core.boundary import Run
from reenact.core.model.event import Tree
from reenact.errors import Divergence
from reenact.run.error_output import ErrorOutput, compare_errors
from reenact.run.output import Output, compare

if TYPE_CHECKING:
    from reenact.core.replay.match import Rules
    from reenact.core.replay.terms import Terms

_COMPARED = {"stdout": ("standard output", compare), "stderr": ("standard error", compare_errors)}


_program: StandardStreams | None = None
"""The streams of this process, if it is one of a recorded command."""


class StandardStreams:
    """A program's standard output and standard error.

    Args:
        run: Count only what the code of this run writes; None: all that the process writes.
    """

    def __init__(self, run: Run | None = None) -> None:
        self.out = Output(run)
        self.err = ErrorOutput(run)
        self._both = (self.out, self.err)

    def install_for_process(self) -> None:
        """Begin to listen to all that this process and its forks write."""
        global _program
        _program = self
        self.install()

    def install(self) -> None:
        """Begin to listen."""
        for each in self._both:
            each.install()

    def uninstall(self) -> None:
        """Stop listening."""
        for each in self._both:
            each.uninstall()

    def again(self) -> None:
        """Count from here on, and forget the texts so far."""
        for each in self._both:
            each.again()

    def moved(self) -> None:
        """Go on in this process, a copy of the one that began."""
        for each in self._both:
            each.moved()

    def tree(self) -> dict[str, Tree]:
        """Return the recorded texts, for the recording's seal."""
        return {each.NAME: each.tree() for each in self._both}


class StreamComparison(NamedTuple):
    """The first difference of the streams, the rules that applied, and the compared streams."""

    divergence: Divergence | None
    rules: tuple[str, ...]
    compared: tuple[str, ...]


def of_fork() -> StandardStreams | None:
    """Return the streams of this forked process, from here on; None if they are not recorded."""
    if _program is not None:
        _program.moved()
        _program.again()
    return _program


def compare_streams(
    sealed: Mapping[str, Any], actual: Mapping[str, Any], rules: Rules, terms: Terms, process: str = "main"
) -> StreamComparison:
    """Compare a replay's streams with the recorded ones. `actual` has its secrets removed."""
    divergence: Divergence | None = None
    applied: list[str] = []
    compared: list[str] = []
    for name, (words, compared_with) in _COMPARED.items():
        recorded = sealed.get(name)
        if not isinstance(recorded, dict):
            continue
        recorded = terms.output(recorded, actual[name])
        silent = name in rules.silent
        found, rule = compared_with(process, recorded, actual[name], silent=silent)
        divergence = divergence or found
        applied += [rule] if rule else []
        compared += [] if silent else [words]
    return StreamComparison(divergence, tuple(applied), tuple(compared))
