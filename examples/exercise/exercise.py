"""Debug a recorded run, on screen: `make exercise`.

An agent cancels an order that has shipped. The run is recorded, looked into where it goes wrong, replayed with the
tool mended, forked into the right answer, and kept as a test. It takes no key and no network. The functions at the top
are what one would write; the screen shows them as they are.
"""

from __future__ import annotations

import difflib
import inspect
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import mended
import shop
import support
from rich.console import Console
from rich.markup import escape
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

import reenact
from reenact.core.model.divergence import Verdict
from reenact.run.debugger.breaks import Stop

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
ORDER = support.ORDER
QUESTION = f"Please cancel my order {ORDER}: I found it cheaper elsewhere."
TEST = "test_a_shipped_order_is_not_cancelled"

console = Console(width=None if sys.stdout.isatty() else 100, highlight=False)


class ExerciseError(Exception):
    """Something that the exercise claims did not come true."""


# ---------------------------------------------------------------------------------------------- what one writes


def record() -> str:
    with reenact.record("support") as recording:
        recording.output = support.serve(QUESTION)
    return recording.id


def watch(recording: str, look: Callable[[Stop], None]) -> Verdict:
    places = ["tool:cancel_order", "shop:refund"]
    with reenact.replay(recording, live=["tool"], breakpoints=places, on_break=look) as replay:
        replay.output = support.serve(QUESTION)
    return replay.verdict


def replay_mended(recording: str) -> None:
    with reenact.replay(recording, live=["tool"]):
        support.serve(QUESTION, mended.cancel_order)


def replay_mended_on(recording: str) -> Verdict:
    with reenact.replay(recording, live=["tool"], on_divergence="realign") as replay:
        support.serve(QUESTION, mended.cancel_order)
    return replay.verdict


def fork_live(recording: str) -> reenact.Recording:
    with reenact.fork(recording, at=2) as fork:
        fork.output = support.serve(QUESTION, mended.cancel_order)
    return fork.recording


def fork_edited(recording: str) -> reenact.Recording:
    with reenact.fork(recording, at=3, edit={"output.status": "delivered"}) as fork:
        fork.output = support.serve(QUESTION, mended.cancel_order)
    return fork.recording


def replay_child(child: str) -> Verdict:
    with reenact.replay(child) as replay:
        replay.output = support.serve(QUESTION, mended.cancel_order)
    return replay.verdict


# ------------------------------------------------------------------------------------------------- the screen


def headline(text: str) -> None:
    console.print()
    console.print(Rule(f"[bold]{text}[/]", align="left", style="cyan"))


def claim(holds: bool, text: str) -> None:
    if not holds:
        raise ExerciseError(f"not so: {text}")
    console.print(f"[green]✓[/] {escape(text)}", soft_wrap=True)


def show(written: Callable[..., Any]) -> None:
    """A function of this file as it stands there."""
    console.print(Syntax(inspect.getsource(written).rstrip(), "python", background_color="default"))
    console.print()


def run(*command: str, expected: int = 0) -> str:
    """Runs a command here, shows it and what it says, and gives that."""
    console.print(f"[bold]$ {escape(shlex.join(command))}[/]", soft_wrap=True)
    done = subprocess.run(
        command,
        env={
            **os.environ,
            "COLUMNS": str(console.width),
            "NO_COLOR": "1",
            "PATH": f"{BIN}{os.pathsep}{os.defpath}",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != expected:
        raise ExerciseError(f"{shlex.join(command)} ended with status {done.returncode}:\n{done.stdout}")
    return done.stdout


def shown(text: str) -> str:
    console.print(Text(text.rstrip()), soft_wrap=True)
    return text


def tell(what: str, text: str) -> None:
    console.print(Text(f"  {what:<10}{text}"), soft_wrap=True)


def difference(before: str, after: str) -> None:
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), n=1)
    text = "".join(list(lines)[3:]).rstrip()
    console.print(Syntax(text, "diff", background_color="default"))


# ------------------------------------------------------------------------------------------------- the stages


def introduce() -> None:
    headline("An agent, and a model that stands in")
    console.print(
        f"A customer asks: [italic]{QUESTION}[/]\nThe agent is built with Pydantic AI. "
        "[yellow]Its model is no language model but a script that stands in for one[/], the same in every run: "
        "the small real one of `make demo` calls the tool as well, but talks nonsense where it should say no."
    )


def record_it() -> str:
    headline("1. Recorded: the order is cancelled, although it has shipped")
    console.print(f"The order book says of {ORDER}: [bold]{shop.BOOK[ORDER]['status']}[/]\n")
    show(record)
    recording = record()
    shown(run("reenact", "show", recording))
    claim(
        reenact.load(recording).step(2).output["status"] == "cancelled" and len(shop.PAID) == 1,
        f"the agent cancelled {ORDER}; paid back: {shop.PAID[0]}",
    )
    return recording


def look_into_it(recording: str) -> None:
    headline("2. Replayed, with breakpoints in cancel_order")
    show(watch)
    stops: list[Stop] = []
    known: list[dict[str, Any]] = []

    def look(stop: Stop) -> None:
        stops.append(stop)
        known.append(dict(stop.frame.f_locals))
        before = [
            f"{step.number} {step.label}" for step in reenact.load(recording) if step.number < stop.step
        ]
        console.print(f"[bold]step {stop.step}, {stop.label}[/], asked in {stop.frame.f_code.co_name}()")
        tell("before", ", ".join(before))
        for name, value in stop.args.items():
            tell("argument", f"{name} = {value!r}")
        # What serve() has at hand is the agent as a whole, which is of no interest here.
        for name, value in known[-1].items() if stop.label == "shop:refund" else ():
            tell("local", f"{name} = {value!r}")

    verdict = watch(recording, look)
    console.print(f"{verdict}\n", soft_wrap=True)
    shown(run("reenact", "show", recording, "--filter", "tool:check_eligibility"))
    claim([stop.step for stop in stops] == [2, 4], "it stood where cancel_order was called, and inside of it")
    nobody_checked(recording, known[1])
    claim(
        verdict.live == {"tool:cancel_order": 1} and len(shop.PAID) == 1,
        "cancel_order ran for real, the refund inside of it did not: nothing was paid twice",
    )


