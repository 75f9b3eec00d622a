"""What changed pages do to scripts, and what mends them: a plain script, Healenium's method, and the ladder.

A step of a script that passes is done on its page, changed in one way with a fixed seed; which element is meant is
known to the judge alone, in a world of the page's that neither the script nor a healer sees. Three are judged on the
same changed page: the script's own selector, what Healenium's method would take where that fails, and the ladder of
`heal="auto"` without any model.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import re
import sys
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from time import monotonic
from typing import Any, Literal
from unittest.mock import patch

from playwright.async_api import Error

from benchmarks import healenium
from benchmarks.plan import Plan
from benchmarks.report import Section, Table
from reenact import Client
from reenact.browser.actions import aim
from reenact.browser.actions import types as do
from reenact.browser.heal import identity
from reenact.browser.heal.harden.mutations import KINDS, PATH
from reenact.browser.heal.harden.trial import ChangedPage, PageChange, StepTrial, attempt
from reenact.browser.heal.rungs import alternative
from reenact.browser.page import selectors
from reenact.browser.page.live_browser import LiveBrowser
from reenact.browser.session.session import Session
from reenact.errors import ReenactError

WORKERS = 3
SEED = 7
"""The rules were made with others."""

EACH = {"MiniWoB": 4, "TodoMVC": 6, "shop": 5}
"""Changes that are tried of each step."""

Fate = Literal["saved", "stopped", "wrong"]


@dataclass(frozen=True)
class Row:
    """One step on one changed page: what became of it, and what Healenium's method would have done where it broke.

    Attributes:
        aside: Why the rung that looks for another element stepped aside, if it did.
    """

    site: str
    step: str
    trial: StepTrial
    healenium: Fate | None = None
    aside: str = ""


def measure(plan: Plan) -> Section:
    """Try all, and make the tables."""
    plan.tell("steps on changed pages")
    every = 8 if plan.quick else 1
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        share = partial(work, every=every, minutes=plan.minutes or 0, seed=SEED)
        parts = list(pool.map(share, range(WORKERS)))
    return section([row for part in parts for row in part])


def work(number: int, every: int, minutes: float = 0, seed: int = 0) -> list[Row]:
    """One worker's share, in a process of its own with its own servers and its own home.

    Args:
        number: Which share.
        every: One script of so many.
        minutes: After so many no further step is begun; 0 for all.
        seed: Another seed makes other changes, and begins with other scripts.
    """
    from benchmarks import spots

    with tempfile.TemporaryDirectory(prefix="reenact-bench-") as name:
        place = Path(name)
        os.environ["REENACT_HOME"] = str(place / "home")
        (place / "shop").mkdir()
        with spots.scripts(place / "shop", every=every) as every_script:
            random.Random(seed).shuffle(every_script)
            mine = every_script[number::WORKERS]
            return asyncio.run(_tried(mine, monotonic() + minutes * 60 if minutes else math.inf, seed))


async def _tried(scripts: Sequence[Any], until: float, seed: int) -> list[Row]:
    client = Client(name="healing", max_duration_minutes=0, idle_timeout_minutes=0)
    good = []
    async with client.Session() as session:
        await blind(session)
        good += [script for script in scripts if passes(session, script)]
    rows: list[Row] = []
    async with client.Session(save_replay_on="never") as session:
        await blind(session)
        for script in good:
            for spot in script.spots:
                if monotonic() > until:
                    return rows
                try:
                    rows += await _spot(session, spot, seed)
                except (LookupError, ReenactError, Error) as error:
                    say(f"{spot.site} {spot.name}: left out ({str(error).splitlines()[0][:100]})")
            say(f"{len(rows)} tried, {script.name} done")
    return rows


def say(text: str) -> None:
    """A line for whoever waits."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


async def blind(session: Session) -> None:
    """Without the camera: it is measured elsewhere, and costs what is not asked about here."""

    async def make(live: LiveBrowser) -> None:
        if live.camera is not None:
            camera, live.camera = live.camera, None
            await camera.stop()

    await ChangedPage(session).inside(make)


def passes(session: Session, script: Any) -> bool:
    """Whether a script passes on its pages as they are."""
    try:
        session.core.outcomes.clear()
        script.run(session)
    except (ReenactError, Error, LookupError) as error:
        say(f"{script.name}: does not pass here ({str(error).splitlines()[0][:100]})")
        return False
    return True


async def _spot(session: Session, spot: Any, seed: int) -> list[Row]:
    kept: list[list[healenium.Node]] = []
    if await _once(session, spot, PageChange("none"), kept) is None or not kept:
        return []
    draw = random.Random(f"{seed} {spot.site} {spot.name}")
    kinds = draw.sample(list(KINDS), len(KINDS))
    rows: list[Row] = []
    for kind in kinds:
        if len(rows) == EACH[spot.site]:
            break
        row = await _once(session, spot, PageChange(kind, draw.randrange(1 << 30)), kept)
        if row is not None:
            rows.append(row)
    return rows


