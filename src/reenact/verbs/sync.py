"""`sync`: push all recordings, and pull all."""

from __future__ import annotations

from reenact.core.store.local import LocalStore
from reenact.verbs.interface import Context
from reenact.verbs.push import Result, TeamOptions, exchanging, progress


class Options(TeamOptions):
    """Push all local recordings, and pull all of the team's.

    Recordings deleted in the team's store are not pushed again. Local copies of them that came from the team are
    deleted; recordings made here are kept.
    """


def run(options: Options, context: Context) -> Result:
    """Push and pull all recordings. Raises UsageError, StoreAway."""
    here = LocalStore(context.home)
    with exchanging(options, here) as (exchange, team):
        removed = exchange.forget_deleted()
        pushed = exchange.push(here.ids(), progress(context, "pushing"))
        pulled = exchange.pull(team.ids(), progress(context, "pulling"))
        pulled.removed = removed.removed
        pulled.problems |= removed.problems
        return Result(team.place, {"pushed": pushed, "pulled": pulled})
