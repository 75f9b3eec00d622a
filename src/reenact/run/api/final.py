"""The recorded state of a run at its end, and the comparison with it after a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reenact.core.boundary import Run, tracked
from reenact.core.model import codec
from reenact.core.model.divergence import ERROR
from reenact.core.model.event import Tree
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.replay.match import mismatches
from reenact.core.replay.replayer import Replayer
from reenact.errors import ABSENT, Departure, Divergence, Halt, Mismatch
from reenact.run import state_at_end
from reenact.run.output import masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def compare(run: Run, recording: RecordedRun, replayer: Replayer) -> None:
    """Compare the state at the end of a replay with the recorded one: name the first difference.

    State of the process itself (not of the run) is left out in the process that made the recording: it has changed
    since then.
    """
    sealed = recording.logs[0].sealed or {}
    if replayer.divergences or replayer.gone_live:
        return
    here = replayer.tools.here
    if why := _fork_differs(sealed, replayer):
        replayer.uncompared.extend(
            f"state {name} ({why})" for name, _, _ in _pairs(run, recording, here=here)
        )
        if "state" in sealed:
            replayer.uncompared.append(f"random generators, sleeps and messages ({why})")
        return
    if "state" not in sealed:
        return
    state_at_end.compare(run, sealed, replayer)
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


def _fork_differs(sealed: Mapping[str, Tree], replayer: Replayer) -> str:
    """Return the reason that a fork's state at its end cannot be compared; empty if it can."""
    if "again" not in sealed:
        return ""
    if "state" not in sealed:
        if sealed.get("status") == "stopped":
            return "the fork stopped before its end"
        return "the fork was made by an earlier version"
    labels = replayer.tools.only_in_fork()
    return f"{', '.join(labels)} ran for real in the fork, and not in its replay" if labels else ""


def compare_error(recording: RecordedRun, replayer: Replayer, error: BaseException | None) -> bool:
    """Compare the error that leaves a block with the recorded one.

    The error of a whole program is in its standard error.

    Return True if the recorded block ended without an error: then this error shows the caller the difference.
    """
    sealed = recording.logs[0].sealed or {}
    if recording.header.get("entry") != "block" or sealed.get("status") not in ("ok", "error"):
        return False
    then, now = _told(sealed.get("error")), ABSENT
    if error is not None:
        now = _told(replayer.terms.clean(codec.encode_error(error, codec.Encoder())))
    by_hand = isinstance(error, (Halt, KeyboardInterrupt)) or _CTRL_C in str(then)
    if by_hand or replayer.divergences or replayer.gone_live or replayer.poison is not None:
        return False
    if then is not ABSENT:
        replayer.compared.append("the error")
    if _masked(then) == _masked(now):
        return False
    detail = "every answer was the recorded one, but the block ends with another error"
    shown = (Mismatch("error", then, now),)
    replayer.divergences.append(Divergence(Departure.CHANGED, ERROR, None, shown, detail))
    return then is ABSENT


_CTRL_C = "builtins:KeyboardInterrupt"


def _told(tree: Tree) -> Tree:
    return {"type": tree["type"], "text": tree["text"]} if isinstance(tree, dict) else ABSENT


def _masked(told: Tree) -> Tree:
    return {**told, "text": masked(str(told["text"]))} if isinstance(told, dict) else told


def _pairs(run: Run, recording: RecordedRun, *, here: bool) -> Iterator[tuple[str, Tree, Tree]]:
    """Yield each part of the tracked state with the recorded tree and the tree of this moment."""
    live = tracked.live(run)
    if not live:
        return
    # Slow: this reads each step.
    recorded = recording.state()
    for name, tree in live.items():
        if name in recorded and recorded.of(name).why == "end" and not (here and tracked.of_process(name)):
            yield name, recorded.tree(name), tree
