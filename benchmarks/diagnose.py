"""`python -m benchmarks.diagnose DATA`: how well the rules of `reenact diagnose` do on labelled runs.

Writes DIAGNOSE.md.

DATA is a folder with `tau-bench-airline/runs.jsonl` (which runs failed) and `who-and-when/*/*.json` (at which step).
Both are imported as `reenact import` does it. Tasks are cut in two halves by a hash of their names: what was looked at
while rules, weights and defaults were chosen, and what is reported.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from reenact.analysis.anomalies import RULES, SEVERITIES, Anomaly, Baseline, Case, Choice, examine
from reenact.analysis.anomalies.baseline import totals
from reenact.analysis.anomalies.examine import rank
from reenact.analysis.interchange import importers
from reenact.core.model.plain import plain
from reenact.core.store.local import LocalStore

RESULTS = Path(__file__).parent / "DIAGNOSE.md"
PAPER = 0.142
"""Step-level accuracy of the best method in "Which Agent Causes Task Failures and When?" (Zhang et al., 2025)."""

ENOUGH = 5
"""In fewer runs than this a rule has not been seen often enough to be judged."""


@dataclass(frozen=True, slots=True)
class Run:
    """A labelled run: whether it failed, or at which step; `found` by all rules, `shipped` by those on by default."""

    group: str
    subset: str
    failed: bool
    decisive: int | None
    steps: int
    uses: int
    found: list[Anomaly] = field(default_factory=list)
    shipped: list[Anomaly] = field(default_factory=list)

    @property
    def chosen(self) -> bool:
        """Whether it is of the half that was looked at."""
        return hashlib.sha256(self.group.encode()).digest()[0] % 2 == 0

    @property
    def named(self) -> list[int]:
        """The steps that the shipped rules name, in order, each once."""
        return list(dict.fromkeys(one.step for one in self.shipped if one.step is not None))


# -- reading -------------------------------------------------------------------------------------------------


def runs(data: Path, home: Path) -> tuple[list[Run], list[Run]]:
    """tau-bench's runs, and Who&When's."""
    store = LocalStore(home)
    tau = _cases(store, sorted((data / "tau-bench-airline").glob("*runs*.jsonl")))
    half = [case for case in tau if _chosen(str(_source(case)["task_id"]))]
    baseline = Baseline(totals(case.facts) for case in half)
    first = [_run(case, str(_source(case)["task_id"]), "tau-bench", baseline) for case in tau]
    who = _cases(store, sorted((data / "who-and-when").glob("*/*.json")))
    second = [_run(case, str(_source(case)["question_ID"]), _subset(case), None) for case in who]
    return first, second


def _chosen(group: str) -> bool:
    return Run(group, "", failed=False, decisive=None, steps=0, uses=0).chosen


def _cases(store: LocalStore, files: Iterable[Path]) -> list[Case]:
    kept = [importers.keep(store, run) for file in files for run in importers.runs(file)[1]]
    return [Case(store.load(id)) for id in kept]


def _source(case: Case) -> dict[str, Any]:
    source: dict[str, Any] = plain(case.recording.header.get("source"))
    return source


def _subset(case: Case) -> str:
    return case.recording.name.rpartition(" ")[0]


def _run(case: Case, group: str, subset: str, baseline: Baseline | None) -> Run:
    source = _source(case)
    decisive = int(source["mistake_step"]) if "mistake_step" in source else None
    return Run(
        group,
        subset,
        case.recording.status == "error",
        decisive,
        len(case.facts.steps),
        len(case.uses),
        examine(case, Choice({"all": True}), baseline),
        examine(case, Choice(), baseline),
    )


# -- figures -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """How well one rule tells failed runs from good ones."""

    good: int
    bad: int
    of_good: int
    of_bad: int

    @property
    def precision(self) -> float:
        """How many of those that it names had failed."""
        return self.bad / (self.bad + self.good) if self.bad + self.good else math.nan

    @property
    def recall(self) -> float:
        """How many of the failed it names."""
        return self.bad / self.of_bad if self.of_bad else math.nan

    @property
    def lift(self) -> float:
        """Precision against the share of failed runs."""
        return self.precision / (self.of_bad / (self.of_bad + self.of_good))


def told(rule: str, among: list[Run]) -> Told:
    """A rule's counts."""
    fired = [run for run in among if any(one.rule == rule for one in run.found)]
    bad = sum(run.failed for run in fired)
    of_bad = sum(run.failed for run in among)
    return Told(len(fired) - bad, bad, len(among) - of_bad, of_bad)


@dataclass(frozen=True, slots=True)
class Placed:
    """How often a rule's first step is the decisive one, and how often any guess among its runs' steps would be."""

    runs: int
    first: int
    chance: float

    @property
    def share(self) -> float:
        """Of the runs in which it names a step."""
        return self.first / self.runs if self.runs else math.nan


