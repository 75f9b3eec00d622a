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
"""Levels of spans at most: the way up is walked for each of them."""


class Seen(Sequence[Any]):
    """The messages that a model call saw: the beginning of a list, without a copy.

    Args:
        messages: The list.
        count: Their number; by default all that are there now.
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
        within: The agent, or the effect (a tool that asks an agent), inside of which it was.
    """

    name: str
    within: Stretch | Happened | None = None


@dataclass(frozen=True, slots=True)
class Happened:
    """One effect of an imported run, with its outcome.

    Attributes:
        kind: `model` or `tool`, or `user` where a person answered last.
        name: The model's, the tool's, or the agent's name.
        args: The arguments of the call.
        value: What came, if `error` is None.
        error: The error's text, if it failed.
        agent: Which of several agents asked; it becomes the scope.
        began: When it was asked, where that is known, and `ended` when the answer came.
        pieces: Of an answer that came as a stream, its chunks; `value` is then what came before them. None for others.
        within: The agent, or the effect before it in the list, inside of which it was; instead of `agent`.
        id: The id that the model gave a tool call.
        acts: What the source tells of files that a tool has used.
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
        """Yield what changed before an effect, or after it."""
        ...


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """One run as an importer reads it.

    Attributes:
        name: What lists show.
        effects: What happened, in order.
        tags: Words to find it by.
        status: `ok` or `error`.
        problem: What went wrong, where the source says so.
        output: What the run gave in the end, or None.
        source: What the source says besides: task, reward, labels. Kept in the header.
        notes: What a careful reader must know: where the source kept less than a recording does.
        overlapping: Some effects were asked while others were under way: the times say when each answer came. The
            effects are in the order of `began` then.
        workspace: The folder that it worked in, if the source tells of its files.
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
    """A tool's arguments by name, where a source has them otherwise (a text, a list)."""
    return given if isinstance(given, dict) else {} if given in (None, "") else {"input": given}


class ImportedError(Exception):
    """An error that an imported run tells of; only its text is known."""
