"""`reenact mcp`: a recorded MCP server, served again."""

from __future__ import annotations

from typing import Annotated

import typer

from reenact.cli import present
from reenact.cli.options import Home, Ref
from reenact.cli.verdict import panel
from reenact.server.answers import Answers
from reenact.team.open import Reaching

_FAITHFUL, _DIVERGED = 0, 1


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("mcp")(mcp)


def mcp(
    ref: Ref,
    *,
    server: Annotated[
        str, typer.Option(help="The name of the MCP server, if it has several.", show_default=False)
    ] = "",
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Serve by streamable HTTP on this port (0: any free one), until Ctrl-C; by default on standard input "
            "and output.",
            show_default=False,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            help="Parts that need not match: args.when, order … May be given several times.",
            show_default=False,
        ),
    ] = None,
    home: Home = None,
) -> None:
    """Serve a recorded MCP session as an MCP server, for an agent in any language.

    Its calls get the recorded answers, as strictly as in a replay: one that was not recorded gets an error that says
    how it departs. In the end there is a verdict on standard error; the exit status is 1 if anything departed or was
    left out.

    [bold]"mcpServers": {"weather": {"command": "reenact", "args": ["mcp", "last"]}}[/bold]
    """
    recording = Reaching(home).load(ref)
    answers = Answers(recording, server, ignore or ())
    from reenact.server.mcp import over_http, over_stdio  # noqa: PLC0415 - the mcp package may not be there

    if answers.asked_back:
        times = present.many(answers.asked_back, "request")
        present.say(f"reenact: {times} of the recorded server to its client will not be made again")
    if port is None:
        over_stdio(answers)
    else:
        over_http(
            answers, port, lambda url: present.say(f"reenact: {answers.server} of {recording.id} at {url}")
        )
    verdict = answers.verdict()
    present.err().print(panel(verdict, name=answers.server))
    raise SystemExit(_FAITHFUL if verdict.faithful else _DIVERGED)
