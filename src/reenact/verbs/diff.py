"""`diff`: two recordings side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable

from reenact.analysis.diff import Diff, compare
from reenact.core.query.recording import Recording
from reenact.run.api.replaying import Source, load


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
    one, other = (source if isinstance(source, Recording) else load(source, home=home) for source in (a, b))
    return compare(one, other, (ignore,) if isinstance(ignore, str) else tuple(ignore))
