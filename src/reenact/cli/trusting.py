"""`reenact trust`: the key of this home, and the keys of others that it trusts."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.text import Text

from reenact.cli import present
from reenact.cli.interfaces import GROUPS
from reenact.cli.options import Home, Json, ids
from reenact.cli.panels import panel_of
from reenact.core.store.local import home as home_of
from reenact.core.trust import Book, Identity, Seal, fingerprint, origin_of
from reenact.core.trust.identity import KEY
from reenact.errors import UsageError
from reenact.team.open import Reaching


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    group = typer.Typer(
        help=GROUPS["trust"][1],
        invoke_without_command=True,
    )
    group.callback()(trust)
    group.command("list")(list_)
    group.command("add")(add)
    group.command("remove")(remove)
    app.add_typer(group, name="trust", rich_help_panel=panel_of("trust"))


def trust(context: typer.Context, *, home: Home = None) -> None:
    """Print this home's public key, for `reenact trust add NAME KEY` on another machine."""
    if context.invoked_subcommand is not None:
        return
    key = Identity.made(home_of(home)).key
    sys.stdout.write(f"{key}\n")
    present.say(f"fingerprint {fingerprint(key)}")


def list_(*, home: Home = None, json: Json = False) -> None:
    """List the keys that this home trusts."""
    keys = Book(home_of(home)).keys
    if json:
        present.dump(
            [{"name": name, "key": key, "fingerprint": fingerprint(key)} for key, name in keys.items()]
        )
        return
    if not keys:
        present.say("no key is trusted but this home's own; `reenact trust add NAME KEY` adds one")
        return
    table = present.table("name", "fingerprint", "key")
    for key, name in keys.items():
        table.add_row(Text(name), fingerprint(key), key)
    present.show(table)


def add(
    name: Annotated[str, typer.Argument(help="A name for the key.", show_default=False)],
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY|RECORDING",
            help="A public key, or a recording that is signed by it: an id or a file.",
            autocompletion=ids,
            show_default=False,
        ),
    ],
    *,
    home: Home = None,
) -> None:
    """Trust a key: the programs of recordings that it signed run without a question.

    [bold]reenact trust add ann ed25519:5f…[/bold]
    [bold]reenact trust add ann bug.reenact[/bold]
    """
    book = Book(home_of(home))
    if not KEY.fullmatch(key):
        if key.startswith("ed25519:"):
            raise UsageError(
                f"{key[:80]!r} is no public key: ed25519: and 64 hex digits, as `reenact trust` prints it"
            )
        recording = Reaching(home).load(key)
        origin = origin_of(recording.logs, book.identity)
        if origin.seal is not Seal.SEALED or not origin.key:
            state = (
                "it was changed after it was sealed"
                if origin.seal is Seal.CHANGED
                else "no key has signed it"
            )
            raise UsageError(f"recording {recording.id} shows no key to trust: {state}")
        key = origin.key
    book.add(name, key)
    present.say(f"{name} is trusted: fingerprint {fingerprint(key)}. Compare it with what {name} says.")


def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME|KEY", help="The key, or its name.", show_default=False)
    ],
    *,
    home: Home = None,
) -> None:
    """Remove a trusted key."""
    key = Book(home_of(home)).remove(name)
    present.say(f"{fingerprint(key)} is trusted no longer")
