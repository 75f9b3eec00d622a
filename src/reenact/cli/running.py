"""`reenact record`, `reenact replay`, `reenact doctor`: the commands that start a program."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import orjson
import typer

from reenact.analysis.views.terminal import Terminal
from reenact.cli import present
from reenact.cli.consent import agreed
from reenact.cli.options import (
    Command,
    Home,
    Ignore,
    Inserted,
    Live,
    OnDivergence,
    Ref,
    RunForeign,
    given,
    texts,
)
from reenact.cli.verdict import panel
from reenact.core.model.divergence import Verdict, verdict_tree
from reenact.core.model.storable import LONGEST, LONGEST_TAG
from reenact.core.record.snapshot import EVERY
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.run import launch
from reenact.verbs import doctor as checks

FAITHFUL, DIVERGED, UNABLE = 0, 1, 2

_COMMAND = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_QUIET_DEATHS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)

Json = Annotated[
    bool, typer.Option("--json", help="As JSON; what the program writes goes to standard error.")
]
Run = Annotated[
    bool, typer.Option("--run", help="Record the program and replay it at once, in a folder of its own.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command(context_settings=dict(_COMMAND))(record)
    app.command()(replay)
    app.command()(doctor)


def record(
    command: Command = None,
    name: Annotated[str, typer.Option(help="What `reenact list` shows.")] = "",
    tag: Annotated[
        list[str] | None, typer.Option(help="A word to find it by; may be given several times.")
    ] = None,
    *,
    proxy: Annotated[
        bool,
        typer.Option(
            "--proxy",
            help="Any language: its SDKs are pointed at a recording proxy. Without COMMAND it waits.",
        ),
    ] = False,
    risky: Annotated[
        str,
        typer.Option(
            metavar="FILTER", help="Keep the tracked state before each such effect: 'tool:cancel_*'."
        ),
    ] = "",
    snapshot_every: Annotated[
        int, typer.Option(min=1, help="Look at the tracked state after so many steps.", metavar="N")
    ] = EVERY,
    home: Home = None,
) -> None:
    """Run a program and record it. It need not know of Reenact.

    [bold]reenact record -- python agent.py "Cancel my order"[/bold]

    [bold]reenact record --proxy -- node agent.js[/bold]
    """
    words, tags = given(command), texts("--tag", tag or (), LONGEST_TAG)
    texts("--name", [name], LONGEST)
    if not proxy:
        done = launch.record(words, name=name, tags=tags, home=home, risky=risky, every=snapshot_every)
    elif risky or snapshot_every != EVERY:
        raise UsageError("--risky and --snapshot-every are for Python programs: --proxy sees no state")
    else:
        done = _by_proxy(words, name=name, tags=tags, home=home)
    _told(done, home, replay="" if words else " -- COMMAND")
    if proxy and done.recording is not None and not done.recording.steps:
        present.say("reenact: no request came by the proxy: docs/proxy.md names the variables that SDKs read")
    die_like(done.status)


def _by_proxy(words: list[str], *, name: str, tags: tuple[str, ...], home: Path | None) -> launch.Recorded:
    from reenact.run.launch import proxied  # noqa: PLC0415 - a server and a client that few commands need

    if words:
        return proxied.record(words, name=name, tags=tags, home=home)
    return proxied.beside(_waiting, name=name, tags=tags, home=home)


def _waiting(environ: Mapping[str, str]) -> None:
    """Print the variables to set, for a shell to read, once the proxy listens."""
    for variable, value in environ.items():
        print(f"export {variable}={shlex.quote(value)}", flush=True)
    present.say("reenact: recording what comes by these addresses; ctrl-c ends it")


def _told(done: launch.Recorded, home: Path | None, *, replay: str) -> None:
    """Report the recording, and the command to replay it."""
    recording = done.recording
    if recording is None:
        present.say(f"reenact: nothing was recorded: {done.failed}")
        raise SystemExit(UNABLE)
    where = f"--home {shlex.quote(str(home))} " if home else ""
    if Path(recording.path).parent == LocalStore(home).recordings:
        ref = where + recording.id
    else:
        # It could not be written where it should have been.
        ref = shlex.quote(recording.path)
    steps = len(recording.steps)
    counted = f"{steps} {'step' if steps == 1 else 'steps'}"
    if len(recording.logs) > 1:
        counted += f" in {len(recording.logs)} processes"
    if recording.status == "unsealed":
        how = f"ended by {launch.ended_by(done.status)}" if done.status < 0 else "it left no word"
        present.say(f"reenact: recorded {recording.id} up to its end ({counted}; unsealed: {how})")
    else:
        present.say(f"reenact: recorded {recording.id} ({counted}, {recording.status})")
    present.say(f"reenact: replay it with: reenact replay {ref}{replay}")


def replay(
    ref: Ref,
    command: Command = None,
    *,
    live: Live = None,
    ignore: Ignore = None,
    on_divergence: OnDivergence = "raise",
    inserted: Inserted = "refuse",
    pace: Annotated[str, typer.Option(help="fast, or real to take as long as recorded.")] = "fast",
    run_foreign: RunForeign = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Run the recorded program again, offline: every answer comes from the recording.

    Exit status: 0 faithful, 1 diverged or partly from the recording, 2 could not run.
    """
    options = launch.Options(tuple(live or ()), tuple(ignore or ()), on_divergence, inserted, pace)
    words = given(command)
    run_foreign = agreed((ref,), words, home, run_foreign=run_foreign)
    done = launch.replay(ref, options, command=words, home=home, quiet=json, run_foreign=run_foreign)
    for warning in done.warnings:
        present.say(f"reenact: warning: {warning}")
    verdict = done.verdict
    if json:
        tree: dict[str, Any] = {
            "recording": done.recording.id,
            "exit": done.status,
            "warnings": done.warnings,
        }
        tree |= {"failed": done.failed} if verdict is None else {"verdict": verdict_tree(verdict)}
        print(present.json_escaped(orjson.dumps(tree, default=repr, option=orjson.OPT_INDENT_2).decode()))
    if verdict is None:
        present.say(f"reenact: {done.recording.id} was not replayed: {done.failed}")
        raise SystemExit(UNABLE)
    if not json:
        Terminal(stderr=True, highlight=False).print(panel(verdict, name=done.recording.name))
        _unused(verdict, options.live)
    raise SystemExit(FAITHFUL if verdict.faithful else DIVERGED)


def _unused(verdict: Verdict, live: Iterable[str]) -> None:
    """Warn of effects allowed to run live that never came: their names may be misspelt."""
    came = {word for label in verdict.live for word in (label, label.partition(":")[0])}
    for word in live:
        if word not in came and not verdict.divergences:
            present.say(f"reenact: --live {word}: nothing of that name came; `reenact show` names the kinds")


def doctor(
    command: Command = None,
    run: Run = False,
    json: Json = False,
    home: Home = None,
) -> None:
    """What in this environment, or in a program, would not be replayed."""
    findings = checks.examine(given(command), run=run, home=home)
    if json:
        present.dump([finding.tree() for finding in findings])
    else:
        checks.show(findings, Terminal(highlight=False))
    raise SystemExit(1 if any(finding.level == "bad" for finding in findings) else 0)


def die_like(status: int) -> NoReturn:
    """Exit with the program's status or signal, so that the parent sees no difference."""
    if status < 0 and -status in _QUIET_DEATHS:
        sys.stdout.flush()
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    raise SystemExit(status if status >= 0 else 128 - status)
