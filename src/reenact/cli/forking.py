"""`reenact fork`, and the tree that `reenact list --tree` draws."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.text import Text
from rich.tree import Tree

from reenact.cli import present
from reenact.cli.running import Command, Home, Ignore, Json, Live, _die_like, _one_line, _say, given
from reenact.launch.forking import Forked, Options
from reenact.launch.forking import fork as launch
from reenact.model.summary import Summary
from reenact.store.local import LocalStore
from reenact.store.shared import Origin

UNABLE, STOPPED = 2, 3


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(fork)


def fork(
    ref: Annotated[str, typer.Argument(metavar="ID", help="An id, the beginning of one, `last`, or a path.")],
    command: Command = None,
    *,
    at: Annotated[int, typer.Option(help="The step that is the first to be live.", show_default=False)],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Edit that step's answer: 'output.status = \"lost\"', 'text = No.', 'error = \"KeyError: x\"'.",
        ),
    ] = None,
    model: Annotated[
        str, typer.Option(help="Ask this language model from there on.", show_default=False)
    ] = "",
    live: Live = None,
    ignore: Ignore = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Run the recorded program again up to a step, and live from there; what comes of it is recorded.

    With --set that step has another answer, and the replay goes on as far as the program asks what was recorded.

    Exit status: the program's; 2 could not fork, 3 stopped because no model is at hand.
    """
    options = Options(at, tuple(set_ or ()), model, tuple(live or ()), tuple(ignore or ()))
    with _one_line():
        done = launch(ref, options, command=given(command), home=home, quiet=json)
    if json:
        print(orjson.dumps(_tree(done, at), option=orjson.OPT_INDENT_2).decode())
    if done.recording is None:
        _say(f"{done.parent.id} was not forked: {done.reason}")
        raise SystemExit(UNABLE)
    steps = present.many(len(done.recording.steps), "step")
    child, status = done.recording.id, done.recording.status
    if done.how == "stopped":
        _say(f"forked {done.parent.id} at step {at} as {child} ({steps}), and stopped: {done.reason}")
        raise SystemExit(STOPPED)
    _say(f"forked {done.parent.id} at step {at} as {child} ({steps}, {done.reason or status})")
    inside = Path(done.recording.path).parent == LocalStore(home).recordings
    where = f"--home {shlex.quote(home)} " if home and inside else ""
    _say(f"replay it with: reenact replay {where}{child}")
    _die_like(done.status)


def _tree(done: Forked, at: int) -> dict[str, Any]:
    return {
        "parent": done.parent.id,
        "step": at,
        "recording": done.recording.id if done.recording is not None else None,
        "how": done.how,
        "reason": done.reason or None,
        "exit": done.status,
    }


def drawn(lines: Sequence[Summary], origins: Mapping[str, Origin]) -> Tree:
    """Recordings under those that they were forked from."""
    known = {line.id: line for line in lines}
    below: dict[str, list[str]] = {}
    # They come the newest first.
    for line in reversed(lines):
        said = origins.get(line.id)
        if said is not None and said.id in known:
            below.setdefault(said.id, []).append(line.id)
    under = {id for ids in below.values() for id in ids}
    root = Tree("", hide_root=True, guide_style="dim")

    def hang(at: Tree, id: str) -> None:
        branch = at.add(_line(known[id], origins.get(id)))
        # Of one parent in the order of their steps, and of one step the oldest first.
        for child in sorted(below.get(id, ()), key=lambda child: origins[child].step or 0):
            hang(branch, child)

    for line in lines:
        if line.id not in under:
            hang(root, line.id)
    return root


def _line(line: Summary, origin: Origin | None) -> Text:
    parts = [Text(line.id, "yellow")]
    if origin is not None:
        where = f"{origin.how} at {origin.step}" if origin.step is not None else origin.how
        parts.append(Text(where, "cyan"))
    parts += [
        Text(present.one_line(line.name)),
        present.status(line),
        Text("" if line.broken else present.many(line.steps, "step"), "dim"),
        Text("" if line.broken else present.ago(line.started), "dim"),
    ]
    return Text("  ").join(part for part in parts if part.plain)
