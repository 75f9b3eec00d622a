"""browser-use's telemetry: no part of a run, neither recorded nor, in a replay, sent."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

from reenact.adapters.imports import when_imported
from reenact.core.boundary import Scope, current, entered

_SENDER = "browser_use.telemetry.service"


def install() -> None:
    """Have its telemetry made and sent out of sight, once the client for that is imported."""
    when_imported("posthog.client", _install)


def inside(scope: Scope) -> Scope:
    """Return a hidden scope inside that scope: its tasks and threads are not recorded."""
    return scope.inside(f"{scope.path}/browser-use", call=scope.call, hidden=True)


def _install(module: Any) -> None:
    for name in ("__init__", "capture", "flush"):
        original = getattr(module.Client, name, None)
        if original is not None and not getattr(original, "_reenact", False):
            setattr(module.Client, name, _hidden(original, making=name == "__init__"))


def _hidden(original: Any, *, making: bool) -> Any:
    @functools.wraps(original)
    def hooked(self: Any, *args: Any, **options: Any) -> Any:
        scope = current()
        if scope is None or scope.hidden or not _sent_by_browser_use():
            return original(self, *args, **options)
        if scope.run.replaying:
            if not making:
                return None
            options["disabled"] = True
        # Its threads send on their own, and what it asks the machine about itself is nobody's question: made here, all
        # that belongs to no scope of the program's.
        with entered(inside(scope)):
            return original(self, *args, **options)

    hooked._reenact = True  # type: ignore[attr-defined]
    return hooked


def _sent_by_browser_use() -> bool:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") != _SENDER:
        frame = frame.f_back
    return frame is not None
