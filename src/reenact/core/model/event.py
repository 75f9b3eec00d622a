"""Effects and outcomes at the boundary, and their events in a recording.

An `Effect` is a question that the agent's code puts to the world, an `Outcome` the answer. On disk each end is an
event of its own (`Called`; `Returned`, `Raised` or `Cancelled`), so that a crash still shows the open calls.
`docs/format.md` documents how each event is written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import field
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from reenact.core.dataclass import dataclass

FORMAT = 2
"""The number of the recording format that this version writes."""

RULES = 9
"""The number of the built-in matching rules.

An old recording is matched by the rules it names. Under number 1, `asyncio.wait_for` of Python 3.11 gave its task a
name; later Pythons start none there. Up to number 2, the value of a secret field was looked for elsewhere if it had 8
characters or more, and not in what was recorded earlier; and callbacks of threads' futures had no scope of their own.
Up to number 3, names of tasks and threads had the comprehensions around them, which are functions up to Python 3.11.
Up to number 4, the question of a command had neither a changed working folder nor variables that the program had set,
and a file that it wrote its output into was flushed before, also where the program waited for it. Up to number 5, the
variables that `os.path` and `getpass` read for the program were not recorded. Up to number 6, the names and versions
of the system (`os.uname`, `platform`) were not recorded, nor that a time limit of asyncio or anyio was over when it
was set. Up to number 7, the question of a command had neither where its streams lead nor the options of its
process, and tries to lock a file without waiting, and the making of named pipes, were not recorded. Up to number 8,
a process that runs a function `worker` had the name of a pool's worker.
"""

COMMANDS = 5
"""The first number of the rules by which a command is asked with what it inherits.

From it on, a file that a command writes into is not flushed before, where the program waits for the command.
"""

OPTIONS = 8
"""The first number of the rules by which a command is asked with its streams and options."""

POOLS = 9
"""The first number of the rules by which a worker of a pool has a name of its own."""

FILE_LOCK = "file:"
"""The beginning of the name of a file's lock: its takes have their times as numbers."""

FILE_USE = "use:"
"""The beginning of the name of a use of files, whose line is that of a lock.

Its number is its time. The digests of the paths follow, joined by `+`, then `WRITES` or `READS`. Each has the number
that the file had before, 0 for none, behind `=`; that of a folder in which a name changes has none. The bare beginning
stands for all further uses of a process.
"""

LISTENS = "listens:"
"""The beginning of the name of a line that a process listens at a port.

The port follows. The line's number is its time.
"""

READS, WRITES = ":r", ":w"
"""The end of the name of a use of files: it changes nothing, or may change them."""


def name_of(path: str) -> str:
    """Return the name of a used file, with a digest of its path."""
    return f"{FILE_USE}{blake2b(os.fsencode(path), digest_size=8).hexdigest()}"


def names_of(use: str) -> list[str]:
    """Return the names of the single files in the name of a use of files; none for another lock."""
    if not use.startswith(FILE_USE):
        return []
    return [f"{FILE_USE}{digest}" for digest, _ in files_of(use)]


def files_of(use: str) -> list[tuple[str, str]]:
    """Return the digests in the name of a use of files, each with the file's number or empty."""
    parts = (part.partition("=") for part in use.removeprefix(FILE_USE).partition(":")[0].split("+"))
    # Digests become names of files.
    return [(digest, number) for digest, _, number in parts if digest.isascii() and digest.isalnum()]


TYPED = 3
"""The first number of the rules by which short values of secret fields are replaced."""

TOOL = "tool"
"""The kind of effects whose code a replay may run again."""

Tree: TypeAlias = Any
"""A value as the codec encodes it: only dict, list, str, int, float, bool and None."""


