"""`reenact mcp`: serve a recorded MCP session."""

from __future__ import annotations

from typing import Annotated, ClassVar

from reenact.analysis.views.text import many
from reenact.cli.framing import print_framed
from reenact.cli.printing import say
from reenact.cli.verdict import panel
from reenact.server.mcp_answers import ServerAnswers
from reenact.team.open import Reaching
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, Shown
from reenact.verbs.marks import Ignore, Ref


class Options(interface.Options):
    """Serve a recorded MCP session as an MCP server, for an agent in any language.

    Calls are answered from the recording, as strictly as in a replay: a call that was not recorded gets an error with
    the difference. At the end the verdict is printed to standard error. Exit status 1: a call differed or was missing.

    [bold]"mcpServers": {"weather": {"command": "reenact", "args": ["mcp", "last"]}}[/bold]
    """

    common: ClassVar = (marks.HOME,)

    ref: Ref
    server: Annotated[str, Field(description="The name of the MCP server, if the recording has several.")] = (
        ""
    )
    port: Annotated[
        int | None,
        Field(
            ge=0,
            le=65535,
            description="Serve by streamable HTTP on this port (0: any free one), until Ctrl-C; by default on standard "
            "input and output.",
        ),
    ] = None
    ignore: Ignore = ()


def run(options: Options, context: Context) -> Shown:
    """Serve the session until its client leaves. Raises RecordingError, UsageError."""
    recording = Reaching(context.home).load(options.ref)
    answers = ServerAnswers(recording, options.server, options.ignore)
    from reenact.server.mcp import over_http, over_stdio  # noqa: PLC0415 - the mcp package may not be there

    if answers.asked_back:
        times = many(answers.asked_back, "request")
        say(f"reenact: {times} of the recorded server to its client will not be made again")
    if options.port is None:
        over_stdio(answers)
    else:
        over_http(
            answers,
            options.port,
            lambda url: say(f"reenact: {answers.server} of {recording.id} at {url}"),
        )
    verdict = answers.verdict()
    print_framed(panel(verdict, name=answers.server))
    return Shown(int(not verdict.faithful))
