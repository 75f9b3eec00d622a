"""A question of the program in a replay, while its recorded counterpart is looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reenact.core.dataclass import dataclass
from reenact.core.model import codec
from reenact.core.model.event import Effect, Tree

if TYPE_CHECKING:
    from reenact.core.boundary import Scope


@dataclass(slots=True)
class Question:
    """One question at the boundary of a replay.

    Attributes:
        effect: The effect.
        scope: Its scope.
        ordinal: The number of earlier questions with its label in its scope.
        args: Its arguments in the recording's form; secrets are replaced if they prevent a match.
        label: `kind:name`, as filters name it.
        equal: True if they are known to equal those of the recorded call that was found.
    """

    effect: Effect
    scope: Scope
    ordinal: int
    args: dict[str, Tree]
    label: str
    equal: bool = False

    @property
    def trees(self) -> dict[str, Tree]:
        """The arguments as complete trees; adapters may have encoded some beforehand."""
        whole: dict[str, Tree] = codec.loads(codec.dumps(self.args))
        return whole

    @property
    def place(self) -> str:
        """The address without the ordinal."""
        return f"{self.scope.path}/{self.label}"

    @property
    def address(self) -> str:
        """Its identity in the run."""
        return f"{self.place}#{self.ordinal}"
