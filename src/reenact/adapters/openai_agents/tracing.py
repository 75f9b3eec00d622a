"""Keep the SDK's reports to OpenAI's tracing service out of the run.

While recording, the SDK reports as usual, unrecorded. A replay or fork reports nothing: the run has been reported
already.
"""

from __future__ import annotations

from typing import Any

from reenact.core.boundary import current, entered


def hooked_report(original: Any) -> Any:
    """`on_trace_start`, `on_span_end`: nothing is queued in a replay, so nothing is sent."""

    def report(self: Any, *args: Any) -> Any:
        scope = current()
        if scope is None:
            return original(self, *args)
        if scope.run.replaying or scope.run.forked:
            return None
        # It may start a thread, which is not the program's.
        with entered(None):
            return original(self, *args)

    return report


def hooked_export(original: Any) -> Any:
    """`export`, also called by the program: the request is not recorded."""

    def export(self: Any, *args: Any, **options: Any) -> Any:
        scope = current()
        if scope is None:
            return original(self, *args, **options)
        if scope.run.replaying or scope.run.forked:
            return None
        with entered(None):
            return original(self, *args, **options)

    return export
