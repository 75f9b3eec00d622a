"""`reenact trust`: the key of this home, and the keys of others that it trusts."""

from __future__ import annotations

import sys
from typing import Annotated, ClassVar

from rich.text import Text

from reenact.cli import present
from reenact.cli.click_commands import CliGroup
from reenact.cli.context import TerminalContext
from reenact.cli.derive import GroupCommand, group_of
from reenact.cli.interfaces import GROUPS
from reenact.cli.printing import dump, say
from reenact.core.store.local import home as home_of
from reenact.core.trust import Book, Identity, Seal, fingerprint, origin_of
from reenact.errors import UsageError
from reenact.team.open import Reaching
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.marks import RECORDING, Cli


class OwnKeyOptions(interface.Options):
    """Print this home's public key, for `reenact trust add NAME KEY` on another machine."""

    common: ClassVar = (marks.HOME,)


class TrustedOptions(interface.Options):
    """List the keys that this home trusts."""


class TrustOptions(interface.Options):
    """Trust a key: the programs of recordings that it signed run without a question.

    [bold]reenact trust add ann ed25519:5f…[/bold]
    [bold]reenact trust add ann bug.reenact[/bold]
    """

    common: ClassVar = (marks.HOME,)

    name: Annotated[str, Field("A name for the key."), Cli(argument=True, metavar="NAME")]
    key: Annotated[
        str,
        Field("A public key, or a recording that is signed by it: an id or a file."),
        Cli(argument=True, metavar="KEY|RECORDING"),
        RECORDING,
    ]


class DistrustOptions(interface.Options):
    """Remove a trusted key."""

    common: ClassVar = (marks.HOME,)

    name: Annotated[str, Field("The key, or its name."), Cli(argument=True, metavar="NAME|KEY")]


def group() -> CliGroup:
    """Return the commands."""
    parts = (
        GroupCommand("list", TrustedOptions, list_),
        GroupCommand("add", TrustOptions, add),
        GroupCommand("remove", DistrustOptions, remove),
    )
    return group_of("trust", GROUPS["trust"][1], parts, GroupCommand("trust", OwnKeyOptions, own))


def own(_options: OwnKeyOptions, context: TerminalContext) -> None:
    """Print the key of this home."""
    key = Identity.made(home_of(context.home)).key
    sys.stdout.write(f"{key}\n")
    say(f"fingerprint {fingerprint(key)}")


def list_(_options: TrustedOptions, context: TerminalContext) -> None:
    """Print the trusted keys."""
    keys = Book(home_of(context.home)).keys
    if context.json:
        dump([{"name": name, "key": key, "fingerprint": fingerprint(key)} for key, name in keys.items()])
        return
    if not keys:
        say("no key is trusted but this home's own; `reenact trust add NAME KEY` adds one")
        return
    table = present.table("name", "fingerprint", "key")
    for key, name in keys.items():
        table.add_row(Text(name), fingerprint(key), key)
    present.show(table)


def add(options: TrustOptions, context: TerminalContext) -> None:
    """Add a key to the trusted ones."""
    name, key = options.name, options.key
    book = Book(home_of(context.home))
    if not key.startswith("ed25519:"):
        recording = Reaching(context.home).load(key)
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
    say(f"{name} is trusted: fingerprint {fingerprint(key)}. Compare it with what {name} says.")


def remove(options: DistrustOptions, context: TerminalContext) -> None:
    """Remove a key from the trusted ones."""
    key = Book(home_of(context.home)).remove(options.name)
    say(f"{fingerprint(key)} is trusted no longer")
