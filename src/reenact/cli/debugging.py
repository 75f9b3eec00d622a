"""`reenact debug`: the debugger, on a terminal's whole screen or line by line."""

from __future__ import annotations

import sys
from typing import Annotated, ClassVar
from urllib.parse import quote

from reenact.cli.plain import PlainSession
from reenact.cli.printing import say
from reenact.core.extras import needing
from reenact.core.query.facts import RecordingFacts
from reenact.errors import UsageError
from reenact.run import launch
from reenact.run.driver.opening import Opening
from reenact.team.open import Reaching
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, Shown
from reenact.verbs.marks import Cli, Command, Files, Ignore, Live, Policy, Ref, Tools
from reenact.verbs.replay import Inserted, OnDivergence


class Options(interface.Options):
    """Debug a recorded run: replay its program with breakpoints, and step forward or back.

    Without its program (an imported run, a deleted script) you step through the recording only.

    Exit status with --plain: 0; 1 the program diverged; 2 a command failed.
    """

    common: ClassVar = (marks.RUN_FOREIGN, marks.HOME)

    ref: Ref
    command: Command = ()
    break_: Annotated[
        tuple[str, ...],
        Field(
            description="A breakpoint: 7, tool:cancel_order, error, divergence, state:NAME; may be given several times."
        ),
        Cli(names=("--break", "-b")),
    ] = ()
    plain: Annotated[
        bool, Field(description="Read commands from standard input, line by line."), marks.ANYONE
    ] = False
    read: Annotated[
        bool, Field(description="Run nothing: only step through the recording."), marks.ANYONE
    ] = False
    web: Annotated[
        bool, Field(description="Open the console's debugger in the browser; only this machine can reach it.")
    ] = False
    port: Annotated[
        int | None, Field(ge=0, le=65535, description="With --web: its port; by default any free one.")
    ] = None
    show: Annotated[
        bool,
        Field(description="With --web: open the browser, if there is a screen."),
        Cli(names=("--open/--no-open",)),
    ] = True
    live: Live = ()
    tools: Tools = ()
    ignore: Ignore = ()
    on_divergence: OnDivergence = "raise"
    inserted: Inserted = "refuse"
    files: Files = "recorded"
    policy: Policy = ()


def run(options: Options, context: Context) -> Shown:
    """Debug the run until its user ends it. Raises UsageError, RecordingError."""
    if options.plain and options.web:
        raise UsageError("--plain and --web are two faces of the debugger: choose one")
    if not (options.plain or options.web) and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "the debugger's screen needs a terminal; --plain reads commands from standard input, --web shows a page"
        )
    store = Reaching(context.home)
    ref = store.kept(options.ref) if options.web else options.ref
    recording = store.load(ref)
    if not recording.steps:
        raise UsageError(f"recording {recording.id} has no steps: there is nothing to debug")
    replayed = launch.Options(
        options.live, options.ignore, options.on_divergence, options.inserted,
        tools=options.tools, files=options.files, policy=options.policy,
    )  # fmt: skip
    replayed.tree()
    words, read = options.command, options.read
    run_foreign = context.run_foreign if read else context.may_run((recording,), words)
    opening = Opening(recording, words, replayed, context.home, options.break_, read, run_foreign)
    if options.web:
        _page(opening, store, ref, options.port or 0, show=options.show)
        return Shown()
    if not options.plain:
        _screen(opening)
        return Shown()
    driver, note = opening.open()
    try:
        if note:
            say(f"reenact: {note}; reading only")
        status = PlainSession(driver, RecordingFacts(recording), typed=sys.stdin.isatty()).run()
    finally:
        driver.close()
    return Shown(status)


def _screen(opening: Opening) -> None:
    with needing("tui", "reenact debug, but for --plain and --web,"):
        from reenact import tui  # noqa: PLC0415 - a tenth of a second that no other command should pay

    tui.run(opening.recording, opening.open, home=str(opening.home or ""))


def _page(opening: Opening, store: Reaching, ref: str, port: int, *, show: bool) -> None:
    with needing("server", "reenact debug --web"):
        from reenact.cli.hosting import alone  # noqa: PLC0415 - a web server, for --web alone

    alone(store, f"/debug/{quote(ref)}", port, "the debugger is", show=show, begun=opening)