async def _once(
    session: Session, spot: Any, change: PageChange, kept: list[list[healenium.Node]]
) -> Row | None:
    session.core.outcomes.clear()
    asked = spot.arrive(session)
    watched = ChangedPage(session)
    if change.kind == "none":
        kept += await watched.inside(lambda live: _kept(live, asked))
        trial = await attempt(session, asked, change)
        # A step whose hit nobody can see when nothing is changed can be judged of no change.
        return Row(spot.site, spot.name, trial) if trial and trial.ending == "held" and trial.acted else None
    taken: list[Fate] = []

    async def between(stage: ChangedPage, step: do.Aimed) -> None:
        taken.append(await _healenium(stage, step, kept[0]))

    with _listening() as said:
        trial = await attempt(session, asked, change, between=between)
    if trial is None:
        return None
    return Row(spot.site, spot.name, trial, taken[0] if taken else None, said[-1] if said else "")


@contextmanager
def _listening() -> Iterator[list[str]]:
    """What the rung that looks for another element says of its choice."""
    said: list[str] = []

    def choose(*args: Any, **options: Any) -> identity.ElementChoice:
        choice = identity.choose(*args, **options)
        said.append(f"{choice.why} (score {choice.score:.2f}, margin {choice.margin:.2f})")
        return choice

    with patch.object(alternative, "choose", choose):
        yield said


async def _kept(live: LiveBrowser, asked: do.Aimed) -> list[list[healenium.Node]]:
    element = await (await aim.found(live, asked)).element_handle(timeout=2000)
    if await element.owner_frame() != live.page.main_frame:
        return []
    path = await element.evaluate(PATH)
    return [] if "shadow" in path else [healenium.way(await live.page.evaluate(healenium.TREE), path)]


async def _healenium(stage: ChangedPage, step: do.Aimed, kept: list[healenium.Node]) -> Fate:
    """What Selenium with Healenium would have acted on."""

    async def make(live: LiveBrowser) -> list[int] | Literal["covered"] | None:
        for one in selectors.parse(step.selector or ""):
            with suppress(Error):
                found = one.within(live.page)
                count = await found.count()
                if count == 1:
                    return "covered"  # it is found, and so not healed
                if count:
                    path: list[int] = await found.first.evaluate(PATH)
                    return path  # Selenium takes the first
        return healenium.nearest(kept, await live.page.evaluate(healenium.TREE))[1]

    path = await stage.inside(make)
    if path is None or path == "covered":
        return "stopped"
    return "saved" if await stage.is_meant(list(path)) else "wrong"


# -- the figures -------------------------------------------------------------------------------------------------


def section(rows: Sequence[Row]) -> Section:
    """The rows as tables."""
    alike = [row for row in rows if row.trial.change.kind != "gone"]
    asked = [row for row in rows if row.trial.ms is not None]
    broke = [row for row in alike if row.trial.ms is not None]
    saved = [row for row in broke if row.trial.ending == "saved"]
    wrong = [row for row in asked if row.trial.ending == "wrong"]
    found = Section(
        "Scripts on changed pages", _HOW.format(many=len(rows), steps=len({(r.site, r.step) for r in rows}))
    )
    found.figure("mutated steps", "≥ 500", str(len(rows)), len(rows) >= 500)
    found.figure(
        "a rung acted on a wrong element, of all mutated steps", "< 0.5 %", _share(len(wrong), len(rows)),
        len(wrong) < 0.005 * len(rows),
    )  # fmt: skip
    found.figure("the same, of those that were asked to be mended", "", _share(len(wrong), len(asked)))
    found.figure(
        "saved, of the steps that broke and that a person would call the same", "≥ 80 %",
        _share(len(saved), len(broke)), len(saved) >= 0.8 * len(broke),
    )  # fmt: skip
    done = [row for row in alike if row.trial.ending in {"held", "saved"}]
    found.figure(
        "done in the end, of all that a person would call the same", "", _share(len(done), len(alike))
    )
    found.tables += [
        _subjects(rows, alike, broke),
        _rungs(asked, found),
        _kinds(rows),
        _sites(rows),
        _halves(rows),
    ]
    found.notes += [_told(row) for row in wrong] or ["No rung acted on a wrong element."]
    found.notes += [
        f"Stopped {many} times, {kind}: {why}" for (kind, why), many in _stops(broke).most_common(12)
    ]
    return found