@dataclass(frozen=True, slots=True)
class Substitute:
    """An answer that is declared to come in the place of a live one.

    Attributes:
        mode: `fixed`: a value; `simulated`: a function, which is called with the arguments.
        given: The value or the function.
        stream: The answer is the list of a stream's chunks.
    """

    mode: Literal["fixed", "simulated"]
    given: Any
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """The code of a tool in this process, which a replay may run again.

    Attributes:
        digest: 16 hex digits over the function and the program's own functions that it calls by name.
        constants: 16 hex digits over the source of the program's constants that this code names; empty without any.
        unrecorded: The inputs of that code that no recording can hold, in words; empty if none is known.
        writes: The declaration at the function: True if it changes something outside of the program; None: no word.
        near: A library of the program through which the tool could write without being seen, or an empty text.
        substitute: The answer that is declared at the function for where it may not run.
    """

    digest: str
    unrecorded: tuple[str, ...] = ()
    constants: str = ""
    writes: bool | None = None
    near: str = ""
    substitute: Substitute | None = None


@dataclass(slots=True)  # not frozen: to make a frozen one takes five times as long
class Effect:
    """A question that the agent's code puts to the world. It does not change.

    Attributes:
        kind: The family: `model`, `tool`, `http`, `process`, or a user's own word.
        name: The name within its kind: the tool's name, the model's name, `POST api.openai.com/v1/responses`.
        args: All values that the answer may depend on; a replay matches every part that no named rule removes.
        leaf: Nothing inside is recorded: its answer comes whole (an HTTP exchange, a model call).
        owner: The identity that a framework gives the call (a tool call's id). Such an effect is named below the
            nearest span, not below the framework's internal task, whose name may change with its version.
        source: The code that answers it, if that is a function of this process; no part of the question.
        writes: The declaration of the caller or the server: True if it changes something outside of the program;
            None: no word. No part of the question.
        substitute: As that of a `Source`, for an effect without one. No part of the question.
        limits: The time limits of the call in seconds, by name; None: no limit. Recorded only where one of them ended
            the call. No part of the question.
    """

    kind: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    leaf: bool = False
    owner: str | None = None
    source: Source | None = None
    writes: bool | None = None
    substitute: Substitute | None = None
    limits: Mapping[str, float | None] | None = None

    @property
    def label(self) -> str:
        """The effect as a filter names it, `tool:cancel_order`."""
        return f"{self.kind}:{self.name}"

    @property
    def declared(self) -> bool | None:
        """The declaration that it writes (True) or only reads (False)."""
        if self.writes is not None or self.source is None:
            return self.writes
        return self.source.writes

    @property
    def declared_substitute(self) -> Substitute | None:
        """The answer that is declared for where it may not run."""
        if self.substitute is not None or self.source is None:
            return self.substitute
        return self.source.substitute


@dataclass(slots=True)  # not frozen, as `Effect`
class Value:
    """The outcome of an effect that returned; `stream` means that chunks follow."""

    value: Any
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """The outcome of an effect that raised."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The outcome of an effect that its caller gave up before an answer came."""


Outcome: TypeAlias = Value | Failure | Cancelled


@dataclass(slots=True)  # not frozen, as `Effect`
class Event:
    """One entry of a recording, as read back. `t` is in seconds since the recording began.

    `event` is the entry's kind, by the names of `docs/format.md`: opened, called, returned, raised, cancelled,
    chunk, ended, closed, drew, fired, files, noted, spawned, sealed. `call` joins the entries of one effect. Of a
    `sealed` entry, `digest` is the sum that its signature covers: 32 hex digits for all lines; empty in format 1.
    """

    event: str
    data: Mapping[str, Tree]
    line: int
    digest: str = ""

    @property
    def call(self) -> int | None:
        """The number of the call that this entry belongs to."""
        return self.data.get("call")

    @property
    def t(self) -> float:
        """Seconds since the recording began."""
        return float(self.data.get("t", 0.0))


def unnumbered(path: str) -> str:
    """Return a path in which all threads, tasks and jobs of one name are the same."""
    return re.sub(r"\.\d+(?=/|$)", "", path)
