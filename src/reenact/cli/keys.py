"""`reenact keys`: manage the API keys of a server."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from reenact.cli import present
from reenact.cli.interfaces import GROUPS
from reenact.cli.options import Home, Json
from reenact.cli.panels import panel_of
from reenact.core.store.local import home as home_of
from reenact.errors import UsageError
from reenact.server.keys import DEFAULT, ROLES, Key, Keys, Role


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    group = typer.Typer(
        help=GROUPS["keys"][1],
        no_args_is_help=True,
    )
    group.command("add")(add)
    group.command("list")(list_)
    group.command("rm")(rm)
    app.add_typer(group, name="keys", rich_help_panel=panel_of("keys"))


def add(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A name for the key.", show_default=False)
    ] = "",
    *,
    role: Annotated[
        Role, typer.Option(help="read; write: also record, delete, run; admin: also make keys.")
    ] = "read",
    project: Annotated[str, typer.Option(help="The project that it is for.")] = DEFAULT,
    home: Home = None,
) -> None:
    """Add a key. It is printed once; the server stores its hash only.

    [bold]reenact keys add ci --role write[/bold]
    """
    key, text = Keys(home_of(home)).make(role=role, project=project, name=name)
    sys.stdout.write(f"{text}\n")
    present.say(f"a key of project {key.project} that may {_MAY[key.role]}; it is shown this once")


def list_(
    *,
    project: Annotated[
        str | None, typer.Option(help="Only those of this project.", show_default=False)
    ] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """List the keys: first characters, rights and last use of each."""
    keys = Keys(home_of(home)).all(project)
    if json:
        present.dump([{"prefix": key.prefix, **asdict(key)} for key in keys])
        return
    if not keys:
        present.say("there is no key; `reenact keys add` makes one")
        return
    table = present.table("key", "name", "project", "role", "made", "last used")
    for key in keys:
        used = present.ago(key.used) if key.used is not None else "never"
        table.add_row(
            f"{key.prefix}_…",
            Text(present.one_line(key.name)),
            key.project,
            key.role,
            present.ago(key.created),
            used,
        )
    present.show(table)


def rm(
    id: Annotated[
        str, typer.Argument(metavar="KEY", help="The key, or its first characters.", show_default=False)
    ],
    *,
    home: Home = None,
) -> None:
    """Revoke a key."""
    keys = Keys(home_of(home))
    key = _meant(keys.all(), id)
    keys.remove(key.id)
    present.say(f"took back {key.prefix}, which could {_MAY[key.role]} in project {key.project}")


_MAY: dict[Role, str] = dict(zip(ROLES, ("read", "read and write", "do everything"), strict=True))


def _meant(keys: list[Key], text: str) -> Key:
    found = [
        key
        for key in keys
        if text and (text.startswith(key.prefix) or f"{key.prefix}_".startswith(text) or key.id == text)
    ]
    if len(found) != 1:
        several = f"may be any of {len(found)} keys" if found else "is no key of this server"
        raise UsageError(f"{text!r} {several}; `reenact keys list` shows them")
    return found[0]
