"""Statistics of many recordings: counts of values, and trends over time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, TypeVar

from reenact.analysis.views.listing import BucketView, FacetsView, FacetValueView, TrendsView
from reenact.server.project_lines import RANGES, ProjectLine, facets
from reenact.server.searching import Search

Figures = TypeVar("Figures", FacetsView, TrendsView)

_NAMES = ("agent", "status", "model", "tag", "anomaly", "cost")
_MOST = 100
_STALE = 10.0
_SECONDS = {"hour": 3600, "day": 86400}


def facets_of(search: Search) -> FacetsView:
    """Return the values of each facet among the recordings of a search."""
    return _kept(search, "facets", lambda complete: _facets(search, complete=complete))


def trends_of(search: Search, by: Literal["hour", "day"]) -> TrendsView:
    """Return counts of a search's recordings by the hour or day of their start."""
    return _kept(search, by, lambda complete: _trends(search, by, complete=complete))


def _kept(search: Search, name: str, make: Callable[[bool], Figures]) -> Figures:
    """Return a cached result while it is current.

    A result that was slow to compute is used for longer, or computing would never end.
    """
    search.wait()
    search.renew()
    known = search.kept.get(name)
    now = time.monotonic()
    if known is not None:
        version, at, cost, kept = known
        if kept.complete and (version == search.version or now - at < _STALE * cost):
            found: Figures = kept
            return found
    version, complete = search.version, search.complete
    found = make(complete)
    search.kept[name] = version, now, time.monotonic() - now, found
    return found


def _facets(search: Search, *, complete: bool) -> FacetsView:
    entries = search.entries()
    counted: Counter[tuple[str, str]] = Counter()
    for marks, count in Counter(entry.marks for entry in entries).items():
        for facet in facets(marks):
            counted[facet] += count
    found: dict[str, list[FacetValueView]] = {name: [] for name in _NAMES}
    # Sort equal counts by name, so that the order of a facet is stable.
    for (name, value), count in sorted(counted.items(), key=lambda one: (-one[1], one[0])):
        if len(found[name]) < _MOST:
            found[name].append(FacetValueView(value=value, count=count, filter=_filter(name, value)))
    found["cost"].sort(key=lambda one: RANGES.index(one.value))
    return FacetsView(
        **{name: tuple(values) for name, values in found.items()}, total=len(entries), complete=complete
    )


def _filter(name: str, value: str) -> str:
    """Return the filter for the recordings with a value."""
    if name == "cost":
        low, _, high = value.partition("-")
        parts = [f"total_cost >= {low}"] + ([f"total_cost < {high}"] if high else [])
        return " and ".join(parts)
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name} == "{quoted}"'


def _trends(search: Search, by: Literal["hour", "day"], *, complete: bool) -> TrendsView:
    seconds = _SECONDS[by]
    buckets: dict[int, list[ProjectLine]] = {}
    for entry in search.entries():
        buckets.setdefault(int(entry.summary.moment // seconds), []).append(entry)
    shown = [_bucket(at * seconds, buckets[at]) for at in sorted(buckets)]
    return TrendsView(by=by, buckets=tuple(shown), complete=complete)


def _bucket(at: int, entries: list[ProjectLine]) -> BucketView:
    lines = [entry.summary for entry in entries]
    durations = sorted(line.duration for line in lines)
    return BucketView(
        at=datetime.fromtimestamp(at, UTC).isoformat(),
        recordings=len(lines),
        failed=sum(line.status == "error" for line in lines),
        tokens=sum(line.input_tokens + line.output_tokens for line in lines),
        cost=round(sum(line.cost or 0.0 for line in lines), 9),
        unpriced=sum(line.cost is None and bool(line.models) for line in lines),
        p50=_share(durations, 50),
        p95=_share(durations, 95),
    )


def _share(durations: list[float], percent: int) -> float:
    return durations[min(len(durations) * percent // 100, len(durations) - 1)]