def nobody_checked(recording: str, known: dict[str, Any]) -> None:
    steps = reenact.load(recording).steps
    claim(
        "check_eligibility" in [tool["name"] for tool in steps[0].args["tools"]]
        and "tool:check_eligibility" not in [step.label for step in steps],
        "the model was offered check_eligibility, but no eligibility was checked before the refund",
    )
    claim(
        (known["order"]["status"], shop.BOOK[ORDER]["status"]) == ("shipped", "cancelled"),
        "cancel_order was told that the order has shipped (the book itself says cancelled by now)",
    )


def mend_it(recording: str) -> None:
    headline("3. Mended, and replayed")
    difference(inspect.getsource(shop.cancel_order), inspect.getsource(mended.cancel_order))
    console.print()
    show(replay_mended)
    try:
        replay_mended(recording)
    except reenact.DivergenceError as error:
        first = error.divergence
    else:
        raise ExerciseError("the mended tool made no difference")
    console.print(f"[red]{first.kind.value}[/] at step {first.step}, {first.address.rpartition('/')[2]}")
    claim(
        (first.kind.value, first.step) == ("MISSING", 4),
        "the replay was stopped: the refund is never asked for",
    )
    console.print(
        "\nTo see all that the mended tool changes, the replay goes on, and keeps the recorded answers:\n"
    )
    show(replay_mended_on)
    verdict = replay_mended_on(recording)
    for divergence in verdict.divergences:
        console.print(
            f"[red]{divergence.kind.value}[/] at step {divergence.step}, {divergence.address.rpartition('/')[2]}: "
            f"{divergence.detail}"
        )
        for mismatch in divergence.mismatches:
            tell("", str(mismatch))
    changed = {
        m.path.rpartition(".")[2]: (m.recorded, m.actual) for d in verdict.divergences for m in d.mismatches
    }
    claim(
        changed.get("status") == ("cancelled", "not cancelled: shipped"),
        'what the model is told: the recorded status "cancelled", the actual one "not cancelled: shipped"',
    )


def fork_it(recording: str) -> str:
    headline("4. Forked: into the answer that the customer should have had")
    shop.BOOK[ORDER]["status"] = "shipped"
    console.print(
        "The shop has put its book right. From step 2 on all is live: the tool, the book, the stand-in.\n"
    )
    show(fork_live)
    child = fork_live(recording)
    console.print(f"agent:    {child.output}")
    claim("cannot be cancelled" in str(child.output) and len(shop.PAID) == 1, "it refuses, and pays nothing")
    console.print(
        "\nAnd had it been delivered? The book's answer, step 3, is edited; the book itself need not change:\n"
    )
    show(fork_edited)
    edited = fork_edited(recording)
    console.print(f"agent:    {edited.output}")
    claim(
        "send it back" in str(edited.output) and len(shop.PAID) == 1,
        "another answer to the tool, and to the customer",
    )
    console.print()
    tree = shown(run("reenact", "list", "--tree"))
    claim(
        all(re.search(rf"── {fork.id} +fork at {step}\b", tree) for fork, step in ((child, 2), (edited, 3))),
        "both are recordings of their own, below the one that they come from",
    )
    console.print()
    show(replay_child)
    for fork in (child, edited):
        verdict = replay_child(fork.id)
        console.print(f"{fork.id}: {verdict}")
        claim(verdict.faithful, "replayed to the letter")
    return child.id


def keep_it(child: str) -> None:
    headline("5. Kept as a test")
    for module in (support, shop):
        Path(f"{module.__name__}.py").write_text(inspect.getsource(module), encoding="utf-8")
    Path("pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    entry = f'support:serve("{QUESTION}")'
    keeping = (
        "reenact",
        "keep",
        child,
        "--as",
        "tests/test_support.py",
        "--name",
        TEST,
        "--entry",
        entry,
        "--live",
        "tool",
    )
    shown(run(*keeping))
    kept = Path("tests/test_support.py").read_text(encoding="utf-8").rstrip()
    console.print(Syntax(kept, "python", background_color="default", word_wrap=True))
    headline("The tool as it was: red")
    red = shown(run("pytest", "-q", "--no-header", "tests", expected=1))
    claim("EXTRA at" in red and "/shop:refund#0" in red, "the test names the refund that should not be")
    headline("The tool mended: green")
    text = inspect.getsource(shop)
    Path("shop.py").write_text(
        text.replace(inspect.getsource(shop.cancel_order), inspect.getsource(mended.cancel_order)),
        encoding="utf-8",
    )
    green = shown(run("pytest", "-q", "--no-header", "tests"))
    claim("1 passed" in green, "the refusal is kept: a test that needs no model")


def main() -> int:
    # The environment's own store and test options are not the exercise's.
    for name in ("REENACT_HOME", "PYTEST_ADDOPTS"):
        os.environ.pop(name, None)
    os.environ["PYTHONWARNINGS"] = "ignore::DeprecationWarning"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        try:
            introduce()
            recording = record_it()
            look_into_it(recording)
            mend_it(recording)
            keep_it(fork_it(recording))
        except ExerciseError as error:
            console.print(f"[bold red]✗[/] {escape(str(error))}")
            return 1
    headline("Done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
