"""The state of a run at its end: what is recorded of it, and the comparison after a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reenact.core.boundary import Run, tracked
from reenact.core.model import codec
from reenact.core.model.event import Tree
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.match import mismatches
from reenact.core.replay.replayer import Replayer
from reenact.errors import Departure, Divergence, Mismatch
from reenact.run import state_at_end

if TYPE_CHECKING:
    from collections.abc import Iterator


def compare(run: Run, recording: RecordedRun, replayer: Replayer) -> None:
    """Compare the state at the end of a replay with the recorded one: name the first difference.

    State of the process itself (not of the run) is left out in the process that has made the recording, where it is
    a later one.
    """
    sealed = recording.logs[0].sealed or {}
    if "state" not in sealed or replayer.divergences or replayer.gone_live:
        return
    state_at_end.compare(run, sealed, replayer)
    here = replayer.tools.here
    for name, recorded, actual in _pairs(run, recording, here=here):
        replayer.compared.append(f"state {name}")
        then, actually = {name: codec.typed(recorded)}, {name: codec.typed(replayer.terms.clean(actual))}
        found = mismatches("state", then, actually, replayer.rules)
        if found:
            shown = tuple(Mismatch(m.path.removeprefix("args."), m.recorded, m.actual) for m in found[:8])
            skipped = ", ".join(replayer.tools.answered)
            detail = "every answer was the recorded one, but the state at the end differs"
            hint = f"a tool that did not run may have changed it: {skipped}" if skipped else ""
            replayer.divergences.append(
                Divergence(Departure.CHANGED, f"main/state:{name}", None, shown, detail, hint)
            )
            return


def _pairs(run: Run, recording: RecordedRun, *, here: bool) -> Iterator[tuple[str, Tree, Tree]]:
    """Yield each part of the tracked state with the recorded tree and the tree of this moment."""
    live = tracked.live(run)
    if not live:
        return
    # This looks at each step.
    recorded = recording.state()
    for name, tree in live.items():
        if name in recorded and recorded.of(name).why == "end" and not (here and tracked.of_process(name)):
            yield name, recorded.tree(name), tree
