"""`anomalies`: what is odd about a recorded run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from reenact.analysis.anomalies import Anomaly, Baseline, Choice, examine, installed, ordered
from reenact.analysis.anomalies import settings as settings_of
from reenact.analysis.anomalies.judge import asked
from reenact.core.query.filter import Filter
from reenact.core.query.recording import Recording
from reenact.core.query.summary import Summary
from reenact.core.store.base import Library
from reenact.core.store.index import Index, Progress
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.team.open import Reaching


def anomalies(
    source: str | os.PathLike[str] | Recording,
    *,
    rules: Iterable[str] = (),
    without: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    baseline: str | Iterable[Recording] | Baseline | None = None,
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
    recording = source if isinstance(source, Recording) else Reaching(home).load(source)
    usual = baseline if isinstance(baseline, Baseline) else usual_of(baseline, leave=recording.id, home=home)
    return diagnosed(recording, choice, usual, judge)


def diagnosed(recording: Recording, choice: Choice, usual: Baseline | None, judge: Any) -> list[Anomaly]:
    """Return the findings of the chosen rules, and of the judge, if any."""
    found = examine(recording, choice, usual)
    return found if judge is None else ordered([*found, *asked(judge, recording)])


def chosen(
    table: Mapping[str, Any] | None = None, *, rules: Iterable[str] = (), without: Iterable[str] = ()
) -> Choice:
    """Return the rules to ask: Reenact's, those of installed packages, and of the settings."""
    installed()
    where = "settings"
    if table is None:
        table, where = settings_of(Path.cwd())
    _own(table.get("modules", ()), Path(where).parent, where)
    return Choice(table, rules=_words(rules), without=_words(without), where=where)


def usual_of(
    baseline: str | Iterable[Recording] | None,
    *,
    leave: str = "",
    home: str | os.PathLike[str] | None = None,
) -> Baseline | None:
    """The baseline that a filter means, without the recording that is compared with it."""
    if baseline is None:
        return None
    if not isinstance(baseline, str):
        return Baseline(one for one in baseline if one.id != leave)
    with closing(Index(LocalStore(home))) as index:
        return usual_among(index, baseline, leave=leave)


def usual_among(
    index: Library, baseline: str, *, leave: str = "", progress: Progress | None = None
) -> Baseline:
    """The same among the recordings of an index."""
    return Baseline(line for line in meant(index, baseline, progress=progress) if line.id != leave)


def meant(index: Library, filter: str, *, progress: Progress | None = None) -> list[Summary]:
    """Return the recordings that match a baseline's filter, for many comparisons."""
    return [hit.summary for hit in index.search(Filter(filter), progress=progress)]


def diagnosis_tree(recording: Recording, found: Iterable[Anomaly]) -> dict[str, Any]:
    """Return the output of `reenact diagnose --json` for one recording."""
    return {
        "id": recording.id,
        "name": recording.name,
        "path": str(Path(recording.path)),
        "status": recording.status,
        "steps": len(recording.steps),
        "findings": [
            {**asdict(one), "others": list(one.others), "judge": one.rule == "judge"} for one in found
        ],
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
