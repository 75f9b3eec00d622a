"""`reenact verify` of many recordings: how many a second are replayed, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import reenact
from benchmarks.plan import Plan
from benchmarks.report import Section
from benchmarks.workers import Broken

_STEPS = 10
_HOW = (
    "{runs:,} recordings of {steps} tool calls each, made by a program whose own work is negligible, replayed by "
    "`reenact verify --entry` against the same program, from the start of the command to its last line, on {cores} "
    "cores. By the CPU: how many two cores would do a second if nobody else used them."
)
_PROGRAM = """
import reenact


@reenact.tool
def look(number):
    return {{"number": number, "found": "x" * 200}}


def agent(*_):
    return sum(look(number)["number"] for number in range({steps}))
"""


def measure(plan: Plan) -> Section:
    """The whole command."""
    runs = 50 if plan.quick else 1000
    cores = len(os.sched_getaffinity(0))
    section = Section("10. Verifying many recordings", _HOW.format(runs=runs, steps=_STEPS, cores=cores))
    with TemporaryDirectory() as folder:
        plan.tell(f"verifying: making {runs} recordings")
        _record(Path(folder), runs)
        plan.tell("verifying: replaying them")
        wall, cpu = _verified(Path(folder))
    section.figure(
        "recordings a second, by the clock",
        "> 100 a second",
        f"{runs / wall:.0f} a second",
        runs / wall > 100,
    )
    section.figure(
        "CPU for one, the command's start included",
        "< 20 ms",
        f"{cpu / runs * 1000:.1f} ms",
        cpu / runs < 0.02,
    )
    return section


def _record(folder: Path, runs: int) -> None:
    (folder / "measured_program.py").write_text(_PROGRAM.format(steps=_STEPS), encoding="utf-8")
    code = (
        "import reenact, measured_program as program\n"
        f"for _ in range({runs}):\n"
        "    with reenact.record('measured'):\n"
        "        program.agent()\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, env=_environ(folder))


def _verified(folder: Path) -> tuple[float, float]:
    command = [sys.executable, "-m", "reenact", "verify", "--entry", "measured_program:agent"]
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=_environ(folder)
    )
    wall = time.perf_counter() - began
    after = os.times()
    if done.returncode != 0:
        raise Broken(
            f"reenact verify ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
        )
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu


def _environ(folder: Path) -> dict[str, str]:
    source = str(Path(reenact.__file__).parents[1])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), source]),
        "REENACT_HOME": str(folder / "home"),
    }
