"""Search the index of a folder: the recordings that match a filter, with their steps."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from reenact.core.query.filter import Filter
from reenact.core.query.summary import Summary
from reenact.core.store.base import COLUMNS, FACTS, Hit, Looked
from reenact.core.store.blocks import Blocks
from reenact.core.store.details import Details
from reenact.core.store.query import Condition, QueryPlan
from reenact.core.store.tables import (
    RECORDING,
    Columns,
    block,
    candidates,
    line_of,
    number_set,
    numbers_of,
)
from reenact.core.store.writer import warn
from reenact.errors import RecordingError

NEWEST_FIRST = "ORDER BY moment DESC, written DESC, id"
"""The order of recordings, as SQL."""

_FIRST = 32
_MOST = 1024


class IndexSearch:
    """A search of an index.

    Args:
        database: The index.
        folder_of: Returns the folder of a recording.
    """

    def __init__(self, database: sqlite3.Connection, folder_of: Callable[[Summary], Path]) -> None:
        self._database, self._folder_of = database, folder_of

    def found(self, wanted: Filter) -> tuple[Iterator[Hit], Looked | None]:
        """Return the recordings that match a filter, and the work of the search so far."""
        if not wanted.about_steps:
            lines = lines_of(self._database)
            return (Hit(line) for _, line in lines if not line.broken and wanted.head(line)), None
        plan = QueryPlan(wanted.candidates, Columns(self._database))
        of_facts = _of_facts(plan, wanted)
        lines = lines_of(self._database, *(of_facts or ()))
        meant = ((key, line) for key, line in lines if not line.broken and wanted.head(line))
        looked = Looked(COLUMNS if of_facts is None else FACTS)
        return self._matching(meant, wanted, plan, looked), looked

    def among(self, lines: Iterator[tuple[int, Summary]], wanted: Filter) -> Iterator[Hit]:
        """Yield the lines, given with their keys, that match a filter on steps."""
        plan = QueryPlan(wanted.candidates, Columns(self._database))
        of_facts = _of_facts(plan, wanted)
        if of_facts is not None:
            condition, values = of_facts
            rows = self._database.execute(f"SELECT key FROM recordings WHERE {condition}", values)  # noqa: S608
            possible = {key for (key,) in rows}
            lines = (line for line in lines if line[0] in possible)
        yield from self._matching(lines, wanted, plan, Looked(COLUMNS))

    def _matching(
        self, lines: Iterator[tuple[int, Summary]], wanted: Filter, plan: QueryPlan, looked: Looked
    ) -> Iterator[Hit]:
        database = self._database
        # A caller that wants only the first few does not wait for the others.
        size = _FIRST
        with Blocks(partial(block, database)) as blocks:
            while batch := list(islice(lines, size)):
                size = min(size * 2, _MOST)
                rows = candidates(database, plan, [key for key, _ in batch])
                blocks.expect(plan.first, [key for key, _ in batch if key in rows])
                for key, line in batch:
                    within, *said = rows.get(key, (None,))
                    numbers = numbers_of(within)
                    looked.add(1, len(numbers))
                    found: list[int] | None = numbers
                    if numbers and not plan.exact:
                        details = Details(partial(self._folder_of, line), partial(blocks.block, key))
                        found = _exact(plan, line, numbers, said, details)
                    steps = wanted.meant(found) if found is not None else None
                    if steps is not None:
                        yield Hit(line, steps)


def lines_of(
    database: sqlite3.Connection, condition: str = "1", values: Sequence[Any] = ()
) -> list[tuple[int, Summary]]:
    """Return the recordings that meet a condition in SQL, with their keys, the newest first."""
    rows = database.execute(
        f"SELECT key, {', '.join(RECORDING)} FROM recordings WHERE {condition} {NEWEST_FIRST}",  # noqa: S608
        values,
    )
    return [(key, line_of(row)) for key, *row in rows]


def _exact(
    plan: QueryPlan, line: Summary, numbers: list[int], said: Sequence[str | None], details: Details
) -> list[int] | None:
    """Return the steps that match by their details too; None for an unreadable recording."""
    sets = {place: partial(number_set, text) for place, text in enumerate(said)}
    try:
        return plan.steps(line, numbers, sets, details)
    except RecordingError as error:
        warn(f"{line.id} is left out: {error}")
        return None


def _of_facts(plan: QueryPlan, wanted: Filter) -> Condition | None:
    """Return the condition on recordings that may match; None if facts do not decide.

    A filter for recordings without a step also matches recordings without its fact.
    """
    return plan.possible if wanted.meant(()) is None else None
