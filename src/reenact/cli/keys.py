"""`reenact keys`: manage the API keys of a server."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated, ClassVar

from rich.text import Text

from reenact.analysis.views.text import ago, one_line
from reenact.cli import present
from reenact.cli.click_commands import CliGroup
from reenact.cli.context import TerminalContext
from reenact.cli.derive import GroupCommand, group_of
from reenact.cli.interfaces import GROUPS
from reenact.cli.printing import dump, say
from reenact.core.store.local import home as home_of
from reenact.errors import UsageError
from reenact.server.keys import DEFAULT, ROLES, Keys, Role, StoredKey
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.marks import NEVER, Cli


class AddOptions(interface.Options):
    """Add a key. It is printed once; the server stores its hash only.

    [bold]reenact keys add ci --role write[/bold]
    """

    common: ClassVar = (marks.HOME,)

    name: Annotated[str, Field("A name for the key."), Cli(argument=True, metavar="[NAME]"), NEVER] = ""
    role: Annotated[Role, Field("read; write: also record, delete, run; admin: also make keys."), NEVER] = (
        "read"
    )
    project: Annotated[str, Field("The project that it is for."), NEVER] = DEFAULT


class ListOptions(interface.Options):
    """List the keys: first characters, rights and last use of each."""

    project: Annotated[str | None, Field("Only those of this project."), NEVER] = None


class RemoveOptions(interface.Options):
    """Revoke a key."""

    common: ClassVar = (marks.HOME,)

    id: Annotated[str, Field("The key, or its first characters."), Cli(argument=True, metavar="KEY")]


def group() -> CliGroup:
    """Return the commands."""
    parts = (
        GroupCommand("add", AddOptions, add),
        GroupCommand("list", ListOptions, list_),
        GroupCommand("rm", RemoveOptions, rm),
    )
    return group_of("keys", GROUPS["keys"][1], parts)


def add(options: AddOptions, context: TerminalContext) -> None:
    """Make a key, and print it."""
    key, text = Keys(home_of(context.home)).make(
        role=options.role, project=options.project, name=options.name
    )
    sys.stdout.write(f"{text}\n")
    say(f"a key of project {key.project} that may {_MAY[key.role]}; it is shown only once")


def list_(options: ListOptions, context: TerminalContext) -> None:
    """Print the keys."""
    keys = Keys(home_of(context.home)).all(options.project)
    if context.json:
        dump([{"prefix": key.prefix, **asdict(key)} for key in keys])
        return
    if not keys:
        say("there is no key; `reenact keys add` makes one")
        return
    table = present.table("key", "name", "project", "role", "made", "last used")
    for key in keys:
        used = ago(key.used) if key.used is not None else "never"
        table.add_row(
            f"{key.prefix}_…",
            Text(one_line(key.name)),
            key.project,
            key.role,
            ago(key.created),
            used,
        )
    present.show(table)


def rm(options: RemoveOptions, context: TerminalContext) -> None:
    """Remove a key."""
    keys = Keys(home_of(context.home))
    key = _meant(keys.all(), options.id)
    keys.remove(key.id)
    say(f"took back {key.prefix}, which could {_MAY[key.role]} in project {key.project}")


_MAY: dict[Role, str] = dict(zip(ROLES, ("read", "read and write", "do everything"), strict=True))


def _meant(keys: list[StoredKey], text: str) -> StoredKey:
    found = [
        key
        for key in keys
        if text and (text.startswith(key.prefix) or f"{key.prefix}_".startswith(text) or key.id == text)
    ]
    if len(found) != 1:
        several = f"may be any of {len(found)} keys" if found else "is no key of this server"
        raise UsageError(f"{text!r} {several}; `reenact keys list` shows them")
    return found[0]
