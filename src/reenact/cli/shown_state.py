"""`reenact show ID --state [STEP]`: the declared state that the recording contains."""

from __future__ import annotations

from rich.text import Text

from reenact.analysis.views.text import one_line
from reenact.analysis.views.values import pretty
from reenact.cli.printing import say
from reenact.cli.transcript import TextPage
from reenact.core.model.plain import plain
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.state import SnapshotMoment, State

_WHY = {"risky": "before a risky effect", "asked": "on demand", "recorded": "as the model was asked"}


def tell_state(page: TextPage, recording: RecordedRun, state: State) -> None:
    """Print each value, with the moment of its snapshot."""
    at = f"when step {state.step} was asked" if state.step is not None else "at the end"
    page.line(Text(f"state {at}", "bold"))
    if not state:
        say(
            f"no state was tracked in {recording.id} by then; "
            f"reenact.track('memory', memory) in the program declares state"
        )
    for name in state:
        page.line(Text(""))
        taken = state.of(name)
        page.line(Text(one_line(name), "bold yellow").append(f"  {_as_of(taken)}", "dim"), 0, 3)
        page.block("value", pretty(plain(state.tree(name))), 3)


def _as_of(taken: SnapshotMoment) -> str:
    if taken.exact:
        when = "exact"
    elif taken.step is None:
        when = "as of after the last step; it may have changed since"
    else:
        when = f"as of step {taken.step}; it may have changed since"
    parts = [when, _WHY.get(taken.why, ""), f"“{one_line(taken.label, 60)}”" if taken.label else ""]
    return " · ".join(part for part in parts if part)
