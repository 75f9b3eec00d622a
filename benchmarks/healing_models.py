"""Where nothing without a model helps: what a real, small model does to changed pages, and what keeps it from harm.

The cases are steps of `healing.py`'s scripts at which every rung without a model stopped, and pages from which the
element is gone, where to stop is right. Each is given to the model twice (`helped.py`): as one question, and to an
agent. What the model claims is compared with what is true, and with what our verification says of it.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

from playwright.async_api import Error

from benchmarks import healing, helped, local_model
from benchmarks.plan import Plan
from benchmarks.report import Section, Table
from reenact import Client
from reenact.browser.heal.harden.trial import PageChange
from reenact.browser.session.session import Session
from reenact.errors import ReenactError

SEED = 5
CASES = {"stopped": 30, "gone": 15}
QUICK = {"stopped": 2, "gone": 1}
LARGE = ("redesign", "decoy")
SMALL = ("rename", "move", "relabel", "attributes", "variant")
"""Of each step both large changes are tried, one of the small ones, and `gone`. (Nothing stops at the others.)"""
PORTION = 6
"""So many scripts are run as they are, and then tried, before the next."""
SPOTS = 4
"""So many steps of a script at most: the shop's alone has sixteen, each a long way off."""
KEPT = Path(".cache/benchmarks/healing-models.json")
"""Every case as plain data, written as they come."""


@dataclass(frozen=True)
class Case:
    """A step on a changed page, and what a model made of it: as the rung `ask`, and as an agent."""

    site: str
    step: str
    change: PageChange
    turns: tuple[helped.Turn, ...]

    @property
    def gone(self) -> bool:
        """Whether to stop is right."""
        return self.change.kind == "gone"


def measure(plan: Plan) -> Section:
    """Look for cases, give them to the model, and make the tables."""
    with tempfile.TemporaryDirectory(prefix="reenact-bench-") as name, local_model.asked() as model:
        os.environ["REENACT_HOME"] = str(Path(name) / "home")
        hunt = Hunt(plan, model)
        asyncio.run(hunt.through(Path(name)))
    return section(hunt.cases, hunt.tried, model.model_name)


