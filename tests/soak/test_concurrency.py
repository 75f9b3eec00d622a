"""A thousand recordings of random concurrent programs: each replays faithfully, and each edit is found where it is.

A failure names its seed and keeps its recording. To look at it alone:

    REENACT_SOAK_SEED=<seed> pytest tests/soak/test_concurrency.py -m slow -k <style>
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import reenact
from tests.soak.programs import STYLES, Edit, Program
from tests.soak.tables import keep, progress, size, table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

ROOT = Path(__file__).parents[2]
SHARES = {"mixed": 0.5, "async": 0.2, "sync": 0.2, "wide": 0.1, "loops": 0.1}
FRESH = 10
"""One in so many is replayed in a fresh process too."""

styles = pytest.mark.parametrize("style", list(STYLES))
_rows: dict[str, list[dict[str, Any]]] = {"replays": [], "edits": []}


@pytest.fixture(scope="module", autouse=True)
def _report():
    yield
    for name, rows in _rows.items():
        if rows:
            table(f"{name} of random concurrent programs", rows)
            keep("soak", {name: rows, f"{name}_total": _sums(rows)})


def _sums(rows):
    return {
        name: sum(row[name] for row in rows) for name in rows[0] if isinstance(rows[0][name], (int, float))
    }


def seeds(style, whole, short):
    """The seeds of this run's share of a style."""
    one = os.environ.get("REENACT_SOAK_SEED")
    if one:
        return range(int(one), int(one) + 1)
    return range(max(2, round(size(whole, short) * SHARES[style])))


def record(program):
    with reenact.record(f"soak {program.style} {program.seed}") as recording:
        state = recording.output = program.run()
    return recording, state


class Failures:
    """What went wrong, each with how to see it again; the recording is kept for that.

    A machine under load may let a thread come to rest later than a recording waits for it. Such a recording says so in
    its last line, and its departures are counted apart. A change that is not found fails in any case.
    """

    def __init__(self, style):
        self.style = style
        self.lines = []
        self.doubtful = 0

    def add(self, recording, seed, text, *, silent=False):
        if not silent and recording.load().logs[0].sealed.get("uncertain"):
            self.doubtful += 1
            return
        kept = Path("/tmp/reenact-soak") / f"{self.style}-{seed}-{recording.id}"
        shutil.copytree(recording.path, kept, dirs_exist_ok=True)
        command = f"REENACT_SOAK_SEED={seed} pytest tests/soak/test_concurrency.py -m slow -k {self.style}"
        self.lines.append(f"seed {seed}: {text}\n    recording {kept}; again with: {command}")

    def check(self, tried):
        assert self.doubtful <= max(1, tried // 50), (
            f"{self.doubtful} recordings are in doubt about their own order"
        )
        assert not self.lines, f"{len(self.lines)} failed:\n" + "\n".join(self.lines)


@styles
def test_every_replay_is_faithful_and_ends_in_the_same_state(style, home):
    failures, fresh, steps = Failures(style), [], 0
    mine, recorded, replayed = seeds(style, 1000, 40), 0.0, 0.0
    for seed in progress(mine, len(mine), f"{style} programs replayed"):
        began = time.perf_counter()
        recording, state = record(Program(seed, style=style))
        recorded += time.perf_counter() - began
        began = time.perf_counter()
        try:
            with reenact.replay(recording.id) as replay:
                again = replay.output = Program(seed, style=style).run()
        except reenact.DivergenceError as error:
            failures.add(recording, seed, str(error))
            continue
        replayed += time.perf_counter() - began
        steps += replay.verdict.served
        if not replay.verdict.faithful or again != state:
            said = f"{replay.verdict}; state equal: {again == state}"
            failures.add(recording, seed, said, silent=replay.verdict.faithful)
        if seed % FRESH == 0:
            fresh.append((seed, recording, state))
    in_fresh_processes(style, fresh, failures)
    _rows["replays"].append(
        {"style": style, "recordings": len(mine), "steps": steps, "in a fresh process": len(fresh),
         "not faithful": len(failures.lines), "stamped as in doubt": failures.doubtful, "recording s": recorded, "replaying s": replayed}
    )  # fmt: skip
    failures.check(len(mine))


