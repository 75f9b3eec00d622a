"""`harden`: a browser script on changed pages, before production changes them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from reenact.core.dataclass import dataclass
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, optional
from reenact.verbs.marks import Cli

if TYPE_CHECKING:
    from reenact.browser.heal.harden.hardening import Hardened

_MODULE = "reenact.browser.heal.harden.hardening"


class Options(interface.Options):
    """Test each step of a browser script on changed pages, and show which changes break it.

    The script runs once and is recorded. Then each step runs again on the recorded page, with one change around its
    element at a time: other ids and classes, another label, another place, a cookie banner … Only requests for
    resources that the recording does not have are sent. Exit status 1: a step would fail, or act on another element.
    """

    common: ClassVar = (marks.JSON,)
    passes_unknown: ClassVar = True

    script: Annotated[
        Path,
        Field(description="A Python script of session.execute calls."),
        Cli(argument=True, metavar="SCRIPT"),
    ]
    arguments: Annotated[
        tuple[str, ...],
        Field(description="Its arguments, after `--`."),
        Cli(argument=True, metavar="[ARGUMENTS]..."),
    ] = ()
    mutations: Annotated[
        int, Field(description="The number of changes tried for each step."), marks.ANYONE
    ] = 4
    seed: Annotated[int, Field(description="The same seed makes the same changes."), marks.ANYONE] = 0


@dataclass(frozen=True)
class Result(interface.Result):
    """The results of the changed steps."""

    hardened: Hardened

    @property
    def status(self) -> int:
        """1 if a step would stop, or act on something else."""
        return int(not self.hardened.holds)

    def tree(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        data: dict[str, Any] = optional(_MODULE, "browser", "reenact harden").as_data(self.hardened)
        return data


def run(options: Options, context: Context) -> Result:
    """Run the script and its changed steps. Raises UsageError."""
    return Result(
        optional(_MODULE, "browser", "reenact harden").harden(
            options.script,
            options.arguments,
            mutations=options.mutations,
            seed=options.seed,
            told=partial(context.progress, "trying"),
        )
    )