class Hunt:
    """The search for cases: scripts in a drawn order, until there are enough or half of the time is up.

    Each is given to the rung at once; when all are found, to an agent, one after the other, while there is time.

    Attributes:
        cases: What was found.
        tried: What became of each changed page that was tried.
    """

    def __init__(self, plan: Plan, model: local_model.Metered) -> None:
        self._plan, self._model = plan, model
        seconds = plan.minutes * 60 if plan.minutes else math.inf
        self._half, self._until = monotonic() + seconds / 2, monotonic() + seconds
        self._wanted = Counter(QUICK if plan.quick else CASES)
        self._client = Client(name="healing", max_duration_minutes=0, idle_timeout_minutes=0)
        self._found: list[tuple[Any, helped.Known]] = []
        self.cases: list[Case] = []
        self.tried: Counter[str] = Counter()

    async def through(self, place: Path) -> None:
        """All of it."""
        from benchmarks import spots

        (place / "shop").mkdir()
        with spots.scripts(place / "shop") as scripts:
            random.Random(SEED).shuffle(scripts)
            for start in range(0, len(scripts), PORTION):
                if self._enough():
                    break
                await self._portion(scripts[start : start + PORTION])
            async with self._session() as session:
                await healing.blind(session)
                for done, number in enumerate(self._in_turn()):
                    if monotonic() < self._until:
                        await self._take_over(session, number, f"{len(self.cases) - done - 1} to go")

    def _in_turn(self) -> list[int]:
        """The cases' numbers, one that stopped and one that is gone in turn: time may not suffice for all."""
        kinds = [
            [number for number, case in enumerate(self.cases) if case.gone is gone] for gone in (False, True)
        ]
        return [number for pair in zip_longest(*kinds) for number in pair if number is not None]

    def _session(self) -> Session:
        return self._client.Session(save_replay_on="never")

    def _enough(self) -> bool:
        return monotonic() > self._half or not +self._wanted

    async def _portion(self, scripts: Sequence[Any]) -> None:
        async with self._client.Session() as session:
            await healing.blind(session)
            good = [script for script in scripts if healing.passes(session, script)]
        async with self._session() as session:
            await healing.blind(session)
            for script in good:
                for spot in script.spots[:: max(1, len(script.spots) // SPOTS)]:
                    if self._enough():
                        return
                    try:
                        await self._spot(session, spot)
                    except (LookupError, ReenactError, Error) as error:
                        healing.say(f"{spot.site} {spot.name}: left out ({str(error).splitlines()[0][:100]})")

    async def _spot(self, session: Session, spot: Any) -> None:
        known = await helped.good(session, _arrived(session, spot))
        if known is None:
            return
        for change in _changes(spot):
            kind = "gone" if change.kind == "gone" else "stopped"
            if self._enough() or not self._wanted[kind]:
                continue
            turn = await helped.questioned(session, _arrived(session, spot), change, self._model)
            self.tried[turn if isinstance(turn, str) else kind] += 1
            if isinstance(turn, helped.Turn):
                self._wanted[kind] -= 1
                self._found.append((spot, known))
                self.cases.append(Case(spot.site, spot.name, change, (turn,)))
                self._say(turn, self.cases[-1], f"{sum((+self._wanted).values())} more wanted")

    async def _take_over(self, session: Session, number: int, left: str) -> None:
        case, (spot, known) = self.cases[number], self._found[number]
        try:
            turn = await helped.taken_over(session, _arrived(session, spot), case.change, self._model, known)
        except (LookupError, ReenactError, Error) as error:
            healing.say(f"{case.step}: no agent ({str(error).splitlines()[0][:100]})")
            return
        if turn is not None:
            self.cases[number] = replace(case, turns=(*case.turns, turn))
            self._say(turn, case, left)

    def _say(self, turn: helped.Turn, case: Case, left: str) -> None:
        claim = "claims" if turn.claimed else "no claim"
        became = "passed" if turn.passed else "refused" if turn.claimed else "stopped"
        self._plan.tell(f"{turn.helper}: {len(self.cases)} cases, {left}")
        healing.say(
            f"{turn.helper} {case.step}, {case.change.kind}: {claim}, {'true' if turn.true else 'not so'}, {became}, "
            f"{turn.seconds:.0f} s; {left}"
        )
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        KEPT.write_text(json.dumps([asdict(one) for one in self.cases], indent=1), encoding="utf-8")


def _arrived(session: Session, spot: Any) -> Any:
    session.core.outcomes.clear()
    return spot.arrive(session)


def _changes(spot: Any) -> Iterator[PageChange]:
    draw = random.Random(f"{SEED} {spot.site} {spot.name}")
    for kind in (*LARGE, draw.choice(SMALL), "gone"):
        yield PageChange(kind, draw.randrange(1 << 30))


# -- the figures -------------------------------------------------------------------------------------------------

TITLE = "Where a language model is asked"

_HOW = """\
{stopped} mutated steps at which every rung without a model stopped, and {gone} pages from which the element is gone
(there to stop is right), found among {tried} changed pages of the same scripts: of each step both large changes
(`redesign`, `decoy`), one of the small ones and `gone`, in an order drawn by seed {seed} before any model was asked.
{model} Each case is put to it as the question of the rung `ask`, and {agents} of them once more, on the page as it was,
to an agent with {steps} steps (`heal="agent"`; the task is the step in words, and `expect` asks whether what the step
had led to in a good run is so). `claims`: it names an element and is at least 70 % sure; the agent says that the task
is done. `its own word`: what would come of taking every claim for true. `verified`: with our rules, the second question
and what the step led to in good runs (`ask`), or with `expect` (agent); the agent's two are one and the same run.
`acted on a wrong element` is what no verification afterwards undoes."""

_LOCAL = (
    "The model is {name} on this machine, one thread: far too small for the work, and held to short answers of the "
    "right form (`benchmarks/local_model.py`)."
)
_NAMED = "The model is {name}, which the environment names."


def section(cases: Sequence[Case], tried: Counter[str], name: str) -> Section:
    """The cases as tables."""
    gone = sum(case.gone for case in cases)
    model = (_NAMED if local_model.named() else _LOCAL).format(name=name)
    found = Section(
        TITLE,
        _HOW.format(
            stopped=len(cases) - gone, gone=gone, tried=sum(tried.values()), seed=SEED, model=model,
            steps=helped.MOST_STEPS, agents=len(_turns(cases, "agent")),
        ),
    )  # fmt: skip
    for helper, called in (("ask", "the rung ask"), ("agent", "an agent with expect")):
        turns = [turn for _, turn in _turns(cases, helper)]
        wrong = [turn for turn in turns if turn.claimed and not turn.true]
        passed = [turn for turn in wrong if turn.passed]
        found.figure(
            f"wrong claims of the model that passed for done, {called}", "0",
            f"{len(passed)} of {len(wrong)} wrong ones (in {len(turns)} cases)", not passed,
        )  # fmt: skip
    met = [turn for _, turn in _turns(cases, "ask") if turn.met]
    found.figure("the rung ask acted on a wrong element", "0", f"{len(met)} of {len(cases)} cases", not met)
    found.tables += [_words(cases), _costs(cases)]
    found.notes += [
        f"`{turn.helper}`, {case.step}, {case.change.kind} (seed {case.change.seed}): a wrong claim passed; acted on "
        f"{turn.met or 'nothing else'}; {turn.by}"
        for helper in ("ask", "agent")
        for case, turn in _turns(cases, helper)
        if turn.claimed and turn.passed and not turn.true
    ]
    ways = Counter((turn.helper, _way(turn)) for case in cases for turn in case.turns)
    found.notes += [f"`{helper}`, {many} times: {way}" for (helper, way), many in ways.most_common(14)]
    return found


def _turns(cases: Sequence[Case], helper: str) -> list[tuple[Case, helped.Turn]]:
    return [(case, turn) for case in cases for turn in case.turns if turn.helper == helper]


def _words(cases: Sequence[Case]) -> Table:
    lines = []
    for helper in ("ask", "agent"):
        for group, gone in (("stopped", False), ("gone", True)):
            turns = [turn for case, turn in _turns(cases, helper) if case.gone is gone]
            claims = [turn for turn in turns if turn.claimed]
            right = [turn for turn in claims if turn.true]
            wrong = [turn for turn in claims if not turn.true]
            # The rung's rules come before the deed: without them it would act on each element that is named.
            met = [turn for turn in turns if turn.met]
            would = wrong if helper == "ask" else met
            counts = (
                turns, claims, right, wrong, would,
                [turn for turn in turns if turn.passed and turn.true],
                [turn for turn in turns if turn.passed and not turn.true],
                [turn for turn in wrong if not turn.passed],
                [turn for turn in right if not turn.passed],
                met,
            )  # fmt: skip
            lines.append((f"`{helper}`, {group}", *(str(len(one)) for one in counts)))
    return Table(
        (
            "", "cases", "claims", "its own word: saved", "its own word: wrong, and believed",
            "its own word: acted on a wrong element", "verified: saved", "verified: wrong, and believed",
            "wrong claims refused", "right claims refused", "verified: acted on a wrong element",
        ),
        lines,
    )  # fmt: skip


def _costs(cases: Sequence[Case]) -> Table:
    lines = []
    for helper in ("ask", "agent"):
        turns = [turn for _, turn in _turns(cases, helper) if turn.use.answers]
        if not turns:
            continue
        uses = [turn.use for turn in turns]
        times = sorted(turn.seconds for turn in turns)
        late = times[min(len(times) * 95 // 100, len(times) - 1)]
        lines.append(
            (f"`{helper}`", str(len(turns)), f"{sum(use.answers for use in uses) / len(uses):.1f}",
             f"{median(use.read for use in uses):.0f}", f"{median(use.written for use in uses):.0f}",
             f"{median(times):.0f} s", f"{late:.0f} s", f"{sum(use.seconds for use in uses) / sum(times):.0%}")
        )  # fmt: skip
    return Table(
        (
            "", "asked in", "answers each", "tokens read, median", "written, median", "time, median", "p95",
            "of it the model",
        ),
        lines,
    )  # fmt: skip


def _way(turn: helped.Turn) -> str:
    """Why a turn ended as it did, without what differs from one case to the next."""
    text = turn.by.partition(":")[0] if turn.by.startswith("not as expected") else turn.by
    return re.sub(r"\d+ of \d+|https?://\S+|'[^']*'", "…", text)
