"""The pictures of the documentation: `make pictures` writes docs/demo.svg and docs/debug.svg.

Nothing on it is made up: an agent is recorded on a real language model, replayed with the model stopped, and replayed
with one of its tools changed. The folder of the changed program is written as `…`.
"""

from __future__ import annotations

import sys

from demo import ROOT, DemoError, Model, Ran, a_model, fixed_programs, program, record, replay_fixed, run
from screen import shoot
from tests.docs.terminal import Terminal

PICTURE = ROOT / "docs" / "demo.svg"
SCREEN = ROOT / "docs" / "debug.svg"
PROGRAM = "agent.py"


def told(text: str) -> str:
    """What Reenact said, without what the program itself wrote to standard error."""
    return "\n".join(line for line in text.splitlines() if line.startswith("reenact: "))


def draw(model: Model, terminal: Terminal) -> None:
    recording, recorded = record(model, PROGRAM)
    model.stop()
    terminal.prompt(f"reenact record --name {PROGRAM} -- python {program(PROGRAM)}")
    terminal.text(recorded.output)
    terminal.text(told(recorded.remarks))
    again = run(["reenact", "replay", recording], model.environment)
    if again.status != 0 or again.output != recorded.output:
        raise DemoError(f"the replay was not equal:\n{again.output}{again.remarks}")
    terminal.comment(
        "The model is stopped. The same program, offline: the same words, time of day and ticket."
    )
    terminal.prompt(f"reenact replay {recording}")
    terminal.text(again.output)
    terminal.text(again.remarks)
    with fixed_programs() as (fixed, difference):
        changed = replay_fixed(model, recording, fixed, PROGRAM)
        terminal.comment("It cancelled an order that was already shipped. One tool is changed:")
        terminal.text(added(difference))
        terminal.prompt(f"reenact replay {recording} --live tool -- python …/{fixed.name}/{PROGRAM}")
    terminal.text(left(changed))
    SCREEN.write_text(shoot(recording, model.environment), encoding="utf-8")


def added(difference: str) -> str:
    """The lines that a change adds, in green."""
    return "\n".join(f"\x1b[32m{line}\x1b[0m" for line in difference.splitlines() if line.startswith("+"))


def left(changed: Ran) -> str:
    """What Reenact said of a replay that left its recording."""
    if changed.status != 1:
        raise DemoError(f"the changed tool made no difference:\n{changed.output}{changed.remarks}")
    return changed.remarks


def main() -> int:
    try:
        with a_model() as model:
            terminal = Terminal(ROOT)
            draw(model, terminal)
        terminal.save(PICTURE, "reenact")
    except DemoError as error:
        print(error, file=sys.stderr)
        return 1
    for picture in (PICTURE, SCREEN):
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
