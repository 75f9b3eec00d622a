"""`heals`: list the heals of all recordings, and make patches from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from reenact.analysis.views.healed_steps import HealRunsView, HealsView
from reenact.core.dataclass import dataclass
from reenact.core.query.filter import Filter
from reenact.core.store.local import argument
from reenact.errors import UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, VerbRoute, optional
from reenact.verbs.marks import LOCAL, Cli, Filtered, WireType

if TYPE_CHECKING:
    from reenact.browser.heal.patch import ScriptPatch
    from reenact.browser.heal.statistics import RecordedHeal, StepStatistics


class Options(interface.Options):
    """List the script steps that needed a repair, and the results.

    For each step: the number of runs, the number of repairs, the way of repair, the time of the last one, and whether
    it was verified. A step that runs with a learned change counts as repaired.
    """

    common: ClassVar = (marks.HOME, marks.TEAM, marks.JSON)

    filter: Filtered = ()
    script: Annotated[
        Path | None, Field(description="Only the steps of this script."), Cli(metavar="SCRIPT"), LOCAL
    ] = None
    file: Annotated[
        str,
        Field(description="Only the repairs of this script, by its file as the repairs name it."),
        Cli(offered=False),
        WireType(max_length=4000),
    ] = ""
    patch: Annotated[
        Path | None, Field(description="The learned changes as a diff of this script."), Cli(metavar="SCRIPT")
    ] = None
    write: Annotated[
        bool,
        Field(description="With --patch: change the script, unless it has uncommitted changes."),
        marks.NEVER,
    ] = False
    runs: Annotated[bool, Field(description="List single repairs, the newest first.")] = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The heals.

    Attributes:
        heals: All chosen heals, the oldest first.
        stories: The steps that needed help; empty if each heal is to be shown, or a patch.
        patch: The changes of the script, if they were asked for.
        written: The outcome of writing the patch; empty if it was not written.
    """

    heals: Sequence[RecordedHeal]
    stories: Sequence[StepStatistics] = ()
    patch: ScriptPatch | None = None
    written: str = ""

    def tree(self) -> list[Any] | None:
        """Return the steps, or each heal, as views; None for a patch."""
        if self.patch is not None:
            return None
        return [*steps(self).items] or [*runs(self).items]


def run(options: Options, context: Context) -> Result:
    """Find the heals, and change the script if asked to. Raises UsageError, FilterError."""
    if options.patch is not None and (context.quiet or options.runs or options.script is not None):
        raise UsageError("--patch prints a diff, and goes with no --script, --runs or --json")
    if options.write and options.patch is None:
        raise UsageError("--write goes with --patch SCRIPT")
    statistics = optional("reenact.browser.heal.statistics", "browser", "reenact heals")
    with context.opened() as (_, index):
        report = partial(context.progress, "reading new recordings")
        own = statistics.heals(index, Filter(" ".join(options.filter)), report)
        if (chosen := options.script or options.patch) is not None:
            own = statistics.of_script(own, chosen)
        own = [one for one in own if options.file in ("", one.heal.file)]
        if options.patch is not None:
            return _patched(options.patch, own, write=options.write)
        return Result(own, () if options.runs else statistics.stories(index, own))


def steps(result: Result) -> HealsView:
    """The steps of scripts that needed help, over all runs, the last one first."""
    view = optional("reenact.browser.heal.heal_view", "browser", "reenact heals")
    return HealsView(items=tuple(view.story(one) for one in result.stories))


def runs(result: Result) -> HealRunsView:
    """List single repairs, the newest first."""
    view = optional("reenact.browser.heal.heal_view", "browser", "reenact heals")
    return HealRunsView(items=tuple(view.recorded(one) for one in reversed(result.heals)))


ROUTES = (
    VerbRoute("/heals", steps, {"filter": "filter"}),
    VerbRoute("/heals/runs", runs, {"filter": "filter", "script": "file"}, {"runs": True}),
)


def _patched(script: Path, own: Sequence[RecordedHeal], *, write: bool) -> Result:
    patching = optional("reenact.browser.heal.heal_view", "browser", "reenact heals")
    try:
        data = script.read_bytes()
    except OSError as error:
        raise UsageError(f"{script}: {error.strerror}") from None
    refs = [argument(one.recording, one.path) for one in own]
    trials = patching.trials((one.folder, one.heal) for one in own)
    made = patching.patched(script, data, [one.heal for one in own], refs, trials)
    return Result(own, (), made, patching.write(made) if write and made.changed else "")
