"""A browser agent with a real model, on screen: `make demo-browser`.

It works in a real browser, asking a model that is far too small for it. Whatever comes of that is recorded, replayed
with model and browser gone, and written down as a script.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

HERE = Path(__file__).parent
# What the other demo is made of: the model's server, commands on screen, claims that must hold.
sys.path.append(str(HERE.parent / "order_agent"))

from demo import DemoError, Model, a_model, claim, console, headline, must_run  # noqa: E402

PROGRAM = str((HERE / "newsletter.py").relative_to(HERE.parents[1]))


def recorded(model: Model) -> tuple[str, str]:
    """The recording's id, and what the program printed."""
    headline("A script, and an agent with a real language model, in a real browser")
    if model.server is not None:
        console.print(
            "SmolLM2-135M on this machine. [yellow]It is far too small to operate a browser[/]: it is held to two "
            "actions and two elements, and seldom knows when it is done. What follows is what it really did."
        )
    ran = must_run(["reenact", "record", "--name", "newsletter", "--", "python", PROGRAM], model.environment)
    console.print(Panel(Text(ran.output.rstrip()), title=f"{ran.seconds:.0f} s", title_align="left"))
    done = "Ada is subscribed" in ran.output
    mark = (
        "[green]the page says that it was done[/]"
        if done
        else "[yellow]it did not get there[/], as was to be expected"
    )
    console.print(f"This time: {mark}.")
    listed = json.loads(must_run(["reenact", "list", "--json"], model.environment, echo=False).output)
    newest = max((one for one in listed if one["name"] == "newsletter"), key=lambda one: one["started"])
    return newest["id"], ran.output


def replayed(model: Model, recording: str, output: str) -> None:
    """With the model stopped, and no browser to be found."""
    headline("Replayed without the model and without a browser")
    model.stop()
    ran = must_run(["reenact", "replay", recording], {**model.environment, "REENACT_BROWSER": "/nowhere"})
    console.print(Text.from_ansi(ran.remarks.rstrip()))
    claim(ran.output == output, f"every word came out as recorded, in {ran.seconds:.1f} s")


def exported(model: Model, recording: str) -> None:
    """The session as a script."""
    headline("The session as a script")
    text = must_run(["reenact", "export-script", recording], model.environment).output
    console.print(Syntax(text.rstrip(), "python", background_color="default", word_wrap=True))
    compile(text, "script.py", "exec")
    acted = "AgentFallback" in text
    claim(
        "session.execute" in text,
        f"{'the agent has a block of its own' if acted else 'the agent did nothing'} in it",
    )


def main() -> int:
    begun = perf_counter()
    try:
        with a_model() as model:
            recording, output = recorded(model)
            replayed(model, recording, output)
            exported(model, recording)
    except DemoError as error:
        console.print(f"[bold red]✗[/] {escape(str(error))}")
        return 1
    headline(f"Done in {perf_counter() - begun:.0f} s")
    console.print(f".venv/bin/reenact show {recording}\n.venv/bin/reenact watch {recording}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
