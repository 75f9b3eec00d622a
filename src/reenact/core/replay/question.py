"""What the program asks in a replay, while its counterpart in the recording is looked for."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.core.boundary import Scope
from reenact.core.model import codec
from reenact.core.model.event import Effect, Tree


@dataclass(slots=True)
class Question:
    """One question at the boundary of a replay.

    Attributes:
        effect: What is asked.
        scope: Where.
        ordinal: How many of its label came before it in its scope.
        args: Its arguments as the recording would have them; secrets are replaced where they stand in the way.
    """

    effect: Effect
    scope: Scope
    ordinal: int
    args: dict[str, Tree]

    @property
    def trees(self) -> dict[str, Tree]:
        """The arguments as trees through and through; adapters may have encoded some beforehand."""
        whole: dict[str, Tree] = codec.loads(codec.dumps(self.args))
        return whole

    @property
    def label(self) -> str:
        """`kind:name`, as filters name it."""
        return self.effect.label

    @property
    def place(self) -> str:
        """Where it is asked, without the ordinal."""
        return f"{self.scope.path}/{self.effect.label}"

    @property
    def address(self) -> str:
        """Its identity in the run."""
        return f"{self.place}#{self.ordinal}"
