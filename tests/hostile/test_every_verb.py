"""Every command, given every hostile recording: nothing runs, nothing outside is touched, and each ends with a word.

Commands are taken from the application itself: a new one is tried without being added here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from reenact.cli.application import application
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore
from reenact.errors import CorruptRecording
from tests.hostile import corpus

EXTRA = {
    "fork": ["--at", "1"],
    "bisect": ["--good", "{ref}", "--check", "true"],
    "report": ["--output", "{out}/report.md"],
    "keep": ["--as", "{out}/test_kept.py"],
    "diff": ["--html", "{out}/diff.html"],
    "verify": ["--workers", "1", "--timeout", "20", "--junit", "{out}/v.xml", "--html", "{out}/v.html"],
    "watch": ["--output", "{out}/watch.html"],
    "video": ["--output", "{out}/video.html"],
    "export-script": ["--output", "{out}/script.py"],
    "debug": ["--plain"],
    "show": ["--full", "--state"],
    "rm": ["--yes"],
    "prune": ["--dry-run", "--keep", "0"],
    "console": ["--port", "0"],
    "serve": ["--port", "0"],
    "collect": ["--port", "0"],
    "list": ["--all", "--tree"],
    "reproduce": ["--times", "1"],
    "prove": ["--times", "1"],
}
"""Options besides the arguments. `{ref}` is the recording, `{out}` a folder of the command's own."""

ARGUMENTS = {
    "ref": "{ref}", "refs": "{ref}", "a": "{ref}", "b": "{ref}", "bad": "{ref}", "files": "{path}", "file": "{out}/out",
    "script": "{out}/none.py", "id": "none", "where": "{out}/backup", "step": "", "command": "", "filter": "", "name": "x",
    "project": "x", "other": "", "arguments": "",
}  # fmt: skip
"""What is given for an argument of that name; nothing for what may be left out, and `x` for what is not named here."""

ONCE = (
    "doctor",
    "record",
    "serve",
    "keys",
    "team",
    "push",
    "pull",
    "sync",
    "ship",
    "harden",
    "collect",
    "mcp",
)
"""Commands that read no recording's events: one case is enough."""

SANE = {0, 1, 2, 3, 4, 130}
DECEIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that no command writes to what is no terminal: controls, and those that change the direction of text."""


def commands():
    """(words, click command) of every command there is."""

    def walk(command, words):
        inner = getattr(command, "commands", None)
        if inner is None:
            yield words, command
            return
        for name, one in inner.items():
            yield from walk(one, [*words, name])

    return list(walk(application([]), []))


def order(words, command, case, place, home):
    """The command line for a case."""
    out = place / "-".join(words)
    out.mkdir(exist_ok=True)
    fill = {"ref": corpus.ID, "path": str(home / "recordings" / corpus.ID), "out": str(out)}
    line = list(words)
    for one in command.params:
        if one.param_type_name == "argument":
            given = ARGUMENTS.get(one.name, "x" if one.required else "")
            line += [given.format(**fill)] if given else []
    line += [text.format(**fill) for text in EXTRA.get(" ".join(words), [])]
    return {"name": f"{' '.join(words)}: {case}", "words": line, "home": str(home), "cwd": str(place)}


def drive(scratch, orders):
    """Run the orders, and return what went wrong."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.drive", str(scratch)],
        input="\n".join(map(json.dumps, orders)),
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env={k: v for k, v in os.environ.items() if not k.startswith(("REENACT", "PYTEST"))}
        | {"PYTHONUTF8": "1", "XDG_CONFIG_HOME": str(scratch / "config")},
    )
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    problems = []
    for one in reports:
        if "begins" not in one:
            problems += [f"{one['name']}: {problem}" for problem in problems_of(one)]
    answered = sum("begins" not in one for one in reports)
    if answered < len(orders):
        last = reports[-1].get("begins") if reports else "nothing"
        problems.append(f"the process ended with {done.returncode} at {last}: {done.stderr[-500:]}")
    marks = [str(path) for path in scratch.rglob(corpus.MARK)]
    return problems + [f"{mark} was made" for mark in marks]


