"""`diff`: two recordings side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from reenact.analysis.diff import Diff, compare
from reenact.analysis.views.comparison import DiffView, diff_view
from reenact.analysis.views.file_tree import FileDifferenceView, TreeDifferencesView, tree_differences
from reenact.core.dataclass import dataclass
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import UsageError
from reenact.run.api.replaying import Source, load
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, VerbRoute
from reenact.verbs.marks import LOCAL, RECORDING, Cli


class Options(interface.Options):
    """Compare two runs: common steps, differences word by word, and the first difference.

    Exit status: 0 the same, 1 different.
    """

    a: Annotated[
        str,
        Field(
            description="The first run, for example the good one: an id, the beginning of one, `last~1`, or a path."
        ),
        Cli(argument=True, metavar="A"),
        RECORDING,
    ]
    b: Annotated[str, Field(description="The second run."), Cli(argument=True, metavar="B"), RECORDING]
    html: Annotated[
        Path | None, Field(description="Write a page to this file, to open in any browser."), LOCAL
    ] = None
    all: Annotated[
        bool,
        Field(description="Also show equal steps and all pairs, and texts in full."),
        Cli(names=("--all", "-a")),
        marks.ANYONE,
    ] = False
    files: Annotated[
        bool,
        Field(description="Compare the files of the two runs, as they were at their ends."),
        LOCAL,
        marks.ANYONE,
    ] = False
    ignore: Annotated[
        tuple[str, ...],
        Field(
            description="A part of requests that is not compared (args.body.seed); may be given several times."
        ),
        marks.ANYONE,
    ] = ()


@dataclass(frozen=True)
class Result(interface.Result):
    """The comparison.

    Attributes:
        found: That of the steps.
        files: That of the files, if it was asked for instead.
    """

    found: Diff
    files: tuple[FileDifferenceView, ...] | None = None

    @property
    def status(self) -> int:
        """1 if they differ."""
        return int(not self.found.same if self.files is None else bool(self.files))

    def tree(self) -> DiffView | TreeDifferencesView:
        """Return the comparison as a view."""
        if self.files is not None:
            return TreeDifferencesView(a=self.found.a.id, b=self.found.b.id, files=self.files)
        return diff_view(self.found, paths=True)


def run(options: Options, context: Context) -> Result:
    """Compare the runs, or their files. Raises as `diff` does, and CorruptRecording."""
    one, other = context.facts(options.a, options.b)
    if options.files and (options.html is not None or options.ignore):
        raise UsageError("--files compares files: without --html and --ignore")
    files = tree_differences(one.recording, other.recording) if options.files else None
    return Result(compare(one.recording, other.recording, options.ignore), files)


def served(result: Result) -> DiffView:
    """Compare two runs: equal, changed, inserted, deleted and moved steps."""
    return diff_view(result.found, paths=False)


ROUTES = (VerbRoute("/diff", served, {"a": "a", "b": "b", "ignore": "ignore"}),)


def diff(
    a: Source, b: Source, *, ignore: Iterable[str] = (), home: str | os.PathLike[str] | None = None
) -> Diff:
    """Compare two recordings: shared, changed, inserted, deleted and moved steps.

        found = reenact.diff("good", "bad")
        if found.parting:
            print(found.parting.why, found.parting.a, found.parting.b)

    Reads both and changes neither.

    Args:
        a: The first run, say the good one: a recording, or what `load` takes.
        b: The second.
        ignore: Parts of questions that are left out of the comparison, such as "args.body.seed".
        home: The folder of the recordings; by default `$REENACT_HOME`, or `.reenact` here.

    Raises:
        RecordingError: There is no such recording, or it cannot be read.
        UsageError: One of them has no steps.
    """
    one, other = (source if isinstance(source, RecordedRun) else load(source, home=home) for source in (a, b))
    return compare(one, other, (ignore,) if isinstance(ignore, str) else tuple(ignore))