def placed(rule: str, among: list[Run]) -> Placed:
    """A rule's counts."""
    count = first = 0
    chance = 0.0
    for run in among:
        steps = sorted({one.step for one in run.found if one.rule == rule and one.step is not None})
        if steps:
            count += 1
            first += steps[0] == run.decisive
            chance += 1 / run.steps
    return Placed(count, first, chance / count if count else math.nan)


def helps(rule: str, tau: list[Run], who: list[Run]) -> bool | None:
    """Whether a rule helps on either task, or None where it is seen too seldom on both."""
    one, other = told(rule, tau), placed(rule, who)
    seen = [
        *([one.lift > 1] if one.good + one.bad >= ENOUGH else []),
        *([other.share > other.chance] if other.runs >= ENOUGH else []),
    ]
    return any(seen) if seen else None


def auc(score: Callable[[Run], float], among: list[Run]) -> float:
    """How often a failed run scores higher than a good one."""
    bad = [score(run) for run in among if run.failed]
    good = [score(run) for run in among if not run.failed]
    return mean((one > other) + 0.5 * (one == other) for one in bad for other in good)


def balanced(test: Callable[[Run], bool], among: list[Run]) -> float:
    """The mean of the shares of failed and of good runs that are told right."""
    bad = [test(run) for run in among if run.failed]
    good = [not test(run) for run in among if not run.failed]
    return (mean(bad) + mean(good)) / 2


def bayes(chosen: list[Run]) -> Callable[[Run], float]:
    """All shipped rules together, weighed by what each is worth on the chosen half (naive Bayes, smoothed)."""
    worth = {}
    for rule in RULES.values():
        count = told(rule.name, chosen)
        bad, good = (count.bad + 1) / (count.of_bad + 2), (count.good + 1) / (count.of_good + 2)
        if rule.on:
            worth[rule.name] = (math.log(bad / good), math.log((1 - bad) / (1 - good)))

    def score(run: Run) -> float:
        there = {one.rule for one in run.shipped}
        return sum(pair[0] if name in there else pair[1] for name, pair in worth.items())

    return score


def threshold(score: Callable[[Run], float], chosen: list[Run]) -> float:
    """The score above which a run is called failed, best on the chosen half."""
    marks = sorted({score(run) for run in chosen})
    return max(marks, key=lambda mark: balanced(lambda run: score(run) >= mark, chosen))


def hits(among: list[Run], first: int, steps: Callable[[Run], list[int]]) -> int:
    """In how many runs the decisive step is among the first few that are named."""
    return sum(run.decisive in steps(run)[:first] for run in among)


def guess(among: list[Run], first: int) -> float:
    """The same for steps drawn by lot."""
    return sum(min(1.0, first / run.steps) for run in among if run.decisive)


# -- telling -------------------------------------------------------------------------------------------------


def report(tau: list[Run], who: list[Run]) -> str:
    """The page."""
    seen, rest = [run for run in tau if run.chosen], [run for run in tau if not run.chosen]
    known, held = [run for run in who if run.chosen], [run for run in who if not run.chosen]
    parts = [_HEAD, _failed(seen, rest), _rules(seen, rest, known, held), _decisive(known, held)]
    return "\n".join(parts)


_HEAD = """# How well `reenact diagnose` does on labelled runs

Made by `python -m benchmarks.diagnose DATA`. The runs are real ones that others recorded and labelled:
tau-bench's airline runs (gpt-4o; which of them failed) and Who&When (failed runs of several agents; at which step they
went wrong). Rules, weights and defaults were chosen on one half of the tasks, by a hash of the task's name; **all
figures are of the other half** unless a column says otherwise. Both halves are small: a difference of a few runs is
chance. To be plain about it: the annotators' reasons of all Who&When runs were read before the first rule was written,
and a first version was once counted over both halves; no figure of the reported half was used after that. So the
split is not a blind one: expect somewhat less on runs of your own, and take a finding as a place to look at, not as a
verdict.
"""


def _failed(seen: list[Run], rest: list[Run]) -> str:
    scores: list[tuple[str, Callable[[Run], float]]] = [
        ("all rules together, weighed on the chosen half", bayes(seen)),
        ("how many rules find something", lambda run: len({one.rule for one in run.shipped})),
        ("as shipped: the weights of the rules joined", lambda run: rank(run.shipped)),
        ("*trivial: longer runs fail (steps)*", lambda run: run.steps),
        ("*trivial: more tool calls fail*", lambda run: run.uses),
        ("*trivial: any run fails*", lambda _: 0.0),
    ]
    about = f"""## Failed runs from good ones (tau-bench)

{len(rest)} runs of the reported half, {sum(run.failed for run in rest)} of them failed (chosen half: {len(seen)},
{sum(run.failed for run in seen)} failed). The threshold for the balanced accuracy comes from the chosen half.

| | AUC | balanced accuracy | AUC, chosen half |
| --- | ---: | ---: | ---: |"""
    lines = [about]
    for name, score in scores:
        right = balanced(_above(score, threshold(score, seen)), rest)
        lines.append(f"| {name} | {auc(score, rest):.2f} | {right:.2f} | {auc(score, seen):.2f} |")
    for place, severity in enumerate(SEVERITIES):
        at_least = severity if place == 0 else f"{severity} or graver"
        right = balanced(_grave(SEVERITIES[: place + 1]), rest)
        lines.append(f"| a finding of severity {at_least} | | {right:.2f} | |")
    return "\n".join(lines) + "\n"


