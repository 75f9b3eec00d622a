"""`pull`: recordings of the team's store to this machine."""

from __future__ import annotations

from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.verbs.interface import Context
from reenact.verbs.push import ChosenOptions, Result, exchanging, progress


class Options(ChosenOptions):
    """Copy recordings from the team's store. Interrupted copies are completed.

    [bold]reenact pull k3v9[/bold]
    [bold]reenact pull last[/bold]   the most recently changed recording
    """


def run(options: Options, context: Context) -> Result:
    """Pull the recordings. Raises UsageError, StoreAway."""
    if bool(options.refs) == options.all:
        raise UsageError("say which to pull: ids, `last`, or --all")
    with exchanging(options, LocalStore(context.home)) as (exchange, team):
        chosen = team.ids() if options.all else [team.named(ref) for ref in options.refs]
        moved = exchange.pull(
            list(dict.fromkeys(chosen)), progress(context, "pulling"), again=bool(options.refs)
        )
        moved.removed = exchange.forget_deleted().removed
        return Result(team.place, {"pulled": moved})
