"""Keep the SDK's reports to its maker's service out of the run: no part of the program.

While recording, it reports as usual, unrecorded. In a replay, and in a fork, it reports nothing: that run has been
reported already.
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
        # The thread that it may start is none of the program's.
        with entered(None):
            return original(self, *args)

    return report


def hooked_export(original: Any) -> Any:
    """`export`, also where the program asks for it: the request is not recorded."""

    def export(self: Any, *args: Any, **options: Any) -> Any:
        scope = current()
        if scope is None:
            return original(self, *args, **options)
        if scope.run.replaying or scope.run.forked:
            return None
        with entered(None):
            return original(self, *args, **options)

    return export
