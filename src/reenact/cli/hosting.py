"""`reenact serve`: serve the console and the API."""

from __future__ import annotations

import os
import socket
import sys
import threading
from typing import TYPE_CHECKING, Annotated, ClassVar

from reenact.browser.isolation import sandbox
from reenact.browser.isolation.addresses import Reach
from reenact.cli.opening import opened
from reenact.cli.printing import say
from reenact.cli.sizes import SIZE
from reenact.core.extras import needing
from reenact.core.store.local import LocalStore
from reenact.core.store.quotas import IntakeLimits
from reenact.errors import UsageError
from reenact.run.driver.opening import Opening
from reenact.server.hosting import LOOPBACK, PORT, address_of, is_loopback, listen, serve
from reenact.server.keys import DEFAULT, Keys
from reenact.server.operations import logs
from reenact.server.settings import TOKEN, Settings, token_of
from reenact.team.location import OBJECTS, PROJECT, STORE, TeamPlace
from reenact.team.open import team_store
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, Shown
from reenact.verbs.marks import Cli

if TYPE_CHECKING:
    from fastapi import FastAPI


def alone(
    store: LocalStore, page: str, port: int | None, what: str, *, show: bool, begun: Opening | None = None
) -> None:
    """Serve the console on this machine, until Ctrl-C, and print its address.

    Args:
        store: The recordings.
        page: The path of the page to open.
        port: The port, or None for the default.
        what: A description of the page, for the user.
        show: Open the browser, if there is a screen.
        begun: A debugging session to open at the start.
    """
    settings = Settings(store.root, LOOPBACK, keyless=True, running=True, reach=Reach(private=True))
    if not (settings.console / "index.html").is_file():
        say(
            "the console's pages are not in this installation, only the API is: run `make console` in the checkout "
            "that it was installed from, and install it again"
        )
    app = _application(settings)
    listening = listen("127.0.0.1", port)
    if begun is not None:
        app.state.desks.of(DEFAULT).open(begun)
    address = address_of(listening, "127.0.0.1") + page
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    shown = show and opened(address)
    say(f"{what} {'open in your browser' if shown else 'running'}; Ctrl-C stops it")
    serve(app, listening)


class Options(interface.Options):
    """Serve the console and the API to a team.

    The first start that needs a key makes one that may do everything, and shows it once; [bold]reenact keys[/bold]
    makes more. For TLS, use a proxy, and give its public name with [bold]--host-name[/bold].

    With REENACT_STORE it serves a team's store (docs/team.md): uploads go there.

    [bold]reenact serve --host 0.0.0.0 --host-name agents.example.com[/bold]
    """

    common: ClassVar = (marks.HOME,)

    host: Annotated[
        str,
        Field(description="The address or name to listen at; 0.0.0.0 for all addresses."),
        marks.NEVER,
    ] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="The port; 0 is any free one.")] = PORT
    host_name: Annotated[
        tuple[str, ...],
        Field(
            description="A public name of the server, such as agents.example.com. May be given several times."
        ),
        marks.NEVER,
    ] = ()
    keyless: Annotated[
        bool | None,
        Field(
            description="Require API keys. By default they are required, except on loopback if there are none."
        ),
        Cli(names=("--keyless/--keys",)),
        marks.NEVER,
    ] = None
    running: Annotated[
        bool,
        Field(
            description="Let users with write rights run recorded programs on this machine: reproduce, fork, verify …"
        ),
        marks.NEVER,
    ] = False
    run_foreign: Annotated[
        bool,
        Field(description="With --running: also run programs of foreign recordings, as uploads are."),
        marks.NEVER,
    ] = False
    log: logs.Log = None
    max_upload: Annotated[
        int | None,
        Field(description="The maximum size of a recording with its blobs; by default 2GiB."),
        SIZE,
    ] = None
    quota: Annotated[
        int | None, Field(description="The maximum size of all recordings of a project: 20GB."), SIZE
    ] = None
    quota_recordings: Annotated[
        int, Field(ge=0, description="The maximum number of recordings of a project; 0 is no limit.")
    ] = 0
    rate: Annotated[
        float,
        Field(ge=0, description="The maximum average of requests a second for each key; 0 is no limit."),
    ] = 0.0
    browse_private: Annotated[
        tuple[str, ...],
        Field(
            description="Private addresses that browser sessions may open: 10.0.0.0/8, wiki.internal. May be given "
            "several times. A server on loopback without --host-name allows all of them."
        ),
        Cli(metavar="NETWORK|NAME"),
        marks.NEVER,
    ] = ()


