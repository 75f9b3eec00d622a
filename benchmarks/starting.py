"""Starting: the CPU of whole commands, from their start to their end, beside the bare program."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import reenact
from benchmarks import server
from benchmarks.measure import MILLI, Spread
from benchmarks.plan import Plan
from benchmarks.report import Section
from benchmarks.workers import Broken

_HOW = (
    "User and system time of a command and of all the processes that it starts, in {rounds} interleaved rounds. The "
    "program calls one tool twice and imports nothing else: what it costs is all of the recorder's. The program with "
    "the OpenAI SDK makes two calls to a server in another process, which counts for none. The home has one "
    "recording of each. The bytecode is compiled before."
)
_BARE = "def look(number):\n    return {'number': number}\n\nprint(look(1), look(2))\n"
_PROGRAM = f"import reenact\n\n@reenact.tool\n{_BARE}"
_SDK = """
import os
from openai import OpenAI

client = OpenAI(base_url=os.environ["BENCHMARK_URL"], api_key="key")
for text in ("one", "two"):
    message = {"role": "user", "content": text}
    print(client.chat.completions.create(model="reply-200", messages=[message]).choices[0].message.content)
"""


def measure(plan: Plan) -> Section:
    """Measure the commands that a person waits for."""
    rounds = plan.rounds(11)
    section = Section("14. Starting", _HOW.format(rounds=rounds))
    with TemporaryDirectory(prefix="reenact-benchmark-") as folder, server.running() as url:
        found = _measured(plan, Path(folder), url, rounds)
    start, bare, sdk = (found[name].median for name in ("pass", "bare", "the OpenAI SDK, bare"))
    limits = {
        "--version": ("three starts of Python + 60 ms", 3 * start + 0.06),
        "--help": ("three starts of Python + 60 ms", 3 * start + 0.06),
        "list": ("150 ms", 0.15),
        "show last": ("150 ms", 0.15),
        "record": ("1.15 times the bare program + 150 ms", 1.15 * bare + 0.15),
        "replay": ("1.15 times the bare program + 150 ms", 1.15 * bare + 0.15),
        "record, the OpenAI SDK": ("1.15 times the bare program + 150 ms", 1.15 * sdk + 0.15),
        "replay, the OpenAI SDK": ("1.15 times the bare program + 150 ms", 1.15 * sdk + 0.15),
        "from reenact import Client": ("300 ms", 0.3),
    }
    section.figure("`python -c pass`", "none", f"{found['pass'].text(MILLI)} ms")
    section.figure("the bare program", "none", f"{found['bare'].text(MILLI)} ms")
    section.figure(
        "the bare program with the OpenAI SDK", "none", f"{found['the OpenAI SDK, bare'].text(MILLI)} ms"
    )
    for name, (words, limit) in limits.items():
        spread = found[name]
        section.figure(
            f"`{name}`",
            f"≤ {words} ({limit * MILLI:.0f} ms)",
            f"{spread.text(MILLI)} ms",
            spread.median <= limit,
        )
    return section


def _measured(plan: Plan, folder: Path, url: str, rounds: int) -> dict[str, Spread]:
    (folder / "bare.py").write_text(_BARE, encoding="utf-8")
    (folder / "program.py").write_text(_PROGRAM, encoding="utf-8")
    (folder / "sdk.py").write_text(_SDK, encoding="utf-8")
    python, command = sys.executable, [sys.executable, "-m", "reenact"]
    other = ["--home", str(folder / "other"), "--", python]
    commands = {
        "pass": [python, "-c", "pass"],
        "bare": [python, "bare.py"],
        "--version": [*command, "--version"],
        "--help": [*command, "--help"],
        "list": [*command, "list"],
        "show last": [*command, "show", "last"],
        "record": [*command, "record", *other, "program.py"],
        "replay": [*command, "replay", "last"],
        "the OpenAI SDK, bare": [python, "sdk.py"],
        "record, the OpenAI SDK": [*command, "record", *other, "sdk.py"],
        "replay, the OpenAI SDK": [*command, "replay", "last", "--home", str(folder / "sdk")],
        "from reenact import Client": [python, "-c", "from reenact import Client"],
    }
    environ = {"REENACT_HOME": str(folder / "home"), "BENCHMARK_URL": url}
    _cpu([*command, "record", "--", python, "program.py"], folder, environ)
    _cpu([*command, "record", "--home", str(folder / "sdk"), "--", python, "sdk.py"], folder, environ)
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(-1, rounds):
        plan.tell(f"starting: round {number + 1} of {rounds}")
        for name, words in commands.items():
            seconds = _cpu(words, folder, environ)
            if number >= 0:
                taken[name].append(seconds)
    return {name: Spread.of(values) for name, values in taken.items()}


def _cpu(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> float:
    """Run a command; return the seconds of CPU that it and its processes took."""
    source = str(Path(reenact.__file__).parents[1])
    environ = {**os.environ, "PYTHONPATH": source, **variables}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Broken(f"{' '.join(command[1:4])} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
