"""The main job, on screen: `make demo`.

A customer-service agent talks to a real language model. Two live runs differ; one is recorded, and replayed five
times with the model gone, equal each time; then one of its tools is changed, and the replay says where that tells.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

import httpx
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BIN = Path(sys.executable).parent
AGENTS = {"agent.py": "Pydantic AI", "plain.py": "the OpenAI SDK, streaming"}
REPLAYS = 5
MOST_TRIES = 5
ORDER = "ORD-5521"

BUG = '    order.status = "cancelled"\n'
FIX = """\
    if order.status in ("shipped", "delivered"):
        return {"order_id": order_id, "status": f"not cancelled: {order.status}", "reason": reason}
"""
# How a verdict must begin to tell: whatever is drawn around it, its first difference is the order's status.
FIRST_DIFFERENCE = re.compile(
    r"CHANGED\b(?:(?!\brecorded\b).)*\bstatus\W+recorded\W+cancelled\W+actual\W+not cancelled: shipped\b",
    re.DOTALL,
)

console = Console(width=None if sys.stdout.isatty() else 100, highlight=False)


class DemoError(Exception):
    """Something that the demo claims did not come true."""


@dataclass(frozen=True)
class Ran:
    """What one run of a program left: its own output, what Reenact said of it, how it ended, how long it took."""

    output: str
    remarks: str
    status: int
    seconds: float


def run(command: list[str], environment: Mapping[str, str], *, echo: bool = True) -> Ran:
    if echo:
        console.print(f"[bold]$ {escape(' '.join(command))}[/]")
    begun = perf_counter()
    # Reenact draws for the width of this screen, in colours if it has some.
    drawn = {"COLUMNS": str(console.width), "FORCE_COLOR" if console.is_terminal else "NO_COLOR": "1"}
    path = f"{BIN}{os.pathsep}{environment.get('PATH', '')}"
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**environment, **drawn, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.stdout, done.stderr, done.returncode, perf_counter() - begun)


def must_run(command: list[str], environment: Mapping[str, str], *, echo: bool = True) -> Ran:
    """Runs a command that the rest of the demo needs."""
    done = run(command, environment, echo=echo)
    if done.status != 0:
        raise DemoError(f"{' '.join(command)} ended with status {done.status}:\n{done.output}{done.remarks}")
    return done


def headline(text: str) -> None:
    console.print()
    console.print(Rule(f"[bold]{text}[/]", align="left", style="cyan"))


def claim(holds: bool, text: str) -> None:
    if not holds:
        raise DemoError(f"not so: {text}")
    console.print(f"[green]✓[/] {text}")


# ------------------------------------------------------------------------------------------------- the model


@dataclass
class Model:
    """Where a model answers: a server of our own, or whatever the environment names."""

    environment: dict[str, str]
    server: subprocess.Popen[str] | None

    @property
    def url(self) -> str:
        return self.environment.get("OPENAI_BASE_URL", "the OpenAI API")

    def stop(self) -> None:
        if self.server is not None:
            self.server.terminate()
            self.server.wait(timeout=20)


@contextmanager
def a_model(*, each_tool_once: bool = True) -> Iterator[Model]:
    if os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"):
        yield Model({"OPENAI_API_KEY": "none", **os.environ}, None)
        return
    command = [
        sys.executable,
        str(HERE.parent / "local_model" / "server.py"),
        "--port",
        "0",
        *(["--each-tool-once"] if each_tool_once else []),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as server:
        url = server.stdout.readline().strip() if server.stdout else ""
        own = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "SmolLM2-135M-Instruct"}
        model = Model({**os.environ, **own}, server)
        try:
            if not url:
                raise DemoError("the model server ended before it was ready")
            yield model
        finally:
            model.stop()


def introduce(model: Model) -> None:
    headline("A real language model")
    if model.server is None:
        console.print(
            f"{model.environment.get('OPENAI_MODEL', 'gpt-4o-mini')} at {model.url}, as your environment says."
        )
        return
    console.print(
        f"SmolLM2-135M, sampling on this machine at {model.url}, temperature 1.\n"
        "[yellow]It is far too small to be a good agent, and will talk nonsense.[/] But it is real: it samples, it "
        "streams token by token, and no two of its runs are equal. That is what a recorder has to cope with."
    )


# ------------------------------------------------------------------------------------------------- the stages


def live_runs_differ(model: Model) -> None:
    headline("Two live runs are not equal")
    command = ["python", program("agent.py")]
    first, second = must_run(command, model.environment), must_run(command, model.environment, echo=False)
    for ran, other in ((first, second), (second, first)):
        console.print(
            Panel(marked(ran.output, other.output), title=f"live, {ran.seconds:.1f} s", title_align="left")
        )
    claim(
        of_the_model(first) != of_the_model(second),
        "same program, same question, other words of the model [dim](yellow: what differs)[/]",
    )


def of_the_model(ran: Ran) -> list[str]:
    """What the model decided and said: a run's output less clock, ticket numbers and the order book."""
    return [line for line in ran.output.splitlines() if line.startswith(("calls:", "agent:"))]


def marked(text: str, other: str) -> Text:
    """A run's output with the lines that the other does not have in yellow."""
    shared = set(other.splitlines())
    shown = Text()
    for line in text.splitlines():
        shown.append(line + "\n", style="" if line in shared else "yellow")
    shown.rstrip()
    return shown