def in_fresh_processes(style, kept, failures):
    words = [word for seed, recording, _ in kept for word in (str(seed), recording.path)]
    command = [sys.executable, "-m", "tests.soak.again", style, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    found = {line["seed"]: line for line in map(json.loads, done.stdout.splitlines())}
    for seed, recording, state in kept:
        line = found.get(seed, {"faithful": False, "verdict": done.stderr[-500:], "state": None})
        if not line["faithful"] or line["state"] != json.loads(json.dumps(state)):
            failures.add(recording, seed, f"in a fresh process: {line['verdict']}")


@styles
def test_every_deliberate_change_is_reported_at_its_step(style, home):
    failures, kinds, tried = Failures(style), Counter(), Counter()
    mine = seeds(style, 500, 24)
    for seed in progress(mine, len(mine), f"{style} programs edited"):
        program = Program(seed, style=style)
        recording, _ = record(program)
        for edit in edits(program):
            tried[edit.kind] += 1
            found = departure(recording, Program(seed, edit, style=style))
            if found is None:
                failures.add(recording, seed, f"{edit} was MISSED", silent=True)
                continue
            kinds[found.kind.value] += 1
            right = places(recording.load(), program, edit)
            if found.step not in right:
                failures.add(recording, seed, f"{edit} belongs to step {right} but is reported as {found}")
    row = {"style": style, "recordings": len(mine), "edits": tried.total(), **tried}
    row |= {"missed, false or at a wrong step": len(failures.lines), "stamped as in doubt": failures.doubtful}
    _rows["edits"].append(row | {kind.value: kinds[kind.value] for kind in reenact.Departure})
    failures.check(tried.total())


def edits(program):
    """Edits of each kind at random among the calls that the recorded run reached."""
    chance = random.Random(program.seed)
    for kind in ("argument", "extra", "missing", "order"):
        reached = [call for call in program.addresses if shows(program, Edit(kind, call))]
        for call in chance.sample(reached, min(2, len(reached))):
            yield Edit(kind, call)


def shows(program, edit):
    """Whether an edit makes a difference to what is asked, so that it can be seen at all."""
    call, behind = program.behind(edit.call)
    equal = [other for other in behind if (other[0], other[2]) == (call[0], call[2])]
    if edit.kind == "missing":
        equal = [other for other in program.later(edit.call) if (other[0], other[2]) == (call[0], call[2])]
        # The next equal call takes its place, and the last one's is taken by one that was never reached before.
        return all(other[1] in program.addresses for other in equal)
    if edit.kind == "order":
        return bool(behind) and behind[0] not in equal and behind[0][1] in program.addresses
    return True


def departure(recording, program):
    try:
        with reenact.replay(recording.id) as replay:
            replay.output = program.run()
    except reenact.DivergenceError as error:
        return error.divergence
    return replay.verdict.divergence


def places(recording, program, edit):
    """The steps at which an edit may be reported: that of its call; or, where a call was left out or moved among
    others that ask the very same, that of any of those behind it.
    """
    scope, kind, ordinal = program.addresses[edit.call].split("|")
    step = next(s for s in recording if s.call.address == f"{scope}/tool:{kind}#{ordinal}")
    if edit.kind not in ("missing", "order"):
        return [step.number]
    # Workers at one queue take each other's questions.
    stem = scope[: scope.rindex(".")] if "_queue.worker" in scope else scope
    same = [s for s in recording if s.call.label == step.call.label and s.call.scope.startswith(stem)]
    asked = step.log.args(step.call)
    return [s.number for s in same if s.number >= step.number and s.log.args(s.call) == asked]
