"""Scripts with threads, loops and processes, through the command line: equal to the byte, and each edit found.

They are recorded in one process and replayed in others, beside busy ones too. A failure names its seed; to look at it alone:

    REENACT_SOAK_SEED=<seed> pytest tests/soak/test_scripts.py -m slow
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.soak.scripts.parts import PARTS
from tests.soak.scripts.running import answering, record, replay
from tests.soak.scripts.writing import edits, tight, write
from tests.soak.tables import size, table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(14_400)]


@pytest.fixture(scope="module")
def port():
    with answering() as number:
        yield number


@pytest.fixture
def busy():
    """Processes that take the processor from the replay."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    yield
    for other in others:
        other.kill()
        other.wait()


def seeds(first, whole, short):
    one = os.environ.get("REENACT_SOAK_SEED")
    return [int(one)] if one else range(first, first + size(whole, short))


def judged(script, folder, *, narrow=False, times=1):
    """Record one script and replay it; gives the judgement and what was said."""
    folder.mkdir()
    path = folder / "script.py"
    path.write_text(tight(script.text) if narrow else script.text)
    recorded = record(path, folder / "home")
    if recorded.status != 0:
        return "not recorded", recorded.said
    for _ in range(times):
        again = replay(path, folder / "home")
        if again.status is None:
            return "stuck", again.said
        if again.status != 0:
            return "false", again.said
        if again.output != recorded.output:
            return "silent", f"{recorded.output}\n{again.output}"
    return "equal", ""


def judge_all(scripts, tmp_path, name, **options):
    counts, failed = Counter(), []
    with ThreadPoolExecutor(2) as pool:
        jobs = {
            script: pool.submit(judged, script, tmp_path / f"{script.seed}-{number}", **options)
            for number, script in enumerate(scripts)
        }
        for script, job in jobs.items():
            judgement, said = job.result()
            counts[judgement] += 1
            if judgement != "equal":
                failed.append(f"seed {script.seed} {script.parts} is {judgement}: {said[-1500:]}")
    table(name, [dict(counts)])
    assert not failed, f"{dict(counts)}\n" + "\n".join(failed)


def test_each_part_alone_gives_the_same_output_again(port, tmp_path):
    scripts = [write(seed, port, only=name) for name in PARTS for seed in seeds(0, 5, 1)]
    judge_all(scripts, tmp_path, "scripts of one part")


def test_scripts_of_several_parts_give_the_same_output_again(port, tmp_path):
    judge_all([write(seed, port) for seed in seeds(100, 400, 8)], tmp_path, "scripts of several parts")


def test_scripts_give_the_same_output_beside_busy_processes_and_tiny_switch_intervals(port, busy, tmp_path):
    scripts = [write(seed, port) for seed in seeds(1000, 60, 3)]
    judge_all(scripts, tmp_path, "scripts beside busy processes", narrow=True)


def test_each_edit_of_a_script_is_found_at_its_step(port, tmp_path):
    counts, failed = Counter(), []
    with ThreadPoolExecutor(2) as pool:
        for lines in pool.map(lambda seed: edited(seed, port, tmp_path / str(seed)), seeds(2000, 200, 6)):
            for kind, judgement, said in lines:
                counts[f"{kind}: {judgement}"] += 1
                if judgement != "found":
                    failed.append(f"{kind} {judgement}: {said}")
    table("edits of scripts", [dict(counts)])
    assert not failed, f"{dict(counts)}\n" + "\n".join(failed)


def edited(seed, port, folder):
    """Record a script, and replay it with each kind of edit at a place that its run has reached."""
    folder.mkdir()
    path, script, home = folder / "script.py", write(seed, port), folder / "home"
    path.write_text(script.text)
    recorded = record(path, home)
    if recorded.status != 0:
        return [("any", "not recorded", recorded.said)]
    found = []
    asked = next(home.glob("recordings/*/events.jsonl")).read_text()
    for kind, text, label in edits(script, random.Random(seed), asked):
        path.write_text(text)
        again = replay(path, home)
        if again.status is None:
            found.append((kind, "stuck", f"seed {seed} {label}"))
        elif again.status == 0:
            found.append((kind, "missed", f"seed {seed} {label}"))
        else:
            place = label.replace(" ", "%20")
            said = "".join(again.said.replace("│", " ").split())
            found.append(
                (
                    kind,
                    "found" if place in said else "at a wrong step",
                    f"seed {seed} {label} {again.said[:1500]}",
                )
            )
    return found
