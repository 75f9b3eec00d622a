"""`diagnose` and `reenact.anomalies`: find the anomalies of recorded runs by named rules."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar

from reenact.analysis.anomalies import RULES, Anomaly, Baseline, Choice, Rule, examine, installed, ordered
from reenact.analysis.anomalies.judge import asked
from reenact.analysis.views.findings import DiagnosisView, diagnosis
from reenact.core import config
from reenact.core.dataclass import dataclass
from reenact.core.query.filter import Filter
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.query.summary import Summary
from reenact.core.store.base import Library, Progress
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.errors import ReenactError, UsageError
from reenact.team.open import Reaching
from reenact.verbs import interface, marks
from reenact.verbs.configuration import field_of
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import LOCAL, RECORDING, Cli, WireType


class Options(interface.Options):
    """Find anomalies of recorded runs with named rules.

    Each finding has its step, its evidence and a sentence.

    Exit status: 1 if a finding has the severity error, else 0. The rules and their settings: docs/diagnose.md.
    """

    common: ClassVar = (marks.HOME, marks.TEAM, marks.JSON)
    sorts_foreign: ClassVar = True
    reads_settings: ClassVar = True

    refs: Annotated[
        tuple[str, ...],
        Field(description="Ids, the first characters of ids, `last`, `last~1`, or paths."),
        Cli(argument=True, metavar="ID..."),
        RECORDING,
    ] = ()
    rules: Annotated[
        tuple[str, ...],
        Field(description="Use only this rule (or `all`); may be given several times."),
        Cli(names=("--rule",)),
        marks.ANYONE,
    ] = ()
    without: Annotated[
        tuple[str, ...],
        Field(description="Leave out this rule; may be given several times."),
        Cli(names=("--no-rule",)),
        marks.ANYONE,
    ] = ()
    baseline: Annotated[
        str | None,
        Field(description="Compare time, tokens, cost and steps with these recordings: 'tag:good'."),
        Cli(metavar="FILTER"),
        WireType(of=str, default="", max_length=4000),
        marks.ANYONE,
    ] = None
    judge: Annotated[
        str | None,
        Field(
            description="Also ask this model of Pydantic AI (openai:gpt-4o). The text of the recording is sent to it.",
        ),
        Cli(metavar="MODEL"),
        WireType(of=str, default="", max_length=200),
    ] = None
    list_rules: Annotated[bool, Field(description="Only list the rules."), Cli(names=("--rules",)), LOCAL] = (
        False
    )
    limit: Annotated[
        int,
        Field(ge=1, description="The number of steps shown, the most suspect first."),
        Cli(names=("--limit", "-n")),
        LOCAL,
        marks.ANYONE,
    ] = 8
    all: Annotated[bool, Field(description="Show all."), Cli(names=("--all", "-a")), LOCAL, marks.NEVER] = (
        False
    )

    @property
    def starts_programs(self) -> bool:
        """True if a model is asked, with the server's own key."""
        return bool(self.judge)


@dataclass(frozen=True)
class Result(interface.Result):
    """The findings.

    Attributes:
        found: The recordings and their findings.
        failed: The number of recordings that could not be examined; the user was warned of each.
        rules: The rules that were to be listed, instead of findings.
    """

    found: Sequence[tuple[RecordedRun, Sequence[Anomaly]]] = ()
    failed: int = 0
    rules: Sequence[Rule] | None = None

    @property
    def status(self) -> int:
        """2 if some recording could not be examined, 1 for a finding of severity error, else 0."""
        if self.failed:
            return 2
        return int(any(one.severity == "error" for _, anomalies in self.found for one in anomalies))

    def tree(self) -> list[DiagnosisView] | list[dict[str, Any]]:
        """Return the findings as views, or the rules as JSON values."""
        if self.rules is not None:
            return [_rule_tree(one) for one in self.rules]
        return [diagnosis(recording, anomalies) for recording, anomalies in self.found]


def run(options: Options, context: Context) -> Result:
    """Examine the recordings. Raises as `anomalies` does, if none of them can be examined."""
    choice = chosen(rules=options.rules, without=options.without)
    if options.list_rules:
        return Result(rules=sorted(RULES.values(), key=lambda one: one.name))
    found: list[tuple[RecordedRun, list[Anomaly]]] = []
    failures = []
    with context.opened() as (store, index):
        paths = list(dict.fromkeys(store.find(ref) for ref in options.refs or ("last",)))
        lines = None
        if options.baseline is not None:
            report = partial(context.progress, "reading the baseline")
            lines = meant(index, options.baseline, progress=report)
        for number, path in enumerate(paths, 1):
            try:
                recording = store.load(path)
                usual = None if lines is None else _without(lines, recording.id)
                found.append((recording, diagnosed(recording, choice, usual, options.judge)))
            except ReenactError as error:
                # The others are examined all the same.
                failures.append(error)
                label = f"{path.name}: {error}"
            else:
                label = f"{recording.id}: {len(found[-1][1])} found"
            context.progress("examining", number, len(paths), label=label)
    for failure in failures if found else failures[:-1]:
        context.warn(str(failure))
    if not found:
        raise failures[-1]
    return Result(found, failed=len(failures))


