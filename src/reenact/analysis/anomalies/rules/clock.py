"""Input that depends on when the run was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from reenact.analysis.anomalies.case import Case, short
from reenact.analysis.anomalies.registry import RuleFinding, rule

_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?")


@rule("clock-input", severity="info")
def clock_input(case: Case) -> Iterator[RuleFinding]:
    """A prompt that holds the time of the run: another day it asks something else."""
    try:
        began = datetime.fromisoformat(case.recording.started)
    except ValueError:
        return
    began = began if began.tzinfo is not None else began.replace(tzinfo=UTC)
    ended = began + timedelta(seconds=case.recording.duration)
    for said in case.said:
        for message in said.turn.new:
            if message.role in ("system", "user") and (match := _now(message.text, began, ended)):
                around = message.text[max(0, match.start() - 40) : match.end() + 20]
                yield RuleFinding(said.step, "the prompt contains the time of the run", short(around))
                return


def _now(text: str, began: datetime, ended: datetime) -> re.Match[str] | None:
    """Find the time of the run in a text: its date, or a time within a day of it.

    Clocks are in all time zones.
    """
    for match in _DATE.finditer(text):
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
        try:
            moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
        except ValueError:
            continue
        if match[4] is None:
            if began.date() <= moment.date() <= ended.date():
                return match
        elif began - timedelta(hours=14) <= moment <= ended + timedelta(hours=14):
            return match
    return None
