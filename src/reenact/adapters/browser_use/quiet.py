"""browser-use's telemetry: it is not recorded, and not sent in a replay."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

from reenact.adapters.imports import when_imported
from reenact.adapters.scopes import listening
from reenact.core.boundary import Scope, entered

_SENDER = "browser_use.telemetry.service"


def install() -> None:
    """Hide the making and sending of telemetry from the run, once its client is imported."""
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
        if (scope := listening()) is None or not _sent_by_browser_use():
            return original(self, *args, **options)
        if scope.run.replaying:
            if not making:
                return None
            options["disabled"] = True
        # The client is made in a hidden scope, so that its threads and its questions about the machine are hidden, too.
        with entered(inside(scope)):
            return original(self, *args, **options)

    hooked._reenact = True  # type: ignore[attr-defined]
    return hooked


def _sent_by_browser_use() -> bool:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") != _SENDER:
        frame = frame.f_back
    return frame is not None
