"""Recordings made on each Python and replayed on each other: equal output, and equal state.

    REENACT_PYTHONS=/path/to/python3.12:/path/to/python3.13 pytest -n0 -m slow tests/soak/test_pythons.py

Each needs what Reenact needs; this Python is one of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from tests.soak.programs import STYLES
from tests.soak.scripts.running import LONGEST, answering
from tests.soak.scripts.writing import write
from tests.soak.tables import size, table

ROOT = Path(__file__).parents[2]
OTHERS = [path for path in os.environ.get("REENACT_PYTHONS", "").split(os.pathsep) if path]
PYTHONS = [sys.executable, *OTHERS]
RECORD = """
import json, sys
import reenact
from tests.soak.programs import Program

style = sys.argv[1]
for seed in map(int, sys.argv[2:]):
    program = Program(seed, style=style)
    with reenact.record(f"{style} {seed}") as recording:
        state = recording.output = program.run()
    print(json.dumps({"seed": seed, "path": str(recording.path), "state": state}), flush=True)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(not OTHERS, reason="REENACT_PYTHONS names no other Python"),
]


def run(python, *words, folder, home):
    environ = {**os.environ, "REENACT_HOME": str(home), "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [python, *map(str, words)], cwd=folder, env=environ, capture_output=True, text=True, timeout=40 * LONGEST, check=False
    )  # fmt: skip


def judge(name, counts, failed):
    table(name, [dict(counts)])
    assert not failed, f"{dict(counts)}\n" + "\n".join(failed)


@pytest.fixture(scope="module")
def port():
    with answering() as number:
        yield number


def test_scripts_of_one_python_give_the_same_output_on_each_other(port, tmp_path):
    counts, failed = Counter(), []
    for seed in range(7000, 7000 + size(30, 2)):
        for number, made in enumerate(PYTHONS):
            folder = tmp_path / f"{seed}-{number}"
            folder.mkdir()
            (folder / "script.py").write_text(write(seed, port).text)
            place = {"folder": folder, "home": folder / "home"}
            recorded = run(made, "-m", "reenact", "record", "--", made, "script.py", **place)
            assert recorded.returncode == 0, recorded.stderr
            for python in PYTHONS:
                again = run(python, "-m", "reenact", "replay", "last", "--", python, "script.py", **place)
                equal = (again.returncode, again.stdout) == (0, recorded.stdout)
                counts["equal" if equal else "not equal"] += 1
                if not equal:
                    failed.append(f"seed {seed}, {made} -> {python}: {again.stderr[-1500:]}")
    judge("scripts on other Pythons", counts, failed)


@pytest.mark.parametrize("style", list(STYLES))
def test_concurrent_programs_of_one_python_end_in_the_same_state_on_each_other(style, tmp_path):
    counts, failed = Counter(), []
    seeds = range(size(20, 2))
    for made, python in product(PYTHONS, PYTHONS):
        place = {"folder": ROOT, "home": tmp_path / str(PYTHONS.index(made))}
        recorded = run(made, "-c", RECORD, style, *seeds, **place)
        lines = [json.loads(line) for line in recorded.stdout.splitlines()]
        assert len(lines) == len(seeds), recorded.stderr
        words = [word for line in lines for word in (line["seed"], line["path"])]
        again = run(python, "-m", "tests.soak.again", style, *words, **place)
        found = {line["seed"]: line for line in map(json.loads, again.stdout.splitlines())}
        for line in lines:
            there = found.get(line["seed"], {"faithful": False, "verdict": again.stderr[-500:]})
            equal = there["faithful"] and there["state"] == line["state"]
            counts["equal" if equal else "not equal"] += 1
            if not equal:
                failed.append(f"{style} {line['seed']}, {made} -> {python}: {there['verdict'][:1500]}")
    judge(f"{style} programs on other Pythons", counts, failed)