_HOW = """\
{many} mutated steps ({steps} different ones) of scripts that pass on MiniWoB++, TodoMVC and a django-oscar shop, the
seeds fixed. The element that is meant is known to the judge alone; `saved` counts where that element was acted on and
the ladder could verify what came of it. `gone` is the change after which there is nothing to find: to stop is right
there. The plain script is its own step, Playwright's locators and waiting with a timeout of 1 s. Healenium's method is
`benchmarks/healenium.py`; it is asked where the selector finds nothing (of several, Selenium takes the first), and what
it would take is looked up, not clicked. Times are from the failure to the mend, the action and its verification
included, on a machine that others use too."""


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def _subjects(rows: Sequence[Row], alike: Sequence[Row], broke: Sequence[Row]) -> Table:
    misled = [row for row in rows if row.trial.ending == "misled"]
    held = sum(row.trial.ending == "held" for row in alike)
    theirs = Counter(row.healenium for row in broke)
    lost = [row for row in rows if row.trial.change.kind == "gone" and row.trial.ms is not None]
    theirs_lost = Counter(row.healenium for row in lost)
    ours = Counter(row.trial.ending for row in broke)
    ours_lost = Counter(row.trial.ending for row in lost)
    return Table(
        ("", "done, of the same", "saved, of those that broke", "stopped", "wrong element", "wrong where it is gone"),
        [
            ("plain Playwright script", _share(held, len(alike)), "0", str(len(broke)),
             f"{len([r for r in misled if r in alike])} (its own selector)",
             f"{len([r for r in misled if r not in alike])} (its own selector)"),
            ("Healenium's method", _share(held + theirs["saved"], len(alike)), _share(theirs["saved"], len(broke)),
             str(theirs["stopped"]), _share(theirs["wrong"], len(broke)), _share(theirs_lost["wrong"], len(lost))),
            ('heal="auto", no model', _share(held + ours["saved"], len(alike)), _share(ours["saved"], len(broke)),
             str(ours["stopped"]), _share(ours["wrong"], len(broke)), _share(ours_lost["wrong"], len(lost))),
        ],
    )  # fmt: skip


def _rungs(asked: Sequence[Row], into: Section) -> Table:
    by: dict[str, list[StepTrial]] = defaultdict(list)
    for row in asked:
        by[row.trial.rung or "none of them"].append(row.trial)
    lines = []
    for rung, trials in sorted(by.items()):
        times = sorted(one.ms or 0.0 for one in trials)
        late = quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
        ends = Counter(one.ending for one in trials)
        unproven = sum(one.ending == "stopped" and one.acted for one in trials)
        lines.append(
            (rung, str(len(trials)), str(ends["saved"]), str(ends["stopped"]), str(unproven), str(ends["wrong"]),
             f"{median(times):.0f} ms", f"{late:.0f} ms")
        )  # fmt: skip
        if rung != "none of them":
            into.figure(
                f"time per mend, {rung}, median", "< 300 ms", f"{median(times):.0f} ms", median(times) < 300
            )
    return Table(
        (
            "rung",
            "acted",
            "saved",
            "stopped",
            "of those with the right element, not verified",
            "wrong",
            "median",
            "p95",
        ),
        lines,
    )


def _kinds(rows: Sequence[Row]) -> Table:
    return _grouped("change", rows, lambda row: row.trial.change.kind, list(KINDS))


def _sites(rows: Sequence[Row]) -> Table:
    return _grouped("pages", rows, lambda row: row.site, sorted({row.site for row in rows}))


def _halves(rows: Sequence[Row]) -> Table:
    """By scripts: with the pages of one half the rules were made, those of the other were never looked at for that."""

    def half(row: Row) -> str:
        script = row.step.rpartition(" ")[0]
        return "held out" if zlib.crc32(script.encode()) & 1 else "tuned with"

    return _grouped("half", rows, half, ("tuned with", "held out"))


def _grouped(name: str, rows: Sequence[Row], key: Any, order: Iterable[str]) -> Table:
    lines = []
    for kind in order:
        of = [row for row in rows if key(row) == kind]
        ends = Counter(row.trial.ending for row in of)
        theirs = Counter(row.healenium for row in of)
        lines.append(
            (kind, *(str(many) for many in (len(of), ends["held"], ends["saved"], ends["stopped"], ends["wrong"],
             ends["misled"], theirs["saved"], theirs["wrong"])))
        )  # fmt: skip
    head = (
        name,
        "steps",
        "held",
        "saved",
        "stopped",
        "wrong",
        "misled by its own selector",
        "Healenium saves",
    )
    return Table((*head, "Healenium wrong"), lines)


def _told(row: Row) -> str:
    trial = row.trial
    return (
        f"WRONG: {row.site} {row.step}, {trial.change.kind} (seed {trial.change.seed}; {trial.told}): {trial.rung} met "
        f"{trial.met!r}, score {trial.score}, margin {trial.margin}; {trial.why}"
    )


def _stops(rows: Sequence[Row]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        trial = row.trial
        if trial.ending == "stopped":
            why = (
                row.aside.partition(" (score")[0] or trial.why.partition(" on http")[0] or "nobody could tell"
            )
            if trial.acted:
                why = "the right element was acted on, and nothing showed that it worked"
            found[trial.change.kind, re.sub(r"[\d.]+", "#", why)] += 1
    return found


def rows_as_data(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as plain data."""
    return [asdict(row) for row in rows]
