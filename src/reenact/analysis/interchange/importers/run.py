"""A run recorded by another program, before it becomes a recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from reenact.analysis.interchange.importers.file_acts import FileAct
from reenact.core.files.keeping import FileKeeper
from reenact.core.files.states import FileState
from reenact.core.files.trees import How
from reenact.core.record.places import Place

DEEPEST = 256
"""The maximum depth of spans: the path to the root is walked for each of them."""


class Seen(Sequence[Any]):
    """The messages that a model call saw: the beginning of a list, without a copy.

    Args:
        messages: The list.
        count: The number of messages; by default the present length.
    """

    __slots__ = ("_size", "messages")

    def __init__(self, messages: list[Any], count: int | None = None) -> None:
        self.messages = messages
        self._size = len(messages) if count is None else count

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: Any) -> Any:
        return self.messages[: self._size][place]

    def __iter__(self) -> Iterator[Any]:
        return islice(self.messages, self._size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, Seen)) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr([*self])


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """A named part of an imported run, such as an agent's work. It becomes a scope.

    Attributes:
        name: The agent's name.
        within: The agent or effect (a tool that asks an agent) around it.
    """

    name: str
    within: Stretch | Happened | None = None


@dataclass(frozen=True, slots=True)
class Happened:
    """One effect of an imported run, with its outcome.

    Attributes:
        kind: `model` or `tool`, or `user` if a person answered last.
        name: The model's, the tool's, or the agent's name.
        args: The arguments of the call.
        value: The result, if `error` is None.
        error: The error's text, if it failed.
        agent: The agent that asked, of several; it becomes the scope.
        began: The time of the question, if known, and `ended` that of the answer.
        pieces: The chunks of a streamed answer, whose `value` came before them; None for others.
        within: The agent, or the earlier effect in the list, around it; instead of `agent`.
        id: The id that the model gave a tool call.
        acts: The acts on files in the source.
    """

    kind: str
    name: str
    args: dict[str, Any]
    value: Any = None
    error: str | None = None
    agent: str = ""
    began: datetime | None = None
    ended: datetime | None = None
    pieces: tuple[Any, ...] | None = None
    within: Stretch | Happened | None = None
    id: str = ""
    acts: tuple[FileAct, ...] = ()


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder that a session worked in.

    Attributes:
        folder: Its path on the session's machine.
        branch: The branch of its repository, if the source names it.
        commit: The commit that the session began with, if the source names it.
    """

    folder: str
    branch: str = ""
    commit: str = ""


class ImportedFiles(Protocol):
    """The files of a session, at the beginning and around each effect."""

    note: str

    def before(self, keeper: FileKeeper, salt: bytes) -> dict[Place, FileState]:
        """Return the files before the first effect, their bytes kept."""
        ...

    def around(
        self, happened: Happened, keeper: FileKeeper, salt: bytes, *, after: bool
    ) -> Iterator[tuple[How, dict[Place, FileState]]]:
        """Yield the changes before an effect, or after it."""
        ...


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """One run as an importer reads it.

    Attributes:
        name: Its name in lists.
        effects: Its effects, in order.
        tags: Words to find it by.
        status: `ok` or `error`.
        problem: The run's error, if the source has one.
        output: The run's output, or None.
        source: Further facts in the source: task, reward, labels. Kept in the header.
        notes: The parts of a recording that the source lacks.
        overlapping: Some effects overlap: their times give the order of the answers. The effects are in the order of
            `began` then.
        workspace: The folder that it worked in, if the source has its files.
    """

    name: str
    effects: Iterable[Happened]
    tags: tuple[str, ...] = ()
    status: str = "ok"
    problem: str = ""
    output: Any = None
    source: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    overlapping: bool = False
    workspace: Workspace | None = None


def by_name(given: Any) -> dict[str, Any]:
    """Return a tool's arguments by name, whatever form a source has them in (a text, a list)."""
    return given if isinstance(given, dict) else {} if given in (None, "") else {"input": given}


class ImportedError(Exception):
    """An error in an imported run; only its text is known."""
