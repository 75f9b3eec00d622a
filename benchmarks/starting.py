"""Starting: the CPU of whole commands, from their start to their end, beside the bare program."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import reenact
from benchmarks.measure import MILLI, Spread
from benchmarks.plan import Plan
from benchmarks.report import Section
from benchmarks.workers import Broken

_HOW = (
    "User and system time of a command and of all the processes that it starts, in {rounds} interleaved rounds. The "
    "program calls one tool twice. The home has one recording. The bytecode is compiled before."
)
_BARE = "def look(number):\n    return {'number': number}\n\nprint(look(1), look(2))\n"
_PROGRAM = f"import reenact\n\n@reenact.tool\n{_BARE}"


def measure(plan: Plan) -> Section:
    """Measure the commands that a person waits for."""
    rounds = plan.rounds(11)
    section = Section("14. Starting", _HOW.format(rounds=rounds))
    with TemporaryDirectory(prefix="reenact-benchmark-") as folder:
        found = _measured(plan, Path(folder), rounds)
    start, bare = found["pass"].median, found["bare"].median
    limits = {
        "--version": ("three starts of Python + 60 ms", 3 * start + 0.06),
        "--help": ("three starts of Python + 60 ms", 3 * start + 0.06),
        "list": ("150 ms", 0.15),
        "show last": ("150 ms", 0.15),
        "record": ("1.15 times the bare program + 150 ms", 1.15 * bare + 0.15),
        "replay": ("1.15 times the bare program + 150 ms", 1.15 * bare + 0.15),
        "from reenact import Client": ("300 ms", 0.3),
    }
    section.figure("`python -c pass`", "none", f"{found['pass'].text(MILLI)} ms")
    section.figure("the bare program", "none", f"{found['bare'].text(MILLI)} ms")
    for name, (words, limit) in limits.items():
        spread = found[name]
        section.figure(
            f"`{name}`",
            f"≤ {words} ({limit * MILLI:.0f} ms)",
            f"{spread.text(MILLI)} ms",
            spread.median <= limit,
        )
    return section


def _measured(plan: Plan, folder: Path, rounds: int) -> dict[str, Spread]:
    (folder / "bare.py").write_text(_BARE, encoding="utf-8")
    (folder / "program.py").write_text(_PROGRAM, encoding="utf-8")
    python, command = sys.executable, [sys.executable, "-m", "reenact"]
    commands = {
        "pass": [python, "-c", "pass"],
        "bare": [python, "bare.py"],
        "--version": [*command, "--version"],
        "--help": [*command, "--help"],
        "list": [*command, "list"],
        "show last": [*command, "show", "last"],
        "record": [*command, "record", "--home", str(folder / "other"), "--", python, "program.py"],
        "replay": [*command, "replay", "last"],
        "from reenact import Client": [python, "-c", "from reenact import Client"],
    }
    home = folder / "home"
    _cpu([*command, "record", "--", python, "program.py"], folder, home)
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(-1, rounds):
        plan.tell(f"starting: round {number + 1} of {rounds}")
        for name, words in commands.items():
            seconds = _cpu(words, folder, home)
            if number >= 0:
                taken[name].append(seconds)
    return {name: Spread.of(values) for name, values in taken.items()}


def _cpu(command: Sequence[str], folder: Path, home: Path) -> float:
    """Run a command; return the seconds of CPU that it and its processes took."""
    source = str(Path(reenact.__file__).parents[1])
    environ = {**os.environ, "PYTHONPATH": source, "REENACT_HOME": str(home)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Broken(f"{' '.join(command[1:4])} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
