"""The pictures of the documentation: `make pictures` writes docs/demo.svg and docs/debug.svg.

Nothing on it is made up: an agent is recorded on a real language model, replayed with the model stopped, and replayed
with one of its tools changed. What is too long for a picture is cut where a `…` stands.
"""

from __future__ import annotations

import io
import re
import sys

from demo import ROOT, DemoError, Model, Ran, a_model, fixed_programs, program, record, replay_fixed, run
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text
from screen import shoot

PICTURE = ROOT / "docs" / "demo.svg"
SCREEN = ROOT / "docs" / "debug.svg"
PROGRAM = "agent.py"
WIDTH = 100
MOST_LINES = 45

console = Console(
    record=True,
    width=WIDTH,
    file=io.StringIO(),
    force_terminal=True,
    color_system="truecolor",
    highlight=False,
)


def prompt(command: str) -> None:
    console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))


def remark(text: str) -> None:
    console.print(Text(f"# {text}", style="cyan"))


def shown(text: str) -> None:
    """A program's output, each line of it cut to the picture's width."""
    for line in text.rstrip().splitlines():
        whole = Text.from_ansi(line)
        whole.truncate(WIDTH, overflow="ellipsis")
        console.print(whole, no_wrap=True)


def told(text: str) -> str:
    """What Reenact said, without what the program itself wrote to standard error."""
    return "\n".join(line for line in text.splitlines() if line.startswith("reenact: "))


def draw(model: Model) -> None:
    recording, recorded = record(model, PROGRAM)
    model.stop()
    prompt(f"reenact record --name {PROGRAM} -- python {program(PROGRAM)}")
    shown(recorded.output)
    shown(told(recorded.remarks))
    console.print()
    again = run(["reenact", "replay", recording], model.environment)
    if again.status != 0 or again.output != recorded.output:
        raise DemoError(f"the replay was not equal:\n{again.output}{again.remarks}")
    remark("The model is stopped. The same program, offline: the same words, time of day and ticket.")
    prompt(f"reenact replay {recording}")
    shown(again.output)
    shown(again.remarks)
    console.print()
    with fixed_programs() as (fixed, difference):
        changed = replay_fixed(model, recording, fixed, PROGRAM)
        remark("It cancelled an order that was already shipped. One tool is changed:")
        console.print(Syntax(added(difference), "diff", background_color="default"), no_wrap=True)
        prompt(f"reenact replay {recording} --live tool -- python …/{fixed.name}/{PROGRAM}")
    shown(left(changed))
    SCREEN.write_text(shoot(recording, model.environment), encoding="utf-8")


def added(difference: str) -> str:
    """The lines that a change adds."""
    return "\n".join(line for line in difference.splitlines() if line.startswith("+"))


def left(changed: Ran) -> str:
    """What Reenact said of a replay that left its recording."""
    if changed.status != 1:
        raise DemoError(f"the changed tool made no difference:\n{changed.output}{changed.remarks}")
    return changed.remarks


def save() -> None:
    lines = console.export_text(clear=False).splitlines()
    if len(lines) > MOST_LINES:
        raise DemoError(f"{len(lines)} lines are too many for a picture")
    drawn = console.export_svg(title="reenact")
    # A picture in a README may load nothing from elsewhere: whatever fixed-width font the reader has, will do.
    drawn = re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    drawn = drawn.replace(
        "font-family: Fira Code, monospace", "font-family: ui-monospace, Menlo, Consolas, monospace"
    )
    PICTURE.write_text(drawn + "\n", encoding="utf-8")


def main() -> int:
    try:
        with a_model() as model:
            draw(model)
        save()
    except DemoError as error:
        print(error, file=sys.stderr)
        return 1
    for picture in (PICTURE, SCREEN):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