def record(model: Model, name: str) -> tuple[str, Ran]:
    """Records a run in which the order was cancelled, and gives its id and what it printed."""
    command = ["reenact", "record", "--name", name, "--", "python", program(name)]
    for tried in range(MOST_TRIES):
        ran = must_run(command, model.environment, echo=not tried)
        # Nearly always the first: now and then so small a model just talks.
        if f"calls:    cancel_order(order_id='{ORDER}'" in ran.output:
            break
    else:
        raise DemoError(f"the model did not cancel {ORDER} in {MOST_TRIES} runs")
    recordings = json.loads(must_run(["reenact", "list", "--json"], model.environment, echo=False).output)
    newest = max((entry for entry in recordings if entry["name"] == name), key=lambda entry: entry["started"])
    return newest["id"], ran


def record_both(model: Model) -> dict[str, tuple[str, Ran]]:
    headline("Recorded: programs that have never heard of Reenact")
    recorded = {}
    for name, what in AGENTS.items():
        recorded[name] = record(model, name)
        title = f"{recorded[name][0]} ({what}), {recorded[name][1].seconds:.1f} s"
        console.print(Panel(Text(recorded[name][1].output.rstrip()), title=title, title_align="left"))
    return recorded


def take_away(model: Model) -> None:
    headline("The model is taken away")
    if model.server is None:
        console.print(
            f"{model.url} is not ours to stop. A replay makes no connection: one attempted is a divergence."
        )
        return
    model.stop()
    address = urlsplit(model.url)
    with socket.socket() as probe:
        refused = probe.connect_ex((address.hostname or "", address.port or 0)) != 0
    claim(refused, f"nobody answers at {model.url} any more")


def replay_five_times(model: Model, recorded: dict[str, tuple[str, Ran]]) -> None:
    headline("Replayed five times, offline")
    table = Table("program", *(f"replay {number}" for number in range(1, REPLAYS + 1)))
    for name, (recording, original) in recorded.items():
        replays = [
            run(["reenact", "replay", recording], model.environment, echo=not n) for n in range(REPLAYS)
        ]
        for again in replays:
            if again.status != 0 or again.output != original.output:
                difference = "".join(
                    difflib.unified_diff(original.output.splitlines(True), again.output.splitlines(True))
                )
                raise DemoError(f"a replay was not equal:\n{difference}{again.remarks}")
        table.add_row(name, *(f"[green]equal[/] {again.seconds:.1f} s" for again in replays))
    console.print(table)
    claim(True, "every word, time of day and ticket number came out as recorded")


@contextmanager
def fixed_programs() -> Iterator[tuple[Path, str]]:
    """A copy of this folder with one tool changed, and the change as a diff."""
    with tempfile.TemporaryDirectory() as folder:
        fixed = Path(folder) / "fixed"
        shutil.copytree(HERE, fixed, ignore=shutil.ignore_patterns("__pycache__"))
        before = (HERE / "orders.py").read_text()
        after = before.replace(BUG, FIX + BUG)
        (fixed / "orders.py").write_text(after)
        lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), n=1)
        yield fixed, "".join(list(lines)[2:])


def replay_fixed(model: Model, recording: str, fixed: Path, name: str, *, echo: bool = True) -> Ran:
    command = ["reenact", "replay", recording, "--live", "tool", "--", "python", str(fixed / name)]
    return run(command, model.environment, echo=echo)


def change_a_tool(model: Model, recorded: dict[str, tuple[str, Ran]]) -> None:
    headline("One tool is changed")
    console.print(
        "It cancelled an order that was already shipped. What would a fix have changed in those very runs?"
    )
    with fixed_programs() as (fixed, difference):
        console.print(Syntax(difference.rstrip(), "diff", background_color="default", word_wrap=True))
        for name, (recording, _) in recorded.items():
            diverged = replay_fixed(model, recording, fixed, name)
            verdict = Text.from_ansi(diverged.remarks.rstrip())
            console.print(verdict)
            claim(
                diverged.status == 1, f"{AGENTS[name]}: the replay left its recording, and was stopped there"
            )
            claim(
                FIRST_DIFFERENCE.search(verdict.plain) is not None,
                'its first difference: the recorded status "cancelled", the actual one "not cancelled: shipped"',
            )
    console.print(
        "[dim]The suggested fork cannot run later: the changed copy is deleted when this demo ends.[/]"
    )


def program(name: str) -> str:
    return str((HERE / name).relative_to(ROOT))


def main() -> int:
    begun = perf_counter()
    try:
        with a_model() as model:
            introduce(model)
            live_runs_differ(model)
            recorded = record_both(model)
            take_away(model)
            replay_five_times(model, recorded)
            change_a_tool(model, recorded)
    except DemoError as error:
        console.print(f"[bold red]✗[/] {escape(str(error))}")
        return 1
    recording = recorded["agent.py"][0]
    headline(f"Done in {perf_counter() - begun:.0f} s. Look around")
    for verb in ("show", "replay", "console"):
        console.print(f"{BIN.relative_to(ROOT)}/reenact {verb} {recording}")
    return look(recording)


def look(recording: str) -> int:
    """Open the console on the run: until Ctrl-C where somebody sits here, else to see that it answers."""
    console.print()
    with subprocess.Popen(
        [BIN / "reenact", "console", recording], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as server:
        address = server.stdout.readline().strip() if server.stdout is not None else ""
        try:
            if sys.stdout.isatty():
                console.print(f"The run in the console: [bold]{address}[/]  [dim](Ctrl-C stops it)[/]")
                server.wait()
                return 0
            told = httpx.get(
                f"{address.partition('/r/')[0]}/api/v1/recordings/{recording}", timeout=60
            ).json()
            claim(told.get("id") == recording, f"the console shows the run: {address}")
        except KeyboardInterrupt:
            pass
        except (DemoError, httpx.HTTPError) as error:
            console.print(f"[bold red]✗[/] the console: {escape(str(error))}")
            return 1
        finally:
            server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
