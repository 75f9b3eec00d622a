"""The orders of the machine to its driver, and the driver's reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from reenact.core.dataclass import dataclass
from reenact.core.model.divergence import Verdict
from reenact.core.model.event import Tree
from reenact.core.replay.watch import Edit
from reenact.errors import Divergence


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class ProgramPlace:
    """A place of the program: at the question of a recorded step, before its answer.

    `extra` counts the questions since then that the recording does not have. Step 0 is the program's beginning.
    """

    step: int
    extra: int = 0

    def __str__(self) -> str:
        return f"step {self.step}" + (f" + {self.extra}" if self.extra else "")


START = ProgramPlace(0)


@dataclass(frozen=True, slots=True)
class Until:
    """The next stops of the program. It stops at a divergence in any case.

    Attributes:
        place: Stop there.
        next: Stop at the very next question.
        beyond: Stop at the next question that is not inside this step.
        steps: Stop at any of these.
        filters: Stop at a question that the recording does not have, if one of these filters matches it.
        states: Stop when this tracked state has changed (`*`: any).
    """

    place: ProgramPlace | None = None
    next: bool = False
    beyond: int | None = None
    steps: frozenset[int] = frozenset()
    filters: tuple[str, ...] = ()
    states: tuple[str, ...] = ()


# -- orders for the driver -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Go:
    """Let the program run on from where it is."""

    until: Until
    edits: Mapping[int, Edit] = field(default_factory=dict)
    opened: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Again:
    """Run the program again, from its beginning or any place that is not after `before`."""

    until: Until
    before: ProgramPlace
    edits: Mapping[int, Edit] = field(default_factory=dict)
    opened: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop the program at its present place; end it if it does not react."""


@dataclass(frozen=True, slots=True)
class Shell:
    """Give the terminal to pdb, in the program's own frame."""


Order: TypeAlias = Go | Again | Interrupt | Shell


# -- reports of the driver -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Actual:
    """A question as the program asks it now.

    Attributes:
        label: `kind:name`.
        address: Its identity in the run.
        args: Its arguments, plain, secrets replaced.
        stack: The program's own frames, innermost last, as `file:line in function`.
        state: The tracked state, plain, by name.
    """

    label: str = ""
    address: str = ""
    args: Mapping[str, Tree] = field(default_factory=dict)
    stack: tuple[str, ...] = ()
    state: Mapping[str, Tree] = field(default_factory=dict)


NOTHING = Actual()
"""The question of a place without one."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The program has stopped at a question, for the reason `why`; `passed` are those before it."""

    place: ProgramPlace
    passed: tuple[ProgramPlace, ...]
    actual: Actual = NOTHING
    why: str = ""


@dataclass(frozen=True, slots=True)
class Departed:
    """The program has left its recording, and waits there."""

    divergence: Divergence
    place: ProgramPlace
    passed: tuple[ProgramPlace, ...]
    actual: Actual = NOTHING


@dataclass(frozen=True, slots=True)
class Ended:
    """The program is over."""

    passed: tuple[ProgramPlace, ...]
    exit: int | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Died:
    """The program ended without a report."""

    text: str


Report: TypeAlias = Stopped | Departed | Ended | Died