def anomalies(
    source: str | os.PathLike[str] | RecordedRun,
    *,
    rules: Iterable[str] = (),
    without: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    baseline: str | Iterable[RecordedRun] | Baseline | None = None,
    judge: Any = None,
    home: str | os.PathLike[str] | None = None,
) -> list[Anomaly]:
    """Return the anomalies of a recorded run by named rules, the most suspect step first.

        for found in reenact.anomalies("last"):
            print(found.severity, found.step, found.sentence)

    Args:
        source: An id, an unambiguous prefix of one, `"last"`, a path, or a Recording (which has this as a method, too).
        rules: Ask only these; by default those that are on.
        without: Do not ask these.
        settings: Which rules are on, and their options, as in the table of docs/diagnose.md; by default what
            `reenact.toml` or `pyproject.toml` says in this folder or above it.
        baseline: Other runs to compare time, tokens, cost and steps with: a filter, recordings, or a Baseline.
        judge: A model of Pydantic AI, or its name (`"openai:gpt-4o"`): it reads the run too, and what it says is
            among the findings under the name `judge`. The recording's text is sent to it.
        home: The folder of the recordings; by default `$REENACT_HOME`, or `.reenact` here.

    Raises:
        RecordingError: There is no such recording, or it cannot be read.
        UsageError: A rule, an option or a settings file that cannot be used; a judge that cannot be asked.
        FilterError: A baseline's filter does not parse.
    """
    choice = chosen(settings, rules=rules, without=without)
    recording = source if isinstance(source, RecordedRun) else Reaching(home).load(source)
    usual = baseline if isinstance(baseline, Baseline) else usual_of(baseline, leave=recording.id, home=home)
    return diagnosed(recording, choice, usual, judge)


def diagnosed(recording: RecordedRun, choice: Choice, usual: Baseline | None, judge: Any) -> list[Anomaly]:
    """Return the findings of the chosen rules, and of the judge, if any."""
    found = examine(recording, choice, usual)
    return found if judge is None else ordered([*found, *asked(judge, recording)])


def chosen(
    table: Mapping[str, Any] | None = None, *, rules: Iterable[str] = (), without: Iterable[str] = ()
) -> Choice:
    """Return the rules to ask: Reenact's, those of installed packages, and of the settings."""
    installed()
    where, folder = "settings", Path.cwd()
    if table is None and (file := config.found()) is not None:
        where, folder, table = file.name, file.folder, _table(file)
    table = table or {}
    _own(table.get("modules", ()), folder, where)
    return Choice(table, rules=_words(rules), without=_words(without), where=where)


def _table(file: config.ConfigurationFile) -> dict[str, Any]:
    """Return the settings of rules in a configuration file. Raises UsageError."""
    table = file.tree.get("diagnose", {})
    if not isinstance(table, dict):
        raise file.error(("diagnose",), "a table is expected: [diagnose], and the rules below")
    if table.get("modules"):
        file.need_trust(("diagnose", "modules"), "imports Python modules")
    return {key: value for key, value in table.items() if field_of(key, Options.fields()) is None}


def usual_of(
    baseline: str | Iterable[RecordedRun] | None,
    *,
    leave: str = "",
    home: str | os.PathLike[str] | None = None,
) -> Baseline | None:
    """Return the baseline of a filter, without the recording that is compared with it."""
    if baseline is None:
        return None
    if not isinstance(baseline, str):
        return Baseline(one for one in baseline if one.id != leave)
    with closing(Index(LocalStore(home))) as index:
        return _without(meant(index, baseline), leave)


def meant(index: Library, filter: str, *, progress: Progress | None = None) -> list[Summary]:
    """Return the recordings that match a baseline's filter, for many comparisons."""
    return [hit.summary for hit in index.search(Filter(filter), progress=progress)]


def _without(lines: Iterable[Summary], id: str) -> Baseline:
    """Return the baseline without the recording that is compared with it."""
    return Baseline(line for line in lines if line.id != id)


def _rule_tree(rule: Rule) -> dict[str, Any]:
    """Return one rule of `reenact diagnose --rules --json`."""
    options = {
        name: list(value) if isinstance(value, tuple) else value for name, value in rule.options.items()
    }
    return {
        "rule": rule.name,
        "about": rule.about,
        "severity": rule.severity,
        "on": rule.on,
        "baseline": rule.baseline,
        "options": options,
    }


def _own(modules: Any, folder: Path, where: str) -> None:
    """Import the modules that a settings file names, from beside it or from anywhere."""
    if not isinstance(modules, (list, tuple)) or not all(isinstance(name, str) for name in modules):
        raise UsageError(f"{where}: modules is {modules!r}; it must be a list of names of Python modules")
    for name in modules:
        beside = str(folder.absolute())
        sys.path.insert(0, beside)
        try:
            import_module(name)
        except Exception as error:
            raise UsageError(
                f"{where}: the module '{name}' cannot be imported: {type(error).__name__}: {error}"
            ) from None
        finally:
            sys.path.remove(beside)


def _words(value: Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
