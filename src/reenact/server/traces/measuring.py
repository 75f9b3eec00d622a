"""Metrics of received traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from reenact.server.traces.traces import Traces


class TraceMeasures:
    """Reads the counts of a collector's traces on request.

    Args:
        traces: The traces of a collector.
    """

    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    def collect(self) -> Iterator[Metric]:
        """Yield the current counts."""
        return families([("", self._traces)])


def families(traces: Iterable[tuple[str, Traces]]) -> Iterator[Metric]:
    """Yield the counts of several projects' traces.

    Args:
        traces: Pairs of a project, or "", and its traces.
    """
    spans = CounterMetricFamily(
        "reenact_spans", "Spans that were received, by result.", labels=["project", "outcome"]
    )
    made = CounterMetricFamily(
        "reenact_traces_recorded", "Traces that became recordings.", labels=["project"]
    )
    strange = CounterMetricFamily(
        "reenact_traces_left_out", "Traces without a model call or a tool.", labels=["project"]
    )
    waiting = GaugeMetricFamily(
        "reenact_traces_waiting", "Traces that are not recordings yet.", labels=["project"]
    )
    for project, one in traces:
        counts = one.counts
        spans.add_metric([project, "taken"], counts.spans)
        spans.add_metric([project, "late"], counts.late)
        made.add_metric([project], counts.recordings)
        strange.add_metric([project], counts.strange)
        waiting.add_metric([project], one.waiting)
    yield from (spans, made, strange, waiting)
