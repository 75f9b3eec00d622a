"""`fsck`: check a home or a team's store, and repair it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, ClassVar

from reenact.core.dataclass import dataclass
from reenact.core.store.check import StoreCheck, StoreChecked
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.open import place_of, team_store
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, optional
from reenact.verbs.push import TeamOptions, progress


class Options(TeamOptions):
    """Check all recordings, blobs and the index, and name each fault.

    Faults are broken recordings, torn last lines, damaged, missing or unused blobs, remains of interrupted writes,
    imports and uploads, and deleted recordings that are still there. Only --repair changes anything. Exit status 0: no
    fault; 1: a fault, also one that was repaired.

    [bold]reenact fsck --repair[/bold]
    """

    common: ClassVar = (marks.HOME, marks.TEAM, marks.JSON)

    repair: Annotated[
        bool, Field(description="Repair the faults; broken recordings are moved to broken/.")
    ] = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The faults of a store.

    Attributes:
        place: The name of the store.
        checked: The faults, and the number of things checked.
    """

    place: str
    checked: StoreChecked

    @property
    def status(self) -> int:
        """1 if there is a fault."""
        return int(bool(self.checked.findings))

    def tree(self) -> dict[str, Any]:
        """Return the faults as JSON values."""
        return {"store": self.place, **asdict(self.checked)}


def run(options: Options, context: Context) -> Result:
    """Check the store. Raises UsageError, StoreAway."""
    report = progress(context, "checking")
    if not context.team:
        if options.store or options.objects or options.project:
            raise UsageError("--store, --objects and --project go with --team")
        here = LocalStore(context.home)
        return Result(here.place, StoreCheck(here, repair=options.repair).run(report))
    if context.home is not None:
        raise UsageError("--team is the team's store and --home a folder here: one of the two")
    with team_store(place_of(options.store, options.objects, options.project)) as there:
        check = optional("reenact.team.check", "team", "reenact fsck --team").TeamCheck(
            there, repair=options.repair
        )
        return Result(there.place, check.run(report))