def _above(score: Callable[[Run], float], mark: float) -> Callable[[Run], bool]:
    return lambda run: score(run) >= mark


def _grave(among: tuple[str, ...]) -> Callable[[Run], bool]:
    return lambda run: any(one.severity in among for one in run.shipped)


def _rules(seen: list[Run], rest: list[Run], known: list[Run], held: list[Run]) -> str:
    lines = [
        f"""## Rule by rule

tau-bench: in how many failed and good runs it finds something, precision, recall, and lift (precision against the share
of failed runs). Who&When: of the runs in which it names a step, how often the first one is the decisive one, and how
often a step drawn by lot would be. *Helps* is decided on the chosen half (lift above 1, or better than the lot); of a
rule that was hardly seen there (in fewer than {ENOUGH} runs of either) nothing is known, and it stays on. A rule that
does not help is off by default.

| rule | failed, good | precision | recall | lift | first step decisive | by lot | helps (chosen half) | on |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |"""
    ]
    words = {True: "yes", False: "no", None: "hardly seen"}
    for rule in sorted(RULES.values(), key=lambda rule: rule.name):
        one, other = told(rule.name, rest), placed(rule.name, held)
        cells = [f"`{rule.name}`", f"{one.bad}, {one.good}"]
        cells += [
            _share(value) if one.good + one.bad else "" for value in (one.precision, one.recall, one.lift)
        ]
        cells += [f"{other.first} of {other.runs}" if other.runs else "", _share(other.chance)]
        cells += [words[helps(rule.name, seen, known)], "on" if rule.on else "off"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _decisive(known: list[Run], held: list[Run]) -> str:
    lines = [
        """## The decisive step (Who&When)

In how many runs the annotated step is the first that `reenact diagnose` names, or among the first three. Where the
annotation is message 0 (the task as the agents were given it), which is no step of a recording, the run counts as
missed.

| | runs | message 0 | first named | by lot | step 1 | first three | by lot | steps 1 to 3 |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""
    ]
    for title, among in (("reported half", held), ("chosen half", known)):
        for subset in (*sorted({run.subset for run in among}), ""):
            some = [run for run in among if not subset or run.subset == subset]
            lines.append(f"| {title}, {subset or 'all'} | {' | '.join(_hits(some))} |")
    missed = [run for run in held if run.decisive not in run.named]
    lines.append(
        f"""
The best language-model judge in the paper that Who&When comes from names the step in {PAPER:.1%} of the runs, with one
guess and without being told the right answer (on all 184 runs of it; these are a part).

Of the reported half the decisive step is named nowhere at all in {len(missed)} of {len(held)}. Steps named a run:
{mean(len(run.named) for run in held):.1f} of {mean(run.steps for run in held):.1f}.
"""
    )
    return "\n".join(lines)


def _hits(some: list[Run]) -> list[str]:
    cells = [str(len(some)), str(sum(run.decisive == 0 for run in some))]
    for first in (1, 3):
        mine = hits(some, first, lambda run: run.named)
        front = hits(some, first, lambda _: [1, 2, 3])
        cells += [f"**{mine}** ({mine / len(some):.0%})", f"{guess(some, first) / len(some):.0%}"]
        cells.append(f"{front / len(some):.0%}")
    return cells


def _share(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"


def main(
    data: Annotated[Path, typer.Argument(envvar="REENACT_LABELLED", help="The folder of the labelled runs.")],
    output: Annotated[Path, typer.Option(help="Where the page goes.")] = RESULTS,
) -> None:
    """Measure how well the rules of `reenact diagnose` do on labelled runs."""
    with tempfile.TemporaryDirectory(prefix="reenact-labelled-") as home:
        tau, who = runs(data, Path(home))
    if not tau or not who:
        typer.echo(f"{data}: no tau-bench-airline/*runs*.jsonl, or no who-and-when/*/*.json in it", err=True)
        raise typer.Exit(2)
    output.write_text(report(tau, who), encoding="utf-8")
    typer.echo(f"written to {output}")


if __name__ == "__main__":
    typer.run(main)