def run(options: Options, context: Context) -> Shown:
    """Serve until Ctrl-C. Raises UsageError, StoreAway."""
    store, alone = LocalStore(context.home), is_loopback(options.host)
    host, host_name, keyless, log = options.host, options.host_name, options.keyless, options.log
    if keyless and not (alone and not host_name):
        raise UsageError(
            f"--keyless is for this machine alone: who reaches {', '.join(host_name or (host,))} could read and delete "
            "everything"
        )
    keys = Keys(store.root)
    if keyless is None:
        keyless = alone and not host_name and not keys.all()
    names = (*LOOPBACK, *host_name, *(() if alone else (host, socket.gethostname())))
    team = _team()
    limits = _limits(options.max_upload, options.quota, options.quota_recordings, team)
    settings = Settings(
        store.root, names, keyless=keyless, running=options.running, run_foreign=options.run_foreign, team=team,
        limits=limits, rate=options.rate, metrics_token=token_of(os.environ),
        reach=Reach.of(options.browse_private, private=alone and not host_name),
    )  # fmt: skip
    listening = listen(host, options.port)
    _keep_secrets()
    app = _started(settings, listening, log)
    # Programs wait for this line before they send requests.
    sys.stdout.write(f"{address_of(listening, host)}\n")
    if not keyless and not keys.all():
        _, text = keys.make(role="admin", name="made at the first start")
        sys.stdout.write(f"{text}\n")
        say("this API key has all rights. It is shown only once: the server keeps its hash alone")
    sys.stdout.flush()
    keys.close()
    asked = "without API keys" if keyless else "with an API key (`reenact keys` makes them)"
    where = f"{team.name}, with a copy in {store.root}" if team else str(store.root)
    if log is None:
        say(f"serving {where}, {asked}; Ctrl-C stops it")
    serve(app, listening)
    return Shown()


def _keep_secrets() -> None:
    """Remove the server's secrets from its environment, before it runs other programs."""
    for name in (STORE, OBJECTS, PROJECT, TOKEN):
        os.environ.pop(name, None)


def _team() -> TeamPlace | None:
    """Return the environment's team store, after a check that it answers.

    Raises UsageError, StoreAway.
    """
    place = TeamPlace.of(os.environ)
    if place is not None:
        with team_store(place) as team:
            team.ids()
    return place


def _limits(
    max_upload: int | None, quota: int | None, recordings: int, team: TeamPlace | None
) -> IntakeLimits:
    """Return the limits of uploads. Raises UsageError if a team's store has its own quotas."""
    if team is not None and (quota is not None or recordings):
        raise UsageError(
            "--quota and --quota-recordings are for recordings that are kept here, not in a team's store"
        )
    usual = IntakeLimits()
    return IntakeLimits(
        recording=usual.recording if max_upload is None else max_upload,
        project=quota or 0,
        recordings=recordings,
    )


def _started(settings: Settings, listening: socket.socket, log: logs.Form | None) -> FastAPI:
    """Return the application, and start its log."""
    if log is not None:
        logs.begin(log)
        logs.event(
            "started", command="serve", port=listening.getsockname()[1], team=settings.team is not None
        )

    def tell() -> None:
        """Report the reason that browser sessions cannot be isolated here, which takes a moment."""
        if (found := sandbox.find_out()) is None:
            return
        if log is None:
            say(str(found))
        else:
            logs.event("isolation", browsers=str(found))

    threading.Thread(target=tell, name="reenact isolation", daemon=True).start()
    return _application(settings)


def _application(settings: Settings) -> FastAPI:
    with needing("server", "reenact serve"):
        # Imported here because no other command needs the web framework.
        from reenact.server.app import application  # noqa: PLC0415
    return application(settings)