def problems_of(report):
    if report["problem"]:
        yield report["problem"].strip()[-700:]
    if "Traceback (most recent call last)" in report["said"]:
        yield "a traceback was written: " + report["said"][-700:]
    if not report["problem"] and report["status"] not in SANE:
        yield f"exit status {report['status']}"
    yield from report["seen"]
    if found := DECEIVES.search(report["said"]):
        near = report["said"][max(0, found.start() - 100) : found.end() + 20]
        yield f"what was recorded moves the terminal, or turns its text round: {near!r}"


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return corpus.base(tmp_path_factory.mktemp("base"))


def made(scratch, case, number, lines):
    """A case in a home of its own: (folder, home)."""
    place = scratch / str(number)
    home = place / "home"
    case.make(home / "recordings" / corpus.ID, lines)
    (place / "canary").write_text("alive")
    return place, home


def tried(scratch, cases, chosen, lines):
    """What went wrong, of the cases and commands for which `chosen(number, name, place)` is true."""
    orders, everything = [], commands()
    for number, case in enumerate(cases):
        place, home = made(scratch, case, number, lines)
        for at, (words, command) in enumerate(everything):
            if words[0] in ONCE and number:
                continue
            if chosen(number, words[0], at):
                orders.append(order(words, command, case.name, place, home))
    # What removes it comes last.
    orders.sort(key=lambda one: (one["cwd"], one["words"][0] == "rm"))
    problems = drive(scratch, orders)
    for number, case in enumerate(cases):
        if not (scratch / str(number) / "canary").exists():
            problems.append(f"{case.name}: a file was removed")
    return problems


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_no_command_is_harmed_by_a_hostile_recording(tmp_path, lines):
    """In short: one case with all commands, the others with some."""
    cases = corpus.cases(12)
    problems = tried(
        tmp_path,
        cases,
        lambda number, _, at: (number + at) % 23 == 0 or number == 0,
        lines,
    )
    assert not problems, f"{len(problems)} problems:\n\n" + "\n\n".join(problems)


@pytest.mark.thorough
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(8))
def test_no_command_is_harmed_by_any_hostile_recording(tmp_path, lines, part):
    cases = corpus.cases(None)[part::8]
    problems = tried(tmp_path, cases, lambda *_: True, lines)
    assert not problems, f"{len(problems)} problems:\n\n" + "\n\n".join(problems)


@pytest.mark.timeout(900)
def test_no_hostile_file_does_harm(tmp_path, lines):
    orders = []
    for number, (name, data) in enumerate(corpus.archives(lines).items()):
        place = tmp_path / str(number)
        place.mkdir()
        file = place / "x.reenact"
        file.write_bytes(data)
        for words in (["show", str(file)], ["import", str(file)], ["diff", str(file), str(file)]):
            orders.append(
                {
                    "name": f"{words[0]}: {name}",
                    "words": words,
                    "home": str(place / "home"),
                    "cwd": str(place),
                }
            )
    problems = drive(tmp_path, orders)
    left = [str(path) for path in tmp_path.rglob("incoming-*")]
    assert not problems + left, "\n\n".join(problems + left)


def test_the_error_of_a_damaged_archive_is_short_whatever_its_names(tmp_path):
    """Python's zipfile puts the name that a member's own header has into its error, as long as it is."""
    file = tmp_path / "x.reenact"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(
            "manifest.json", json.dumps({"reenact": 2, "members": {"events.jsonl": {"size": 60_000}}})
        )
        archive.writestr("events.jsonl", b"\xff" * 60_000)
        begun = archive.getinfo("events.jsonl").header_offset
    damaged = bytearray(file.read_bytes())
    damaged[begun + 26 : begun + 28] = (50_000).to_bytes(2, "little")
    file.write_bytes(damaged)
    with pytest.raises(CorruptRecording, match="is damaged") as raised:
        bundle.bring(LocalStore(tmp_path / "home"), file)
    assert len(str(raised.value)) < 600
